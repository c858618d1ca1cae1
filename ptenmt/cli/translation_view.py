"""The progress of a translation: a bar on a terminal, elsewhere a line per minute, and a line at the end."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.cli.console import Screen
from ptenmt.cli.formatting import counted, duration
from ptenmt.data.readers import Lines

if TYPE_CHECKING:
    from rich.progress import Progress

    from ptenmt.translation import Translation

_SECONDS_PER_LINE = 60
_SHOWN_WORDS = 5


class TranslationView:
    """Counts translations and shows the progress.

    Args:
        screen: Shows it.
        lines: The source of the texts, if it is a file or standard input.
        is_shown: Whether to show the bar, or the lines instead, and the count at the end.
    """

    def __init__(self, screen: Screen, lines: Lines | None, *, is_shown: bool) -> None:
        self._screen, self._lines, self._is_shown = screen, lines, is_shown
        self._num_saved = self._num_done = self._num_bytes = self._num_saved_bytes = 0
        self._num_truncated = self._num_split = self._num_unknown = 0
        self._unknown: dict[str, None] = {}
        self._progress: Progress | None = None
        self._began = self._said = time.monotonic()

    @contextmanager
    def showing(self, num_saved: int) -> Iterator[None]:
        """Show the bar; ``num_saved`` texts were translated by a previous run."""
        self._num_saved = num_saved
        self._num_saved_bytes = 0 if self._lines is None else self._lines.num_bytes
        self._began = self._said = time.monotonic()
        if not (self._is_shown and self._screen.is_live):
            yield
            return
        from rich.progress import BarColumn, Progress, TextColumn

        # After the bar there is room for the ^C that a terminal prints, which else would wrap.
        columns = TextColumn("{task.description}"), BarColumn(bar_width=None), TextColumn("   ")
        with Progress(*columns, console=self._screen.console, transient=True) as progress:
            progress.add_task("translating", total=None)
            self._progress = progress
            yield

    def show(self, translations: Collection["Translation"]) -> None:
        """Count and show these translations."""
        self._num_done += len(translations)
        self._num_bytes += sum(len(translation.source.encode()) + 1 for translation in translations)
        self._num_truncated += sum(not translation.is_complete for translation in translations)
        self._num_split += sum(translation.is_split for translation in translations)
        for translation in translations:
            self._num_unknown += len(translation.unknown)
            if len(self._unknown) <= _SHOWN_WORDS:
                self._unknown |= dict.fromkeys(translation.unknown)
        if not self._is_shown or not translations:
            return
        if self._progress is not None:
            done, left = self._num_saved_bytes + self._num_bytes, self._bytes_left()
            total = None if left is None else done + left
            task = self._progress.task_ids[0]
            self._progress.update(task, description=self._progress_text(), completed=done, total=total)
        elif time.monotonic() - self._said > _SECONDS_PER_LINE:
            self._said = time.monotonic()
            self._screen.say(self._progress_text())

    def report_end(self) -> None:
        """Report how many texts were translated and how fast, and warn of problems."""
        if self._is_shown:
            seconds = time.monotonic() - self._began
            took = f"{seconds:.1f} s" if seconds < 60 else duration(seconds)
            before = f", {self._num_saved:,} before" if self._num_saved else ""
            lines = counted(self._num_done, "line")
            self._screen.say(f"translated {lines} in {took}, {self._rate} lines/s{before}")
        for message in self._warnings():
            self._screen.warn(message)

    def report_nothing_to_resume(self, file: Path | None) -> None:
        """Report that there is no interrupted run of this output."""
        self._screen.say(f"nothing to resume for {file}: starting from the first line")

    def report_stop(self, num_saved: int, command: Sequence[str]) -> None:
        """Report how many translations a stopped run has saved, and the command that resumes it."""
        if num_saved:
            self._screen.say(f"stopped: {counted(num_saved, 'line')} saved; resume with", style="bold")
            self._screen.say_command(command)
            return
        from ptenmt.translation.translator import BUFFER_SIZE

        self._screen.say(
            f"stopped: nothing is saved, since progress is saved every {BUFFER_SIZE:,} lines", style="bold"
        )

    @property
    def _rate(self) -> str:
        rate = self._num_done / max(time.monotonic() - self._began, 1e-3)
        return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"

    def _progress_text(self) -> str:
        text = f"{counted(self._num_saved + self._num_done, 'line')}, {self._rate}/s"
        left = self._bytes_left()
        if left is None or not self._num_bytes:
            return text
        seconds = left / self._num_bytes * (time.monotonic() - self._began)
        return f"{text}, {duration(seconds)} left"

    def _bytes_left(self) -> float | None:
        expected = None if self._lines is None else self._lines.expected_bytes()
        return None if expected is None else max(expected - self._num_saved_bytes - self._num_bytes, 0.0)

    def _warnings(self) -> Iterator[str]:
        if self._num_truncated:
            count = f"{self._num_truncated:,}"
            yield f"translations truncated at the maximum length (decoding.max_length): {count}"
        if self._num_split:
            yield f"texts with a sentence too long for the model, which was split: {self._num_split:,}"
        if self._unknown:
            first = [word if word.isprintable() else ascii(word) for word in self._unknown][:_SHOWN_WORDS]
            shown = [*first, "…"] if len(self._unknown) > _SHOWN_WORDS else first
            yield f"words outside the model's vocabulary: {self._num_unknown:,} ({', '.join(shown)})"
        if self._lines is not None and self._lines.num_invalid:
            yield f"lines that are not valid UTF-8, left empty: {self._lines.num_invalid:,}"
