"""Figures in a terminal: tables, heat maps and bars, in colour or without; line plots as tables."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.color import Color
from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from ptenmt.cli.console import Screen, make_console, standard_output
from ptenmt.inspection.figures import Bars, HeatMap, LinePlot, Panel, Table

_PIPE_WIDTH = 80
_UNLIMITED = 100_000

_SHADES = " ░▒▓█"
_COLOURS = {
    "blues": ((247, 251, 255), (107, 174, 214), (8, 48, 107)),
    "reds": ((255, 245, 240), (251, 106, 74), (103, 0, 13)),
    "greys": ((250, 250, 250), (150, 150, 150), (60, 60, 60)),
    "diverging": ((103, 0, 31), (214, 96, 77), (247, 247, 247), (67, 147, 195), (5, 48, 97)),
}
_MAX_LABEL = 14
_NARROW_CELL = 2
_MAX_LINES = 50
_SCALE_CELLS = 10

_MAX_BAR_WIDTH = 30
_EIGHTHS = " ▏▎▍▌▋▊▉█"

_GAP = 2
_MIN_COLUMN = 24
"""Columns that are wider than this are wrapped to keep a table within the terminal."""


def show(
    panels: Sequence[Panel], output: Path | None, screen: Screen, *, title: str = "", columns: int = 1
) -> None:
    """Draw panels into a file, in at most so many columns, or one below the other in the terminal.

    Raises OutputError if the file cannot be written.
    """
    if output is not None:
        from ptenmt.inspection.drawing import draw, save_figure

        save_figure(draw(panels, title=title, columns=columns), output, screen.warn)
        screen.say(f"drawn: {output}")
        return
    console = make_console()
    with standard_output():
        if title:
            console.print(Text(title, style="bold"), soft_wrap=not console.is_terminal)
        for number, panel in enumerate(panels):
            if number or title:
                console.print()
            if isinstance(panel, Table | LinePlot):
                print_table(plot_table(panel) if isinstance(panel, LinePlot) else panel)
                continue
            for line in _lines(panel, console):
                console.print(line, soft_wrap=not console.is_terminal)


def _lines(panel: HeatMap | Bars, console: Console) -> list[Text]:
    """Lines that fit the terminal, or ``COLUMNS``; in a pipe without that, heat maps are complete."""
    has_colours = console.color_system in ("256", "truecolor") and not console.no_color
    has_width = console.is_terminal or "COLUMNS" in os.environ
    if isinstance(panel, HeatMap):
        return heat_map_lines(panel, console.width if has_width else _UNLIMITED, has_colours)
    return _bar_lines(panel, console.width if has_width else _PIPE_WIDTH)


def heat_map_lines(panel: HeatMap, width: int, has_colours: bool) -> list[Text]:
    """Draw a heat map in coloured cells, or shades of grey where the terminal has fewer than 256 colours.

    Labelled columns beyond the width are left out; of numbered rows and columns one in two, three, … is
    drawn; the title mentions it.
    """
    lines = (_labelled if panel.row_labels else _numbered)(panel, width, has_colours)
    return lines if panel.has_numbers else [*lines, _scale(panel, has_colours)]


def _labelled(panel: HeatMap, width: int, has_colours: bool) -> list[Text]:
    """One line per row: label, cells."""
    left = min(max(map(cell_len, panel.row_labels)), _MAX_LABEL, width // 3)
    room = max((width - left - 1) // _NARROW_CELL, 1)
    panel = panel.first(max(room, _MAX_LINES), room)
    longest = max(map(cell_len, panel.column_labels))
    is_roomy = left + 1 + panel.num_columns * (longest + 1) <= width
    cell = max(longest + 1, _NARROW_CELL) if is_roomy else _NARROW_CELL
    lines = _heading(panel)
    labels = [panel.column_labels]
    if not is_roomy:  # vertical: each line has one character of each label
        cropped = [_cropped(label, _MAX_LABEL) for label in panel.column_labels]
        height = max(map(len, cropped))
        labels = [[label.rjust(height)[number] for label in cropped] for number in range(height)]
    for row in labels:
        centred = (set_cell_size(" " * ((cell - cell_len(label)) // 2) + label, cell) for label in row)
        lines.append(Text(" " * (left + 1) + "".join(centred)))
        lines[-1].rstrip()
    levels = _levels(panel)
    for number, (label, values, row) in enumerate(zip(panel.row_labels, panel.values, levels, strict=True)):
        shown = _cropped(label, left)
        line = Text(" " * (left - cell_len(shown)) + shown + " ")
        for column, (value, level) in enumerate(zip(values, row, strict=True)):
            sign = "●" if (number, column) in panel.marks else ""
            if panel.has_numbers:
                sign = f"{value:.0f}"
            line.append_text(_cell(sign, level, cell, panel, has_colours))
        lines.append(line)
    return lines


def _heading(panel: HeatMap) -> list[Text]:
    named = {"down": panel.row_name, "across": panel.column_name}
    axes = ", ".join(f"{direction}: {name}" for direction, name in named.items() if name)
    return [Text(panel.title, style="bold"), *([Text(axes, style="dim")] if axes else [])]


def _cropped(label: str, cells: int) -> str:
    return label if cell_len(label) <= cells else set_cell_size(label, cells - 1).rstrip() + "…"


def _levels(panel: HeatMap) -> np.ndarray:
    """Each value on the scale from low, 0, to high, 1."""
    return np.asarray(np.clip((panel.values - panel.low) / (panel.high - panel.low), 0.0, 1.0))


def _cell(sign: str, level: float, cells: int, panel: HeatMap, has_colours: bool) -> Text:
    """A cell: its number or mark, if it has one, on its shade or colour."""
    if not has_colours:
        return Text(sign.center(cells, " " if panel.has_numbers else _shade(level)))
    red, green, blue = _rgb(panel.palette, level)
    ink = "black" if red + green + blue > 3 * 128 else "white"
    return Text(sign.center(cells), Style(color=ink, bgcolor=Color.from_rgb(red, green, blue)))


def _numbered(panel: HeatMap, width: int, has_colours: bool) -> list[Text]:
    """One character per value, with colours two rows per line; row numbers on the left."""
    left = len(str(panel.num_rows - 1))
    rows_per_line = 2 if has_colours else 1
    unit = 2 if panel.columns_are_paired else 1
    across = math.ceil(panel.num_columns / unit / ((width - left - 1) // unit))
    down = math.ceil(panel.num_rows / (_MAX_LINES * rows_per_line))
    column_name = panel.column_name or "column"
    column_name = f"pair of {column_name}s" if panel.columns_are_paired else column_name
    row_name = panel.row_name or "row"
    if row_name == column_name:
        row_name, column_name = "row", "column"
    steps = ((row_name, down), (column_name, across))
    parts = [f"one {name} in {step}" for name, step in steps if step > 1]
    lines = _heading(panel)
    if parts:
        lines[0].append(f" ({', '.join(parts)})")
    columns = np.arange(panel.num_columns)
    columns = columns[columns // unit % across == 0]
    levels = _levels(panel)[::down, columns]
    for first in range(0, len(levels), rows_per_line):
        line = Text(f"{first * down:>{left}} ")
        upper, lower = levels[first], levels[min(first + rows_per_line, len(levels)) - 1]
        for above, below in zip(upper, lower, strict=True):
            if has_colours:
                ink, paper = (Color.from_rgb(*_rgb(panel.palette, level)) for level in (above, below))
                line.append("▀", Style(color=ink, bgcolor=paper))
            else:
                line.append(_shade(above))
        lines.append(line)
    lines.append(Text(" " * (left + 1) + "0" + str(columns[-1]).rjust(len(columns) - 1)))
    return lines


def _scale(panel: HeatMap, has_colours: bool) -> Text:
    line = Text(f"{panel.low:.3g} ")
    if has_colours:
        for level in np.linspace(0, 1, _SCALE_CELLS):
            line.append_text(_cell("", float(level), 1, panel, has_colours))
    else:
        line.append(_SHADES)
    return line.append(f" {panel.high:.3g}")


def _shade(level: float) -> str:
    return _SHADES[round(float(level) * (len(_SHADES) - 1))]


def _rgb(palette: str, level: float) -> tuple[int, int, int]:
    colours = np.array(_COLOURS[palette], dtype=float)
    place = np.linspace(0, 1, len(colours))
    red, green, blue = (round(float(np.interp(level, place, part))) for part in colours.T)
    return red, green, blue


def bar(cells: float) -> str:
    """A bar of a length in terminal cells, drawn in eighths."""
    whole, eighths = divmod(round(8 * cells), 8)
    return ("█" * whole + _EIGHTHS[eighths]).rstrip()


def _bar_lines(panel: Bars, width: int) -> list[Text]:
    names = [Text(name) for name in panel.names]
    label_width = min(max(name.cell_len for name in names), width // 2)
    bar_width = min(width - label_width - 8, _MAX_BAR_WIDTH)
    lines = [Text(panel.title, style="bold")]
    for name, value in zip(names, panel.values, strict=True):
        name.truncate(label_width, overflow="ellipsis", pad=True)
        lines.append(Text.assemble(name, f" {value:6.3f} ", (bar(bar_width * max(value, 0.0)), "cyan")))
        lines[-1].rstrip()
    return lines


def plot_table(plot: LinePlot) -> Table:
    """The course of each line that has points, in figures with their places on the x axis."""
    rows = []
    for line in plot.lines:
        known = np.isfinite(line.x) & np.isfinite(line.y)
        points = list(zip(line.x[known].tolist(), line.y[known].tolist(), strict=True))
        if points:
            lowest, highest = (extreme(points, key=itemgetter(1)) for extreme in (min, max))
            cells = [f"{_number(y)} at {_number(x)}" for x, y in (points[0], lowest, highest, points[-1])]
            rows.append((line.name, *cells))
    title = f"{plot.title}, {plot.y_name}" if plot.y_name else plot.title
    header = (f"over {plot.x_name}", "first", "lowest", "highest", "last")
    rows = rows or [("no points", "", "", "", "")]
    return Table(title=title, header=header, rows=rows, numbers=range(1, 5))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def print_facts(title: str, facts: Mapping[str, str]) -> None:
    """Print names and values on stdout."""
    print_table(Table(title=title, rows=list(facts.items())))


def print_tables(tables: Sequence[Table]) -> None:
    """Print tables on stdout, with a blank line between them."""
    for number, table in enumerate(tables):
        print_table(replace(table, title=f"\n{table.title}") if number else table)


def print_table(table: Table) -> None:
    """Print a table on stdout; in a pipe each row is one line, and nothing is truncated."""
    console = make_console()
    lines = [table.header, *table.rows] if table.header else table.rows
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    with standard_output() as stream:
        if not console.is_terminal:
            stream.write(f"{table.title}\n")
            for line in lines:
                cells = [
                    cell.rjust(width) if number in table.numbers else cell.ljust(width)
                    for number, (cell, width) in enumerate(zip(line, widths, strict=True))
                ]
                stream.write((" " * _GAP).join(cells).rstrip() + "\n")
            return
        console.print(Text(table.title, style="bold"))
        least = sum(min(width, _MIN_COLUMN) for width in widths)
        if least + _GAP * (len(widths) - 1) <= console.width:
            console.print(_columns(table, widths))
            return
        names = max(map(cell_len, table.header[1:]), default=0)
        for first, *others in table.rows:
            console.print(Text(first, style="cyan"))
            for name, cell in zip(table.header[1:] or [""] * len(others), others, strict=True):
                text = Text(f"{name:{names}}  {cell}" if name else cell, overflow="fold")
                console.print(Padding(text, (0, 0, 0, _GAP)))


def _columns(table: Table, widths: Sequence[int]) -> RichTable:
    columns = RichTable(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=bool(table.header))
    for number, width in enumerate(widths):
        columns.add_column(
            table.header[number] if table.header else "",
            justify="right" if number in table.numbers else "left",
            no_wrap=width <= _MIN_COLUMN,
            overflow="fold",
            style="cyan" if number == 0 else "",
        )
    for row in table.rows:
        columns.add_row(*map(Text, row))
    return columns
