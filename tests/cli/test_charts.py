"""Pictures drawn in a terminal."""

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from ptenmt.cli.charts import bar, heat_map_lines, plot_table, show
from ptenmt.cli.console import Screen
from ptenmt.inspection.figures import Bars, HeatMap, Line, LinePlot, Table


def labelled(rows: list[str], columns: list[str], values: object = None, **options: object) -> HeatMap:
    if values is None:
        values = np.linspace(0, 1, len(rows) * len(columns)).reshape(len(rows), len(columns))
    return HeatMap(title="map", values=np.array(values), row_labels=rows, column_labels=columns, **options)  # type: ignore[arg-type]


def plain(lines: list[Text]) -> list[str]:
    return [line.plain for line in lines]


def curve(y: list[float], name: str = "", x: list[float] | None = None) -> Line:
    return Line(name=name, x=np.array(range(len(y)) if x is None else x, float), y=np.array(y))


def test_without_colours_shades_stand_for_numbers() -> None:
    drawn = labelled(["[START]", "vê"], ["o", "gato"], [[0.0, 0.5], [1.0, 2.0]])
    assert plain(heat_map_lines(drawn, 80, has_colours=False)) == [
        "map",
        "          o  gato",
        "[START]      ▒▒▒▒▒",
        "     vê ██████████",
        "0  ░▒▓█ 1",
    ]


def test_labels_that_do_not_fit_side_by_side_stand_upright() -> None:
    words = ["this", "is", "a"] * 4
    lines = plain(heat_map_lines(labelled(["x"], words), 40, has_colours=False))
    upright = [line.ljust(26)[2::2] for line in lines[1:5]]
    assert ["".join(column).strip() for column in zip(*upright, strict=True)][:12] == words
    assert max(map(len, lines)) <= 40


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("has_colours", [True, False])
def test_rows_and_columns_without_room_are_left_out_with_a_note(width: int, has_colours: bool) -> None:
    words = [f"a-rather-long-word-{number}" for number in range(60)]
    lines = plain(heat_map_lines(labelled(words, words), width, has_colours))
    room = (width - min(14, width // 3) - 1) // 2
    assert lines[0] == f"map (the first 50 of 60 rows, the first {room} of 60 columns)"
    assert max(map(len, lines[1:])) <= width  # the title folds
    assert len([line for line in lines if line.lstrip().startswith("a-rather")]) == 50


def test_colours_go_from_the_lowest_to_the_highest() -> None:
    *_, row, scale = heat_map_lines(labelled(["x"], ["a", "b"], [[0.0, 1.0]]), 80, has_colours=True)
    colours = [span.style.bgcolor.get_truecolor() for span in row.spans]  # type: ignore[union-attr]
    assert colours == [(247, 251, 255), (8, 48, 107)]
    assert row.plain == "x     "
    assert scale.plain == f"0 {' ' * 10} 1"


def test_numbers_stand_in_the_cells() -> None:
    mask = labelled(["a", "b"], ["a", "b"], [[0, 1], [0, 0]], has_numbers=True)
    assert plain(heat_map_lines(mask, 80, has_colours=False)) == ["map", "  a b", "a 0 1 ", "b 0 0 "]
    coloured = heat_map_lines(mask, 80, has_colours=True)
    assert [line.plain for line in coloured][2:] == ["a 0 1 ", "b 0 0 "]
    inks = [span.style.color.name for span in coloured[2].spans]  # type: ignore[union-attr]
    assert inks == ["black", "white"]


def test_a_mark_leaves_its_cell_the_shade() -> None:
    values = [[1.0, 0.5], [0.0, 0.5]]
    roomy = labelled(["x", "y"], ["gato", "voa"], values, marks=[(0, 0), (1, 1)])
    assert plain(heat_map_lines(roomy, 80, has_colours=False))[2:4] == ["x ██●██▒▒▒▒▒", "y      ▒▒●▒▒"]
    narrow = labelled(["x", "y"], ["a", "b"], values, marks=[(0, 0), (1, 1)])
    assert plain(heat_map_lines(narrow, 80, has_colours=False))[2:4] == ["x ●█▒▒", "y   ●▒"]
    coloured = heat_map_lines(narrow, 80, has_colours=True)
    assert coloured[2].plain == "x ●   "


def test_wide_characters_keep_columns_apart() -> None:
    lines = heat_map_lines(labelled(["猫", "cat"], ["猫", "犬"], [[1, 1], [1, 1]]), 80, has_colours=False)
    assert plain(lines)[1:4] == ["    猫 犬", " 猫 ██████", "cat ██████"]


def test_numbered_maps_are_thinned_to_what_fits() -> None:
    values = np.linspace(0, 1, 200)[:, None] * np.ones((1, 128))
    tall = HeatMap(title="map", values=values, row_name="position", column_name="dimension")
    lines = plain(heat_map_lines(tall, 80, has_colours=False))
    assert lines[0] == "map (one position in 4, one dimension in 2)"
    assert lines[1] == "down: position, across: dimension"
    assert len(lines) == 2 + 50 + 2
    assert lines[2] == "  0 " + " " * 64
    assert lines[51] == "196 " + "█" * 64
    assert lines[-2] == "    0" + "126".rjust(63)
    coloured = heat_map_lines(tall, 80, has_colours=True)
    assert coloured[0].plain == "map (one position in 2, one dimension in 2)"
    assert len(coloured) == 2 + 50 + 2  # two rows a line
    assert coloured[2].plain == "  0 " + "▀" * 64


def test_rows_and_columns_of_one_name_are_told_apart() -> None:
    square = HeatMap(title="map", values=np.eye(150), row_name="position", column_name="position")
    assert plain(heat_map_lines(square, 80, has_colours=False))[0] == "map (one row in 3, one column in 2)"


def test_paired_columns_are_thinned_together() -> None:
    values = np.tile([0.0, 1.0], (2, 64))
    paired = HeatMap(title="map", values=values, column_name="dimension", columns_are_paired=True)
    for width in (80, 60, 46, 40):
        lines = plain(heat_map_lines(paired, width, has_colours=False))
        assert lines[2].startswith("0 " + " █" * 10)
        assert max(map(len, lines[2:])) <= width
    assert lines[0] == "map (one pair of dimensions in 4)"
    assert lines[4].split() == ["0", "121"]


def test_a_curve_is_a_table_of_its_course() -> None:
    lines = [curve([3.0, np.nan, 0.5, 1234.5], "loss", [0.0, 10.0, 20.0, 30.0]), curve([np.nan], "none")]
    table = plot_table(LinePlot(title="plot", x_name="steps", y_name="nats", lines=lines))
    assert (table.title, table.header) == ("plot, nats", ("over steps", "first", "lowest", "highest", "last"))
    assert table.rows == [("loss", "3 at 0", "0.5 at 20", "1,234 at 30", "1,234 at 30")]
    nothing = plot_table(LinePlot(title="plot", x_name="steps", y_name="", lines=lines[1:]))
    assert nothing.rows[0][0] == "no points"


def test_panels_come_one_below_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    bars = Bars(title="casa", value_name="cosine", names=["lar", "rua"], values=[1.0, -0.5])
    table = Table(title="Source", header=("", "id"), rows=[("0", "2"), ("1", "17")], numbers={1})
    show([bars, table], None, Screen(), title="both")
    assert capsys.readouterr().out == (
        f"both\n\ncasa\nlar  1.000 {'█' * 30}\nrua -0.500\n\nSource\n   id\n0   2\n1  17\n"
    )


def test_in_a_pipe_nothing_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    words = [f"w{number}" for number in range(100)]
    assert not Console().is_terminal
    show([labelled(words, words)], None, Screen())
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "map"
    assert "w99" in out[1]


def test_bars_go_in_eighths_of_a_cell() -> None:
    assert [bar(cells) for cells in (0, 0.125, 0.5, 1, 2.5, 2.99)] == ["", "▏", "▌", "█", "██▌", "███"]
