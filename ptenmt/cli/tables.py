"""Tables on stdout: columns, a block per row on a narrow terminal, plain lines in a pipe."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from ptenmt.cli.console import make_console, standard_output
from ptenmt.inspection.figures import Table

_GAP = 2
_MIN_COLUMN = 24
"""Columns that are wider than this are wrapped to keep a table within the terminal."""


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
