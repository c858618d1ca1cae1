"""Tables on stdout: columns, a block per row on a narrow terminal, plain lines in a pipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ptenmt.cli.console import result_console, standard_output

_GAP = 2
_MIN_LAST_COLUMN = 24


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Rows of cells under a title."""

    title: str
    rows: Sequence[Sequence[str]]
    header: Sequence[str] = ()
    numbers: frozenset[int] = frozenset()
    """Columns to align at the right."""

    @property
    def widths(self) -> list[int]:
        """Widths of the columns in terminal cells."""
        lines = [self.header, *self.rows] if self.header else self.rows
        return [max(map(cell_len, column)) for column in zip(*lines, strict=True)]


def print_facts(title: str, facts: Mapping[str, str]) -> None:
    """Print names and values on stdout."""
    print_grid(Grid(title=title, rows=list(facts.items())))


def print_grid(grid: Grid) -> None:
    """Print a table on stdout; in a pipe each row is one line, and nothing is truncated."""
    console = result_console()
    with standard_output() as stream:
        if not console.is_terminal:
            _print_plain(grid, stream)
            return
        console.print(Text(grid.title, style="bold"))
        *widths, last = grid.widths
        needed = sum(widths) + _GAP * len(widths) + min(last, _MIN_LAST_COLUMN)
        if needed <= console.width:
            console.print(_columns(grid))
        else:
            _print_blocks(grid, console)


def _print_plain(grid: Grid, stream: IO[str]) -> None:
    stream.write(f"{grid.title}\n")
    for row in [grid.header, *grid.rows] if grid.header else grid.rows:
        cells = [
            cell.rjust(width) if number in grid.numbers else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, grid.widths, strict=True))
        ]
        stream.write((" " * _GAP).join(cells).rstrip() + "\n")


def _columns(grid: Grid) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=bool(grid.header))
    for number in range(len(grid.widths)):
        table.add_column(
            grid.header[number] if grid.header else "",
            justify="right" if number in grid.numbers else "left",
            no_wrap=number < len(grid.widths) - 1,
            overflow="fold",
            style="cyan" if number == 0 else "",
        )
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table


def _print_blocks(grid: Grid, console: Console) -> None:
    """Print the first cell of each row, and the others below it with their columns' names."""
    for first, *others in grid.rows:
        console.print(Text(first, style="cyan"))
        for name, cell in zip(grid.header[1:] or [""] * len(others), others, strict=True):
            console.print(
                Padding(Text(f"{name}  {cell}" if name else cell, overflow="fold"), (0, 0, 0, _GAP))
            )
