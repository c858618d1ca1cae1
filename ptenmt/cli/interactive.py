"""``ptenmt translate --interactive``: a sentence, its translation, the next one."""

from collections.abc import Callable
from dataclasses import replace

from rich.table import Table
from rich.text import Text

from ptenmt.cli.alignment import alignment_lines
from ptenmt.cli.console import Screen, print_error, result_console, standard_output
from ptenmt.cli.translation_job import TranslationJob
from ptenmt.cli.translation_options import chosen_decoding
from ptenmt.errors import PtenmtError

_HELP = {
    ":n 5": "give 5 translations of each sentence",
    ":beam 8": "follow 8 beginnings of a translation at a time",
    ":attention": "show what each piece of a translation comes from, the last one's too; again: no more. "
    "Pieces are sub-words, shares means over a layer's heads; for words, one head: ptenmt inspect alignment",
    ":help": "this",
    ":quit": "end, as Ctrl-D does; Ctrl-C clears the line, or stops a translation",
}
_NAMES = {"num_hypotheses": ":n", "beam_size": ":beam"}
_NOT_ONE_OF_THEM = ":help tells the commands"


def converse(screen: Screen, job: TranslationJob) -> None:
    """Ask for sentences and translate each, until Ctrl-D or ``:quit``."""
    from ptenmt.cli.prompt import Prompt

    language = job.translator.config.data.source_language
    screen.say("Type a sentence and press Enter; :help tells the commands, Ctrl-D ends.")
    Conversation(screen, job, Prompt(language, screen.warn).read).run()


class Conversation:
    """Answers what is typed.

    Args:
        screen: Where remarks are shown; translations go to standard output.
        job: How sentences are translated.
        read: Gives the next line; raises EOFError at the end, KeyboardInterrupt where a line was given up.
    """

    def __init__(self, screen: Screen, job: TranslationJob, read: Callable[[], str]) -> None:
        self._screen, self._job, self._read = screen, job, read
        self._shows_attention = self._is_over = False
        self._last = ""
        self._commands: dict[str, Callable[[str], None]] = {
            "n": lambda word: self._set("num_hypotheses", word),
            "beam": lambda word: self._set("beam_size", word),
            "attention": self._toggle_attention,
            "help": self._help,
            "quit": self._quit,
        }

    def run(self) -> None:
        """Read and answer until the end."""
        while not self._is_over:
            try:
                line = self._read().strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            self._answer(line)

    def _answer(self, line: str) -> None:
        try:
            if line.startswith(":"):
                self._obey(line)
            elif line:
                self._translate(line)
        except PtenmtError as error:
            print_error(error)
        except KeyboardInterrupt:
            self._screen.say("stopped")

    def _obey(self, line: str) -> None:
        name, _, word = line[1:].partition(" ")
        if name not in self._commands:
            raise PtenmtError(f"there is no command :{name}; {_NOT_ONE_OF_THEM}")
        self._commands[name](word.strip())

    def _translate(self, line: str) -> None:
        self._last = line
        translation = self._job.translate(line)
        with standard_output() as stream:
            stream.write(self._job.form.written([translation]))
        self._screen.say(f"{translation.milliseconds:,.0f} ms", style="dim")
        if translation.is_split:
            self._screen.warn("longer than the model can read: translated in parts")
        if not translation.is_complete:
            self._screen.warn("cut at the length limit (decoding.max_length)")
        if translation.unknown:
            self._screen.warn(f"the model has never seen: {', '.join(translation.unknown)}")
        if self._shows_attention:
            self._show_attention()

    def _set(self, option: str, word: str) -> None:
        """Change an option of how to search, or tell it."""
        decoding = self._job.translator.config.decoding
        if not word:
            self._screen.say(f"{_NAMES[option]} {getattr(decoding, option)}")
            return
        changed = chosen_decoding(decoding, [f"decoding.{option}={word}"], _NAMES)
        self._job = replace(
            self._job,
            alternatives=None,
            translator=self._job.translator.with_options(**vars(changed)),
            form=replace(
                self._job.form, num_rows=changed.num_hypotheses if changed.num_hypotheses > 1 else 0
            ),
        )
        self._screen.say(f"translations: {changed.num_hypotheses}, beams: {changed.beam_size}")

    def _toggle_attention(self, _word: str) -> None:
        self._shows_attention = not self._shows_attention
        if self._shows_attention and self._last:
            self._show_attention()
            return
        self._screen.say("attention is shown" if self._shows_attention else "attention is shown no more")

    def _show_attention(self) -> None:
        translator = self._job.translator
        alignment = translator.align(self._last, self._job.prefix)
        layer = translator.config.model.num_layers
        self._screen.say(f"decoder, layer {layer}: mean over the heads", style="dim")
        console = result_console()
        with standard_output():
            console.print(alignment_lines(alignment, console.width))

    def _help(self, _word: str) -> None:
        table = Table.grid(padding=(0, 2, 0, 0))
        for command, effect in _HELP.items():
            table.add_row(Text(command, style="cyan"), effect)
        self._screen.console.print(table)

    def _quit(self, _word: str) -> None:
        self._is_over = True
