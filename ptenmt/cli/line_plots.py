"""Line plots in a terminal: Braille dots, or letters for several lines without colours."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from rich.text import Text

from ptenmt.inspection.figures import Line, LinePlot

_HEIGHT = 12
_DOTS_ACROSS, _DOTS_DOWN = 2, 4
_BRAILLE = 0x2800
_BRAILLE_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # by column and row of a cell's dots
_STYLES = ("cyan", "yellow", "magenta", "green", "red", "blue")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_Cells = dict[tuple[int, int], tuple[str, str]]
"""(row, column) -> character and style."""


def line_plot_lines(panel: LinePlot, width: int, has_colours: bool) -> list[Text]:
    """A plot as lines of text.

    Args:
        panel: The plot.
        width: Of a line, in terminal cells.
        has_colours: Whether lines are distinguished by colour.
    """
    lines = [line for line in panel.lines if _finite(line).any()]
    heading = Text.assemble((panel.title, "bold"), f", {panel.y_name}" if panel.y_name else "")
    if not lines:
        return [heading, Text("no points", style="dim")]
    x_range, y_range = (_range([getattr(line, axis)[_finite(line)] for line in lines]) for axis in "xy")
    ticks = _ticks(y_range)
    left = max(map(len, ticks.values()))
    columns = max(width - left - 2, 8)
    is_lettered = len(lines) > 1 and not has_colours
    plotted = _lettered if is_lettered else _dotted
    cells = plotted(lines, (x_range, y_range), columns)
    drawn = [heading, *_legend(lines, is_lettered)]
    for row in range(_HEIGHT):
        line = Text(f"{ticks.get(row, ''):>{left}} {'┤' if row in ticks else '│'}")
        for column in range(columns):
            line.append(*cells.get((row, column), (" ", "")))
        line.rstrip()
        drawn.append(line)
    axis = _x_axis(panel.x_name, x_range, columns)
    return [*drawn, Text(" " * (left + 1) + "└" + "─" * columns), Text(" " * (left + 2) + axis)]


def _finite(line: Line) -> np.ndarray:
    finite: np.ndarray = np.isfinite(line.x) & np.isfinite(line.y)
    return finite


def _range(values: Sequence[np.ndarray]) -> tuple[float, float]:
    """The minimum and maximum, widened if they are equal."""
    low, high = min(float(part.min()) for part in values), max(float(part.max()) for part in values)
    margin = 0 if high > low else (abs(low) or 1.0) / 50
    return low - margin, high + margin


def _ticks(ends: tuple[float, float]) -> dict[int, str]:
    """The labels of the y axis by row: its ends and its middle."""
    low, high = ends
    last = _HEIGHT - 1
    return {row: _number(low + (high - low) * (last - row) / last) for row in (0, last // 2, last)}


def _number(value: float) -> str:
    """A number with three significant digits, or all of its integer digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _legend(lines: Sequence[Line], is_lettered: bool) -> list[Text]:
    """The legend, if the lines have names."""
    if not any(line.name for line in lines):
        return []
    legend = Text()
    for number, line in enumerate(lines):
        mark = _LETTERS[number % len(_LETTERS)] if is_lettered else "━"
        legend.append(f"{mark} ", "" if is_lettered else _style(number, line))
        legend.append(f"{line.name}   ")
    legend.rstrip()
    return [legend]


def _x_axis(name: str, ends: tuple[float, float], columns: int) -> str:
    """The ends of the x axis, and its name between them."""
    first, last = (_number(value) for value in ends)
    return first + name.center(columns - len(first) - len(last)) + last


def _dotted(lines: Sequence[Line], ranges: tuple[tuple[float, float], ...], columns: int) -> _Cells:
    """Braille: eight dots per cell. Where lines meet in a cell, the last one colours it."""
    bits: dict[tuple[int, int], int] = defaultdict(int)
    styles: dict[tuple[int, int], str] = {}
    for number, line in enumerate(lines):
        for x, y in _points(line, ranges, columns * _DOTS_ACROSS, _HEIGHT * _DOTS_DOWN):
            place = y // _DOTS_DOWN, x // _DOTS_ACROSS
            bits[place] |= _BRAILLE_BITS[x % _DOTS_ACROSS][y % _DOTS_DOWN]
            styles[place] = _style(number, line)
    return {place: (chr(_BRAILLE + found), styles[place]) for place, found in bits.items()}


def _style(number: int, line: Line) -> str:
    return _STYLES[(number if line.colour is None else line.colour) % len(_STYLES)]


def _lettered(lines: Sequence[Line], ranges: tuple[tuple[float, float], ...], columns: int) -> _Cells:
    """One letter per line; where lines meet, the first."""
    cells: _Cells = {}
    for number, line in enumerate(lines):
        for x, y in _points(line, ranges, columns, _HEIGHT):
            cells.setdefault((y, x), (_LETTERS[number % len(_LETTERS)], ""))
    return cells


def _points(
    line: Line, ranges: tuple[tuple[float, float], ...], across: int, down: int
) -> Iterator[tuple[int, int]]:
    """The dots (column, row) of a line on a grid with its origin at the top left; NaN leaves a gap."""
    (x_low, x_high), (y_low, y_high) = ranges
    xs = (line.x - x_low) / (x_high - x_low) * (across - 1)
    ys = (y_high - line.y) / (y_high - y_low) * (down - 1)
    points = [
        (float(x), float(y)) if math.isfinite(x) and math.isfinite(y) else None
        for x, y in zip(xs, ys, strict=True)
    ]
    yield from ((round(point[0]), round(point[1])) for point in points if point is not None)
    for here, there in pairwise(points):
        if here is None or there is None:
            continue
        steps = max(round(abs(there[0] - here[0])), round(abs(there[1] - here[1])), 1)
        for step in range(steps):
            part = step / steps
            yield round(here[0] + part * (there[0] - here[0])), round(here[1] + part * (there[1] - here[1]))
