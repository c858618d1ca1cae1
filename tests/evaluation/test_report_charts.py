import re
from xml.etree import ElementTree

import numpy as np
import pytest

from ptenmt.evaluation.report_charts import bar_chart, line_chart, ticks
from ptenmt.evaluation.report_parts import Bar, BarChart, LineChart
from ptenmt.inspection.figures import Line, LinePlot


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0.17, 19.03, [0, 5, 10, 15, 20]),
        (50, 11_682, [0, 2500, 5000, 7500, 10_000, 12_500]),
        (0, 0.0014, [0, 0.0005, 0.001, 0.0015]),
        (-3, 4, [-4, -2, 0, 2, 4]),
        (7, 7, [6, 8, 10, 12, 14]),
        (0, 0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ],
)
def test_ticks_are_round_and_reach_past_both_ends(low: float, high: float, expected: list[float]) -> None:
    found = ticks(low, high)
    assert found == pytest.approx(expected)
    assert found[0] <= low
    assert found[-1] >= high - 1e-9


def lines(*points: list[tuple[float, float]], names: str = "ab", mark: float | None = None) -> LineChart:
    drawn = [
        Line(name=name, x=np.array([x for x, _ in each]), y=np.array([y for _, y in each]))
        for name, each in zip(names, points, strict=False)
    ]
    plot = LinePlot(title="Loss <nats>", x_name="step", y_name="", lines=drawn)
    return LineChart(plot=plot, mark=mark, mark_name="best")


def points(text: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())]


def test_a_curve_is_to_scale_and_leaves_out_what_is_no_number() -> None:
    drawn = line_chart(lines([(0, 0), (50, 5), (75, float("nan")), (100, 10)], mark=50))
    figure = ElementTree.fromstring(drawn)
    (polyline,) = figure.iter("polyline")
    (left, bottom), (middle, half), (right, top) = points(polyline.attrib["points"])
    assert middle == pytest.approx((left + right) / 2, abs=0.1)
    assert half == pytest.approx((top + bottom) / 2, abs=0.1)
    assert top < bottom  # the greater, the higher up
    assert [float(dot.attrib["cx"]) for dot in figure.iter("circle")] == pytest.approx(
        [left, middle, right], abs=0.1
    )
    (mark,) = (line for line in figure.iter("line") if line.attrib["class"] == "mark")
    assert float(mark.attrib["x1"]) == pytest.approx(middle, abs=0.1)
    assert 'class="mark"' not in line_chart(lines([(0, 0), (100, 10)], mark=120))
    assert "Loss &lt;nats&gt;" in drawn
    assert 'class="key' not in drawn  # one line needs no legend


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    long = [(float(step), 1 / step) for step in range(1, 5001)]
    drawn = line_chart(lines(long, [(1, 0.5)], names=["training", "validation"]))
    figure = ElementTree.fromstring(drawn)
    curve, dot = (points(each.attrib["points"]) for each in figure.iter("polyline"))
    assert 200 < len(curve) <= 401
    assert (len(dot), len(list(figure.iter("circle")))) == (1, 1)
    (whole,) = [
        points(each.attrib["points"])
        for each in ElementTree.fromstring(line_chart(lines(long[::4999]))).iter("polyline")
    ]
    assert (curve[0], curve[-1]) == (whole[0], whole[-1])
    assert re.findall(r'class="key series(\d)">(\w+)<', drawn) == [("0", "training"), ("1", "validation")]


def test_bars_are_to_scale_with_their_intervals() -> None:
    bars = [
        Bar(label="1–9", value=30.0, shown="30.0", interval=(20.0, 40.0)),
        Bar(label="10–19 <x>", value=15.0, shown="15.0"),
        Bar(label="none", value=0.0, shown="0.0", interval=(0.0, 0.0)),
    ]
    figure = ElementTree.fromstring(bar_chart(BarChart(title="BLEU", bars=bars)))
    long, short, least = (float(bar.attrib["width"]) for bar in figure.iter("rect"))
    assert long == pytest.approx(2 * short, abs=0.02)
    assert least == 1
    start = float(next(figure.iter("rect")).attrib["x"])
    whisker = next(figure.iter("path")).attrib["d"]
    low, _, high, _ = (float(number) for number in re.findall(r"[MH]([\d.]+)", whisker))
    assert (low - start) / long == pytest.approx(20 / 30, abs=0.01)
    assert (high - start) / long == pytest.approx(40 / 30, abs=0.01)
    assert "10–19 <x>" in [text.text for text in figure.iter("text")]
    assert bar_chart(BarChart(title="", bars=bars[2:]))  # all of them 0: nothing is divided by it


@pytest.mark.parametrize(
    ("last", "labels"),
    [
        (0.0015, ["0", "0.0005", "0.001", "0.0015"]),
        (8_000.0, ["0", "2,000", "4,000", "6,000", "8,000"]),
        (11_682.0, ["0", "2.5k", "5k", "7.5k", "10k", "12.5k"]),
        (12_000_000.0, ["0", "2.5M", "5M", "7.5M", "10M", "12.5M"]),
    ],
)
def test_an_axis_has_one_unit(last: float, labels: list[str]) -> None:
    figure = ElementTree.fromstring(line_chart(lines([(0, 3), (last, 3)])))
    texts = [text for text in figure.iter("text") if text.attrib["text-anchor"] == "middle"]
    assert [text.text for text in texts] == [*labels, "step"]
