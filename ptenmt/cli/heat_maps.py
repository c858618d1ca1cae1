"""Heat maps in a terminal: coloured cells, or shades of grey where there are no colours."""

import math
from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.color import Color
from rich.style import Style
from rich.text import Text

from ptenmt.inspection.figures import HeatMap

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


def heat_map_lines(panel: HeatMap, width: int, has_colours: bool) -> list[Text]:
    """A heat map as lines of text.

    Args:
        panel: The heat map.
        width: Of the terminal. Labelled columns beyond it are left out; of numbered rows and columns every
            second, third, … is drawn; the title says so.
        has_colours: Whether the terminal has at least 256 colours.
    """
    drawn = _labelled if panel.row_labels else _numbered
    lines = drawn(panel, width, has_colours)
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
    """The title, and the names of rows and columns."""
    named = {"down": panel.row_name, "across": panel.column_name}
    axes = ", ".join(f"{direction}: {name}" for direction, name in named.items() if name)
    return [Text(panel.title, style="bold"), *([Text(axes, style="dim")] if axes else [])]


def _upright(labels: Sequence[str]) -> list[list[str]]:
    """Vertical labels, aligned at the bottom: lines with one character of each label."""
    cropped = [_cropped(label, _MAX_LABEL) for label in labels]
    height = max(map(len, cropped))
    return [[label.rjust(height)[number] for label in cropped] for number in range(height)]


def _centred(label: str, cells: int) -> str:
    return set_cell_size(" " * ((cells - cell_len(label)) // 2) + label, cells)


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
    steps = ((panel.row_name or "row", down), (column_name, across))
    parts = [f"every {_ordinal(step)} {name}" for name, step in steps if step > 1]
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


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _scale(panel: HeatMap, has_colours: bool) -> Text:
    """The legend of the colours or shades."""
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
    """The colour of a level, interpolated."""
    colours = np.array(_COLOURS[palette], dtype=float)
    place = np.linspace(0, 1, len(colours))
    red, green, blue = (round(float(np.interp(level, place, part))) for part in colours.T)
    return red, green, blue
