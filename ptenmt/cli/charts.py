"""Pictures in a terminal: heat maps, lines and bars, in colour or without."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ptenmt.cli.console import Screen, result_console, standard_output
from ptenmt.cli.heat_maps import heat_map_lines
from ptenmt.cli.line_plots import line_plot_lines
from ptenmt.cli.tables import Grid, print_grid
from ptenmt.cli.writing import bar
from ptenmt.inspection.drawing import draw, save_figure
from ptenmt.inspection.pictures import Bars, HeatMap, LinePlot, Panel, Table

_PIPE_WIDTH = 80
_UNLIMITED = 100_000
_WIDEST_PLOT = 100
_LONGEST_BAR = 30


def show(
    panels: Sequence[Panel], output: Path | None, screen: Screen, *, title: str = "", columns: int = 1
) -> None:
    """Draw pictures into a file, or in the terminal one below the other.

    Args:
        panels: At least one.
        output: The file; None for the terminal.
        screen: Told what was written.
        title: Of the whole.
        columns: How many panels stand in a row of the file.

    Raises:
        OutputError: It cannot be written.
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
    if isinstance(panel, Table):
        print_grid(Grid(title=panel.title, header=panel.header, rows=panel.rows, numbers=panel.numbers))
        return
    for line in _lines(panel, console):
        console.print(line, soft_wrap=not console.is_terminal)


def _lines(panel: HeatMap | LinePlot | Bars, console: Console) -> list[Text]:
    """A panel as lines that the terminal has room for; in a pipe no heat map is cut."""
    has_colours = console.color_system in ("256", "truecolor") and not console.no_color
    if isinstance(panel, HeatMap):
        return heat_map_lines(panel, console.width if console.is_terminal else _UNLIMITED, has_colours)
    width = console.width if console.is_terminal else _PIPE_WIDTH
    if isinstance(panel, Bars):
        return _bar_lines(panel, width)
    return line_plot_lines(panel, min(width, _WIDEST_PLOT), has_colours)


def _bar_lines(panel: Bars, width: int) -> list[Text]:
    """A line a number: name, number, bar."""
    names = [Text(name) for name in panel.names]
    label_width = min(max(name.cell_len for name in names), width // 2)
    bar_width = min(width - label_width - 8, _LONGEST_BAR)
    lines = [Text(panel.title, style="bold")]
    for name, value in zip(names, panel.values, strict=True):
        name.truncate(label_width, overflow="ellipsis", pad=True)
        lines.append(Text.assemble(name, f" {value:6.3f} ", (bar(bar_width * max(value, 0.0)), "cyan")))
        lines[-1].rstrip()
    return lines
