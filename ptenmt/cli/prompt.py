"""A line from the keyboard, with editing and a history that outlasts the program."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from platformdirs import user_state_path
from prompt_toolkit import PromptSession
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.output import create_output

from ptenmt.atomic_files import write_text
from ptenmt.errors import OutputError

_MOST_ENTRIES = 1000
_OWNERS_ALONE = 0o600


class Prompt:
    """Asks for lines on the terminal that standard error is.

    Args:
        name: Shown before the cursor.
        warn: Told, in a sentence, if the history cannot be kept.
    """

    def __init__(self, name: str, warn: Callable[[str], None]) -> None:
        self._session: PromptSession[str] = PromptSession(
            f"{name}> ", history=_history(warn), output=create_output(sys.stderr)
        )

    def read(self) -> str:
        """The next line.

        Raises:
            EOFError: Ctrl-D was pressed.
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        return self._session.prompt()


class SavedHistory(History):
    """What was typed, in a file that only its owner can read, a line an entry, oldest first.

    Args:
        file: It is made, its folder too. When it has become twice too long, its older half is dropped.

    Raises:
        OSError: It cannot be read or written.
        OutputError: It cannot be shortened.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        self._append("")
        self._entries = file.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        if len(self._entries) > 2 * _MOST_ENTRIES:
            self._entries = self._entries[-_MOST_ENTRIES:]
            write_text(file, "".join(f"{entry}\n" for entry in self._entries))
            file.chmod(_OWNERS_ALONE)

    def load_history_strings(self) -> Iterable[str]:
        """What was typed before, newest first."""
        return reversed(self._entries)

    def store_string(self, string: str) -> None:
        """Append an entry."""
        with contextlib.suppress(OSError):  # the disk is full: no reason to end
            self._append(" ".join(string.splitlines()) + "\n")

    def _append(self, text: str) -> None:
        descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _OWNERS_ALONE)
        try:
            os.write(descriptor, text.encode(errors="replace"))
        finally:
            os.close(descriptor)


def _history(warn: Callable[[str], None]) -> History:
    file = user_state_path("ptenmt", appauthor=False) / "history"
    try:
        return SavedHistory(file)
    except (OSError, OutputError) as error:
        warn(f"what is typed is not remembered in {file}: {getattr(error, 'strerror', None) or error}")
        return InMemoryHistory()
