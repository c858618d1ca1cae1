"""The ``ptenmt`` command: gathers the commands, and is the one place where errors become exit codes."""

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ptenmt import __version__
from ptenmt.cli.console import print_error
from ptenmt.cli.groups import MARKUP, LazyGroup
from ptenmt.cli.options import COMMAND_LINE
from ptenmt.errors import PtenmtError

COMMANDS = (
    "download",
    "train",
    "evaluate",
    "translate",
    "complete",
    "average",
    "export",
    "info",
    "compare",
    "inspect",
    "serve",
)
"""Each is a function or a group of this name in a module of this name."""
_UsageError: Any = typer.BadParameter.__base__  # of click, which some versions of typer bundle
INTERRUPTED = 130
TERMINATED = 143


class _Group(LazyGroup):
    """Turns what a user can mend into a line or two on stderr."""

    modules = {command: f"ptenmt.cli.{command}" for command in COMMANDS}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[COMMAND_LINE] = list(args)
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _errors_told():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _errors_told():
            return super().invoke(ctx)


@contextlib.contextmanager
def _errors_told() -> Iterator[None]:
    """Tell what a user can mend, and end."""
    try:
        yield
    except PtenmtError as error:
        if os.environ.get("PTENMT_DEBUG"):
            raise
        print_error(error)
        raise typer.Exit(1) from error
    except _UsageError as error:
        message = " ".join(error.format_message().split()).rstrip(".")
        if not message:  # no command was given, and the help is shown already
            raise
        hint = f"{error.ctx.command_path} --help tells what there is" if error.ctx else ""
        print_error(PtenmtError(message[:1].lower() + message[1:], hint))
        raise typer.Exit(error.exit_code) from error
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=_Group,
    help="Train, inspect and run a Portuguese→English Transformer.\n\n"
    "Start with: ptenmt train --config demo.yaml, then ptenmt translate "
    '"este modelo parece funcionar bem".',
    no_args_is_help=True,
    **MARKUP,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ptenmt {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001 — its callback acts
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except SystemExit as end:
        if end.code in (INTERRUPTED, TERMINATED):
            _leave_at_once(int(end.code))
        raise


def _leave_at_once(code: int) -> None:
    """Clean up and end: Python needs seconds to take TensorFlow apart, and who sent a signal is waiting."""
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _terminate(number: int, _frame: Any) -> None:
    """End as the shell expects it, temporary files removed."""
    raise SystemExit(128 + number)
