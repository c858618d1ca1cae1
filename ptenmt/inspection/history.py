"""How the trainings of runs went: their curves over steps, epochs or minutes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ptenmt.errors import PtenmtError, RunError
from ptenmt.history import History
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.pictures import Line, LinePlot
from ptenmt.run_facts import needed_facts
from ptenmt.runs import Run, find_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Axis = Literal["steps", "epochs", "minutes"]

_TITLES = {
    "loss": ("Loss", "nats a token"),
    "accuracy": ("Token accuracy", "share of tokens"),
    "bleu": ("BLEU", ""),
    "chrf": ("chrF", ""),
    "rate": ("Learning rate", ""),
    "speed": ("Speed", "tokens/s"),
}
QUANTITIES = tuple(_TITLES)
_Told = dict[str, Any]  # a line of history.jsonl


@dataclass(frozen=True)
class _Past:
    """What a run's history tells."""

    run: Run
    curve: list[_Told]
    validations: list[_Told]

    @classmethod
    def of(cls, run: Run) -> "_Past":
        history = History(run.path)
        past = cls(run, history.curve(), history.validations())
        if not past.curve and not past.validations:
            raise RunError(
                f"{run.path} has no history: nothing was trained or validated in it",
                "train it, or name another with --run",
            )
        return past

    @property
    def points(self) -> list[_Told]:
        """Of the curves; runs that were trained before there were any have the means of their epochs."""
        return self.curve or [line | line.get("train", {}) for line in self.validations]

    def place(self, lines: Sequence[_Told], axis: Axis) -> np.ndarray:
        """Where lines stand on an axis."""
        steps = np.array([line["step"] for line in lines], float)
        if axis == "steps":
            return steps
        return steps / self._steps_per_epoch() if axis == "epochs" else self._minutes(steps)

    def _steps_per_epoch(self) -> float:
        known = needed_facts(self.run, ()).get("steps_per_epoch")
        if known is None and self.validations:
            known = self.validations[-1]["step"] / self.validations[-1]["epoch"]
        if not known:
            raise RunError(f"the history of {self.run.path} does not tell epochs", "draw it over steps")
        return float(known)

    def _minutes(self, steps: np.ndarray) -> np.ndarray:
        """The time that so many steps took, between known times and behind them in proportion."""
        timed = {line["step"]: sum(line["seconds"].values()) for line in self._lines() if "seconds" in line}
        if not timed:
            raise RunError(f"the history of {self.run.path} does not tell time", "draw it over steps")
        known = [0, *sorted(timed)]
        last, pace = known[-1], timed[known[-1]] / known[-1]
        behind = np.maximum(steps - last, 0) * pace
        return np.asarray(np.interp(steps, known, [timed.get(step, 0.0) for step in known]) + behind) / 60

    def _lines(self) -> list[_Told]:
        return [*self.curve, *self.validations]

    def lines(self, quantity: str, axis: Axis) -> list[Line]:
        """The lines of one plot, named ``training`` and ``validation``."""
        validated = [line["validation"] for line in self.validations]
        found = []
        if quantity == "speed":
            found.append(self._speed(axis))
        elif quantity == "rate":
            found.append(self._line("training", self.points, "learning_rate", self.points, axis))
        elif quantity in ("loss", "accuracy"):
            found.append(self._line("training", self.points, quantity, self.points, axis))
        if quantity not in ("speed", "rate"):
            found.append(self._line("validation", validated, quantity, self.validations, axis))
        return [line for line in found if np.isfinite(line.y).any()]

    def _line(self, name: str, values: Sequence[_Told], key: str, lines: Sequence[_Told], axis: Axis) -> Line:
        """One figure of each line; null, for what was not finite, is a gap."""
        numbers = [value.get(key) for value in values]
        y = np.array([np.nan if number is None else number for number in numbers], float)
        return Line(name=name, x=self.place(lines, axis), y=y, has_marks=name == "validation")

    def _speed(self, axis: Axis) -> Line:
        """Real target tokens a second of learning, validations and saving not counted."""
        told = [line for line in self.curve if "tokens" in line and "seconds" in line]
        spent = np.array([line["seconds"]["data"] + line["seconds"]["step"] for line in told])
        learnt = np.array([line["tokens"] for line in told], float)
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = learnt / np.diff(spent, prepend=0.0)
        return Line(name="training", x=self.place(told, axis), y=np.where(speed > 0, speed, np.nan))


def history_plots(
    runs: Sequence[Run], axis: Axis = "steps", quantities: Sequence[str] = ()
) -> list[LinePlot]:
    """The curves of one run or several, a plot a quantity; its title names the runs that do not tell it.

    Args:
        runs: At least one.
        axis: What is counted across.
        quantities: What to plot, of ``QUANTITIES``; by default all that any of the runs tells.

    Raises:
        PtenmtError: There is no such quantity.
        RunError: A run has no history, or none of them tells a quantity that is asked for.
    """
    unknown = [quantity for quantity in quantities if quantity not in QUANTITIES]
    if unknown:
        raise PtenmtError(f"a history has no {unknown[0]}", f"it may have {', '.join(QUANTITIES)}")
    pasts = [_Past.of(run) for run in runs]
    plots = []
    for quantity in quantities or QUANTITIES:
        found = [past.lines(quantity, axis) for past in pasts]
        lines = [
            replace(line, name=_name(past, line, pasts), colour=2 * number + (not line.has_marks))
            for number, (past, told) in enumerate(zip(pasts, found, strict=True))
            for line in told
        ]
        if lines:
            title, unit = _TITLES[quantity]
            silent = [past.run.name for past, told in zip(pasts, found, strict=True) if not told]
            note = f" (not told by {', '.join(silent)})" if silent else ""
            plots.append(LinePlot(title=f"{title}{note}", x_name=axis, y_name=unit, lines=lines))
        elif quantities:
            names = ", ".join(str(run.path) for run in runs)
            raise RunError(
                f"no {quantity} in the history of {names}", "leave out --show to see what there is"
            )
    return plots


def history_figure(
    runs: Sequence[str | Path | Run], axis: Axis = "steps", quantities: Sequence[str] = ()
) -> "Figure":
    """Draw ``history_plots`` side by side; of the arguments, runs may be names or folders too.

    Raises:
        PtenmtError: As there, or there is no such run.
    """
    found = [run if isinstance(run, Run) else find_run(run) for run in runs]
    return draw(history_plots(found, axis, quantities), columns=2)


def _name(past: _Past, line: Line, pasts: Sequence[_Past]) -> str:
    return line.name if len(pasts) == 1 else f"{past.run.name}, {line.name}"
