"""Figures in a terminal, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import numpy as np
from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from ptenmt.cli.console import Screen, make_console, standard_output
from ptenmt.inspection.figures import HeatMap, LinePlot, Panel, Table
from ptenmt.runs import NOTHING

_SHOWN_COLUMNS = 4
_SHOWN_VALUE = 0.005
"""A weight that is below this and not marked is rounded to nothing."""
_GAP = 2


def show(
    panels: Sequence[Panel], output: Path | None, screen: Screen, *, title: str = "", columns: int = 1
) -> None:
    """Draw panels into a file, in at most so many columns, or print them as tables.

    Raises OutputError if the file cannot be written.
    """
    if output is not None:
        from ptenmt.inspection.drawing import draw, save_figure

        save_figure(draw(panels, title=title, columns=columns), output)
        screen.say(f"drawn: {output}")
        return
    tables = [_table(panel) for panel in panels]
    if title:
        tables[0] = replace(tables[0], title=f"{title}\n\n{tables[0].title}")
    print_tables(tables)


def _table(panel: Panel) -> Table:
    if isinstance(panel, HeatMap):
        return heat_map_table(panel)
    return plot_table(panel) if isinstance(panel, LinePlot) else panel


def heat_map_table(panel: HeatMap) -> Table:
    """All numbers if the map shows them, else of each row the columns with the highest values.

    An asterisk stands for a mark.
    """
    rows: list[tuple[str, ...]] = []
    if panel.has_numbers:
        for label, numbers in zip(panel.row_labels, panel.values.tolist(), strict=True):
            rows.append((label, *(f"{value:.0f}" for value in numbers)))
        header = panel.row_name, *panel.column_labels
        return Table(title=panel.title, header=header, rows=rows, numbers=range(1, len(header)))
    for number, (label, values) in enumerate(zip(panel.row_labels, panel.values.tolist(), strict=True)):
        highest = sorted(range(len(values)), key=values.__getitem__, reverse=True)[:_SHOWN_COLUMNS]
        cells = [
            f"{panel.column_labels[column]} {values[column]:.2f}{'*' if marked else ''}"
            for column in highest
            if (marked := (number, column) in panel.marks) or values[column] >= _SHOWN_VALUE
        ]
        rows.append((label, "  ".join(cells)))
    header = (panel.row_name, panel.column_name) if panel.column_name else ()
    return Table(title=panel.title, header=header, rows=rows)


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
        columns = RichTable(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=bool(table.header))
        for number in range(len(widths)):
            columns.add_column(
                table.header[number] if table.header else "",
                justify="right" if number in table.numbers else "left",
                overflow="fold",
                style="cyan" if number == 0 else "",
            )
        for row in table.rows:
            columns.add_row(*map(Text, row))
        console.print(columns)


def metric_name(metric: str) -> str:
    """The usual spelling of a ``validation.metric``."""
    return {"bleu": "BLEU", "chrf": "chrF"}.get(metric, metric)


def metric_value(metric: str, value: float | None) -> str:
    """A score with a sensible number of digits; None is one that is not finite."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if metric in {"loss", "accuracy"} else f"{value:.1f}"
