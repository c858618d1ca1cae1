"""Panels in a terminal: heat maps, lines, bars and tables, in colour or without."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ptenmt.cli.console import Screen, result_console, standard_output
from ptenmt.cli.heat_maps import heat_map_lines
from ptenmt.cli.line_plots import line_plot_lines
from ptenmt.cli.tables import Grid, print_grid
from ptenmt.cli.writing import bar
from ptenmt.inspection.figures import Bars, HeatMap, LinePlot, Panel, TextTable, draw, save_figure

_PIPE_WIDTH = 80
_UNLIMITED = 100_000
_MAX_PLOT_WIDTH = 100
_MAX_BAR_WIDTH = 30


def show(
    panels: Sequence[Panel], output: Path | None, screen: Screen, *, title: str = "", columns: int = 1
) -> None:
    """Draw panels into a file, or one below the other in the terminal.

    Args:
        panels: At least one.
        output: The file; None for the terminal.
        screen: Shows that the file was written.
        title: Of the whole.
        columns: How many panels stand in a row of the file at most.

    Raises:
        OutputError: The file cannot be written.
    """
    if output is not None:
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
            _print(panel, console)


def _print(panel: Panel, console: Console) -> None:
    if isinstance(panel, TextTable):
        print_grid(Grid(title=panel.title, header=panel.header, rows=panel.rows, numbers=panel.numbers))
        return
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
