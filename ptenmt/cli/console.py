"""Messages and progress on stderr, results on stdout."""

import errno
import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from ptenmt import native_libraries
from ptenmt.cli.formatting import amount, duration
from ptenmt.errors import OutputError, PtenmtError
from ptenmt.native_libraries import silent_stderr
from ptenmt.progress import DownloadProgress
from ptenmt.runs import NOTICE
from ptenmt.signals import process_signals

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


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

    def name_model(self, label: str) -> None:
        """Say which model answers, if a person is reading."""
        if sys.stderr.isatty():
            self.note(label)

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
    def bar(self, what: str) -> Iterator[Callable[[str, int, int], None]]:
        """Show a progress bar on a terminal; yields a function that takes a description, done and total."""
        counts = "{task.completed:,.0f}/{task.total:,.0f}"
        with self.progress(counts, "{task.fields[left]}", transient=True) as progress:
            task = progress.add_task(what, total=1, left="")

            def show(what: str, done: int, total: int) -> None:
                progress.start()
                _update(progress, task, description=what, completed=done, total=total)

            yield show

    @contextmanager
    def downloads(self) -> Iterator[Callable[[DownloadProgress], None]]:
        """Show a progress bar per downloaded file; on a plain console, a line per file."""
        progress = self.progress("{task.fields[amount]}", "{task.fields[left]}")
        tasks: dict[str, TaskID] = {}

        def show(state: DownloadProgress) -> None:
            if state.name not in tasks:
                tasks[state.name] = progress.add_task(state.name, total=None, left="", amount="")
                if not self.is_live:
                    verb = "unpacking" if state.is_unpacking else "downloading"
                    self.say(f"{verb} {state.name} from {state.url}")
            progress.start()
            done = "/".join(amount(size) for size in (state.done, state.total) if size is not None)
            _update(progress, tasks[state.name], completed=state.done, total=state.total, amount=done)

        try:
            yield show
        finally:
            progress.stop()

    def progress(self, *texts: str, **options: Any) -> "Progress":
        """Bars with a description before and texts after each, as of ``TextColumn``; drawn only if live."""
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(None), *map(TextColumn, texts))
        return Progress(*columns, console=self.console, disable=not self.is_live, **options)


def _update(progress: "Progress", number: "TaskID", **changes: Any) -> None:
    """Show how much of a task is done and, as training does, how long the rest takes."""
    progress.update(number, **changes)
    task = next(task for task in progress.tasks if task.id == number)
    seconds = task.time_remaining
    is_over = task.total is not None and task.completed >= task.total
    progress.update(number, left="" if seconds is None or is_over else f"{duration(seconds)} left")
    if is_over:
        progress.stop()  # so that other bars may follow


class _Messages(logging.Handler):
    """Shows logged notices and warnings like the others."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(NOTICE)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.WARNING:
            self._screen.note(record.getMessage())
        else:
            self._screen.warn(record.getMessage())


def make_console(**options: Any) -> "Console":
    """A console without markup, by default of stdout; with NO_COLOR also without bold."""
    from rich.console import Console

    if os.environ.get("NO_COLOR"):
        options["color_system"] = None
    return Console(highlight=False, markup=False, emoji=False, **options)


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
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 — or Python flushes it again at exit
        raise OutputError(f"cannot write standard output: {error.strerror or error}") from error


def print_error(error: PtenmtError) -> None:
    """Print an error and its hint on stderr, one line each."""
    console = make_console(stderr=True)
    console.print("error:", style="bold red", end=" ")
    console.print(error.message, soft_wrap=True)
    if error.hint:
        console.print(f"  {error.hint}", soft_wrap=True)


def load_tensorflow(screen: Screen) -> None:
    """Import TensorFlow (see ``native_libraries``); with --verbose its log lines are shown."""
    if screen.verbose:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
    with screen.working("loading TensorFlow…"):
        native_libraries.load_tensorflow()
    process_signals.make_up()


@contextmanager
def silent_libraries(screen: Screen) -> Iterator[Callable[[str], None]]:
    """Silence C++ libraries on stderr, except with --verbose; yields what shows a warning at the end."""
    if screen.verbose:
        yield screen.warn
        return
    warnings: list[str] = []
    try:
        with silent_stderr():
            yield warnings.append
    finally:
        for warning in warnings:
            screen.warn(warning)
