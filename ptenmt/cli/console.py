"""Messages and progress on stderr, results on stdout, and numbers as people read them."""

import errno
import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from ptenmt import processes
from ptenmt.atomic_files import json_text
from ptenmt.config.loading import show_value
from ptenmt.errors import DownloadProgress, OutputError, PtenmtError
from ptenmt.runs import NOTHING, NOTICE, perplexity
from ptenmt.signals import process_signals

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from ptenmt.runs.trained_model import TrainedModel


class Screen:
    """Messages and progress of a command, on stderr; if quiet, only errors and ``warn_loudly``."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self._quiet = quiet
        self.verbose = verbose
        if verbose:
            logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
            logging.getLogger("ptenmt").setLevel(logging.DEBUG)
        else:
            logging.getLogger("ptenmt").setLevel(NOTICE)
            logging.getLogger("ptenmt").addHandler(_Messages(self))

    @cached_property
    def console(self) -> "Console":
        """The console of stderr; rich takes 40 ms to import."""
        return make_console(stderr=True, quiet=self._quiet)

    @property
    def is_live(self) -> bool:
        """Whether to draw live progress bars: on a terminal with colours; otherwise plain lines."""
        return self.console.is_terminal and not self.console.is_dumb_terminal and not self.console.no_color

    def say(self, message: str, style: str = "") -> None:
        """Show a message; it wraps on a terminal only."""
        self.console.print(message, style=style, soft_wrap=not self.console.is_terminal)

    def note(self, message: str) -> None:
        """Show a message without style; rich would take 40 ms to import."""
        if not self._quiet:
            print(message, file=sys.stderr)

    def say_command(self, words: Sequence[str]) -> None:
        """Show a command line for copying."""
        self.console.print(f"  {shlex.join(words)}", style="cyan", soft_wrap=True)

    def warn(self, message: str) -> None:
        """Show a warning."""
        self.say(f"warning: {message}", style="yellow")

    def warn_loudly(self, message: str) -> None:
        """Show a warning even with ``quiet``."""
        make_console(stderr=True).print(f"warning: {message}", style="yellow", soft_wrap=True)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show a spinner."""
        with self.console.status(what) if self.is_live else nullcontext():
            yield

    @contextmanager
    def bar(self, what: str) -> Iterator[Callable[[str, int, int | None], None]]:
        """Show a progress bar on a terminal; yields a function that takes a description, done and total."""
        progress = self.progress("{task.fields[counts]}", "{task.fields[left]}", transient=True)
        task = progress.add_task(what, total=None, counts="", left="")

        def show(what: str, done: int, total: int | None) -> None:
            progress.start()
            counts = f"{done:,}" if total is None else f"{done:,}/{total:,}"
            progress.update(task, description=what, completed=done, total=total, counts=counts)
            seconds = progress.tasks[0].time_remaining
            progress.update(task, left="" if seconds is None else f"{duration(seconds)} left")
            if done == total:
                progress.stop()  # so that other bars may follow

        try:
            yield show
        finally:
            progress.stop()

    @contextmanager
    def downloads(self) -> Iterator[Callable[[DownloadProgress], None]]:
        """Show a progress bar of downloads; on a plain console, a line per file."""
        seen = set[str]()
        with self.bar("downloading") as bar:

            def show(state: DownloadProgress) -> None:
                if state.name not in seen and not self.is_live:
                    self.say(f"downloading {state.name} from {state.url}")
                seen.add(state.name)
                total = None if state.total is None else state.total // 1000
                bar(f"{state.name}, kB", state.done // 1000, total)

            yield show

    def progress(self, *texts: str, **options: Any) -> "Progress":
        """Bars with a description before and texts after them, as of ``TextColumn``; drawn only if live."""
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(None), *map(TextColumn, texts))
        return Progress(*columns, console=self.console, disable=not self.is_live, **options)


class _Messages(logging.Handler):
    """Shows logged notices and warnings like the others."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(NOTICE)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        show = self._screen.note if record.levelno < logging.WARNING else self._screen.warn
        show(record.getMessage())


def make_console(**options: Any) -> "Console":
    """A console without markup, by default of stdout; with NO_COLOR also without bold."""
    from rich.console import Console

    class MessageConsole(Console):
        def on_broken_pipe(self) -> None:
            self.quiet = True
            process_signals.lose_messages()

    if os.environ.get("NO_COLOR"):
        options["color_system"] = None
    kind = MessageConsole if options.get("stderr") else Console
    return kind(highlight=False, markup=False, emoji=False, **options)


@contextmanager
def standard_output() -> Iterator[IO[str]]:
    """Write results to stdout; raises OutputError if that fails, e.g. because it goes to a full disk."""
    if sys.stdout is None:
        raise OutputError("cannot write standard output: it is closed")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader has closed it, as head does; typer ends quietly
            raise
        discard_standard_output()
        raise OutputError(f"cannot write standard output: {error.strerror or error}") from error


def write_document(facts: Mapping[str, Any]) -> None:
    """Write a JSON object to stdout; errors as of ``standard_output``."""
    with standard_output() as stream:
        stream.write(json_text(facts, indent=2) + "\n")


def discard_standard_output() -> None:
    """Write nothing more to stdout, which Python else flushes again at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 — for the rest of the process


def print_error(error: PtenmtError) -> None:
    """Print an error and its hint on stderr, one line each."""
    console = make_console(stderr=True)
    console.print("error:", style="bold red", end=" ")
    console.print(error.message, soft_wrap=True)
    if error.hint:
        console.print(f"  {error.hint}", soft_wrap=True)


def load_tensorflow(screen: Screen) -> None:
    """Import TensorFlow (see ``processes``); with --verbose its log lines are shown."""
    if screen.verbose:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
    with screen.working("loading TensorFlow…"):
        processes.load_tensorflow()
    process_signals.make_up()


def counted(number: int, noun: str) -> str:
    """Such as ``1 pair``, ``8,030 pairs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Such as ``45 s``, ``2.7 min``, ``12 min``, ``3 h 05 min``: rounded to 10% or better."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 295:
        return f"{seconds / 60:.1f} min"
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"


def mixture(pairs: Mapping[str, int]) -> str:
    """Shares of the sources in an epoch, and their pairs: ``ted 60.0% (6,000), web 40.0% (4,000)``."""
    total = sum(pairs.values())
    return ", ".join(f"{name} {count / total:.1%} ({count:,})" for name, count in pairs.items())


def amount(num_bytes: int) -> str:
    """A number of bytes in words, such as ``5.1 MB``; 1 kB is 1,000 bytes."""
    from rich.filesize import decimal

    return decimal(num_bytes)


def model_label(trained: "TrainedModel") -> str:
    """Which model it is: ``demo (step 1,512, trained 2026-11-22)``."""
    date = trained.run.facts({"trained"})["trained"][:10]
    return f"{trained.run.name} (step {trained.info.step:,}, trained {date})"


def option_value(value: object) -> str:
    """An option's value as YAML writes it, a dash for none, or how many files a long list has."""
    text = NOTHING if value in (None, ()) else show_value(value)
    return f"{len(value)} (see --json)" if isinstance(value, tuple) and len(text) > 200 else text


def shown_perplexity(loss: float | None) -> str:
    """The perplexity of a loss in nats per token, or a dash if it is too large to be useful."""
    value = perplexity(loss)
    return NOTHING if value is None else f"{value:,.1f}"
