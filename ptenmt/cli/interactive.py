"""``ptenmt translate --interactive``: a sentence, its translation, the next one."""

import sys
from collections.abc import Callable
from dataclasses import replace

from platformdirs import user_state_path
from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output import create_output
from rich.table import Table
from rich.text import Text

from ptenmt.cli.console import Screen, print_error, standard_output
from ptenmt.cli.options import chosen_decoding
from ptenmt.cli.translation_job import TranslationJob, foreign_text
from ptenmt.errors import PtenmtError

_HELP = {
    ":n 5": "show the 5 best translations",
    ":beam 8": "keep 8 hypotheses during beam search",
    ":help": "show this list",
    ":quit": "end, like Ctrl-D; Ctrl-C clears the line, or stops a translation",
}
_NAMES = {"num_hypotheses": ":n", "beam_size": ":beam"}


def converse(screen: Screen, job: TranslationJob) -> None:
    """Prompt for sentences and translate them, until Ctrl-D or ``:quit``."""
    session = prompt_session(job.translator.config.data.languages[0], screen.warn)
    screen.say("Type a sentence and press Enter; :help lists the commands, Ctrl-D ends.")
    Session(screen, job, session.prompt).run()


def prompt_session(name: str, warn: Callable[[str], None]) -> PromptSession[str]:
    """Line editing on stderr, with a history; ``warn`` is called with a message if that cannot be saved."""
    return PromptSession(f"{name}> ", history=_history(warn), output=create_output(sys.stderr))


def _history(warn: Callable[[str], None]) -> History:
    """The history in the user's state folder, or one in memory where that cannot be written."""
    file = user_state_path("ptenmt", appauthor=False) / "history"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)  # only its owner may read it
        file.open("r+b").close()
    except OSError as error:
        warn(f"the history is not kept in {file}: {error.strerror or error}")
        return InMemoryHistory()
    return FileHistory(file)


class Session:
    """An interactive session; translations go to standard output.

    ``read`` returns the next line; raises EOFError at the end, KeyboardInterrupt for an abandoned line.
    """

    def __init__(self, screen: Screen, job: TranslationJob, read: Callable[[], str]) -> None:
        self._screen, self._job, self._read = screen, job, read
        self._is_over = False

    def run(self) -> None:
        """Read and translate until the end."""
        while not self._is_over:
            try:
                line = self._read().strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            try:
                if line.startswith(":"):
                    self._execute(*line[1:].partition(" ")[::2])
                elif line:
                    self._translate(line)
            except PtenmtError as error:
                print_error(error)
            except KeyboardInterrupt:
                self._screen.say("stopped")

    def _execute(self, command: str, argument: str) -> None:
        match command:
            case "n":
                self._set("num_hypotheses", argument.strip())
            case "beam":
                self._set("beam_size", argument.strip())
            case "help":
                table = Table.grid(padding=(0, 2, 0, 0))
                for example, effect in _HELP.items():
                    table.add_row(Text(example, style="cyan"), effect)
                self._screen.console.print(table)
            case "quit":
                self._is_over = True
            case _:
                raise PtenmtError(f"unknown command :{command}; see :help")

    def _translate(self, line: str) -> None:
        ((translation,),) = self._job.translate([line])
        with standard_output() as stream:
            stream.write(self._job.lines(translation))
        self._screen.say(f"{translation.milliseconds:,.0f} ms", style="dim")
        if translation.is_split:
            self._screen.warn("a sentence is too long for the model: it was split into parts")
        if not translation.is_complete:
            self._screen.warn("truncated at the maximum length (decoding.max_length)")
        if translation.detected:
            target = self._job.translator.config.data.languages[1]
            self._screen.warn(f"this is {foreign_text(translation.detected, target)}")
        if translation.unknown:
            self._screen.warn(f"outside the model's vocabulary: {', '.join(translation.unknown)}")

    def _set(self, option: str, value: str) -> None:
        decoding = self._job.options
        if not value:
            self._screen.say(f"{_NAMES[option]} {getattr(decoding, option)}")
            return
        changed = chosen_decoding(decoding, [f"decoding.{option}={value}"], {}, _NAMES)
        num_best = changed.num_hypotheses
        self._job = replace(
            self._job,
            alternatives=0,
            options=changed,
            num_rows=num_best if num_best > 1 else 0,
        )
        self._screen.say(f"translations: {num_best}, beam size: {changed.beam_size}")
