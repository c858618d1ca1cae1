"""Heat maps in a terminal: coloured cells, or shades of grey where there are no colours."""

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.color import Color
from rich.style import Style
from rich.text import Text

from ptenmt.inspection.pictures import HeatMap

_SHADES = " ░▒▓█"
_COLOURS = {
    "blues": ((247, 251, 255), (107, 174, 214), (8, 48, 107)),
    "reds": ((255, 245, 240), (251, 106, 74), (103, 0, 13)),
    "greys": ((250, 250, 250), (150, 150, 150), (60, 60, 60)),
    "diverging": ((103, 0, 31), (214, 96, 77), (247, 247, 247), (67, 147, 195), (5, 48, 97)),
}
_LONGEST_LABEL = 14
_NARROW_CELL = 2
_MOST_LINES = 50
_SCALE_CELLS = 10


def heat_map_lines(panel: HeatMap, width: int, has_colours: bool) -> list[Text]:
    """A heat map as lines of text.

    Args:
        panel: The heat map.
        width: How many cells a line may take. Of labelled columns the first are drawn, for which there is
            room; of numbered rows and columns every second, third, …; the title says so.
        has_colours: Whether the terminal shows enough colours to tell numbers by them.
    """
    drawn = _labelled if panel.row_labels else _numbered
    lines = drawn(panel, width, has_colours)
    return lines if panel.has_numbers else [*lines, _scale(panel, has_colours)]


def _labelled(panel: HeatMap, width: int, has_colours: bool) -> list[Text]:
    """A line a row: label, cells."""
    left = min(max(map(cell_len, panel.row_labels)), _LONGEST_LABEL, width // 3)
    room = max((width - left - 1) // _NARROW_CELL, 1)
    panel = panel.first(max(room, _MOST_LINES), room)
    longest = max(map(cell_len, panel.column_labels))
    is_roomy = left + 1 + panel.num_columns * (longest + 1) <= width
    cell = max(longest + 1, _NARROW_CELL) if is_roomy else _NARROW_CELL
    lines = _heading(panel)
    for labels in [panel.column_labels] if is_roomy else _upright(panel.column_labels):
        lines.append(Text(" " * (left + 1) + "".join(_centred(label, cell) for label in labels)))
        lines[-1].rstrip()
    levels = _levels(panel)
    for number, (label, values, row) in enumerate(zip(panel.row_labels, panel.values, levels, strict=True)):
        shown = _cropped(label, left)
        line = Text(" " * (left - cell_len(shown)) + shown + " ")
        for column, (value, level) in enumerate(zip(values, row, strict=True)):
            sign = f"{value:.0f}" if panel.has_numbers else "●" * ((number, column) in panel.marks)
            line.append_text(_cell(sign, level, cell, panel, has_colours))
        lines.append(line)
    return lines


def _heading(panel: HeatMap) -> list[Text]:
    """What is shown, and what its rows and columns are."""
    lines = [Text(panel.title, style="bold")]
    named = {"down": panel.row_name, "across": panel.column_name}
    axes = [f"{direction}: {name}" for direction, name in named.items() if name]
    if axes:
        lines.append(Text(", ".join(axes), style="dim"))
    return lines


def _upright(labels: Sequence[str]) -> list[list[str]]:
    """Labels written from top to bottom, ending at the same line: lines of one character a label."""
    cropped = [_cropped(label, _LONGEST_LABEL) for label in labels]
    height = max(map(len, cropped))
    return [[label.rjust(height)[number] for label in cropped] for number in range(height)]


def _centred(label: str, cells: int) -> str:
    return set_cell_size(" " * ((cells - cell_len(label)) // 2) + label, cells)


def _cropped(label: str, cells: int) -> str:
    return label if cell_len(label) <= cells else set_cell_size(label, cells - 1).rstrip() + "…"


def _levels(panel: HeatMap) -> np.ndarray:
    """Where each number stands between the lowest, 0, and the highest, 1."""
    levels: np.ndarray = np.clip((panel.values - panel.low) / (panel.high - panel.low), 0.0, 1.0)
    return levels


def _cell(sign: str, level: float, cells: int, panel: HeatMap, has_colours: bool) -> Text:
    """A cell of a row: its number or mark, if it has one, and its shade or colour."""
    if not has_colours:
        return Text(sign.center(cells, " " if panel.has_numbers else _shade(level)))
    red, green, blue = _rgb(panel.palette, level)
    ink = "black" if red + green + blue > 3 * 128 else "white"
    return Text(sign.center(cells), Style(color=ink, bgcolor=Color.from_rgb(red, green, blue)))


def _numbered(panel: HeatMap, width: int, has_colours: bool) -> list[Text]:
    """A character a number, two rows a line where there are colours; row numbers on the left."""
    left = len(str(panel.num_rows - 1))
    rows_a_line = 2 if has_colours else 1
    across = -(-panel.num_columns // (width - left - 1))
    down = -(-panel.num_rows // (_MOST_LINES * rows_a_line))
    steps = ((panel.row_name or "row", down), (panel.column_name or "column", across))
    parts = [f"every {_ordinal(step)} {name}" for name, step in steps if step > 1]
    lines = _heading(panel)
    if parts:
        lines[0].append(f" ({', '.join(parts)})")
    levels = _levels(panel)[::down, ::across]
    for first in range(0, len(levels), rows_a_line):
        line = Text(f"{first * down:>{left}} ")
        upper, lower = levels[first], levels[min(first + rows_a_line, len(levels)) - 1]
        for above, below in zip(upper, lower, strict=True):
            line.append_text(_half_cells(above, below, panel) if has_colours else Text(_shade(above)))
        lines.append(line)
    last = str((levels.shape[1] - 1) * across)
    lines.append(Text(" " * (left + 1) + "0" + last.rjust(levels.shape[1] - 1)))
    return lines


def _half_cells(above: float, below: float, panel: HeatMap) -> Text:
    """Two numbers, one above the other, in one character."""
    colours = (Color.from_rgb(*_rgb(panel.palette, level)) for level in (above, below))
    return Text("▀", Style(color=next(colours), bgcolor=next(colours)))


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _scale(panel: HeatMap, has_colours: bool) -> Text:
    """Which number looks how."""
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
    """The colour of a level, between the palette's own."""
    colours = np.array(_COLOURS[palette], dtype=float)
    place = np.linspace(0, 1, len(colours))
    red, green, blue = (round(float(np.interp(level, place, part))) for part in colours.T)
    return red, green, blue
