"""Tables, and figures as tables, on stdout."""

import io

import numpy as np
import pytest
from rich.console import Console

from ptenmt.cli import tables
from ptenmt.cli.console import Screen, amount, duration, option_value
from ptenmt.cli.tables import heat_map_table, plot_table, print_table, show
from ptenmt.inspection.figures import HeatMap, Line, LinePlot, Table

TABLE = Table(
    title="scores",
    header=("score", "value", "how"),
    rows=[("BLEU", "9.10", "nrefs:1 case:mixed eff:no tok:13a"), ("loss", "12.34", "nats a token")],
    numbers={1},
)


def test_in_a_pipe_a_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TABLE)
    assert capsys.readouterr().out.splitlines() == [
        "scores",
        "score  value  how",
        "BLEU    9.10  nrefs:1 case:mixed eff:no tok:13a",
        "loss   12.34  nats a token",
    ]


def test_on_a_terminal_the_last_column_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system=None, width=40, highlight=False)
    monkeypatch.setattr(tables, "make_console", lambda: console)
    print_table(TABLE)
    assert [line.rstrip() for line in file.getvalue().splitlines()] == [
        "scores",
        "score  value  how",
        "BLEU    9.10  nrefs:1 case:mixed eff:no",
        "              tok:13a",
        "loss   12.34  nats a token",
    ]


def test_durations_amounts_and_options() -> None:
    shown = [duration(seconds) for seconds in (0.4, 89, 91, 294, 296, 3_661, 200_000)]
    assert shown == ["0 s", "89 s", "1.5 min", "4.9 min", "5 min", "1 h 01 min", "55 h 33 min"]

    amounts = [amount(size) for size in (40_100, 5_140_000, 12_500_000, 3_210_000_000)]
    assert amounts == ["40.1 kB", "5.1 MB", "12.5 MB", "3.2 GB"]
    assert [option_value(value) for value in (None, (), 1e-4)] == ["–", "–", "0.0001"]
    files = tuple({"path": f"corpus-{number}.tsv"} for number in range(54))
    assert option_value(files[:1]) == "[{path: corpus-0.tsv}]"
    assert option_value(files) == "54 (see --json)"


def labelled(rows: list[str], columns: list[str], values: object = None, **options: object) -> HeatMap:
    if values is None:
        values = np.linspace(0, 1, len(rows) * len(columns)).reshape(len(rows), len(columns))
    return HeatMap(title="map", values=np.array(values), row_labels=rows, column_labels=columns, **options)  # type: ignore[arg-type]


def curve(y: list[float], name: str = "", x: list[float] | None = None) -> Line:
    return Line(name=name, x=np.array(range(len(y)) if x is None else x, float), y=np.array(y))


def test_a_heat_map_is_a_table_of_the_highest_values_of_each_row() -> None:
    values = [[0.125, 0.5, 0.25, 0.004, 0.03, 0.09], [0.0, 0.0, 0.001, 0.0, 1.0, 0.0]]
    drawn = labelled(["x", "y"], list("abcdef"), values, marks=[(0, 1), (1, 2)], column_name="source")
    table = heat_map_table(drawn)
    assert (table.title, table.header) == ("map", ("", "source"))
    assert table.rows == [("x", "b 0.50*  c 0.25  a 0.12  f 0.09"), ("y", "e 1.00  c 0.00*")]
    mask = labelled(["a", "b"], ["a", "b"], [[0, 1], [0, 0]], has_numbers=True)
    table = heat_map_table(mask)
    assert (table.header, table.rows) == (("", "a", "b"), [("a", "0", "1"), ("b", "0", "0")])


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
    assert capsys.readouterr().out == "both\n\nSource\n   id\n0   2\n1  17\n\nmap\nx  a 1.00\n"
