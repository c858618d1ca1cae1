"""Figures of matplotlib: one function per view, then the drawing of panels.

No display is needed, and no global setting changes. A view's arguments and errors are those of the function
that it draws, such as ``word_alignment``; ``save_figure`` writes it.
"""

import io
import math
import re
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
from ptenmt.config import Config
from ptenmt.inspection.alignment import alignment_panel, word_alignment
from ptenmt.inspection.attention import MAX_PANELS_IN_A_ROW, attention_panels, attention_weights
from ptenmt.inspection.curves import Axis, history_plots, schedule_plot
from ptenmt.inspection.embeddings import (
    Side,
    nearest_neighbours,
    neighbour_bars,
    positions_map,
    similarity_map,
)
from ptenmt.inspection.figures import Bars, HeatMap, LinePlot, Panel, Table, figure_format
from ptenmt.inspection.inspector import Inspector
from ptenmt.inspection.tokens import RUNNERS_UP, probability_bars, token_panels, token_probabilities
from ptenmt.runs import Run, find_run

MAX_LABELS = 64
"""Rows and columns of a labelled panel beyond this number are left out: they would be unreadable."""
_MAX_NUMBERS = 900  # in the cells of a heat map: more take many seconds to draw

_COLOURMAPS = {"blues": "Blues", "reds": "Reds", "greys": "Greys", "diverging": "RdBu"}
_MAX_WIDTH = 20.0  # inches, as are the following
_MAX_CELL = 0.3
_MIN_CELL = 0.1375
_PLOT_SIZE = 6.0, 3.6
_BAR_ROOM = 4.0  # for bars and axis, without names and notes
_MAX_NAME = 3.0
_BAR_HEIGHT = 0.28
_TABLE_ROW = 0.22
_PADDING = 0.65
_LINE = 0.2  # of text
_INLINE_WIDTH = 4.8  # on a phone the letters then have about 9 pixels
_COLOUR_BAR = 0.25
_DPI = 150
_MAX_TEXT, _MIN_TEXT = 9.0, 4.5  # points
_TEXT_PER_CELL = 0.75 * 72  # points per inch
_FONT = "DejaVu Sans"  # comes with matplotlib; the user's own fonts have what it lacks
_MISSING_GLYPH = "Glyph .* missing from font"
_UNDATED: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


# Views


def attention_figure(inspector: Inspector, text: str, translation: str | None = None, **how: Any) -> Figure:
    """Draw ``attention_panels``, a heat map per head; ``how``: its ``block``, ``layer`` and ``head``."""
    title, panels = attention_panels(attention_weights(inspector, text, translation), **how)
    return draw(panels, title=title, columns=MAX_PANELS_IN_A_ROW)


def alignment_figure(inspector: Inspector, text: str, translation: str | None = None, **how: Any) -> Figure:
    """Draw ``word_alignment`` with the links marked; ``how``: its ``layer`` and ``head``."""
    return draw([alignment_panel(word_alignment(inspector, text, translation, **how))])


def probabilities_figure(
    inspector: Inspector, text: str, translation: str | None = None, *, runners_up: int = RUNNERS_UP
) -> Figure:
    """Draw ``token_probabilities``: a bar per token, the runners-up beside it."""
    return draw([probability_bars(token_probabilities(inspector, text, translation, runners_up=runners_up))])


def tokens_figure(
    inspector: Inspector, text: str, translation: str | None = None, length: int | None = None
) -> Figure:
    """Draw ``token_panels`` side by side."""
    return draw(token_panels(inspector, text, translation, length), columns=2)


def embeddings_figure(
    inspector: Inspector, words: Sequence[str], *, side: Side = "source", count: int = 10
) -> Figure:
    """Draw ``nearest_neighbours``, a bar chart per word."""
    return draw(neighbour_bars(nearest_neighbours(inspector, words, side=side, count=count)), columns=2)


def positions_figure(num_positions: int = 50, d_model: int = 128) -> Figure:
    """Draw ``positions_map`` and ``similarity_map`` side by side."""
    return draw([positions_map(num_positions, d_model), similarity_map(num_positions, d_model)], columns=2)


def history_figure(
    runs: Sequence[str | Path | Run], axis: Axis = "steps", quantities: Sequence[str] = ()
) -> Figure:
    """Draw ``history_plots`` side by side; the runs may also be names or folders."""
    return draw(history_plots([find_run(run) for run in runs], axis, quantities), columns=2)


def schedule_figure(config: Config, steps: int | None = None) -> Figure:
    """Draw ``schedule_plot``."""
    return draw([schedule_plot(config, steps)])


# Panels


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


def inline_svg(plot: LinePlot, name: str, marked: float | None = None) -> str:
    """A plot as an SVG element: its text is text, and its ids begin with this name.

    ``marked`` is an x at which a vertical line is drawn, if it is in the plot.
    """
    figure = draw([plot])
    figure.set_size_inches(_INLINE_WIDTH, 0.6 * _INLINE_WIDTH)
    (axis,) = figure.axes
    low, high = axis.get_xlim()
    if marked is not None and low <= marked <= high:
        axis.axvline(marked, color="#888888", linestyle="--", linewidth=1)
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>|\s*<style.*?</style>", "", svg, flags=re.DOTALL)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)


def draw(panels: Sequence[Panel], *, title: str = "", columns: int = 1) -> Figure:
    """Draw panels side by side: at most ``columns`` in a row, fewer if they would not be readable.

    The title is that of the whole figure, by default of its only panel.
    """
    columns = _panels_in_a_row(panels, columns)
    width = _MAX_WIDTH / columns
    panels = [_readable(panel, width) for panel in panels]
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


def _readable(panel: Panel, width: float) -> Panel:
    """The part of a panel that is readable in this width (inches)."""
    if isinstance(panel, Table):
        return panel.first(MAX_LABELS)
    if isinstance(panel, HeatMap) and panel.row_labels:
        return panel.first(MAX_LABELS, MAX_LABELS)
    if isinstance(panel, Bars):
        names = [_shortened(name, _MAX_NAME) for name in panel.names]
        room = width - _BAR_ROOM - _longest(names)
        return replace(panel, names=names, notes=[_shortened(note, room) for note in panel.notes])
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
    if isinstance(panel, Bars):
        width = _BAR_ROOM + _longest(panel.names) + _longest(panel.notes)
        return max(_PLOT_SIZE[0], width), 1.0 + _BAR_HEIGHT * len(panel.names)
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


def _draw_bars(axis: Axes, panel: Bars) -> None:
    places = range(len(panel.names))
    axis.barh(places, panel.values)
    axis.set_yticks(places, panel.names)
    axis.invert_yaxis()
    axis.set_xlabel(panel.value_name)
    axis.set_xlim(min(0.0, *panel.values), 1.0)
    for place, note in enumerate(panel.notes):
        # In points: the layout engine does not see a distance that grows with the plot.
        axis.annotate(note, (1, place), xytext=(4, 0), textcoords="offset points", va="center")


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
    Bars: _draw_bars,
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


def _shortened(text: str, width: float) -> str:
    """A text, truncated to about this width (inches)."""
    whole = _text_width(text)
    return text if whole <= width else f"{text[: max(int(len(text) * width / whole) - 1, 0)]}…"


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
