"""What a picture shows, whoever draws it: ``drawing.py`` into files, the command line into the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

Palette = Literal["blues", "reds", "greys", "diverging"]


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Numbers as colours."""

    title: str
    values: "np.ndarray"
    """[rows, columns]"""
    low: float = 0.0
    """What has the first colour of the palette, or anything below."""
    high: float = 1.0
    """What has the last colour, or anything above."""
    palette: Palette = "blues"
    row_name: str = ""
    column_name: str = ""
    row_labels: Sequence[str] = ()
    """Such as tokens; without any, rows are numbered from 0."""
    column_labels: Sequence[str] = ()
    """As for rows; there are both or neither."""
    has_numbers: bool = False
    """Whether the numbers, rounded to whole ones, stand in the cells."""
    marks: Sequence[tuple[int, int]] = ()
    """Rows and columns of cells that are pointed out, if rows and columns are labelled."""

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return int(self.values.shape[1])

    def first(self, most_rows: int, most_columns: int) -> "HeatMap":
        """The first rows and columns, for which there is room; the title says if these are not all."""
        counts = (("rows", most_rows, self.num_rows), ("columns", most_columns, self.num_columns))
        parts = [f"the first {most} of {count} {name}" for name, most, count in counts if most < count]
        if not parts:
            return self
        return replace(
            self,
            title=f"{self.title} ({', '.join(parts)})",
            values=self.values[:most_rows, :most_columns],
            row_labels=self.row_labels[:most_rows],
            column_labels=self.column_labels[:most_columns],
            marks=[(row, column) for row, column in self.marks if row < most_rows and column < most_columns],
        )


@dataclass(frozen=True, kw_only=True)
class Line:
    """Points that are joined in their order."""

    name: str
    """For the legend; without a name it is not in it."""
    x: "np.ndarray"
    """[points]"""
    y: "np.ndarray"
    """[points]; there is a gap where it is no number."""
    has_marks: bool = False
    """Whether each point is marked, because it stands for itself."""
    colour: int | None = None
    """The same number is the same colour in every plot; an even one and the next are akin. By default a line
    has the colour of its place."""


@dataclass(frozen=True, kw_only=True)
class LinePlot:
    """Lines over one axis."""

    title: str
    x_name: str
    y_name: str
    lines: Sequence[Line]


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Numbers as lengths, each with its name."""

    title: str
    value_name: str
    names: Sequence[str]
    values: Sequence[float]
    """From 0 to 1, or below 0."""
    notes: Sequence[str] = ()
    """What stands behind each bar, if anything."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of texts."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = frozenset()
    """Columns that are justified right."""

    def first(self, most_rows: int) -> "Table":
        """The first rows, for which there is room; the title says if these are not all."""
        if len(self.rows) <= most_rows:
            return self
        title = f"{self.title} (the first {most_rows} of {len(self.rows)} rows)"
        return replace(self, title=title, rows=self.rows[:most_rows])


Panel = HeatMap | LinePlot | Bars | Table
"""One part of a figure."""
