"""Figures and the files that they become."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from ptenmt.errors import OutputError
from ptenmt.inspection.drawing import MAX_LABELS, draw, save_figure
from ptenmt.inspection.figures import HeatMap, Line, LinePlot, Table


def heat_map(rows: int = 2, columns: int = 2, **options: object) -> HeatMap:
    values = np.linspace(0, 1, rows * columns).reshape(rows, columns)
    labels = {
        "row_labels": [f"r{n}" for n in range(rows)],
        "column_labels": [f"c{n}" for n in range(columns)],
    }
    return HeatMap(title="who attends to whom", values=values, **(labels | options))  # type: ignore[arg-type]


def plot(**options: object) -> LinePlot:
    line = Line(name="training", x=np.arange(3.0), y=np.array([3.0, np.nan, 1.0]))
    return LinePlot(title="Loss", x_name="steps", y_name="nats", lines=[line, line], **options)  # type: ignore[arg-type]


def ticks(figure: Figure, panel: int = 0) -> tuple[list[str], list[str]]:
    axis = figure.axes[panel]
    return (
        [label.get_text() for label in axis.get_yticklabels()],
        [label.get_text() for label in axis.get_xticklabels()],
    )


@pytest.mark.parametrize(
    ("ending", "beginning"), [("png", b"\x89PNG\r\n"), ("pdf", b"%PDF-"), ("SVG", b"<?xml")]
)
def test_the_suffix_determines_the_file_format(tmp_path: Path, ending: str, beginning: bytes) -> None:
    contents = []
    for name in ("one", "two"):
        file = tmp_path / f"{name}.{ending}"
        save_figure(draw([heat_map(), plot()]), file)
        contents.append(file.read_bytes())
    assert contents[0].startswith(beginning)
    assert contents[0] == contents[1], "the same figure gives the same bytes"
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"one.{ending}", f"two.{ending}"]
    if ending == "SVG":
        assert ElementTree.fromstring(contents[0]).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("name", ["figure.jpg", "png"])
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"its name must end in \.png, \.svg or \.pdf") as refusal:
        save_figure(draw([heat_map()]), tmp_path / name)
    assert refusal.value.hint == f"such as {Path(name).stem}.png"
    assert list(tmp_path.iterdir()) == []


def test_a_dollar_is_a_dollar(tmp_path: Path) -> None:
    figure = draw([heat_map(row_labels=["$\\frac{$", "$5$"])])
    save_figure(figure, tmp_path / "figure.svg")  # as a formula this would be an error
    assert ticks(figure)[0] == ["$\\frac{$", "$5$"]


def test_a_heat_map_shows_its_numbers_in_their_places() -> None:
    figure = draw([heat_map(row_name="decoder input", column_name="source", palette="reds", high=0.5)])
    (image,) = figure.axes[0].images
    np.testing.assert_array_equal(image.get_array(), heat_map().values)
    assert image.get_clim() == (0.0, 0.5)
    assert ticks(figure) == (["r0", "r1"], ["c0", "c1"])
    assert (figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()) == ("decoder input", "source")
    assert figure.get_suptitle() == "who attends to whom"
    assert not figure.axes[0].texts
    numbered = draw([heat_map(has_numbers=True)]).axes[0]
    assert [text.get_text() for text in numbered.texts] == ["0", "0", "1", "1"]
    assert not draw([heat_map(31, 30, has_numbers=True)]).axes[0].texts


def test_panels_stand_in_columns_and_share_a_colour_bar() -> None:
    figure = draw([heat_map()] * 5, columns=3, title="all heads")
    *panels, spare, bar = figure.axes
    assert len(panels) == 5
    assert not spare.axison
    assert bar.get_label() == "<colorbar>"
    assert [panel.get_subplotspec().get_geometry()[:2] for panel in panels] == [(2, 3)] * 5
    assert figure.get_suptitle() == "all heads"
    assert len(draw([heat_map(), heat_map(high=0.5)]).axes) == 4  # what means different things: a bar each
    assert len(draw([heat_map(has_numbers=True)]).axes) == 1


def test_large_figures_are_truncated_with_a_note() -> None:
    figure = draw([heat_map(MAX_LABELS + 1, MAX_LABELS + 2)])
    rows, columns = ticks(figure)
    assert (len(rows), len(columns)) == (MAX_LABELS, MAX_LABELS)
    assert figure.get_suptitle() == (
        "who attends to whom (the first 64 of 65 rows, the first 64 of 66 columns)"
    )
    plain = draw([heat_map(100, 100, row_labels=(), column_labels=())])  # nothing to read there: all of it
    assert plain.axes[0].images[0].get_array().shape == (100, 100)


def test_lines_are_drawn_and_tables_left_out() -> None:
    (lines,) = draw([plot(), Table(title="Source", rows=[("0", "bem")])]).axes
    assert [line.get_label() for line in lines.lines] == ["training", "training"]
    np.testing.assert_array_equal(lines.lines[0].get_ydata(), [3.0, np.nan, 1.0])
