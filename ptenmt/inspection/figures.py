"""The panels of figures as data: heat maps, line plots and tables; those of training and of positions.

``ptenmt.inspection.drawing`` draws them with matplotlib, the command line in the terminal.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ptenmt.config import Config, TrainingConfig
from ptenmt.config.schedule import learning_rate, num_warmup_steps
from ptenmt.errors import ConfigError, OutputError, PtenmtError, RunError
from ptenmt.model.numpy_transformer import positional_encoding
from ptenmt.runs import History, Run, find_run

Palette = Literal["blues", "reds", "greys", "diverging"]
Axis = Literal["steps", "epochs", "minutes"]

_TITLES = {
    "loss": ("Loss", "nats per token"),
    "accuracy": ("Token accuracy", "share of tokens"),
    "bleu": ("BLEU", ""),
    "chrf": ("chrF", ""),
    "rate": ("Learning rate", ""),
    "speed": ("Speed", "tokens/s"),
}
_Record = dict[str, Any]  # a line of history.jsonl

_MAX_POINTS = 1000
_WARMUPS_SHOWN = 5
_MIN_STEPS_SHOWN = 100


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Numbers as colours."""

    title: str
    values: np.ndarray
    """[rows, columns]"""
    low: float = 0.0
    """The value, and everything below it, that has the first colour of the palette."""
    high: float = 1.0
    """The value, and everything above it, that has the last colour."""
    palette: Palette = "blues"
    row_name: str = ""
    column_name: str = ""
    row_labels: Sequence[str] = ()
    """E.g. tokens. Rows without labels are numbered from 0."""
    column_labels: Sequence[str] = ()
    """As for rows; there are both or neither."""
    has_numbers: bool = False
    """Whether the cells show the numbers, rounded to integers."""
    marks: Sequence[tuple[int, int]] = ()
    """(row, column) of cells to mark, if rows and columns are labelled."""

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return int(self.values.shape[1])

    def first(self, max_rows: int, max_columns: int) -> "HeatMap":
        """Keep the first rows and columns; the title mentions it if there are more."""
        counts = (("rows", max_rows, self.num_rows), ("columns", max_columns, self.num_columns))
        parts = [f"the first {kept} of {count} {name}" for name, kept, count in counts if kept < count]
        if not parts:
            return self
        return replace(
            self,
            title=f"{self.title} ({', '.join(parts)})",
            values=self.values[:max_rows, :max_columns],
            row_labels=self.row_labels[:max_rows],
            column_labels=self.column_labels[:max_columns],
            marks=[(row, column) for row, column in self.marks if row < max_rows and column < max_columns],
        )


@dataclass(frozen=True, kw_only=True)
class Line:
    """Points joined in their order."""

    name: str
    """For the legend; a line without a name is not in it."""
    x: np.ndarray
    """[points]"""
    y: np.ndarray
    """[points]; NaN leaves a gap."""
    has_marks: bool = False
    colour: int | None = None
    """Equal numbers are drawn alike in every plot; an even number and the next are a pair (dark, light).
    By default a line is coloured by its place."""


@dataclass(frozen=True, kw_only=True)
class LinePlot:
    """Lines over one axis."""

    title: str
    x_name: str
    y_name: str
    lines: Sequence[Line]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of texts, perhaps under a header."""

    title: str
    rows: Sequence[Sequence[str]]
    header: Sequence[str] = ()
    numbers: Collection[int] = ()
    """The right-aligned columns."""
    note: str = ""
    """An explanation, for reports."""


Panel = HeatMap | LinePlot | Table


def figure_format(file: Path) -> str:
    """The format of a file name's extension: ``png``, ``svg`` or ``pdf``; OutputError if it is another."""
    extension = file.suffix.lower().removeprefix(".")
    if extension not in ("png", "svg", "pdf"):
        raise OutputError(
            f"cannot draw {file}: its name must end in .png, .svg or .pdf", f"such as {file.stem}.png"
        )
    return extension


def history_plots(runs: Sequence[str | Path | Run], axis: Axis = "steps") -> list[LinePlot]:
    """The curves of one or several runs, one plot per quantity; its title names the runs that lack it.

    Raises RunError if a run has no history.
    """
    found = [find_run(run) for run in runs]
    records = [
        _RunRecords(run, axis, prefix="" if len(found) == 1 else f"{run.name}, ", number=number)
        for number, run in enumerate(found)
    ]
    plots = []
    for quantity, (title, unit) in _TITLES.items():
        of_runs = [record.lines(quantity) for record in records]
        without = [run.name for run, lines in zip(found, of_runs, strict=True) if not lines]
        note = f" (not recorded by {', '.join(without)})" if without else ""
        if lines := list(chain.from_iterable(of_runs)):
            plots.append(LinePlot(title=f"{title}{note}", x_name=axis, y_name=unit, lines=lines))
    return plots


class _RunRecords:
    """The records of one run's training as lines over an axis."""

    def __init__(self, run: Run, axis: Axis, *, prefix: str, number: int) -> None:
        history = History(run.path)
        self._axis, self._prefix, self._number = axis, prefix, number
        self._run, self._steps_per_epoch = run, run.steps_per_epoch()
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
        return Line(
            name=f"{self._prefix}{name}",
            x=self._places(records),
            y=y,
            has_marks=name == "validation",
            colour=2 * self._number + (name == "training"),
        )

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
            if self._steps_per_epoch is None:
                raise RunError(f"epochs of {self._run.path} differ in length", "plot it over steps")
            return steps / self._steps_per_epoch
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


def positions_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """The positional encoding: a row per position, from 0, a column per dimension.

    Raises PtenmtError for an odd number of dimensions.
    """
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
