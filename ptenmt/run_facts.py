"""What ``run.json`` says, for those who show it: all that they need, each of its kind."""

from collections.abc import Collection
from typing import Any

from ptenmt.atomic_files import json_text
from ptenmt.errors import RunError
from ptenmt.runs import Run
from ptenmt.tasks import UNITS

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
"""Of what a training writes, whatever it is in."""
_SPLITS = ("train", "validation", "test")


def needed_facts(run: Run, needed: Collection[str]) -> dict[str, Any]:
    """What ``run.json`` says.

    Args:
        run: Whose.
        needed: The facts that must be there. Of ``data``, the training pairs must be.

    Raises:
        RunError: It is damaged: one is missing, or is not of its kind. Or ``config.yaml`` is.
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
    """Raise ValueError if something is missing, or is not of its kind."""
    missing = sorted(set(needed) - facts.keys())
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    wrong = [name for name, value in facts.items() if not isinstance(value, _KINDS.get(name, object))]
    if wrong:
        raise ValueError(f"its {wrong[0]} cannot be {json_text(facts[wrong[0]])[:40]}")
