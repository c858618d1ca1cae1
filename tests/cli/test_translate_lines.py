"""How far a translation is: a bar on a terminal, lines elsewhere."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from ptenmt.cli.console import Screen
from ptenmt.cli.translate_lines import TranslationView
from ptenmt.data.readers import opened_lines
from ptenmt.translation.resumable_output import OutputChunk

LINE = "o gato"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that the test puts forward."""
    clock = SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr("ptenmt.cli.translate_lines.time", clock)
    return clock


def shown(tmp_path: Path, clock: SimpleNamespace, console: Console) -> str:
    """What is shown while 100 lines a second are translated, 10,000 of 40,000, and 5,000 before."""
    screen = Screen()
    screen.console = console
    (tmp_path / "text.txt").write_text(f"{LINE}\n" * 40_000)
    with opened_lines(tmp_path / "text.txt") as lines:
        texts = iter(lines)
        for _ in range(5000):
            next(texts)
        view = TranslationView(screen, lines, is_shown=True)
        with view.showing(num_saved=5000):
            for _ in range(10):
                next(texts)
                clock.now += 10
                view.show(OutputChunk([LINE] * 1000, ""))
                view.show_progress(7 * 1000)
        view.report_end()
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_a_file_has_a_line_a_minute(tmp_path: Path, clock: SimpleNamespace) -> None:
    assert shown(tmp_path, clock, Console(file=io.StringIO(), width=100)).splitlines() == [
        "12,000 lines, 4.7 min left",
        "translated 10,000 lines in 1.7 min, 100 lines/s, 5,000 before",
    ]
