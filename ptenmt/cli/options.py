"""Options that several commands share, declared once."""

import inspect
import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from functools import partial
from typing import Annotated, Any, Literal

import typer

from ptenmt.cli.console import Screen, write_document
from ptenmt.config import Config, DecodingConfig
from ptenmt.config.loading import config_names, flat_options, override_decoding
from ptenmt.errors import PtenmtError
from ptenmt.runs import STARTER, list_runs

COMMAND_LINE = "ptenmt.command_line"
"""Key of a context's ``meta``: the command line after ``ptenmt``."""
MARKUP: Any = {"rich_markup_mode": "markdown", "pretty_exceptions_enable": False}
"""Settings of every Typer app."""
RUN_VARIABLE = "PTENMT_RUN"
"""The environment variable with the default of ``--run``, where that is a trained run to use."""
PRESETS = ("base", "demo", "files", "good", "next-word", "opus", "pairs", "paper", "small", "student", "tune")
search = partial(typer.Option, rich_help_panel="Search")


def as_text(given: Any) -> Any:
    """Callback of texts on the command line: they are UTF-8 like all input, whatever the locale is.

    Bytes that are not UTF-8 are of the locale's encoding; raises PtenmtError if they have no meaning there.
    """
    if not isinstance(given, str):
        return given and list(map(as_text, given))
    for encoded in (os.fsencode, str.encode):
        with suppress(UnicodeError):
            return encoded(given).decode()
    raise PtenmtError(f"the text {given[:60]!r} is not UTF-8", "convert it first, for example with iconv")


def run_names() -> list[str]:
    """Names of runs, for shell completion."""
    return sorted({run.name for run in list_runs()} | {STARTER})


def option_names() -> list[str]:
    """Config options, each with the sign after it, for shell completion."""
    return [f"{name}=" for name in flat_options(Config())]


def resume_command(
    context: typer.Context, *, add: str = "", remove: Mapping[str, int] | None = None
) -> list[str]:
    """The command line of this process with a flag added and options removed, so that it resumes.

    ``remove`` has how many words each option takes, its argument included.
    """
    command, *words = context.meta[COMMAND_LINE]
    for option, num_words in (remove or {}).items():
        for place, word in reversed([*enumerate(words)]):
            if word == option or word.startswith(f"{option}="):
                del words[place : place + (num_words if word == option else 1)]
    added = [add] if add and add not in words else []
    return ["ptenmt", command, *added, *words]


def command(function: Callable[..., Any]) -> Callable[..., None]:
    """Prepare a function for typer.

    Its first parameter, a ``Screen``, becomes the options --quiet and --verbose. If it returns facts, --json
    writes them in place of what it prints on stdout. The section ``Args`` at the end of its docstring has the
    help texts of its own options, those that are declared in its signature; of a command with many options it
    is at the end of the module's docstring.
    """
    text, _, arguments = str(inspect.getdoc(function)).partition("\n\nArgs:\n")
    arguments = arguments or str(inspect.getdoc(inspect.getmodule(function))).partition("\n\nArgs:\n")[2]
    signature = inspect.signature(function)
    for name, description in re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", arguments, re.MULTILINE):
        signature.parameters[name].annotation.__metadata__[0].help = " ".join(description.split())

    def run(
        *, quiet: _Quiet = False, verbose: _Verbose = False, as_document: _AsDocument = False, **given: Any
    ) -> None:
        with redirect_stdout(io.StringIO()) if as_document else nullcontext():
            facts = function(Screen(quiet=quiet, verbose=verbose), **given)
        if as_document:
            write_document(facts)

    _, *declared = signature.parameters.values()
    *added, as_document, _ = inspect.signature(run).parameters.values()
    if signature.return_annotation is not None:
        added.append(as_document)
    run.__signature__ = signature.replace(parameters=declared + added)  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = function.__name__, text
    return run


def refuse_together(given: Mapping[str, object]) -> None:
    """Raise PtenmtError if the first of these options is given together with any of the others."""
    first, *others = given
    for other in others:
        if given[first] and given[other]:
            raise PtenmtError(f"{first} and {other} cannot be used together", "give one of them")


ConfigName = Annotated[
    str,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE|NAME",
        help=f"A YAML file, or a preset: {', '.join(PRESETS)}.",
        autocompletion=config_names,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.OPTION=VALUE",
        help="Change an option of the config; may be given several times.",
        autocompletion=option_names,
    ),
]


run_option = partial(typer.Option, metavar="NAME|DIR", autocompletion=run_names)
_WHICH = "a folder, a name below checkpoints/, or starter, the bundled model"
_own_run = partial(run_option, "--run", "-r", help=f"{_WHICH.capitalize()}.")
_LAST = "the run trained, averaged or imported last, else starter"
RunName = Annotated[str | None, _own_run(envvar=RUN_VARIABLE, show_default=_LAST)]
RunToTrain = Annotated[
    str | None,
    _own_run(help="The run: a folder, or a name below checkpoints/.", show_default="the config's name"),
]
NewRun = Annotated[
    str, run_option("--run", "-r", help="The new run: a folder, or a name below checkpoints/.")
]
RunNames = Annotated[
    list[str] | None,
    _own_run(
        help=f"{_WHICH.capitalize()}; may be given several times.", envvar=RUN_VARIABLE, show_default=_LAST
    ),
]
RunOfReverse = Annotated[str, _own_run(help=f"A run of the reverse direction: {_WHICH}.")]
RunToDescribe = Annotated[str | None, _own_run(help="The run to describe.")]
Teacher = Annotated[str, run_option("--teacher", help=f"The run to learn from: {_WHICH}.")]
InitFrom = Annotated[
    str | None,
    run_option(
        "--init-from",
        help="Warm start: initialize from this run's weights and tokenizers (fine-tuning).",
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Start from scratch; an existing run of that name is renamed, not deleted."),
]
WhichWeights = Annotated[
    Literal["best", "latest"], typer.Option(help="The weights that scored best in validation, or the newest.")
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show results and errors only.")]
_Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show log messages too, TensorFlow's included.")
]
_AsDocument = Annotated[
    bool, typer.Option("--json", help="Write the result, or the error, as a JSON object (docs/limits.md).")
]
WhichEngine = Annotated[
    Literal["auto", "ctranslate2", "keras"],
    typer.Option(
        help="ctranslate2 is fast, keras the reference; auto is ctranslate2 if it supports the model."
    ),
]
Device = Annotated[Literal["cpu", "cuda", "auto"], typer.Option(help="Where CTranslate2 runs.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1_024,
        metavar="N",
        help="Batches that CTranslate2 translates in parallel.",
        show_default="one per core",
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Resume an interrupted run; progress is saved every 2,048 lines, fewer if long.",
    ),
]
BeamSize = Annotated[
    int | None,
    search(
        metavar="N",
        help="Beam width: number of hypotheses kept during search; 1 is greedy search.",
        show_default="decoding.beam_size of the run's config",
    ),
]
DecodingOverrides = Annotated[
    list[str] | None,
    search(
        "--set",
        metavar="decoding.OPTION=VALUE",
        help="Change a decoding option, such as length_penalty or top_k; may be given several times.",
        autocompletion=lambda: [name for name in option_names() if name.startswith("decoding.")],
    ),
]


def decoding_overrides(overrides: Sequence[str] | None, beam_size: int | None) -> list[str]:
    """Combine ``--set`` with ``--beam-size``, which wins."""
    return [*(overrides or []), *([] if beam_size is None else [f"decoding.beam_size={beam_size}"])]


def chosen_decoding(
    decoding: DecodingConfig, overrides: Sequence[str] | None, beam_size: int | None = None
) -> DecodingConfig:
    """Change the decoding options of a run as of ``decoding_overrides``; errors as of ``override_decoding``.

    If more translations are requested than there are beams, and no beam size is, there will be as many beams.
    """
    changes = decoding_overrides(overrides, beam_size)
    given = {change.partition("=")[0].strip(): change.partition("=")[2] for change in changes}
    num_best = given.get("decoding.num_hypotheses", "")
    if num_best.isdecimal() and "decoding.beam_size" not in given and not decoding.is_sampled:
        changes.append(f"decoding.beam_size={max(int(num_best), decoding.beam_size)}")
    return override_decoding(decoding, changes)
