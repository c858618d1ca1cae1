"""Panels drawn by matplotlib. No display is needed, and no global setting changes."""

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ptenmt.atomic_files import write_bytes
from ptenmt.errors import PtenmtError
from ptenmt.inspection.figures import HeatMap, LinePlot, Panel, Table, figure_format

MAX_LABELS = 64
"""Rows and columns of a labelled panel beyond this number are left out: they would be unreadable."""
_MAX_NUMBERS = 900  # in the cells of a heat map: more take many seconds to draw

_COLOURMAPS = {"blues": "Blues", "reds": "Reds", "greys": "Greys", "diverging": "RdBu"}
_MAX_WIDTH = 20.0  # inches, as are the following
_MAX_CELL = 0.3
_MIN_CELL = 0.1375
_PLOT_SIZE = (6.0, 3.6)
_MAP_SIZE = (9.0, 6.0)
_MARGIN = 0.9  # beside cells and labels
_LETTER = 0.085  # of text, its width
_LINE = 0.2
_COLOUR_BAR = 0.25
_DPI = 150
_MAX_TEXT, _MIN_TEXT = 9.0, 4.5  # points
_TEXT_PER_CELL = 0.75 * 72  # points per inch
_FONT = "DejaVu Sans"  # comes with matplotlib; the user's own fonts have what it lacks
_UNDATED: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save_figure(figure: Figure, file: str | Path) -> None:
    """Write a figure of matplotlib to a file, PNG, SVG or PDF by its extension, atomically.

    The same figure gives the same bytes. Characters that no font has are boxes.

    Raises:
        OutputError: The extension is another one, or the file cannot be written; an existing file is kept.
    """
    file = Path(file)
    extension, content = figure_format(file), io.BytesIO()
    with _style():
        figure.savefig(content, format=extension, dpi=_DPI, bbox_inches="tight", metadata=_UNDATED[extension])
    write_bytes(file, content.getvalue())


def draw(panels: Sequence[Panel], *, title: str = "", columns: int = 1) -> Figure:
    """Draw heat maps and lines side by side: at most ``columns`` in a row, fewer if they are too wide.

    The title is that of the whole figure, by default of its only panel. Tables are left out: they are text.
    """
    shown = [
        panel.first(MAX_LABELS, MAX_LABELS) if isinstance(panel, HeatMap) and panel.row_labels else panel
        for panel in panels
        if not isinstance(panel, Table)
    ]
    if not shown:
        raise PtenmtError("there is nothing to draw: tables are text")
    if not title and len(shown) == 1:  # above the colour bar, too
        title, shown = shown[0].title, [replace(shown[0], title="")]
    widest = max(_panel_size(panel, _MIN_CELL)[0] for panel in shown)
    columns = max(1, min(columns, len(shown), int(_MAX_WIDTH / widest)))
    cell = _cell(shown, columns)
    sizes = [_panel_size(panel, cell) for panel in shown]
    width = columns * max(size[0] for size in sizes)
    heights = [max(size[1] for size in sizes[at : at + columns]) for at in range(0, len(sizes), columns)]
    title_height = _LINE * math.ceil(1.3 * _width([title]) / width)
    with _style(min(_MAX_TEXT, max(_MIN_TEXT, _TEXT_PER_CELL * cell))):
        figure = Figure(figsize=(width, sum(heights) + title_height))
        figure.set_layout_engine("constrained", h_pad=_LINE / 2)
        axes = list(figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).flat)
        scales: dict[tuple[str, float, float], list[Axes]] = {}
        for axis, panel in zip(axes, shown, strict=False):
            if isinstance(panel, LinePlot):
                _draw_lines(axis, panel)
            else:
                _draw_heat_map(axis, panel)
                if not panel.has_numbers:
                    scales.setdefault((panel.palette, panel.low, panel.high), []).append(axis)
            axis.set_title(panel.title, wrap=True)
        for axis in axes[len(shown) :]:
            axis.set_axis_off()
        for of_scale in scales.values():  # a colour bar for all heat maps of a scale
            figure.colorbar(of_scale[0].images[0], ax=of_scale, aspect=figure.get_figheight() / _COLOUR_BAR)
        figure.suptitle(title, wrap=True)
    return figure


def _cell(panels: Sequence[HeatMap | LinePlot], columns: int) -> float:
    """The side of a labelled cell, in inches, with so many panels in a row."""
    sides = (
        (_MAX_WIDTH / columns - _MARGIN - _width(panel.row_labels)) / panel.num_columns
        for panel in panels
        if isinstance(panel, HeatMap) and panel.row_labels
    )
    return min([_MAX_CELL, *sides])


def _panel_size(panel: HeatMap | LinePlot, cell: float) -> tuple[float, float]:
    """A panel's width and height in inches, with its labels, title and colour bar."""
    if isinstance(panel, LinePlot):
        return _PLOT_SIZE
    if not panel.row_labels:
        return _MAP_SIZE
    width = max(3.2, cell * panel.num_columns + _width(panel.row_labels) + _MARGIN)
    num_lines = math.ceil(1.2 * _width([panel.title]) / width) + bool(panel.column_name)
    return width, cell * panel.num_rows + _width(panel.column_labels) + _MARGIN / 2 + _LINE * num_lines


def _width(texts: Sequence[str]) -> float:
    """About the width of the longest of these texts, in inches."""
    return _LETTER * max(map(len, texts), default=0)


def _draw_heat_map(axis: Axes, panel: HeatMap) -> None:
    axis.imshow(
        panel.values,
        cmap=_COLOURMAPS[panel.palette],
        vmin=panel.low,
        vmax=panel.high,
        aspect="equal" if panel.row_labels else "auto",
        interpolation="none",
    )
    axis.set_xlabel(panel.column_name)
    axis.set_ylabel(panel.row_name)
    if panel.row_labels:
        axis.set_xticks(range(panel.num_columns), panel.column_labels, rotation=90)
        axis.set_yticks(range(panel.num_rows), panel.row_labels)
    for row, column in panel.marks:
        axis.plot(column, row, marker="o", markersize=4, color="black", markeredgecolor="white")
    if panel.has_numbers and panel.values.size <= _MAX_NUMBERS:
        middle = (panel.low + panel.high) / 2
        for row, values in enumerate(panel.values):
            for column, value in enumerate(values):
                colour = "white" if value > middle else "black"
                axis.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour)


def _draw_lines(axis: Axes, panel: LinePlot) -> None:
    for number, line in enumerate(panel.lines):
        pair, is_light = (number, 0) if line.colour is None else divmod(line.colour, 2)
        axis.plot(
            line.x,
            line.y,
            label=line.name,
            color=f"C{pair}",
            alpha=0.5 if is_light else 1.0,
            marker="o" if line.has_marks else None,
            markersize=3,
        )
    axis.set_xlabel(panel.x_name)
    axis.set_ylabel(panel.y_name)
    axis.grid(alpha=0.3)
    axis.margins(x=0.02)
    if any(line.name for line in panel.lines):
        axis.legend()


@contextmanager
def _style(size: float = _MAX_TEXT) -> Iterator[None]:
    """Settings for drawing or writing a figure, in whose texts ``$`` is a dollar."""
    settings: Any = {
        "font.family": [_FONT, *mpl.rcParams["font.family"]],
        "font.size": size,
        "axes.titlesize": size + 1,
        "figure.titlesize": size + 2,
        "text.parse_math": False,
        "svg.hashsalt": "ptenmt",  # or names in an SVG file would be random
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield
