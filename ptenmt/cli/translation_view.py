"""How the translation of a file looks: a bar on a terminal, a line a minute elsewhere, one at the end."""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.cli.console import Screen
from ptenmt.cli.writing import duration
from ptenmt.data.readers import Lines

if TYPE_CHECKING:
    from rich.progress import Progress

    from ptenmt.translation import Translation

_SECONDS_PER_LINE = 60
_SHOWN_WORDS = 5
_ROOM_FOR_CONTROL_C = 4
"""Cells behind the bar: the terminal shows ^C there, and would begin a new line if the bar filled its own."""


class TranslationView:
    """Counts translations and shows how far they are.

    Args:
        screen: Where to.
        lines: Where the texts come from, if that is a file or standard input.
        is_shown: Whether to show the bar, or lines in its place, and the count at the end.
    """

    def __init__(self, screen: Screen, lines: Lines | None, *, is_shown: bool) -> None:
        self._screen, self._lines, self._is_shown = screen, lines, is_shown
        self._num_kept = self._num_done = self._num_bytes = self._num_kept_bytes = 0
        self._num_cut = self._num_split = self._num_unknown = 0
        self._unknown: list[str] = []
        self._progress: Progress | None = None
        self._began = self._said = time.monotonic()

    @contextmanager
    def showing(self, num_kept: int) -> Iterator[None]:
        """Show the bar.

        Args:
            num_kept: How many texts were translated before and are read already.
        """
        self._num_kept, self._num_kept_bytes = num_kept, 0 if self._lines is None else self._lines.num_bytes
        self._began = self._said = time.monotonic()
        if not (self._is_shown and self._screen.is_live):
            yield
            return
        from rich.constrain import Constrain
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn

        console = self._screen.console
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=None))
        progress = Progress(*columns, console=console, expand=True)
        progress.add_task("translating", total=None)

        def drawn() -> Constrain:
            return Constrain(progress.get_renderable(), console.width - _ROOM_FOR_CONTROL_C)

        with Live(console=console, transient=True, get_renderable=drawn):
            self._progress = progress
            yield

    def show(self, translations: Collection["Translation"]) -> None:
        """Show that these are done."""
        self._num_done += len(translations)
        self._num_bytes += sum(len(translation.source.encode()) + 1 for translation in translations)
        self._num_cut += sum(not translation.is_complete for translation in translations)
        self._num_split += sum(translation.is_split for translation in translations)
        self._note_unknown(word for translation in translations for word in translation.unknown)
        if not self._is_shown or not translations:
            return
        if self._progress is not None:
            self._show_bar(self._progress)
        elif time.monotonic() - self._said > _SECONDS_PER_LINE:
            self._said = time.monotonic()
            self._screen.say(self._standing())

    def tell_end(self) -> None:
        """Tell how many were translated and how fast, and what was not as it should be."""
        if self._is_shown:
            seconds = time.monotonic() - self._began
            took = f"{seconds:.1f} s" if seconds < 60 else duration(seconds)
            before = f", {self._num_kept:,} more before" if self._num_kept else ""
            done = _lines(self._num_done)
            self._screen.say(f"translated {done} in {took}, {self._rate:,.0f} a second{before}")
        for message in self._remarks():
            self._screen.warn(message)

    def tell_beginning(self, file: Path | None) -> None:
        """Tell that there is nothing to go on with."""
        self._screen.say(f"nothing of {file} is kept: its translation starts from the beginning")

    def tell_nothing_is_kept(self) -> None:
        """Tell that a job was interrupted too early to be gone on with."""
        from ptenmt.translation.translator import BUFFER_SIZE

        self._screen.say(
            f"stopped: nothing is kept, since the first {BUFFER_SIZE:,} lines were not all translated",
            style="bold",
        )

    def tell_how_to_go_on(self, num_kept: int, command: Sequence[str]) -> None:
        """Tell how many translations an interrupted job leaves, and the words of what goes on with it."""
        self._screen.say(f"stopped: {_lines(num_kept)} translated and kept; go on with", style="bold")
        self._screen.say_command(command)

    def _note_unknown(self, words: Iterable[str]) -> None:
        for word in words:
            self._num_unknown += 1
            if len(self._unknown) <= _SHOWN_WORDS and word not in self._unknown:
                self._unknown.append(word)

    @property
    def _rate(self) -> float:
        """Texts a second."""
        return self._num_done / max(time.monotonic() - self._began, 1e-3)

    def _standing(self) -> str:
        standing = f"{_lines(self._num_kept + self._num_done)}, {self._rate:,.0f}/s"
        left = self._bytes_left()
        if left is None or not self._num_bytes:
            return standing
        seconds = left / self._num_bytes * (time.monotonic() - self._began)
        return f"{standing}, {duration(seconds)} left"

    def _bytes_left(self) -> float | None:
        expected = None if self._lines is None else self._lines.expected_bytes()
        return None if expected is None else max(expected - self._num_kept_bytes - self._num_bytes, 0.0)

    def _show_bar(self, progress: "Progress") -> None:
        done, left = self._num_kept_bytes + self._num_bytes, self._bytes_left()
        progress.update(
            progress.task_ids[0],
            description=self._standing(),
            completed=done,
            total=None if left is None else done + left,
        )

    def _remarks(self) -> Iterator[str]:
        if self._num_cut:
            yield f"translations cut at the length limit (decoding.max_length): {self._num_cut:,}"
        if self._num_split:
            yield (
                "texts with a sentence longer than the model can read, which was translated in parts: "
                f"{self._num_split:,}"
            )
        if self._unknown:
            shown = [word if word.isprintable() else ascii(word) for word in self._unknown]
            shown[_SHOWN_WORDS:] = ["…"] * (len(shown) > _SHOWN_WORDS)
            yield f"words that the model has never seen: {self._num_unknown:,} ({', '.join(shown)})"
        if self._lines is not None and self._lines.num_invalid:
            yield f"lines that are not valid UTF-8, left empty: {self._lines.num_invalid:,}"


def _lines(count: int) -> str:
    return f"{count:,} line{'' if count == 1 else 's'}"
