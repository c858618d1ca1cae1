"""Panels drawn by matplotlib. No display is needed, and no global setting changes."""

import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ptenmt.atomic_files import write_bytes
from ptenmt.inspection.figures import HeatMap, LinePlot, Panel, Table, figure_format

MAX_LABELS = 64
"""Rows and columns of a labelled panel beyond this number are left out: they would be unreadable."""
_MAX_NUMBERS = 900  # in the cells of a heat map: more take many seconds to draw

_COLOURMAPS = {"blues": "Blues", "reds": "Reds", "greys": "Greys", "diverging": "RdBu"}
_MAX_WIDTH = 20.0  # inches, as are the following
_MAX_CELL = 0.3
_MIN_CELL = 0.1375
_PLOT_SIZE = 6.0, 3.6
_TABLE_ROW = 0.22
_PADDING = 0.65
_LINE = 0.2  # of text
_COLOUR_BAR = 0.25
_DPI = 150
_MAX_TEXT, _MIN_TEXT = 9.0, 4.5  # points
_TEXT_PER_CELL = 0.75 * 72  # points per inch
_FONT = "DejaVu Sans"  # comes with matplotlib; the user's own fonts have what it lacks
_MISSING_GLYPH = "Glyph .* missing from font"
_UNDATED: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save_figure(figure: Figure, file: str | Path, on_warning: Callable[[str], None] = warnings.warn) -> None:
    """Write a figure of matplotlib to a file, PNG, SVG or PDF by its extension, atomically.

    The same figure gives the same bytes. ``on_warning`` is called with matplotlib's warnings, such as of
    characters that the font does not have.

    Raises:
        OutputError: The extension is another one, or the file cannot be written; an existing file is kept.
    """
    file = Path(file)
    extension, content = figure_format(file), io.BytesIO()
    with _style(), warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", _MISSING_GLYPH, UserWarning)
        figure.savefig(content, format=extension, dpi=_DPI, bbox_inches="tight", metadata=_UNDATED[extension])
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        on_warning(f"{file}: {message}")
    write_bytes(file, content.getvalue())


def draw(panels: Sequence[Panel], *, title: str = "", columns: int = 1) -> Figure:
    """Draw panels side by side: at most ``columns`` in a row, fewer if they would not be readable.

    The title is that of the whole figure, by default of its only panel.
    """
    columns = _panels_in_a_row(panels, columns)
    width = _MAX_WIDTH / columns
    panels = [_readable(panel) for panel in panels]
    if not title and len(panels) == 1:  # above the colour bar, too
        title, panels = panels[0].title, [replace(panels[0], title="")]
    sides = (
        (width - _longest(panel.row_labels) - 2 * _PADDING) / panel.num_columns for panel in _labelled(panels)
    )
    cell = min([_MAX_CELL, *sides])  # the side of a labelled cell; no panel is wider than there is room
    text_size = min(_MAX_TEXT, max(_MIN_TEXT, _TEXT_PER_CELL * cell))
    sizes = [_panel_size(panel, cell, width) for panel in panels]
    width = columns * max(size[0] for size in sizes)
    heights = [max(size[1] for size in sizes[at : at + columns]) for at in range(0, len(sizes), columns)]
    title_height = _LINE * math.ceil(1.3 * _text_width(title) / width)
    with _style(text_size):
        figure = Figure(figsize=(width, sum(heights) + title_height))
        figure.set_layout_engine("constrained", h_pad=_LINE / 2)
        grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights)
        axes = grid.ravel().tolist()
        for axis, panel in zip(axes, panels, strict=False):
            _DRAW[type(panel)](axis, panel)
            axis.set_title(panel.title, wrap=True)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        _add_colour_bars(figure, axes[: len(panels)], panels)
        if title:
            figure.suptitle(title, wrap=True)
    return figure


def _panels_in_a_row(panels: Sequence[Panel], most: int) -> int:
    """As many panels in a row as keep the cells of heat maps readable, the rows about equally long."""
    widest = max(
        (_MIN_CELL * min(panel.num_columns, MAX_LABELS) + 1.2 for panel in _labelled(panels)), default=0
    )
    if widest:
        most = max(1, min(most, int(_MAX_WIDTH / widest)))
    num_rows = math.ceil(len(panels) / most)
    return math.ceil(len(panels) / num_rows)


def _labelled(panels: Sequence[Panel]) -> list[HeatMap]:
    return [panel for panel in panels if isinstance(panel, HeatMap) and panel.row_labels]


def _readable(panel: Panel) -> Panel:
    """The part of a panel that is readable."""
    if isinstance(panel, Table):
        return panel.first(MAX_LABELS)
    if isinstance(panel, HeatMap) and panel.row_labels:
        return panel.first(MAX_LABELS, MAX_LABELS)
    return panel


def _panel_size(panel: Panel, cell: float, max_width: float) -> tuple[float, float]:
    """A panel's width and height in inches, with its labels, title and colour bar."""
    if isinstance(panel, HeatMap) and panel.row_labels:
        width = max(3.2, cell * panel.num_columns + _longest(panel.row_labels) + 2 * _PADDING)
        num_lines = math.ceil(1.2 * _text_width(panel.title) / width) + bool(panel.column_name)
        return width, cell * panel.num_rows + _longest(panel.column_labels) + _PADDING + _LINE * num_lines
    if isinstance(panel, HeatMap):
        return min(9.0, max_width), min(6.0, max_width)
    if isinstance(panel, LinePlot):
        return _PLOT_SIZE
    return _PLOT_SIZE[0], 0.4 + _TABLE_ROW * (len(panel.rows) + 1)


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


def _draw_table(axis: Axes, panel: Table) -> None:
    axis.set_axis_off()
    shown = axis.table(
        cellText=[list(row) for row in panel.rows], colLabels=list(panel.header), loc="upper center"
    )
    shown.auto_set_font_size(False)
    shown.auto_set_column_width(list(range(len(panel.header))))
    for (row, column), cell in shown.get_celld().items():
        cell.set_linewidth(0.0 if row else 0.5)
        cell.visible_edges = "B"
        cell.set_text_props(
            ha="right" if column in panel.numbers else "left", weight="normal" if row else "bold"
        )


_DRAW: dict[type[Panel], Callable[[Axes, Any], None]] = {
    HeatMap: _draw_heat_map,
    LinePlot: _draw_lines,
    Table: _draw_table,
}


def _add_colour_bars(figure: Figure, axes: Sequence[Axes], panels: Sequence[Panel]) -> None:
    """One for all heat maps if they share a scale, else one each; none where the cells have numbers."""
    shown = [
        (axis, panel)
        for axis, panel in zip(axes, panels, strict=True)
        if isinstance(panel, HeatMap) and not panel.has_numbers
    ]
    if shown and len({(panel.palette, panel.low, panel.high) for _, panel in shown}) == 1:
        aspect = figure.get_figheight() / _COLOUR_BAR
        figure.colorbar(shown[0][0].images[0], ax=[axis for axis, _ in shown], aspect=aspect)
        return
    for axis, _ in shown:
        figure.colorbar(axis.images[0], ax=axis)


def _longest(texts: Sequence[str]) -> float:
    """The width of the longest of these texts, in inches."""
    return max(map(_text_width, texts), default=0.0)


@cache
def _text_width(text: str) -> float:
    """The width of a text in the largest size, in inches."""
    with _style():
        figure = Figure()
        # Letters are set to whole dots: at another resolution the text may be a little wider.
        return 1.02 * float(figure.text(0, 0, text).get_window_extent().width) / figure.dpi


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
        warnings.filterwarnings("ignore", _MISSING_GLYPH, UserWarning)  # save_figure reports it
        yield
