"""Figures in a terminal: tables, heat maps in shades, line plots as tables."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from ptenmt.cli.console import Screen, make_console, standard_output
from ptenmt.inspection.figures import HeatMap, LinePlot, Panel, Table

_UNLIMITED = 100_000
_SHADES = " ░▒▓█"
_MAX_LABEL = 14
_NARROW_CELL = 2
_MAX_LINES = 50

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

        save_figure(draw(panels, title=title, columns=columns), output)
        screen.say(f"drawn: {output}")
        return
    console = make_console()
    # In a pipe without COLUMNS, heat maps are complete.
    has_width = console.is_terminal or "COLUMNS" in os.environ
    with standard_output():
        if title:
            console.print(Text(title, style="bold"), soft_wrap=not console.is_terminal)
        for number, panel in enumerate(panels):
            if number or title:
                console.print()
            if isinstance(panel, HeatMap):
                for line in heat_map_lines(panel, console.width if has_width else _UNLIMITED):
                    console.print(line, soft_wrap=not console.is_terminal)
            else:
                print_table(plot_table(panel) if isinstance(panel, LinePlot) else panel)


def heat_map_lines(panel: HeatMap, width: int) -> list[Text]:
    """Draw a heat map in shades.

    Labelled columns beyond the width are left out; of numbered rows and columns one in two, three, … is
    drawn; the title mentions it.
    """
    lines = _labelled(panel, width) if panel.row_labels else _numbered(panel, width)
    return lines if panel.has_numbers else [*lines, Text(f"{panel.low:.3g} {_SHADES} {panel.high:.3g}")]


def _labelled(panel: HeatMap, width: int) -> list[Text]:
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
        lines.append(Text((" " * (left + 1) + "".join(centred)).rstrip()))
    shades = _shades(panel)
    for number, (label, values) in enumerate(zip(panel.row_labels, panel.values, strict=True)):
        shown = _cropped(label, left)
        cells = []
        for column, (value, shade) in enumerate(zip(values, shades[number], strict=True)):
            if panel.has_numbers:
                cells.append(f"{value:.0f}".center(cell))
            else:
                cells.append(("●" if (number, column) in panel.marks else "").center(cell, shade))
        lines.append(Text(" " * (left - cell_len(shown)) + shown + " " + "".join(cells)))
    return lines


def _heading(panel: HeatMap) -> list[Text]:
    named = {"down": panel.row_name, "across": panel.column_name}
    axes = ", ".join(f"{direction}: {name}" for direction, name in named.items() if name)
    return [Text(panel.title, style="bold"), *([Text(axes, style="dim")] if axes else [])]


def _cropped(label: str, cells: int) -> str:
    return label if cell_len(label) <= cells else set_cell_size(label, cells - 1).rstrip() + "…"


def _shades(panel: HeatMap) -> list[str]:
    """A character per value of each row, the darker the higher the value is between low and high."""
    levels = np.clip((panel.values - panel.low) / (panel.high - panel.low), 0.0, 1.0)
    places = (levels * (len(_SHADES) - 1)).round().astype(int)
    return ["".join(_SHADES[place] for place in row) for row in places.tolist()]


def _numbered(panel: HeatMap, width: int) -> list[Text]:
    """One character per value; row numbers on the left."""
    left = len(str(panel.num_rows - 1))
    across = math.ceil(panel.num_columns / (width - left - 1))
    down = math.ceil(panel.num_rows / _MAX_LINES)
    steps = ((panel.row_name or "row", down), (panel.column_name or "column", across))
    parts = [f"one {name} in {step}" for name, step in steps if step > 1]
    lines = _heading(panel)
    if parts:
        lines[0].append(f" ({', '.join(parts)})")
    shades = _shades(panel)
    lines += [Text(f"{row:>{left}} {shades[row][::across]}") for row in range(0, panel.num_rows, down)]
    columns = range(0, panel.num_columns, across)
    lines.append(Text(" " * (left + 1) + "0" + str(columns[-1]).rjust(len(columns) - 1)))
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
