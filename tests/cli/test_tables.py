"""Tables on stdout."""

import io

import pytest
from rich.console import Console

from ptenmt.cli import charts
from ptenmt.cli.charts import print_table
from ptenmt.cli.console import amount, duration
from ptenmt.inspection.figures import Table

TABLE = Table(
    title="scores",
    header=("score", "value", "how"),
    rows=[("BLEU", "9.10", "nrefs:1 case:mixed eff:no tok:13a"), ("loss", "12.34", "nats a token")],
    numbers={1},
)


def drawn(monkeypatch: pytest.MonkeyPatch, width: int, table: Table = TABLE) -> list[str]:
    console = Console(
        file=io.StringIO(), force_terminal=True, color_system=None, width=width, highlight=False
    )
    monkeypatch.setattr(charts, "make_console", lambda: console)
    print_table(table)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_in_a_pipe_a_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TABLE)
    assert capsys.readouterr().out.splitlines() == [
        "scores",
        "score  value  how",
        "BLEU    9.10  nrefs:1 case:mixed eff:no tok:13a",
        "loss   12.34  nats a token",
    ]


def test_on_a_terminal_the_last_column_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, 40) == [
        "scores",
        "score  value  how",
        "BLEU    9.10  nrefs:1 case:mixed eff:no",
        "              tok:13a",
        "loss   12.34  nats a token",
    ]


def test_a_long_first_column_wraps_too(monkeypatch: pytest.MonkeyPatch) -> None:
    path = "checkpoints/a-run-with-a-rather-long-name-of-its-own"
    table = Table(title="runs", header=("run", "BLEU"), rows=[(path, "9.10"), ("b", "12.3")], numbers={1})
    assert drawn(monkeypatch, 40, table) == [
        "runs",
        "run                                 BLEU",
        "checkpoints/a-run-with-a-rather-lo  9.10",
        "ng-name-of-its-own",
        "b                                   12.3",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (89, "89 s"),
        (91, "1.5 min"),
        (118, "2.0 min"),
        (294, "4.9 min"),
        (296, "5 min"),
        (3_661, "1 h 01 min"),
        (200_000, "55 h 33 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_amounts() -> None:
    amounts = [amount(size) for size in (40_100, 5_140_000, 12_500_000, 3_210_000_000)]
    assert amounts == ["40 kB", "5.1 MB", "12 MB", "3.2 GB"]
