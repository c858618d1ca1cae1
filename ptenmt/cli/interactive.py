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
    ":n 5": "show the 5 best translations",
    ":beam 8": "keep 8 hypotheses during beam search",
    ":attention": "show, or no longer show, which source tokens each target token attends to "
    "(mean over the heads of the last layer)",
    ":help": "show this list",
    ":quit": "end, like Ctrl-D; Ctrl-C clears the line, or stops a translation",
}
_NAMES = {"num_hypotheses": ":n", "beam_size": ":beam"}


def converse(screen: Screen, job: TranslationJob) -> None:
    """Prompt for sentences and translate each, until Ctrl-D or ``:quit``."""
    from ptenmt.cli.prompt import Prompt

    language = job.translator.config.data.source_language
    screen.say("Type a sentence and press Enter; :help lists the commands, Ctrl-D ends.")
    Session(screen, job, Prompt(language, screen.warn).read).run()


class Session:
    """An interactive session.

    Args:
        screen: For messages; translations go to standard output.
        job: How to translate.
        read: Returns the next line; raises EOFError at the end, KeyboardInterrupt for a line that is
            abandoned.
    """

    def __init__(self, screen: Screen, job: TranslationJob, read: Callable[[], str]) -> None:
        self._screen, self._job, self._read = screen, job, read
        self._shows_attention = self._is_over = False
        self._last = ""

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
            case "attention":
                self._toggle_attention()
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
        self._last = line
        ((translation,),) = self._job.translate([line])
        with standard_output() as stream:
            stream.write(self._job.format.lines([translation]))
        self._screen.say(f"{translation.milliseconds:,.0f} ms", style="dim")
        if translation.is_split:
            self._screen.warn("a sentence is too long for the model: it was split into parts")
        if not translation.is_complete:
            self._screen.warn("truncated at the maximum length (decoding.max_length)")
        if translation.unknown:
            self._screen.warn(f"outside the model's vocabulary: {', '.join(translation.unknown)}")
        if self._shows_attention:
            self._show_attention()

    def _set(self, option: str, value: str) -> None:
        """Change a decoding option, or show it if there is no value."""
        decoding = self._job.translator.config.decoding
        if not value:
            self._screen.say(f"{_NAMES[option]} {getattr(decoding, option)}")
            return
        changed = chosen_decoding(decoding, [f"decoding.{option}={value}"], _NAMES)
        num_best = changed.num_hypotheses
        self._job = replace(
            self._job,
            alternatives=0,
            translator=self._job.translator.with_options(**vars(changed)),
            format=replace(self._job.format, num_rows=num_best if num_best > 1 else 0),
        )
        self._screen.say(f"translations: {num_best}, beam size: {changed.beam_size}")

    def _toggle_attention(self) -> None:
        self._shows_attention = not self._shows_attention
        if self._shows_attention and self._last:
            self._show_attention()
        else:
            self._screen.say(f"attention: {'on' if self._shows_attention else 'off'}")

    def _show_attention(self) -> None:
        translator = self._job.translator
        alignment = translator.align(self._last, self._job.prefix)
        layer = translator.config.model.num_layers
        self._screen.say(f"decoder, layer {layer}: mean over the heads", style="dim")
        console = result_console()
        with standard_output():
            console.print(alignment_lines(alignment, console.width))
