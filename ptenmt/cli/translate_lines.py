"""The lines of ``ptenmt translate`` and ``backtranslate``: translated, formatted, written, with progress."""

import gc
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from ptenmt._version import __version__
from ptenmt.cli.console import Screen, counted, duration, standard_output
from ptenmt.cli.output_formats import OutputFormat
from ptenmt.config import DecodingConfig
from ptenmt.data.languages import language_name
from ptenmt.data.readers import Lines
from ptenmt.errors import OutputError, PtenmtError
from ptenmt.translation import Translator
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.resumable_output import (
    OutputChunk,
    ResumableOutput,
    ResumeError,
    locked,
    open_resumable,
)
from ptenmt.translation.translator import BUFFER_SIZE

if TYPE_CHECKING:
    from rich.progress import Progress

    from ptenmt.translation.backtranslation import BackTranslation

INTERRUPTED = 130
"""The exit status after Ctrl-C."""
TRUNCATED = "translations truncated at the maximum length (decoding.max_length)"
SPLIT = "texts with a sentence too long for the model, which was split"
_SECONDS_PER_LINE = 60
"""Between the lines of progress where there is no bar."""
_SHOWN_WORDS = 5


@dataclass(frozen=True, kw_only=True)
class TranslationJob:
    """A translator with the options of the command line."""

    translator: Translator
    options: DecodingConfig
    weights: str
    form: OutputFormat
    glossary: Glossary | None = None
    prefix: str = ""
    first_number: int = 0
    """That of the first text."""

    def chunks(
        self, texts: Iterable[str], on_progress: Callable[[int], None], num_done: int = 0
    ) -> Iterator[OutputChunk]:
        """Translate texts, a buffer at a time, and format the translations.

        ``on_progress`` is that of ``Translator.translate_buffers``; ``num_done`` texts were done before.
        """
        numbers = count(self.first_number + num_done)
        buffers = self.translator.translate_buffers(
            texts,
            self.options,
            glossary=self.glossary,
            prefix=self.prefix,
            with_scores=self.form.has_scores,
            on_progress=on_progress,
        )
        for translations in buffers:
            problems: Counter[str] = Counter()
            for translation in translations:
                problems[TRUNCATED] += not translation.is_complete
                problems[SPLIT] += translation.is_split
            yield OutputChunk(
                [translation.source for translation in translations],
                "".join(self.form.handle(next(numbers), translation) for translation in translations),
                +problems,
                [translation.detected for translation in translations],
                [word for translation in translations for word in translation.unknown],
            )

    def facts(self) -> dict[str, Any]:
        """Facts that the translations depend on, besides the texts."""
        return {
            "ptenmt": __version__,
            "weights": self.weights,
            "prefix": self.prefix,
            "output format": self.form.name,
            "first line": self.first_number + 1,
            "engine": self.translator.engine.identity,
            "glossary": "" if self.glossary is None else self.glossary.checksum,
            **asdict(self.options),
        }


class StreamOutput:
    """Standard output; ``num_saved`` of None: it cannot be resumed."""

    num_saved = None
    saved_counts: Mapping[str, int] = {}

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def append(self, chunk: OutputChunk) -> None:
        """Write and flush."""
        self._stream.write(chunk.output)
        self._stream.flush()


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The target of ``--output``: a file that appears when it is complete, or standard output.

    Raises PtenmtError or OutputError for ``resume`` without a file, for a file that is the input or a device,
    and without ``resume`` for one that is complete.
    """

    file: Path | None
    """None: standard output."""
    input_file: Path | None
    """The source of the texts, which must not be overwritten."""
    resume: bool

    def __post_init__(self) -> None:
        file, given = self.file, self.input_file
        if file is None:
            if self.resume:
                raise PtenmtError("--resume needs an --output file")
            return
        if os.path.exists(file):
            if given is not None and os.path.exists(given) and file.samefile(given):
                raise OutputError(f"--output {file} is the input itself", "choose another file")
            if not (file.is_file() or file.is_dir()):
                raise OutputError(
                    f"--output {file} is not a regular file", "redirect standard output instead"
                )
        if is_written(file) and not self.resume:
            raise OutputError(f"--output {file} exists", "choose another file, or delete it")

    def is_done(self, screen: Screen) -> bool:
        """Whether there is an output already, which must not be replaced; says so."""
        if self.file is None or not is_written(self.file):
            return False
        screen.note(f"{self.file} is complete: nothing to resume")
        return True

    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes from writing the same file; errors as of ``resumable_output.locked``."""
        return nullcontext() if self.file is None else locked(self.file)

    @contextmanager
    def opened(
        self, texts: Iterator[str], job: "TranslationJob | BackTranslation", screen: Screen
    ) -> Iterator[StreamOutput | ResumableOutput]:
        """Open the output, or raise OutputError; texts that are translated already are skipped."""
        if self.file is None:
            with standard_output() as stream:
                yield StreamOutput(stream)
            return
        try:
            with open_resumable(self.file, job.facts(), texts, resume=self.resume) as output:
                if self.resume and not output.num_saved:
                    screen.say(f"nothing to resume for {self.file}: starting from the first line")
                yield output
        except ResumeError as error:
            hint = "leave out --resume to start from the first line"
            raise OutputError(f"--resume: {error.message}", hint) from error


def is_written(file: Path) -> bool:
    """Whether an output file exists, and is not empty: then it is complete, see ``open_resumable``."""
    return os.path.isfile(file) and os.path.getsize(file) > 0


class TranslationView:
    """The progress: a bar on a terminal, elsewhere a line a minute; at the end a count and warnings.

    ``lines`` is the source of the texts, if it is a file or standard input. If not ``is_shown``, only
    warnings are shown. Texts in the ``target`` language are left as they are.
    """

    def __init__(
        self, screen: Screen, lines: Lines | None, *, is_shown: bool, target: str | None = None
    ) -> None:
        self.screen, self._lines, self._is_shown, self._target = screen, lines, is_shown, target
        self._num_saved = self._num_done = self._num_saved_bytes = self._num_bytes = 0
        self._num_unknown, self._unknown = 0, dict[str, None]()  # the first few
        self._foreign: dict[str, list[str]] = {}
        self._progress: Progress | None = None
        self._began = self._said = time.monotonic()

    @contextmanager
    def showing(self, num_saved: int) -> Iterator[None]:
        """Show the bar; ``num_saved`` texts were translated by a previous run."""
        self._num_saved = num_saved
        self._num_saved_bytes = 0 if self._lines is None else self._lines.num_bytes
        self._began = self._said = time.monotonic()
        if not self._is_shown:
            yield
            return
        # After the bar there is room for the ^C that a terminal prints, which else would wrap.
        with self.screen.progress("   ", transient=True) as self._progress:
            self._progress.add_task("translating", total=None)
            yield

    def show(self, chunk: OutputChunk) -> None:
        """Count what a buffer became."""
        for number, language in enumerate(chunk.languages, start=self._num_saved + self._num_done + 1):
            if language:
                self._foreign.setdefault(language, []).append(str(number))
        self._num_done += len(chunk.texts)
        self._num_unknown += len(chunk.unknown)
        if len(self._unknown) <= _SHOWN_WORDS:
            self._unknown |= dict.fromkeys(chunk.unknown)

    def show_progress(self, num_bytes: int) -> None:
        """Show that sentences of so many bytes are done; their texts need not be complete."""
        self._num_bytes += num_bytes
        if self._progress is None:
            return
        expected = None if self._lines is None else self._lines.expected_bytes()
        left = None if expected is None else max(expected - self._num_saved_bytes - self._num_bytes, 0.0)
        text = counted(self._num_saved + self._num_done, "line")
        now = time.monotonic()
        if left is not None:
            text += f", {duration(left / max(self._num_bytes, 1) * (now - self._began))} left"
        total = None if left is None else self._num_bytes + left
        task = self._progress.task_ids[0]
        self._progress.update(task, description=text, completed=self._num_bytes, total=total)
        if not self.screen.is_live and now - self._said > _SECONDS_PER_LINE:
            self._said = now
            self.screen.say(text)

    def report_end(self) -> None:
        """Report how many texts were translated and how fast, and warn of problems."""
        if self._is_shown:
            seconds = time.monotonic() - self._began
            before = f", {self._num_saved:,} before" if self._num_saved else ""
            lines, rate = counted(self._num_done, "line"), self._num_done / max(seconds, 1e-3)
            self.screen.say(f"translated {lines} in {duration(seconds)}, {rate:,.0f} lines/s{before}")
        if self._foreign:
            listed = [
                f"{foreign_text(language, self._target)}: line {_first_of(rows)}"
                for language, rows in self._foreign.items()
            ]
            total = sum(map(len, self._foreign.values()))
            self.screen.warn(f"texts in another language: {total:,} ({'; '.join(listed)})")
        if self._unknown:
            words = [word if word.isprintable() else ascii(word) for word in self._unknown]
            self.screen.warn(
                f"words outside the model's vocabulary: {self._num_unknown:,} ({_first_of(words)})"
            )

    def report_stop(self, num_saved: int, command: Sequence[str]) -> None:
        """Report how many translations a stopped run has saved, and the command that resumes it."""
        if num_saved:
            self.screen.say(f"stopped: {counted(num_saved, 'line')} saved; resume with", style="bold")
            self.screen.say_command(command)
        else:
            self.screen.say(f"stopped: nothing is saved before {BUFFER_SIZE:,} lines are done", style="bold")


def foreign_text(language: str, target: str | None) -> str:
    """Names the language of a text, and says what becomes of it."""
    fate = "left as it is" if language == target else "translated all the same"
    return f"{language_name(language)}, {fate}"


def _first_of(texts: Sequence[str]) -> str:
    """Some texts in a line; an ellipsis stands for further ones."""
    shown = [*texts[:_SHOWN_WORDS], "…"] if len(texts) > _SHOWN_WORDS else texts
    return ", ".join(shown)


def run_job(
    job: "TranslationJob | BackTranslation",
    texts: Iterable[str],
    destination: Destination,
    view: TranslationView,
    command: Sequence[str],
    check: Callable[[Counter[str]], object] = lambda _counts: None,
) -> Counter[str]:
    """Translate all texts, and return the sums of the chunks' counts; if interrupted, show how to resume.

    ``check`` is called with the sums before the output takes its place, and may raise.
    """
    # The buffers of an output that can be resumed are the same again: none ends where the input pauses.
    stream = iter(texts) if destination.file is None else (text for text in texts)
    output = None
    gc.set_threshold(100_000)  # translating creates no cycles, and the search for them takes 10% of the time
    try:
        with destination.opened(stream, job, view.screen) as output, view.showing(output.num_saved or 0):
            counts = Counter(output.saved_counts)
            for chunk in job.chunks(stream, view.show_progress, output.num_saved or 0):
                output.append(chunk)
                view.show(chunk)
                counts.update(chunk.counts)
            check(counts)
    except BaseException as error:
        is_error = isinstance(error, Exception)
        if output is None or output.num_saved is None or (is_error and not output.num_saved):
            raise
        view.report_stop(output.num_saved, command)
        if isinstance(error, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None  # it is reported
        raise
    view.report_end()
    return counts
