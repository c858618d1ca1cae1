"""Charts as SVG: their text is text, and their colours are the page's, in light and in dark."""

import math
from collections.abc import Sequence

from ptenmt.evaluation.report_parts import BarChart, LineChart, points_of
from ptenmt.markup import Markup, element

_WIDTH = 440
_HEIGHT = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 22, 20, 40
_MOST_POINTS = 400
_MOST_DOTS = 60
_ROW, _BAR = 30, 16
_LABELS, _VALUES = 132, 66
"""Pixels left of the bars, and right of them."""
_LEAST_SCALE = 1e-9
"""Where all values are 0, nothing is divided by that."""
_TEXT_DOWN = 5.5
"""From the middle of a letter to its base line."""


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` or below it to ``high`` or above it, a few.

    Args:
        low: Of the values, finite.
        high: Not below ``low``.
        most: How many steps there may be between the values' ends.
    """
    if high <= low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def line_chart(chart: LineChart) -> Markup:
    """Curves with a grid, and a legend where there are several."""
    lines = [(line.name, points_of(line)) for line in chart.plot.lines]
    points = [point for _, line in lines for point in line]
    across = ticks(min(x for x, _ in points), max(x for x, _ in points))
    down = ticks(min(y for _, y in points), max(y for _, y in points))
    frame = _Frame(across[0], across[-1], down[0], down[-1])
    parts = [*_grid(frame, across, down), *_mark(frame, chart)]
    for number, (name, line) in enumerate(lines):
        parts.append(_curve(frame, name, line, number))
    middle, x_name = (_LEFT + _WIDTH - _RIGHT) / 2, chart.plot.x_name
    parts.append(element("text", x_name, x=middle, y=_HEIGHT - 4, class_="axis", text_anchor="middle"))
    legend = [element("span", name, class_=f"key series{number}") for number, (name, _) in enumerate(lines)]
    return _figure(chart.title, parts, _HEIGHT, legend if len(legend) > 1 else [])


def bar_chart(chart: BarChart) -> Markup:
    """Bars from left to right, one below the other, with whiskers where there are intervals."""
    ends = [max([bar.value, *(bar.interval or ())]) for bar in chart.bars]
    scale = (_WIDTH - _LABELS - _VALUES) / max(*ends, _LEAST_SCALE)
    parts: list[Markup] = []
    for number, (bar, end) in enumerate(zip(chart.bars, ends, strict=True)):
        middle = number * _ROW + _ROW / 2
        base = middle + _TEXT_DOWN
        rectangle = element(
            "rect", x=_LABELS, y=middle - _BAR / 2, width=max(bar.value * scale, 1.0), height=_BAR, rx=2
        )
        parts.append(element("text", bar.label, x=_LABELS - 8, y=base, text_anchor="end"))
        parts.append(element("g", element("title", f"{bar.label}: {bar.shown}"), rectangle, class_="bar"))
        if bar.interval:
            low, high = bar.interval
            parts.append(_whisker(_LABELS + low * scale, _LABELS + high * scale, middle))
        parts.append(element("text", bar.shown, x=_LABELS + end * scale + 8, y=base, class_="value"))
    return _figure(chart.title, parts, len(chart.bars) * _ROW, [])


class _Frame:
    """Where a value is on the picture.

    Args:
        left: The least x.
        right: The greatest.
        bottom: The least y.
        top: The greatest.
    """

    def __init__(self, left: float, right: float, bottom: float, top: float) -> None:
        self._left, self._right, self._bottom = left, right, bottom
        self._across = (_WIDTH - _LEFT - _RIGHT) / (right - left)
        self._up = (_HEIGHT - _TOP - _BOTTOM) / (top - bottom)

    def has(self, x: float) -> bool:
        """Whether an x is on it."""
        return self._left <= x <= self._right

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return _LEFT + (value - self._left) * self._across

    def y(self, value: float) -> float:
        """Pixels from the top."""
        return _HEIGHT - _BOTTOM - (value - self._bottom) * self._up


def _grid(frame: _Frame, across: Sequence[float], down: Sequence[float]) -> list[Markup]:
    parts = []
    for value, label in zip(down, _labels(down), strict=True):
        y = frame.y(value)
        parts.append(element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(element("text", label, x=_LEFT - 6, y=y + _TEXT_DOWN - 1, text_anchor="end"))
    for value, label in zip(across, _labels(across), strict=True):
        y = _HEIGHT - _BOTTOM + 17
        parts.append(element("text", label, x=frame.x(value), y=y, text_anchor="middle"))
    return parts


def _mark(frame: _Frame, chart: LineChart) -> list[Markup]:
    if chart.mark is None or not frame.has(chart.mark):
        return []
    x = frame.x(chart.mark)
    line = element("line", x1=x, x2=x, y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="mark")
    text = element("text", chart.mark_name, x=x, y=_TOP - 6, class_="marked", text_anchor="middle")
    return [line, text]


def _curve(frame: _Frame, name: str, points: Sequence[tuple[float, float]], number: int) -> Markup:
    """A line; a dot a point too where they are few, which tells its value to who points at it."""
    every = math.ceil(len(points) / _MOST_POINTS)
    kept = [*points[:-1:every], *points[-1:]]
    path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in kept)
    parts = [element("polyline", points=path)]
    if len(kept) <= _MOST_DOTS:
        for x, y in kept:
            told = element("title", f"{name}: {y:.4g} at {x:,.10g}")
            parts.append(element("circle", told, cx=frame.x(x), cy=frame.y(y), r=3))
    return element("g", *parts, class_=f"line series{number}")


def _whisker(low: float, high: float, middle: float) -> Markup:
    path = f"M{low:.1f} {middle - 4:.1f}v8M{low:.1f} {middle:.1f}H{high:.1f}M{high:.1f} {middle - 4:.1f}v8"
    return element("path", d=path, class_="whisker")


def _figure(title: str, parts: Sequence[Markup], height: int, legend: Sequence[Markup]) -> Markup:
    picture = element(
        "svg", *parts, viewBox=f"0 0 {_WIDTH} {height}", role="img", aria_label=title, class_="chart"
    )
    caption = element("figcaption", title, *(Markup(f" {entry}") for entry in legend))
    return element("figure", caption, picture)


def _labels(values: Sequence[float]) -> list[str]:
    """Numbers on an axis, all in the same unit: ``0.25``, ``8,000``, ``12.5k``, ``1.5M``."""
    largest = max(map(abs, values))
    unit, name = next(
        ((unit, name) for unit, name in ((1e6, "M"), (1e3, "k")) if largest >= 10 * unit), (1.0, "")
    )
    return [f"{value / unit:,.6g}{name}" if abs(value) > 1e-12 else "0" for value in values]
