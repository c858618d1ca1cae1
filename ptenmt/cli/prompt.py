"""Line editing for interactive commands, with a history that is kept between sessions."""

import sys
from collections.abc import Callable

from platformdirs import user_state_path
from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output import create_output


class Prompt:
    """Reads lines from the terminal; the prompt appears on standard error.

    Args:
        name: Shown before the cursor.
        warn: Called with a message if the history cannot be saved.
    """

    def __init__(self, name: str, warn: Callable[[str], None]) -> None:
        self._session: PromptSession[str] = PromptSession(
            f"{name}> ", history=_history(warn), output=create_output(sys.stderr)
        )

    def read(self) -> str:
        """Return the next line.

        Raises:
            EOFError: Ctrl-D was pressed.
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        return self._session.prompt()


def _history(warn: Callable[[str], None]) -> History:
    """Return the history in the user's state folder, or one in memory where that cannot be written."""
    file = user_state_path("ptenmt", appauthor=False) / "history"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)  # only its owner may read it
        file.open("r+b").close()
    except OSError as error:
        warn(f"the history is not kept in {file}: {error.strerror or error}")
        return InMemoryHistory()
    return FileHistory(file)
