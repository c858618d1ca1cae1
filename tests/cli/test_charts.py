"""Pictures as tables in a terminal."""

import numpy as np
import pytest

from ptenmt.cli.charts import heat_map_table, plot_table, show
from ptenmt.cli.console import Screen
from ptenmt.errors import OutputError
from ptenmt.inspection.figures import HeatMap, Line, LinePlot, Table


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
    assert heat_map_table(mask).rows == [("a", "0 1"), ("b", "0 0")]
    with pytest.raises(OutputError, match="map is a picture"):
        heat_map_table(HeatMap(title="map", values=np.ones((200, 128))))


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
