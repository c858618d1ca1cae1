"""What a report is made of, before anybody knows whether it becomes HTML or Markdown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ptenmt.inspection.figures import Line, LinePlot


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number that the report leads with."""

    name: str
    value: str
    note: str
    """Such as the interval; may be empty."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The numbers that stand for the whole."""

    figures: Sequence[Figure]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = frozenset()
    """Columns that are justified right."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar, and how far its value may be off."""

    label: str
    value: float
    shown: str
    """The value as people read it."""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Values of some groups, from 0."""

    title: str
    bars: Sequence[Bar]


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Curves over the same x."""

    plot: LinePlot
    """With one point at least."""
    mark: float | None = None
    """An x to point at."""
    mark_name: str = ""

    @property
    def title(self) -> str:
        """The plot's, with the unit."""
        return f"{self.plot.title} ({self.plot.y_name})" if self.plot.y_name else self.plot.title


@dataclass(frozen=True, kw_only=True)
class Example:
    """A sentence, its reference, and one translation or several."""

    title: str
    source: str | None
    reference: str
    """Of several, the one that is nearest to the first translation."""
    translations: Sequence[tuple[str, str]]
    """Whose, and the text."""


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Sentences with the words marked in which translation and reference differ."""

    examples: Sequence[Example]
    languages: tuple[str | None, str | None]
    """Of source and target, as ``pt`` and ``en``, where they are known."""


def points_of(line: Line) -> list[tuple[float, float]]:
    """Its points that are numbers."""
    points = [(float(x), float(y)) for x, y in zip(line.x, line.y, strict=True)]
    return [point for point in points if all(map(math.isfinite, point))]


Part = Figures | Table | BarChart | LineChart | Examples


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, what there is to know about what follows, and what follows."""

    title: str
    text: str = ""
    parts: Sequence[Part] = ()
    is_folded: bool = False
    """Whether it is of interest to few, and opens on request."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All of it."""

    title: str
    subtitle: str
    sections: Sequence[Section] = field(default_factory=tuple)
