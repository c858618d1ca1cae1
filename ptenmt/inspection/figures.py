"""The panels of figures as data: heat maps, line plots and tables.

``ptenmt.inspection.drawing`` draws them with matplotlib, the command line in the terminal.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ptenmt.errors import OutputError

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
    x: "np.ndarray"
    """[points]"""
    y: "np.ndarray"
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
