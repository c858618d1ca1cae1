"""Pictures drawn in a terminal."""

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from ptenmt.cli.charts import heat_map_lines, plot_table, show
from ptenmt.cli.console import Screen
from ptenmt.inspection.figures import HeatMap, Line, LinePlot, Table


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
    assert plain(heat_map_lines(drawn, 80)) == [
        "map",
        "          o  gato",
        "[START]      ▒▒▒▒▒",
        "     vê ██████████",
        "0  ░▒▓█ 1",
    ]


def test_labels_that_do_not_fit_side_by_side_stand_upright() -> None:
    words = ["this", "is", "a"] * 4
    lines = plain(heat_map_lines(labelled(["x"], words), 40))
    upright = [line.ljust(26)[2::2] for line in lines[1:5]]
    assert ["".join(column).strip() for column in zip(*upright, strict=True)][:12] == words
    assert max(map(len, lines)) <= 40


@pytest.mark.parametrize("width", [80, 40])
def test_rows_and_columns_without_room_are_left_out_with_a_note(width: int) -> None:
    words = [f"a-rather-long-word-{number}" for number in range(60)]
    lines = plain(heat_map_lines(labelled(words, words), width))
    room = (width - min(14, width // 3) - 1) // 2
    assert lines[0] == f"map (the first 50 of 60 rows, the first {room} of 60 columns)"
    assert max(map(len, lines[1:])) <= width  # the title folds
    assert len([line for line in lines if line.lstrip().startswith("a-rather")]) == 50


def test_numbers_stand_in_the_cells() -> None:
    mask = labelled(["a", "b"], ["a", "b"], [[0, 1], [0, 0]], has_numbers=True)
    assert plain(heat_map_lines(mask, 80)) == ["map", "  a b", "a 0 1 ", "b 0 0 "]


def test_a_mark_leaves_its_cell_the_shade() -> None:
    values = [[1.0, 0.5], [0.0, 0.5]]
    roomy = labelled(["x", "y"], ["gato", "voa"], values, marks=[(0, 0), (1, 1)])
    assert plain(heat_map_lines(roomy, 80))[2:4] == ["x ██●██▒▒▒▒▒", "y      ▒▒●▒▒"]
    narrow = labelled(["x", "y"], ["a", "b"], values, marks=[(0, 0), (1, 1)])
    assert plain(heat_map_lines(narrow, 80))[2:4] == ["x ●█▒▒", "y   ●▒"]


def test_wide_characters_keep_columns_apart() -> None:
    lines = heat_map_lines(labelled(["猫", "cat"], ["猫", "犬"], [[1, 1], [1, 1]]), 80)
    assert plain(lines)[1:4] == ["    猫 犬", " 猫 ██████", "cat ██████"]


def test_numbered_maps_are_thinned_to_what_fits() -> None:
    values = np.linspace(0, 1, 200)[:, None] * np.ones((1, 128))
    tall = HeatMap(title="map", values=values, row_name="position", column_name="dimension")
    lines = plain(heat_map_lines(tall, 80))
    assert lines[0] == "map (one position in 4, one dimension in 2)"
    assert lines[1] == "down: position, across: dimension"
    assert len(lines) == 2 + 50 + 2
    assert lines[2] == "  0 " + " " * 64
    assert lines[51] == "196 " + "█" * 64
    assert lines[-2] == "    0" + "126".rjust(63)


def test_a_curve_is_a_table_of_its_course() -> None:
    lines = [curve([3.0, np.nan, 0.5, 1234.5], "loss", [0.0, 10.0, 20.0, 30.0]), curve([np.nan], "none")]
    table = plot_table(LinePlot(title="plot", x_name="steps", y_name="nats", lines=lines))
    assert (table.title, table.header) == ("plot, nats", ("over steps", "first", "lowest", "highest", "last"))
    assert table.rows == [("loss", "3 at 0", "0.5 at 20", "1,234 at 30", "1,234 at 30")]
    nothing = plot_table(LinePlot(title="plot", x_name="steps", y_name="", lines=lines[1:]))
    assert nothing.rows[0][0] == "no points"


def test_panels_come_one_below_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(title="Source", header=("", "id"), rows=[("0", "2"), ("1", "17")], numbers={1})
    show([table, labelled(["x"], ["a"], [[1]])], None, Screen(), title="both")
    assert capsys.readouterr().out == ("both\n\nSource\n   id\n0   2\n1  17\n\nmap\n  a\nx ██\n0  ░▒▓█ 1\n")


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
