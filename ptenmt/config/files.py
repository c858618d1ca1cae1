"""Reading and writing configs: YAML and ``--set`` overrides in, checked dataclasses out."""

import math
import types
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from ptenmt.config import Config, CorpusFile, DecodingConfig, config_folders
from ptenmt.errors import ConfigError


def load_config(name: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Load a config by path or preset name and apply overrides to it.

    Args:
        name: A YAML file, or the name of one (``base`` or ``base.yaml``) in ``./configs`` or among
            the presets that come with ptenmt.
        overrides: ``section.option=value`` each, the value read as YAML; later ones win.

    Raises:
        ConfigError: The file is missing or no YAML mapping, or an option is unknown or unfit.
    """
    path = find_config(name)
    values = _read_yaml(path)
    _find_beside(path.parent, values)
    for override in overrides:
        _apply_override(values, override)
    try:
        return build_config(values)
    except ConfigError as error:
        where = f"{path} with --set" if overrides else str(path)
        raise ConfigError(f"{where}: {error.message}", error.hint) from error


def override_decoding(decoding: DecodingConfig, overrides: Sequence[str]) -> DecodingConfig:
    """Change how a trained model translates.

    Args:
        decoding: The options of its run.
        overrides: ``decoding.option=value`` each, the value read as YAML; later ones win.

    Raises:
        ConfigError: An option is unknown or unfit, or of another section.
    """
    values: dict[str, Any] = {"decoding": asdict(decoding)}
    others = {option.name for option in fields(Config)} - {"decoding"}
    for override in overrides:
        if override.partition("=")[0].partition(".")[0].strip() in others:
            raise ConfigError(
                f"--set {override}: of a trained model only the section decoding can be changed",
                f"options: {', '.join(f'decoding.{name}' for name in values['decoding'])}",
            )
        _apply_override(values, override)
    changed: DecodingConfig = _build(DecodingConfig, values["decoding"], "decoding.")
    return changed


def find_config(name: str | Path) -> Path:
    """Find the YAML file that ``--config`` means.

    Raises:
        ConfigError: There is no such file.
    """
    given = Path(name).expanduser()
    if given.is_file():
        return given
    file_name = given.name if given.suffix in {".yaml", ".yml"} else f"{given.name}.yaml"
    if given.parent == Path():
        for folder in config_folders():
            if (folder / file_name).is_file():
                return folder / file_name
    presets = sorted({path.name for folder in config_folders() for path in folder.glob("*.yaml")})
    raise ConfigError(f"config {name} not found", f"a path, or one of: {', '.join(presets)}")


def build_config(values: Mapping[str, Any]) -> Config:
    """Turn a nested mapping of plain values into a checked config.

    Raises:
        ConfigError: An option is unknown (the nearest is suggested), mistyped or out of range.
    """
    config: Config = _build(Config, values, "")
    return config


def dump_config(config: Config) -> str:
    """The YAML text of every option of a config, defaults included."""
    return yaml.safe_dump(_plain(asdict(config)), sort_keys=False, allow_unicode=True)


def flat_options(config: Config) -> dict[str, Any]:
    """Every option's value by its dotted name, e.g. ``{"seed": 42, "model.dropout": 0.1, …}``."""
    values = asdict(config)
    return {name: _get(values, name) for name, _ in _options(Config)}


def storage_options() -> set[str]:
    """The names of the options that say where on this machine something is kept, and nothing else."""
    return {name for name, option in _options(Config) if option.metadata.get("storage")}


def fixed_differences(wanted: Config, trained: Config) -> list[str]:
    """Options that differ and may not when a training is resumed, as ``name: old → new`` lines."""
    new, old = flat_options(wanted), flat_options(trained)
    return [
        f"{name}: {show_value(old[name])} → {show_value(new[name])}"
        for name, option in _options(Config)
        if not option.metadata.get("resumable") and new[name] != old[name]
    ]


def show_value(value: Any) -> str:
    """An option's value on one line, as one would write it in YAML."""
    text = yaml.safe_dump(_plain(value), default_flow_style=True, allow_unicode=True, width=math.inf)
    return " ".join(text.removesuffix("...\n").split())


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _StrictLoader)  # noqa: S506 — a SafeLoader
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read config {path}: {error}") from error
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise ConfigError(f"{path} is not valid YAML: {problem}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold sections such as 'model:', not {show_value(values)}")
    return values


def _find_beside(folder: Path, values: dict[str, Any]) -> None:
    """Take the file that ``data.path`` names from the config's own folder, if it is there and not in ours."""
    data = values.get("data")
    if not isinstance(data, dict):
        return
    name = data.get("path")
    if isinstance(name, str) and not Path(name).expanduser().exists() and (folder / name).is_file():
        values["data"] = data | {"path": str(folder / name)}


class _StrictLoader(yaml.SafeLoader):
    """A safe YAML loader to which a key given twice is an error, not a silent overwrite."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys: list[Any] = []
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue  # <<: *anchor, whose keys may be given anew
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                line = key_node.start_mark.line + 1
                raise yaml.YAMLError(f"option {key} is given twice, again in line {line}")
            keys.append(key)
        return super().construct_mapping(node, deep)


def _apply_override(values: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    name = name.strip()
    if not equals or not name:
        raise ConfigError(f"--set {override} is not of the form section.option=value")
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


def _build(kind: type, values: Any, prefix: str) -> Any:
    """Build dataclass ``kind`` from a mapping; ``prefix`` is its dotted name with a final dot."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{prefix.rstrip('.') or 'a config'} must hold options, not {show_value(values)}")
    hints = get_type_hints(kind)
    options = {option.name: option for option in fields(kind)}
    arguments = {}
    for key, value in values.items():
        if key not in options:
            raise _unknown(f"{prefix}{key}", [f"{prefix}{option}" for option in options])
        if value is None and is_dataclass(hints[key]):
            continue
        arguments[key] = _coerce(hints[key], value, f"{prefix}{key}")
        if options[key].metadata.get("path") and arguments[key] is not None:
            arguments[key] = str(Path(arguments[key]).expanduser().absolute())
    return kind(**arguments)


def _coerce(kind: Any, value: Any, name: str) -> Any:
    """The value as ``kind``, or an error that names the option and both."""
    if is_dataclass(kind):
        return _build(kind, value, f"{name}.")  # type: ignore[arg-type]
    if get_origin(kind) is tuple:
        return _corpus_files(value, name)
    if get_origin(kind) in (Union, types.UnionType):
        return None if value is None else _coerce(get_args(kind)[0], value, name)
    if get_origin(kind) is Literal:
        # YAML reads the unquoted word none as text but NONE, null and ~ as nothing.
        if value in get_args(kind):
            return value
        raise ConfigError(f"{name}={show_value(value)} must be one of {', '.join(get_args(kind))}")
    return _scalar(kind, value, name)


def _scalar(kind: type, value: Any, name: str) -> bool | int | float | str:
    if kind is float and _is_number(value):
        return float(value)
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind is bool and isinstance(value, bool):
        return value
    if kind is str and isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    wanted = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}[kind]
    hint = ""
    if kind is str and isinstance(value, bool):
        hint = "YAML reads yes, no, on and off as true or false; as text they need quotes: 'no'"
    raise ConfigError(f"{name}={show_value(value)} must be {wanted}", hint)


def _is_number(value: Any) -> bool:
    """Whether a YAML value reads as a finite number; PyYAML takes ``1e-4`` for text."""
    if isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _corpus_files(value: Any, name: str) -> tuple[CorpusFile, ...]:
    """One entry or a list of entries; a bare string is a path."""
    entries = value if isinstance(value, list | tuple) else [] if value is None else [value]
    return tuple(
        _build(CorpusFile, {"path": entry} if isinstance(entry, str) else entry, f"{name}[{index}].")
        for index, entry in enumerate(entries)
    )


def _unknown(name: str, siblings: Sequence[str] = ()) -> ConfigError:
    """The error for a name that is no option; ``siblings`` are the options of the same section."""
    import difflib

    known = list(dict.fromkeys([*siblings, *(option for option, _ in _options(Config))]))
    # A right option in a wrong section is as near as a misspelt one in the right section.
    tails = {option.rpartition(".")[2]: option for option in reversed(known)}
    own_tail = name.rpartition(".")[2]
    near = [tails[own_tail]] if own_tail in tails else difflib.get_close_matches(name, known, 1, 0.75)
    near = near or [tails[tail] for tail in difflib.get_close_matches(own_tail, list(tails), 1, 0.75)]
    suggestion = f" — did you mean {near[0]}?" if near else ""
    hint = "" if near else f"options: {', '.join(siblings or known)}"
    return ConfigError(f"unknown option {name}{suggestion}", hint)


def _options(kind: type, prefix: str = "") -> Iterator[tuple[str, Field[Any]]]:
    """Every option below a config dataclass, as (dotted name, field)."""
    for option, hint in zip(fields(kind), get_type_hints(kind).values(), strict=True):
        if is_dataclass(hint) and option.default is not MISSING:
            yield from _options(hint, f"{prefix}{option.name}.")  # type: ignore[arg-type]
        else:
            yield f"{prefix}{option.name}", option


def _get(values: Mapping[str, Any], name: str) -> Any:
    for part in name.split("."):
        values = values[part]
    return values


def _plain(value: Any) -> Any:
    """The value with tuples as lists and unset parts of list entries left out, as YAML wants it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [{key: item for key, item in entry.items() if item is not None} for entry in value]
    return value
