"""Figures in a terminal: tables, heat maps, bars and line plots, in colour or without."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from ptenmt.cli.console import Screen, result_console, standard_output
from ptenmt.cli.heat_maps import heat_map_lines
from ptenmt.cli.tables import print_table
from ptenmt.inspection.figures import Bars, HeatMap, Line, LinePlot, Panel, Table

_PIPE_WIDTH = 80
_UNLIMITED = 100_000
_MAX_PLOT_WIDTH = 100
_MAX_BAR_WIDTH = 30
_EIGHTHS = " ▏▎▍▌▋▊▉█"

_HEIGHT = 12
_DOTS_ACROSS, _DOTS_DOWN = 2, 4
_BRAILLE = 0x2800
_BRAILLE_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # by column and row of a cell's dots
_STYLES = ("cyan", "yellow", "magenta", "green", "red", "blue")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_Ranges = tuple[tuple[float, float], tuple[float, float]]
"""Minimum and maximum of x and of y."""
_Cells = dict[tuple[int, int], tuple[str, str]]
"""(row, column) -> character and style."""


def show(
    panels: Sequence[Panel], output: Path | None, screen: Screen, *, title: str = "", columns: int = 1
) -> None:
    """Draw panels into a file, or one below the other in the terminal.

    Args:
        panels: At least one.
        output: The file; None for the terminal.
        screen: Shows that the file was written.
        title: Of the whole figure.
        columns: Maximum number of panels side by side in the file.

    Raises:
        OutputError: The file cannot be written.
    """
    if output is not None:
        from ptenmt.inspection.drawing import draw, save_figure

        save_figure(draw(panels, title=title, columns=columns), output, screen.warn)
        screen.say(f"drawn: {output}")
        return
    console = result_console()
    with standard_output():
        if title:
            console.print(Text(title, style="bold"), soft_wrap=not console.is_terminal)
        for number, panel in enumerate(panels):
            if number or title:
                console.print()
            if isinstance(panel, Table):
                print_table(panel)
                continue
            for line in _lines(panel, console):
                console.print(line, soft_wrap=not console.is_terminal)


def _lines(panel: HeatMap | LinePlot | Bars, console: Console) -> list[Text]:
    """A panel as lines that fit the terminal; in a pipe, heat maps are complete."""
    has_colours = console.color_system in ("256", "truecolor") and not console.no_color
    if isinstance(panel, HeatMap):
        return heat_map_lines(panel, console.width if console.is_terminal else _UNLIMITED, has_colours)
    width = console.width if console.is_terminal else _PIPE_WIDTH
    if isinstance(panel, Bars):
        return _bar_lines(panel, width)
    return line_plot_lines(panel, min(width, _MAX_PLOT_WIDTH), has_colours)


def bar(cells: float) -> str:
    """A bar of a length in terminal cells, drawn in eighths."""
    whole, eighths = divmod(round(8 * cells), 8)
    return ("█" * whole + _EIGHTHS[eighths]).rstrip()


def _bar_lines(panel: Bars, width: int) -> list[Text]:
    """One line per bar: name, number, bar."""
    names = [Text(name) for name in panel.names]
    label_width = min(max(name.cell_len for name in names), width // 2)
    bar_width = min(width - label_width - 8, _MAX_BAR_WIDTH)
    lines = [Text(panel.title, style="bold")]
    for name, value in zip(names, panel.values, strict=True):
        name.truncate(label_width, overflow="ellipsis", pad=True)
        lines.append(Text.assemble(name, f" {value:6.3f} ", (bar(bar_width * max(value, 0.0)), "cyan")))
        lines[-1].rstrip()
    return lines


def line_plot_lines(panel: LinePlot, width: int, has_colours: bool) -> list[Text]:
    """A plot as lines of text: Braille dots, or a letter for each of several lines without colours.

    Args:
        panel: The plot.
        width: Of a line, in terminal cells.
        has_colours: Whether lines are distinguished by colour.
    """
    lines = [line for line in panel.lines if _is_finite(line).any()]
    heading = Text.assemble((panel.title, "bold"), f", {panel.y_name}" if panel.y_name else "")
    if not lines:
        return [heading, Text("no points", style="dim")]
    x_range = _range([line.x[_is_finite(line)] for line in lines])
    y_range = _range([line.y[_is_finite(line)] for line in lines])
    low, high = y_range
    bottom = _HEIGHT - 1
    ticks = {row: _number(low + (high - low) * (bottom - row) / bottom) for row in (0, bottom // 2, bottom)}
    left = max(map(len, ticks.values()))
    columns = max(width - left - 2, 8)
    is_lettered = len(lines) > 1 and not has_colours
    cells = (_lettered if is_lettered else _dotted)(lines, (x_range, y_range), columns)
    drawn = [heading, *_legend(lines, is_lettered)]
    for row in range(_HEIGHT):
        line = Text(f"{ticks.get(row, ''):>{left}} {'┤' if row in ticks else '│'}")
        for column in range(columns):
            line.append(*cells.get((row, column), (" ", "")))
        line.rstrip()
        drawn.append(line)
    first, last = map(_number, x_range)
    axis = first + panel.x_name.center(columns - len(first) - len(last)) + last
    return [*drawn, Text(" " * (left + 1) + "└" + "─" * columns), Text(" " * (left + 2) + axis)]


def _is_finite(line: Line) -> np.ndarray:
    finite: np.ndarray = np.isfinite(line.x) & np.isfinite(line.y)
    return finite


def _range(values: Sequence[np.ndarray]) -> tuple[float, float]:
    """The minimum and maximum, widened if they are equal."""
    low, high = min(float(part.min()) for part in values), max(float(part.max()) for part in values)
    margin = 0 if high > low else (abs(low) or 1.0) / 50
    return low - margin, high + margin


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


def _style(number: int, line: Line) -> str:
    return _STYLES[(number if line.colour is None else line.colour) % len(_STYLES)]


def _dotted(lines: Sequence[Line], ranges: _Ranges, columns: int) -> _Cells:
    """Braille: eight dots per cell. Where lines meet in a cell, the last one colours it."""
    bits: dict[tuple[int, int], int] = defaultdict(int)
    styles: dict[tuple[int, int], str] = {}
    for number, line in enumerate(lines):
        for x, y in _points(line, ranges, columns * _DOTS_ACROSS, _HEIGHT * _DOTS_DOWN):
            place = y // _DOTS_DOWN, x // _DOTS_ACROSS
            bits[place] |= _BRAILLE_BITS[x % _DOTS_ACROSS][y % _DOTS_DOWN]
            styles[place] = _style(number, line)
    return {place: (chr(_BRAILLE + found), styles[place]) for place, found in bits.items()}


def _lettered(lines: Sequence[Line], ranges: _Ranges, columns: int) -> _Cells:
    """One letter per line; where lines meet, the first."""
    cells: _Cells = {}
    for number, line in enumerate(lines):
        for x, y in _points(line, ranges, columns, _HEIGHT):
            cells.setdefault((y, x), (_LETTERS[number % len(_LETTERS)], ""))
    return cells


def _points(line: Line, ranges: _Ranges, across: int, down: int) -> Iterator[tuple[int, int]]:
    """The dots (column, row) of a line on a grid with its origin at the top left; NaN leaves a gap."""
    (x_low, x_high), (y_low, y_high) = ranges
    xs = (line.x - x_low) / (x_high - x_low) * (across - 1)
    ys = (y_high - line.y) / (y_high - y_low) * (down - 1)
    before = None
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        if not (math.isfinite(x) and math.isfinite(y)):
            before = None
            continue
        from_x, from_y = before or (x, y)
        steps = max(round(abs(x - from_x)), round(abs(y - from_y)), 1)
        for step in range(steps + 1):
            part = step / steps
            yield round(from_x + part * (x - from_x)), round(from_y + part * (y - from_y))
        before = x, y
