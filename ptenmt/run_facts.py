"""Reading ``run.json`` with a check that the needed entries are there and of the right type."""

from collections.abc import Collection
from typing import Any

from ptenmt.atomic_files import json_text
from ptenmt.errors import RunError
from ptenmt.runs import UNITS, Run

_KINDS: dict[str, type | tuple[type, ...]] = {
    "created": str,
    "trained": str,
    "versions": dict,
    "data": dict,
    "vocabulary_sizes": list,
    "parameters": int,
    "steps_per_epoch": (int, float),
    "train": dict,
    "validation": dict,
    "test": dict,
    "pairs": int,
    "windows": int,
    "fingerprint": str,
}
"""The types of the entries that training writes, at any level."""
_SPLITS = ("train", "validation", "test")


def needed_facts(run: Run, needed: Collection[str]) -> dict[str, Any]:
    """The content of ``run.json``.

    Args:
        run: The run directory.
        needed: The entries that must be there. ``data`` must have the training split.

    Raises:
        RunError: It or ``config.yaml`` is damaged: an entry is missing, or of the wrong type.
    """
    facts, unit = run.facts(), UNITS[run.config().task]
    try:
        _check(facts, needed)
        if "data" in facts:
            _check(facts["data"], ["train"])
            for split in filter(None, map(facts["data"].get, _SPLITS)):
                _check(split, [unit, "fingerprint"])
    except ValueError as error:
        raise RunError(f"{run.path / 'run.json'} is damaged: {error}") from error
    return facts


def _check(facts: dict[str, Any], needed: Collection[str]) -> None:
    """Raise ValueError if an entry is missing or of the wrong type."""
    missing = sorted(set(needed) - facts.keys())
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    wrong = [name for name, value in facts.items() if not isinstance(value, _KINDS.get(name, object))]
    if wrong:
        raise ValueError(f"its {wrong[0]} cannot be {json_text(facts[wrong[0]])[:40]}")
