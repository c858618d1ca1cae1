"""The ``ptenmt`` command: collects the subcommands, and turns errors into messages and exit codes."""

import contextlib
import errno
import io
import keyword
import os
import re
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ptenmt._version import __version__
from ptenmt.cli.console import discard_standard_output, print_error, write_document
from ptenmt.cli.options import COMMAND_LINE, MARKUP, command
from ptenmt.errors import PtenmtError, not_installed
from ptenmt.signals import process_signals

PANELS = {
    "Basics": {"translate": "translate", "train": "train", "evaluate": "evaluate", "download": "data"},
    "More data": {"data": "data", "backtranslate": "translate"},
    "Other models": {"distil": "train", "average": "runs", "import": "runs", "export": "runs"},
    "Looking inside": {"info": "runs", "compare": "runs", "inspect": "inspect"},
    "Serving, next words": {"serve": "serve", "complete": "complete"},
}
"""By panel of the help and name the module of ``ptenmt.cli`` with a function, or a Typer app, of that name.

``import``, which is a keyword, has an underscore after it there.
"""
COMMANDS = {name: (module, panel) for panel, modules in PANELS.items() for name, module in modules.items()}
_READ_ONCE = ("--input", "--source", "--hypotheses")
_INTERRUPTED = 128 + signal.SIGINT


class _Command(TyperCommand):
    """Refuses a file to read that is given twice: of other options the last one counts."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        for option in given:
            if option.opts[0] in _READ_ONCE and given.count(option) > 1:
                raise PtenmtError(f"{option.opts[0]} is given {given.count(option)} times", "give one file")
        return super().parse_args(ctx, args)


class _Group(TyperGroup):
    """Imports a command when it is used, and reports errors that a user can fix in a line or two."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: Any = dict.fromkeys(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 — the context does not matter
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module, panel = COMMANDS[cmd_name]
        function = getattr(import_module(f"ptenmt.cli.{module}"), name)
        if not isinstance(function, typer.Typer):
            alone = typer.Typer(add_completion=False, **MARKUP)
            alone.command(cmd_name, cls=_Command)(command(function))
            function = alone
        found: Any = typer.main.get_command(function)
        found.rich_help_panel = panel
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[COMMAND_LINE] = list(args)
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _reported_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _reported_errors(ctx):
            return super().invoke(ctx)


@contextlib.contextmanager
def _reported_errors(ctx: Any = None) -> Iterator[None]:
    """Print errors that a user can fix, and exit; ``ctx`` is that of a command that runs."""
    try:
        with process_signals.interruptible():
            yield
    except typer.Exit:
        raise
    except typer.TyperException as error:  # a mistyped command line
        message = " ".join(error.format_message().split()).rstrip(".")
        if not message:  # no command was given, and typer has printed the help
            raise
        context = getattr(error, "ctx", None)  # unknown where an option lacks its argument
        command = context.command_path if context else f"ptenmt {getattr(ctx, 'invoked_subcommand', '')}"
        hint = f"see {command} --help"
        if re.match(r"(?i)no such option: -[^-a-z]", message):
            hint = "write -- before a text that starts with -"
        print_error(PtenmtError(message[:1].lower() + message[1:], hint))
        raise typer.Exit(error.exit_code) from error
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or process_signals.is_interrupted:
            typer.echo("interrupted", err=True)
            raise typer.Exit(_INTERRUPTED) from None
        known = _known_error(error)
        if known is None or os.environ.get("PTENMT_DEBUG"):
            raise
        words = ["translate"] if ctx is None else ctx.meta[COMMAND_LINE]
        if "--json" in words and words[0] != "translate":
            write_document({"error": {"message": known.message, "hint": known.hint}})
        else:
            print_error(known)
        raise typer.Exit(1) from error


def _known_error(error: BaseException) -> PtenmtError | None:
    """What a user can fix: ours, a missing library, memory or a disk that is full, an unusable path."""
    match error:
        case PtenmtError():
            return error
        case ModuleNotFoundError():
            package = (error.name or "ptenmt").partition(".")[0]
            return None if package == "ptenmt" else not_installed(package)
        case MemoryError():
            return PtenmtError("out of memory", "use a smaller model, fewer threads or shorter texts")
        case OSError(errno=errno.ENOSPC):
            discard_standard_output()
            return PtenmtError(f"cannot write: {error.strerror}")
        case OSError() if error.filename is not None:
            hint = "check the path and its permissions, or choose another"
            return PtenmtError(f"cannot use {error.filename}: {error.strerror}", hint)
    return None


app = typer.Typer(
    cls=_Group,
    help="Train, inspect and run a Portuguese→English Transformer.\n\n"
    'Start with: ptenmt translate "Ela não tem tempo.", then ptenmt train --config demo.yaml.',
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    **MARKUP,
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"ptenmt {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # input is UTF-8 whatever the locale is, and so is output
            stream.reconfigure(encoding="utf-8", errors="replace")
    process_signals.install()
    try:
        app(prog_name="ptenmt")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        if code > 128 or process_signals.is_interrupted:  # a signal ended it, or a library has swallowed one
            process_signals.exit_code = code
        raise
