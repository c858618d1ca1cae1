"""Plots of training curves, learning-rate schedules and the positional encoding."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ptenmt.config import Config, TrainingConfig
from ptenmt.config.schedule import learning_rate, num_warmup_steps
from ptenmt.errors import ConfigError, PtenmtError, RunError
from ptenmt.inspection.figures import HeatMap, Line, LinePlot
from ptenmt.model.positions import positional_encoding
from ptenmt.runs import Run, find_run
from ptenmt.runs.history import History

Axis = Literal["steps", "epochs", "minutes"]

_TITLES = {
    "loss": ("Loss", "nats per token"),
    "accuracy": ("Token accuracy", "share of tokens"),
    "bleu": ("BLEU", ""),
    "chrf": ("chrF", ""),
    "rate": ("Learning rate", ""),
    "speed": ("Speed", "tokens/s"),
}
QUANTITIES = tuple(_TITLES)
_Record = dict[str, Any]  # a line of history.jsonl

_MAX_POINTS = 1000
_WARMUPS_SHOWN = 5
_MIN_STEPS_SHOWN = 100


def history_plots(
    runs: Sequence[str | Path | Run], axis: Axis = "steps", quantities: Sequence[str] = ()
) -> list[LinePlot]:
    """The curves of one or several runs, one plot per quantity; its title names the runs that lack it.

    ``quantities`` are of ``QUANTITIES``, by default all that any of the runs has recorded. Raises PtenmtError
    for another, RunError if a run has no history, or none of them has recorded a requested quantity.
    """
    unknown = [quantity for quantity in quantities if quantity not in QUANTITIES]
    if unknown:
        raise PtenmtError(f"a history has no {unknown[0]}", f"choose from {', '.join(QUANTITIES)}")
    found = [find_run(run) for run in runs]
    records = [_RunRecords(run, axis) for run in found]
    plots = []
    for quantity in quantities or QUANTITIES:
        of_runs = [record.lines(quantity) for record in records]
        lines = [
            replace(
                line,
                name=line.name if len(found) == 1 else f"{run.name}, {line.name}",
                colour=2 * number + (line.name == "training"),
            )
            for number, (run, of_run) in enumerate(zip(found, of_runs, strict=True))
            for line in of_run
        ]
        if lines:
            title, unit = _TITLES[quantity]
            without = [run.name for run, of_run in zip(found, of_runs, strict=True) if not of_run]
            note = f" (not recorded by {', '.join(without)})" if without else ""
            plots.append(LinePlot(title=f"{title}{note}", x_name=axis, y_name=unit, lines=lines))
        elif quantities:
            names = ", ".join(str(run.path) for run in found)
            raise RunError(
                f"no {quantity} in the history of {names}", "leave out --show to see what was recorded"
            )
    return plots


class _RunRecords:
    """The records of one run's training as lines over an axis."""

    def __init__(self, run: Run, axis: Axis) -> None:
        history = History(run.path)
        self._axis = axis
        self._steps_per_epoch = run.steps_per_epoch()
        self._curve, self._validations = history.curve(), history.validations()
        if not self._curve and not self._validations:
            raise RunError(
                f"{run.path} has no history: nothing was trained or validated in it",
                "train it, or choose another with --run",
            )

    def lines(self, quantity: str) -> list[Line]:
        """The lines of one plot, named ``training`` and ``validation``; none if nothing was recorded."""
        lines = []
        if quantity in ("loss", "accuracy", "rate", "speed"):
            key = "learning_rate" if quantity == "rate" else quantity
            values = self._speeds() if quantity == "speed" else [point[key] for point in self._curve]
            lines.append(self._line("training", self._curve, values))
        if quantity not in ("rate", "speed"):
            scores = [line["validation"].get(quantity) for line in self._validations]
            lines.append(self._line("validation", self._validations, scores))
        return [line for line in lines if np.isfinite(line.y).any()]

    def _line(self, name: str, records: Sequence[_Record], values: Sequence[float | None]) -> Line:
        y = np.array(values, float)  # None becomes NaN
        return Line(name=name, x=self._places(records), y=y, has_marks=name == "validation")

    def _speeds(self) -> list[float]:
        """Real target tokens per second of training, without validation and saving."""
        seconds = [point["seconds"]["data"] + point["seconds"]["step"] for point in self._curve]
        return [
            point["tokens"] / duration
            for point, duration in zip(self._curve, np.diff(seconds, prepend=0.0), strict=True)
        ]

    def _places(self, records: Sequence[_Record]) -> np.ndarray:
        """The x coordinates of records."""
        steps = np.array([record["step"] for record in records], float)
        if self._axis == "epochs":
            return np.array([self._steps_per_epoch.position(record["step"]) for record in records], float)
        if self._axis == "steps":
            return steps
        # A validation after the record of the same step has taken longer.
        seconds = {line["step"]: sum(line["seconds"].values()) for line in [*self._curve, *self._validations]}
        return np.array([seconds[int(step)] / 60 for step in steps], float)


def schedule_plot(config: Config, steps: int | None = None) -> LinePlot:
    """The learning rate of every update, before anything is trained.

    ``steps`` is the number of updates in the whole training, by default ``training.max_steps``; without that,
    five times the warm-up. Raises ConfigError if the schedule depends on the length, which is unknown.
    """
    options = config.training
    total = steps or options.max_steps or _default_steps(options)
    warmup = num_warmup_steps(options, total)
    points = np.linspace(1, total, min(total, _MAX_POINTS)).round()
    at = np.union1d(points, [warmup] if 1 <= warmup <= total else [])
    rates = learning_rate(at, options, config.model.d_model, total, np)
    peak = int(np.argmax(rates))
    return LinePlot(
        title=f"Learning rate ({options.schedule}): {rates[peak]:.4g} at step {at[peak]:,.0f}, "
        f"{rates[-1]:.4g} at step {total:,}",
        x_name="step",
        y_name="",
        lines=[Line(name="", x=at, y=rates)],
    )


def _default_steps(options: TrainingConfig) -> int:
    """Enough to show the warm-up and the decay."""
    if options.schedule == "cosine" or options.warmup_steps is None:
        option = "training.schedule=cosine" if options.schedule == "cosine" else "training.warmup_fraction"
        raise ConfigError(
            f"{option}: this schedule depends on how many steps the training has",
            "give --steps N; ptenmt train --dry-run counts them",
        )
    return max(_WARMUPS_SHOWN * options.warmup_steps, _MIN_STEPS_SHOWN)


# Positions


def positions_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """The positional encoding: a row per position, from 0, a column per dimension, an even number of them.

    Raises PtenmtError for other numbers.
    """
    if num_positions < 1:
        raise PtenmtError(f"cannot draw {num_positions} positions", "give 1 or more")
    if d_model < 2 or d_model % 2:
        raise PtenmtError(f"cannot draw {d_model} dimensions", "give an even number, 2 or more")
    return HeatMap(
        title="Positional encoding",
        values=positional_encoding(num_positions, d_model),
        low=-1.0,
        palette="diverging",
        row_name="position",
        column_name="dimension",
    )
