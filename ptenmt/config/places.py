"""Configs for others, who have other folders."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from ptenmt.config import Config


def without_places(config: Config) -> Config:
    """The same options, but nothing of the machine's folders: of the files of a corpus, the names alone."""
    anywhere: Config = _without_places(config)
    return anywhere


def _without_places(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_without_places, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for option in fields(value):
        found = getattr(value, option.name)
        if option.metadata.get("storage"):
            changed[option.name] = option.default
        elif option.metadata.get("path"):
            changed[option.name] = found and Path(found).name
        else:
            changed[option.name] = _without_places(found)
    return replace(value, **changed)
