"""The tables of the package sacremoses: which characters are letters, which words keep their full stop.

They are read without the rest of the package, which takes 0.4 s to import.
"""

from functools import lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import groupby
from pathlib import Path
from typing import Any


def character_class(name: str) -> str:
    """The inside of a regular expression's class: one of Perl's, such as ``IsAlpha``."""
    return ranges(characters()[name])


def ranges(characters: str) -> str:
    """The inside of a regular expression's class; ranges compile far faster than single characters."""
    codes = sorted(set(map(ord, characters)))
    runs = [[code for _, code in run] for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0])]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


@lru_cache
def characters() -> dict[str, str]:
    """The classes of characters that the rules speak of; ``signs`` are the Indic ones that join letters."""
    tables, indic = _tables("_data_perluniprops").PERLUNIPROPS, _tables("indic")
    names = ("IsAlnum", "IsAlpha", "IsLower", "IsN", "IsSc", "Han")
    signs = "".join([*indic.VIRAMAS, *indic.NUKTAS])
    return {name: str(tables[name]) for name in names} | {"signs": signs}


@lru_cache
def prefix_tables() -> dict[str, str]:
    """Words that keep their full stop, by language."""
    tables: dict[str, str] = _tables("_data_nonbreaking_prefixes").NONBREAKING_PREFIXES
    return tables


def prefix_table(language: str) -> str:
    """The name of a language's words in ``prefix_tables``."""
    return f"nonbreaking_prefix.{language}"


def _tables(name: str) -> Any:
    """A module of sacremoses that holds tables, without the others."""
    package = find_spec("sacremoses")
    assert package is not None
    assert package.submodule_search_locations is not None
    file = Path(package.submodule_search_locations[0]) / f"{name}.py"
    spec = spec_from_file_location(f"{__name__}{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
