"""Pictures as matplotlib figures, and figures as files; no display is needed, nothing global is changed."""

import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ptenmt.atomic_files import write_bytes
from ptenmt.errors import OutputError
from ptenmt.inspection.fonts import MOST_TEXT, fonts, shortened, style, text_width
from ptenmt.inspection.pictures import Bars, HeatMap, LinePlot, Panel, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
MOST_LABELS = 60
"""More tokens than this are not drawn: nobody could read them."""
_MOST_NUMBERS = 900  # in a heat map's cells: more take many seconds to draw, and colours tell as much

_COLOURS = {"blues": "Blues", "reds": "Reds", "greys": "Greys", "diverging": "RdBu"}
_WIDEST = 20.0  # inches, as are the following
_LABELLED_CELL = 0.3
_PLOT_SIZE = 6.0, 3.6
_LEAST_BARS = 4.0  # with the space around them, names and notes not counted
_LONGEST_NAME = 3.0
_ROW_HEIGHT = 0.28
_TABLE_ROW = 0.22
_COLOUR_BAR = 0.25  # the width of one that is as high as the figure
_DOTS_AN_INCH = 150
_LEAST_TEXT = 4.5  # points
_TEXT_IN_CELL = 0.75 * 72  # points an inch
_UNDATED: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def figure_format(file: Path, *others: str) -> str:
    """The format that a file's ending means: ``png``, ``svg`` or ``pdf``.

    Args:
        file: Its name.
        others: More endings that would have been possible, such as ``.html``.

    Raises:
        OutputError: It means none of them.
    """
    ending = file.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        *most, last = (*(f".{known}" for known in FORMATS), *others)
        raise OutputError(
            f"cannot draw {file}: its name must end in {', '.join(most)} or {last}",
            f"such as {file.stem}.png",
        )
    return ending


def save_figure(
    figure: "Figure", file: str | Path, on_warning: Callable[[str], None] = warnings.warn
) -> None:
    """Write a figure into a file, whole or not at all; the same figure gives the same bytes.

    Args:
        figure: Any matplotlib figure.
        file: Its ending says whether it becomes PNG, SVG or PDF.
        on_warning: Told, in a sentence, of characters that no font on this machine has.

    Raises:
        OutputError: The ending is another, or it cannot be written; what stood there before is unharmed.
    """
    file = Path(file)
    ending, content = figure_format(file), io.BytesIO()
    with warnings.catch_warnings(), style(_texts(figure)):
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(content, format=ending, dpi=_DOTS_AN_INCH, metadata=_UNDATED[ending])
    missing = fonts(_texts(figure))[1]
    if missing:
        shown = " ".join(sorted(missing)[:10])
        on_warning(f"{file}: boxes stand for characters that no font on this machine has: {shown}")
    write_bytes(file, content.getvalue())


def draw(panels: Sequence[Panel], *, title: str = "", columns: int = 1) -> "Figure":
    """Draw pictures side by side.

    Args:
        panels: At least one.
        title: Of the whole.
        columns: How many panels stand in a row.

    Returns:
        The figure, which a notebook shows and ``save_figure`` writes.
    """
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    panels = [_readable(panel, _WIDEST / columns) for panel in panels]
    cell = _cell_size(panels, _WIDEST / columns)
    sizes = [_size(panel, cell, _WIDEST / columns) for panel in panels]
    width = max(size[0] for size in sizes)
    heights = [
        max(size[1] for size in sizes[first : first + columns]) for first in range(0, len(sizes), columns)
    ]
    text = min(MOST_TEXT, max(_LEAST_TEXT, _TEXT_IN_CELL * cell))
    with style(chain([title], *map(_words, panels)), text):
        figure = Figure(figsize=(columns * width, sum(heights)), layout="constrained")
        grid = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights)
        axes = grid.ravel().tolist()
        for axis, panel in zip(axes, panels, strict=False):
            _draw_panel(axis, panel)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        _add_colour_bars(figure, axes[: len(panels)], panels)
        if title:
            figure.suptitle(title, wrap=True)
    return figure


def _readable(panel: Panel, widest: float) -> Panel:
    """As much of a panel as anybody could read, no wider than so many inches."""
    if isinstance(panel, Table):
        return panel.first(MOST_LABELS)
    if isinstance(panel, HeatMap) and panel.row_labels:
        return panel.first(MOST_LABELS, MOST_LABELS)
    if isinstance(panel, Bars):
        names = [shortened(name, _LONGEST_NAME) for name in panel.names]
        room = widest - _LEAST_BARS - _longest(names)
        return replace(panel, names=names, notes=[shortened(note, room) for note in panel.notes])
    return panel


def _longest(texts: Sequence[str]) -> float:
    """How many inches the longest of texts takes."""
    return max(map(text_width, texts), default=0.0)


def _cell_size(panels: Sequence[Panel], widest: float) -> float:
    """The side of a labelled cell, in inches, so that no panel is wider than this."""
    labelled = [panel.num_columns for panel in panels if isinstance(panel, HeatMap) and panel.row_labels]
    return min(_LABELLED_CELL, (widest - 1) / max(labelled, default=1))


def _size(panel: Panel, cell: float, widest: float) -> tuple[float, float]:
    """A panel's width and height in inches."""
    if isinstance(panel, HeatMap) and panel.row_labels:
        return max(3.2, cell * panel.num_columns + 1.2), cell * panel.num_rows + 1.4
    if isinstance(panel, HeatMap):
        return min(9.0, widest), min(6.0, widest)
    if isinstance(panel, LinePlot):
        return _PLOT_SIZE
    if isinstance(panel, Bars):
        width = _LEAST_BARS + _longest(panel.names) + _longest(panel.notes)
        return max(_PLOT_SIZE[0], width), 1.0 + _ROW_HEIGHT * len(panel.names)
    return _PLOT_SIZE[0], 0.6 + _TABLE_ROW * (len(panel.rows) + 1)


def _draw_panel(axis: "Axes", panel: Panel) -> None:
    if isinstance(panel, HeatMap):
        _draw_heat_map(axis, panel)
    elif isinstance(panel, LinePlot):
        _draw_lines(axis, panel)
    elif isinstance(panel, Bars):
        _draw_bars(axis, panel)
    else:
        _draw_table(axis, panel)
    axis.set_title(panel.title, wrap=True)


def _draw_heat_map(axis: "Axes", panel: HeatMap) -> None:
    aspect: Literal["equal", "auto"] = "equal" if panel.row_labels else "auto"
    colours = _COLOURS[panel.palette]
    axis.imshow(
        panel.values, cmap=colours, vmin=panel.low, vmax=panel.high, aspect=aspect, interpolation="none"
    )
    axis.set_xlabel(panel.column_name)
    axis.set_ylabel(panel.row_name)
    if panel.row_labels:
        axis.set_xticks(range(panel.num_columns), panel.column_labels, rotation=90)
        axis.set_yticks(range(panel.num_rows), panel.row_labels)
    for row, column in panel.marks:
        axis.plot(column, row, marker="o", markersize=4, color="black", markeredgecolor="white")
    if panel.has_numbers and panel.values.size <= _MOST_NUMBERS:
        middle = (panel.low + panel.high) / 2
        for row, values in enumerate(panel.values):
            for column, value in enumerate(values):
                colour = "white" if value > middle else "black"
                axis.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour)


def _draw_lines(axis: "Axes", panel: LinePlot) -> None:
    for number, line in enumerate(panel.lines):
        colour = f"C{number}" if line.colour is None else _akin(line.colour)
        marker = "o" if line.has_marks else None
        axis.plot(line.x, line.y, label=line.name, color=colour, marker=marker, markersize=3)
    axis.set_xlabel(panel.x_name)
    axis.set_ylabel(panel.y_name)
    axis.grid(alpha=0.3)
    axis.margins(x=0.02)
    if any(line.name for line in panel.lines):
        axis.legend()


def _akin(number: int) -> tuple[float, float, float, float]:
    """Of ten colours, the dark one for an even number and the light one for the next."""
    from matplotlib import colormaps

    red, green, blue, opacity = colormaps["tab20"](number % 20)
    return red, green, blue, opacity


def _draw_bars(axis: "Axes", panel: Bars) -> None:
    places = range(len(panel.names))
    axis.barh(places, panel.values)
    axis.set_yticks(places, panel.names)
    axis.invert_yaxis()
    axis.set_xlabel(panel.value_name)
    axis.set_xlim(min(0.0, *panel.values), 1.0)
    for place, note in enumerate(panel.notes):
        # A distance that grows with the plot would be room that the layout does not know of.
        axis.annotate(note, (1, place), xytext=(4, 0), textcoords="offset points", va="center")


def _draw_table(axis: "Axes", panel: Table) -> None:
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


def _add_colour_bars(figure: "Figure", axes: Sequence["Axes"], panels: Sequence[Panel]) -> None:
    """One for all heat maps if it means the same in each, else one each; none where numbers say it."""
    shown = [
        (axis, panel)
        for axis, panel in zip(axes, panels, strict=True)
        if isinstance(panel, HeatMap) and not panel.has_numbers
    ]
    if not shown:
        return
    if len({(panel.palette, panel.low, panel.high) for _, panel in shown}) == 1:
        aspect = figure.get_figheight() / _COLOUR_BAR
        figure.colorbar(shown[0][0].images[0], ax=[axis for axis, _ in shown], aspect=aspect)
        return
    for axis, _ in shown:
        figure.colorbar(axis.images[0], ax=axis)


def _words(panel: Panel) -> list[str]:
    """Every text that a panel shows."""
    if isinstance(panel, HeatMap):
        return [panel.title, panel.row_name, panel.column_name, *panel.row_labels, *panel.column_labels]
    if isinstance(panel, LinePlot):
        return [panel.title, panel.x_name, panel.y_name, *(line.name for line in panel.lines)]
    if isinstance(panel, Bars):
        return [panel.title, panel.value_name, *panel.names, *panel.notes]
    return [panel.title, *panel.header, *chain(*panel.rows)]


def _texts(figure: "Figure") -> list[str]:
    """Every text in a figure."""
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]
