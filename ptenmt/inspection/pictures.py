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

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return int(self.values.shape[1])

    def fitted(self, most_rows: int, most_columns: int) -> "HeatMap":
        """The part of it that can be drawn; the title says if that is not all.

        Args:
            most_rows: How many rows there is room for.
            most_columns: How many columns there is room for.

        Returns:
            The first rows and columns, if they are labelled; if not, every second, third, …
        """
        if self.num_rows <= most_rows and self.num_columns <= most_columns:
            return self
        return self._first(most_rows, most_columns) if self.row_labels else self._thinned(most_rows, most_columns)

    def _first(self, rows: int, columns: int) -> "HeatMap":
        parts = []
        if rows < self.num_rows:
            parts.append(f"the first {rows} of {self.num_rows} rows")
        if columns < self.num_columns:
            parts.append(f"the first {columns} of {self.num_columns} columns")
        return replace(
            self,
            title=f"{self.title} ({', '.join(parts)})",
            values=self.values[:rows, :columns],
            row_labels=self.row_labels[:rows],
            column_labels=self.column_labels[:columns],
        )

    def _thinned(self, rows: int, columns: int) -> "HeatMap":
        row_step, column_step = -(-self.num_rows // rows), -(-self.num_columns // columns)
        steps = {self.row_name or "row": row_step, self.column_name or "column": column_step}
        parts = [f"every {_ordinal(step)} {name}" for name, step in steps.items() if step > 1]
        return replace(
            self, title=f"{self.title} ({', '.join(parts)})", values=self.values[::row_step, ::column_step]
        )


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """Points that are joined in their order."""

    name: str
    x: "np.ndarray"
    """[points]"""
    y: "np.ndarray"
    """[points]; there is a gap where it is no number."""
    has_marks: bool = False
    """Whether each point is marked, because it stands for itself."""


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


Panel = HeatMap | LinePlot | Bars
"""One part of a figure."""
