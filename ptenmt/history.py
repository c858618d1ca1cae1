"""What a training told, line by line: ``history.jsonl`` in the run directory."""

import json
import math
from itertools import takewhile
from pathlib import Path
from typing import Any

from ptenmt.atomic_files import json_text, write_text
from ptenmt.errors import OutputError

_GROUPS = {
    "train": frozenset[str](),
    "validation": frozenset[str](),
    "seconds": frozenset({"data", "step"}),
}
"""Figures that a line tells together, and those of them that are always there."""


class History:
    """The validations and the points of the training curves of one run, a JSON object a line.

    Args:
        folder: The run directory.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "history.jsonl"

    def validations(self) -> list[dict[str, Any]]:
        """The validations so far, oldest first."""
        return [line for line in self._lines() if "validation" in line]

    def curve(self) -> list[dict[str, Any]]:
        """The points of the training curves so far, oldest first: means since the point before."""
        return [line for line in self._lines() if "validation" not in line]

    def best(self, metric: str) -> dict[str, Any] | None:
        """The validation of the best model, the earliest of equals; None if there has been none.

        Args:
            metric: As ``validation.metric``.
        """
        return max(self.validations(), key=lambda line: _rank_of(metric, line), default=None)

    def last(self) -> dict[str, Any] | None:
        """The newest line of either kind, if there is one."""
        lines = self._lines()
        return lines[-1] if lines else None

    def add(self, line: dict[str, Any]) -> None:
        """Append a line, null for a figure that is not finite.

        Raises:
            OutputError: It cannot be written.
        """
        try:
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(json_text(line) + "\n")
        except OSError as error:
            raise OutputError(f"cannot write {self._file}: {error.strerror or error}") from error

    def forget_after(self, step: int, validated: int) -> None:
        """Drop what a training wrote after its last checkpoint, before it was killed.

        Args:
            step: Of the checkpoint, in all.
            validated: The step of the last validation that the checkpoint knows of.
        """
        if not self._file.exists():
            return
        ends = {True: validated, False: step}
        kept = [line for line in self._lines() if line["step"] <= ends["validation" in line]]
        text = "".join(json_text(line) + "\n" for line in kept)
        if text.encode() != self._file.read_bytes():
            write_text(self._file, text)

    def _lines(self) -> list[dict[str, Any]]:
        """All lines up to a damaged one, such as a kill leaves at the end."""
        if not self._file.exists():
            return []
        texts = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        return list(takewhile(_is_whole, map(_line_of, texts)))


def _line_of(text: str) -> Any:
    """What a line of the file says; None if it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_whole(line: Any) -> bool:
    """Whether a line is such as a training tells: a step, figures, and groups of figures."""
    if not isinstance(line, dict) or type(line.get("step")) is not int:
        return False
    if "validation" in line and type(line.get("epoch")) is not int:
        return False
    return all(
        _are_figures(value, _GROUPS[name]) if name in _GROUPS else _is_figure(value)
        for name, value in line.items()
    )


def _are_figures(group: Any, needed: frozenset[str]) -> bool:
    """Whether it is figures by name, those that are needed among them, and these are numbers."""
    return (
        isinstance(group, dict)
        and all(map(_is_figure, group.values()))
        and all(group.get(name) is not None for name in needed)
    )


def _is_figure(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def rank(metric: str, score: float | None, loss: float | None) -> tuple[float, float]:
    """How good a model is, to be compared: by its score, then by its loss; what is no number is worst."""
    by_score = math.nan if score is None else score
    by_loss = math.nan if loss is None else loss
    ranks = (-by_score if metric == "loss" else by_score, -by_loss)
    return tuple(-math.inf if math.isnan(each) else each for each in ranks)  # type: ignore[return-value]


def _rank_of(metric: str, line: dict[str, Any]) -> tuple[float, float, int]:
    scores = line["validation"]
    return (*rank(metric, scores.get(metric), scores.get("loss")), -line["step"])
