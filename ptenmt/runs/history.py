"""Training history: ``history.jsonl`` in the run directory, one JSON object per line.

A line is a validation (it has ``validation``) or a point of the training curves.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptenmt.atomic_files import json_text, output_errors, write_text

NOTHING = "–"
"""Shown in place of a missing value."""

_MAX_LOSS = 20.0  # nats per token; exp(20) is 5e8


class History:
    """The validations and the training curves of the run in a folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "history.jsonl"

    def validations(self) -> list[dict[str, Any]]:
        """The validations so far, oldest first."""
        return [line for line in self._lines() if "validation" in line]

    def curve(self) -> list[dict[str, Any]]:
        """The points of the training curves so far, oldest first: means since the point before."""
        return [line for line in self._lines() if "validation" not in line]

    def best(self, metric: str) -> dict[str, Any] | None:
        """The validation of the best model by ``validation.metric``, the earliest of equals, if any."""

        def quality(line: dict[str, Any]) -> tuple[float, float, int]:
            scores = line["validation"]
            return *rank(metric, scores.get(metric), scores.get("loss")), -line["step"]

        return max(self.validations(), key=quality, default=None)

    def last(self) -> dict[str, Any] | None:
        """The newest line of either kind, if there is one."""
        return next(reversed(list(self._lines())), None)

    def add(self, line: dict[str, Any]) -> None:
        """Append a line; figures that are not finite become null. Raises OutputError."""
        with output_errors(f"write {self._file}"), self._file.open("a", encoding="utf-8") as stream:
            stream.write(json_text(line) + "\n")

    def forget_after(self, step: int, validated: int) -> None:
        """Drop the lines after a checkpoint, at global step ``step``, and its last validation."""
        if not self._file.exists():
            return
        last = {True: validated, False: step}
        kept = [line for line in self._lines() if line["step"] <= last["validation" in line]]
        text = "".join(json_text(line) + "\n" for line in kept)
        if text.encode() != self._file.read_bytes():
            write_text(self._file, text)

    def _lines(self) -> Iterator[dict[str, Any]]:
        """All lines up to one that is incomplete, such as a killed training leaves at the end."""
        if not self._file.exists():
            return
        for text in self._file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                return
            if not isinstance(line, dict) or not isinstance(line.get("step"), int):
                return
            yield line


def rank(metric: str, score: float | None, loss: float | None) -> tuple[float, float]:
    """A key that sorts models by score, then by loss, the best last; NaN comes first.

    Of the metrics, only ``loss`` is better when lower.
    """
    by_score = math.nan if score is None else score
    by_loss = math.nan if loss is None else loss
    ranks = (-by_score if metric == "loss" else by_score, -by_loss)
    return tuple(-math.inf if math.isnan(value) else value for value in ranks)  # type: ignore[return-value]


def perplexity(loss: float | None) -> float | None:
    """exp(loss), the effective branching factor; None where the loss is missing, not finite, or above 20."""
    return None if loss is None or not loss < _MAX_LOSS else math.exp(loss)
