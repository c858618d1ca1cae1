"""Reading and writing configs: YAML and ``--set`` overrides to checked dataclasses, and back."""

import difflib
import logging
import math
import types
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, asdict, fields, is_dataclass, replace
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import yaml

from ptenmt.config.schema import Config, CorpusFile, DecodingConfig
from ptenmt.errors import ConfigError, did_you_mean

logger = logging.getLogger(__name__)
_type_hints = cache(get_type_hints)

_REMOVED = {
    "data.filters.same_numbers": "OpusFilter compares numbers",
    "data.filters.same_urls": "OpusFilter compares URLs",
    "data.filters.balanced_brackets": "OpusFilter counts brackets",
    "data.archive_url": "put the archive where the error of ptenmt download says",
    "data.limit": "limit of each file, or training.max_steps",
    "data.short_windows": "model.prediction=causal learns from every prefix",
    "data.stages": "weight of each file; --init-from for another mixture at the end",
    "tokenizer.sampling": "data.augment.typos, model.word_dropout",
    "tokenizer.sha256": "vocabularies are verified as they are read",
    "tokenizer.url": "tokenizer.path",
    "checkpoint.keep_best": "ptenmt average --last K",
    "decoding.coverage_penalty": "decoding.length_penalty",
    "training.bidirectional": "--init-from a run of the reverse direction",
    "training.tensorboard": "ptenmt inspect history",
}
"""Options of older versions, without effect, which configs and runs may still name; what replaces them."""
_REMOVED_VALUES = {"machine.precision=mixed_float16": "float32"}
"""Values of older versions, and those that runs and configs are read with."""


def config_folders() -> list[Path]:
    """Folders searched for a config by name: the user's ``configs``, then the installed presets."""
    package = Path(__file__).parent.parent
    installed = package / "configs"
    return [Path("configs"), installed if installed.is_dir() else package.parent / "configs"]


def config_names() -> list[str]:
    """File names of all configs that can be given by name."""
    return sorted({path.name for folder in config_folders() for path in folder.glob("*.yaml")})


def load_config(name: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Load a config and apply overrides to it.

    ``name`` is a YAML file, or the name of one (``base``, ``base.yaml``) in ``./configs`` or the presets; the
    ``overrides`` are ``section.option=value`` each, the value read as YAML; later ones win.

    Raises:
        ConfigError: The file is missing or no YAML mapping, or an option is unknown or invalid.
    """
    path = find_config(name)
    shown = path.name if path.parent == config_folders()[1] else str(path)
    try:
        values = _read_yaml(path)
        for override in overrides:
            _apply_override(values, override)
        replaced = {**_REMOVED, **_REMOVED_VALUES}
        if removed := sorted(f"{name} ({way})" for name, way in replaced.items() if _has(values, name)):
            logger.warning("%s: no longer options, ignored or replaced: %s", shown, ", ".join(removed))
        try:
            return build_config(values, Path(), path.parent)
        except ConfigError as error:
            changed = {override.partition("=")[0].strip() for override in overrides}
            where = "--set" if error.message.partition("=")[0] in changed else f"{shown}:"
            raise ConfigError(f"{where} {error.message}", error.hint) from error
    except RecursionError as error:
        raise ConfigError(f"{shown} is nested too deeply, or refers to itself") from error


def override_decoding(decoding: DecodingConfig, overrides: Sequence[str]) -> DecodingConfig:
    """Apply overrides, ``decoding.option=value`` each, to the decoding options of a trained model.

    Raises ConfigError if an option is unknown or invalid, or of another section.
    """
    values: dict[str, Any] = {"decoding": asdict(decoding)}
    for override in overrides:
        _apply_override(values, override)
        if len(values) > 1:
            raise ConfigError(
                f"--set {override}: only the section decoding of a trained model can be changed",
                f"options: {', '.join(f'decoding.{name}' for name in values['decoding'])}",
            )
    return cast(DecodingConfig, _build(DecodingConfig, values["decoding"], "decoding."))


def find_config(name: str | Path) -> Path:
    """Find the YAML file that ``--config`` names; raises ConfigError if there is none."""
    given = Path(name).expanduser()
    if given.exists() and not given.is_dir():
        return given
    file_name = given.name if given.suffix in {".yaml", ".yml"} else f"{given.name}.yaml"
    if given.parent == Path():
        for folder in config_folders():
            if (folder / file_name).is_file():
                return folder / file_name
    problem = "is a folder" if given.is_dir() else "not found"
    if given.parent == Path() and not given.is_dir():
        problem += did_you_mean(given.stem, (name.removesuffix(".yaml") for name in config_names()), 0.7)
    raise ConfigError(f"config {name} {problem}", f"give a file, or one of: {', '.join(config_names())}")


def build_config(values: Mapping[str, Any], *folders: Path) -> Config:
    """Turn a nested mapping of plain values into a checked config; raises ConfigError.

    Relative paths in it start at the first of the ``folders`` that has the file, or at the first.
    """
    return cast(Config, _build(Config, values, "", folders or (Path(),)))


def dump_config(config: Config) -> str:
    """Write every option of a config as YAML, defaults included."""
    return yaml.safe_dump(_plain(asdict(config)), sort_keys=False, allow_unicode=True)


def flat_options(config: Config) -> dict[str, Any]:
    """Every option's value by its dotted name, e.g. ``{"seed": 42, "model.dropout": 0.1, …}``."""
    values = asdict(config)
    return {name: reduce(getitem, name.split("."), values) for name, _ in _options(Config)}


def fixed_differences(wanted: Config, trained: Config) -> list[str]:
    """Options that differ although a resumed training must keep them, as ``name: old → new`` lines."""
    new, old = flat_options(wanted), flat_options(trained)
    return [
        f"{name}: {show_value(old[name])} → {show_value(new[name])}"
        for name, option in _options(Config)
        if not option.metadata.get("resumable") and new[name] != old[name]
    ]


def show_value(value: Any) -> str:
    """Format an option's value as YAML on one line."""
    text = yaml.safe_dump(
        _plain(value), sort_keys=False, default_flow_style=True, allow_unicode=True, width=math.inf
    )
    return " ".join(text.removesuffix("...\n").split())


def without_paths(value: Any) -> Any:
    """Remove this machine's folders from a config, to publish it; corpus files keep their names."""
    if isinstance(value, tuple):
        return tuple(map(without_paths, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for option in fields(value):
        current = getattr(value, option.name)
        if option.metadata.get("storage"):
            changed[option.name] = option.default
        elif option.metadata.get("path"):
            changed[option.name] = current and Path(current).name
        else:
            changed[option.name] = without_paths(current)
    return replace(value, **changed)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.load(path.read_bytes(), _StrictLoader)  # a SafeLoader, which knows UTF-16 by its mark
    except OSError as error:
        raise ConfigError(f"cannot read config {path}: {error}") from error
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{path} is not text in UTF-8: {error.reason}", "save the file as UTF-8") from error
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        hint = "indent with spaces, not tabs" if "\\t" in str(error.problem) else ""
        raise ConfigError(f"{path}{line}: not valid YAML: {error.problem}", hint) from error
    if values is None:
        raise ConfigError(f"config {path} sets no option", "give a preset, such as base.yaml for TED talks")
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold sections such as 'model:', not {show_value(values)}")
    return values


def _located(path: str, folders: Sequence[Path]) -> str:
    """An absolute path: in the first of these folders that has the file, or in the first."""
    places = [folder.absolute() / Path(path).expanduser() for folder in folders]
    return str(next(filter(Path.is_file, places), places[0]))


class _StrictLoader(yaml.SafeLoader):
    """A safe YAML loader that rejects duplicate keys instead of using the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys: list[Any] = []
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue  # <<: *anchor, whose keys may be overridden
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                raise yaml.MarkedYAMLError(
                    problem=f"option {key} is given twice", problem_mark=key_node.start_mark
                )
            keys.append(key)
        return super().construct_mapping(node, deep)


def _has(values: Any, name: str) -> bool:
    """Whether nested values have an option with this dotted name, or ``name=value``."""
    section, _, rest = name.partition(".")
    section, _, value = section.partition("=")
    if not isinstance(values, dict) or section not in values:
        return False
    return _has(values[section], rest) if rest else value in ("", values[section])


def _apply_override(values: dict[str, Any], override: str) -> None:
    name, equals, text = map(str.strip, override.partition("="))
    if not equals or not name:
        raise ConfigError(f"--set {override} is not of the form section.option=value")
    if way := _REMOVED.get(name) or _REMOVED_VALUES.get(f"{name}={text}"):
        raise ConfigError(f"--set {override} is no longer an option", f"instead: {way}")
    if name not in dict(_options(Config)):
        raise _unknown(name)
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    *sections, option = name.split(".")
    for part in sections:
        if values.get(part) is None:
            values[part] = {}
        values = values[part]
        if not isinstance(values, dict):
            raise ConfigError(f"{part} must hold options, not {show_value(values)}")
    values[option] = value


def _build(kind: type, values: Any, prefix: str, folders: Sequence[Path] = ()) -> Any:
    """Build dataclass ``kind`` from a mapping; ``prefix`` is its dotted name with a final dot."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{prefix.rstrip('.') or 'a config'} must hold options, not {show_value(values)}")
    hints = _type_hints(kind)
    options = {option.name: option for option in fields(kind)}
    arguments = {}
    for key, value in values.items():
        if f"{prefix}{key}" in _REMOVED:
            continue
        if key not in options:
            raise _unknown(f"{prefix}{key}", [f"{prefix}{option}" for option in options])
        if value is None and is_dataclass(hints[key]):
            continue
        arguments[key] = _coerce(hints[key], value, f"{prefix}{key}", folders)
        if options[key].metadata.get("path") and arguments[key] is not None:
            arguments[key] = _located(arguments[key], folders)
    try:
        return kind(**arguments)
    except ConfigError as error:
        if not prefix.endswith("]."):  # a section, which names itself
            raise
        raise ConfigError(f"{prefix[:-1]}: {error.message}", error.hint) from error


def _coerce(kind: Any, value: Any, name: str, folders: Sequence[Path]) -> Any:
    """Convert a value to ``kind``, or raise an error that names the option and both."""
    if is_dataclass(kind):
        return _build(kind, value, f"{name}.", folders)  # type: ignore[arg-type]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _coerce(arguments[0], value, name, folders)
    if origin is Literal:
        # YAML reads the unquoted word none as text but NONE, null and ~ as nothing.
        value = _REMOVED_VALUES.get(f"{name}={value}", value)
        if value in arguments:
            return value
        raise ConfigError(f"{name}={show_value(value)} must be one of {', '.join(arguments)}")
    if origin is tuple:  # one entry or a list of entries; a corpus file may be given by its path alone
        entries = value if isinstance(value, list | tuple) else [] if value is None else [value]
        if arguments[0] is CorpusFile:
            entries = [{"path": entry} if isinstance(entry, str) else entry for entry in entries]
        return tuple(
            _build(arguments[0], entry, f"{name}[{index}].", folders) for index, entry in enumerate(entries)
        )
    return _scalar(kind, value, name)


def _scalar(kind: type, value: Any, name: str) -> bool | int | float | str:
    if isinstance(value, bool):
        if kind is bool:
            return value
    elif kind is float:
        with suppress(TypeError, ValueError, OverflowError):  # PyYAML reads 1e-4 as text
            if math.isfinite(number := float(value)):
                return number
    elif kind is int and isinstance(value, int):
        return value
    elif kind is str and isinstance(value, str | int | float):
        return str(value)
    wanted = {float: "a finite number", int: "a whole number", bool: "true or false", str: "text"}[kind]
    hint = ""
    if value is None and (option := dict(_options(Config)).get(name)):
        hint = f"leave it out, or set its default, {name}={show_value(option.default)}"
    if kind is str and isinstance(value, bool):
        hint = "YAML reads yes, no, on and off as true or false; as text they need quotes: 'no'"
    raise ConfigError(f"{name}={show_value(value)} must be {wanted}", hint)


def _unknown(name: str, siblings: Sequence[str] = ()) -> ConfigError:
    """The error for a name that is no option; ``siblings`` are the options of the same section."""
    known = [*siblings, *(option for option, _ in _options(Config))]
    if within := [option for option in known if option.startswith(f"{name}.")]:
        return ConfigError(f"{name} is a section, not an option", f"options: {', '.join(within)}")
    # Without the section: the right option in a wrong section is as near as a misspelt one in the right.
    tails = {option.rpartition(".")[2]: option for option in reversed(known)}
    if near := difflib.get_close_matches(name.rpartition(".")[2], list(tails), 1, 0.75):
        return ConfigError(f"unknown option {name} — did you mean {tails[near[0]]}?")
    section = [option for option in known if option.partition(".")[0] == name.partition(".")[0]]
    listed = siblings or section or dict.fromkeys(option.partition(".")[0] for option in known)
    return ConfigError(f"unknown option {name}", f"options: {', '.join(listed)}")


def _options(kind: type, prefix: str = "") -> Iterator[tuple[str, Field[Any]]]:
    """All options of a config dataclass, as (dotted name, field)."""
    for option, hint in zip(fields(kind), _type_hints(kind).values(), strict=True):
        if is_dataclass(hint) and option.default is not MISSING:
            yield from _options(hint, f"{prefix}{option.name}.")  # type: ignore[arg-type]
        else:
            yield f"{prefix}{option.name}", option


def _plain(value: Any) -> Any:
    """The value with tuples as lists and unset parts of list entries left out, as YAML wants it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [{key: item for key, item in entry.items() if item is not None} for entry in value]
    return value
