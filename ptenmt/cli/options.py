"""Options that several commands share, declared once."""

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import typer

from ptenmt.config import Config, DecodingConfig
from ptenmt.config.loading import config_names, flat_options, override_decoding
from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.runs import list_runs

COMMAND_LINE = "ptenmt.command_line"
"""Key of a context's ``meta``: the command line after ``ptenmt``."""
MARKUP: Any = {"rich_markup_mode": "markdown", "pretty_exceptions_enable": False}
"""Settings of every Typer app."""
PRESETS = ("base", "demo", "files", "next-word", "opus", "pairs", "paper", "small")
search_option = partial(typer.Option, rich_help_panel="Search")


def as_text(given: Any) -> Any:
    """Callback of texts on the command line: they are UTF-8 like all input, whatever the locale is.

    Bytes that are not UTF-8 are of the locale's encoding, or replaced if they have no meaning there.
    """
    if not isinstance(given, str):
        return given and list(map(as_text, given))
    try:
        return os.fsencode(given).decode()
    except UnicodeError:
        return given.encode(errors="replace").decode()


def complete_run(incomplete: str) -> list[str]:
    """Names of runs that start with a text, for shell completion."""
    return [run.name for run in list_runs() if run.name.startswith(incomplete)]


def complete_config(incomplete: str) -> list[str]:
    """Names of configs that start with a text, for shell completion."""
    return [name for name in config_names() if name.startswith(incomplete)]


def complete_option(incomplete: str) -> list[str]:
    """Config options that start with a text, for shell completion."""
    return [f"{name}=" for name in flat_options(Config()) if name.startswith(incomplete)]


def complete_decoding(incomplete: str) -> list[str]:
    """Decoding options that start with a text, for shell completion."""
    return [name for name in complete_option(incomplete) if name.startswith("decoding.")]


def resume_command(
    context: typer.Context, *, add: str = "", remove: Mapping[str, int] | None = None
) -> list[str]:
    """The command line of this process with a flag added and options removed, so that it resumes.

    ``remove`` has how many words each option takes, its argument included.
    """
    command, *words = context.meta[COMMAND_LINE]
    for option, num_words in (remove or {}).items():
        if option in words:
            place = words.index(option)
            del words[place : place + num_words]
    added = [add] if add and add not in words else []
    return ["ptenmt", command, *added, *words]


def refuse_together(given: Mapping[str, object]) -> None:
    """Refuse the first of these options together with any of the others.

    Raises:
        PtenmtError: The first has a value, and one of the others, too.
    """
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
        autocompletion=complete_config,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.OPTION=VALUE",
        help="Change an option of the config; may be given several times.",
        autocompletion=complete_option,
    ),
]


def _run_option(text: str, default: str | bool) -> Any:
    return typer.Option(
        "--run", "-r", metavar="NAME|DIR", help=text, show_default=default, autocompletion=complete_run
    )


def _run_to_score(name: str, direction: str) -> Any:
    text = f"A run that translates {direction}."
    return typer.Option(name, metavar="NAME|DIR", help=text, autocompletion=complete_run)


_WHICH = "A folder, or a name below checkpoints/."
_LAST = "the run trained or averaged last"
RunName = Annotated[str | None, _run_option(_WHICH, _LAST)]
RunOfReverse = Annotated[
    str, _run_option("A run of the reverse direction: a folder, or a name below checkpoints/.", False)
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Start from scratch; an existing run of that name is renamed, not deleted."),
]
Teachers = Annotated[
    list[str],
    typer.Option(
        "--teacher",
        metavar="NAME|DIR",
        help="A run to learn from: a folder, or a name below checkpoints/; may be given several times.",
        autocompletion=complete_run,
    ),
]
RunToTrain = Annotated[str | None, _run_option(_WHICH, "the config's name")]
InitFrom = Annotated[
    str | None,
    typer.Option(
        "--init-from",
        metavar="NAME|DIR",
        help="Warm start: initialize from this run's weights and tokenizers (fine-tuning).",
        autocompletion=complete_run,
    ),
]
RunsToCompare = Annotated[
    list[str] | None,
    _run_option("A folder, or a name below checkpoints/; may be given several times.", _LAST),
]
RunsToServe = Annotated[
    list[str] | None,
    _run_option("A folder, or a name below checkpoints/; may be given once for each direction.", _LAST),
]
ForwardRun = Annotated[str, _run_to_score("--forward", "in the config's direction")]
BackwardRun = Annotated[str, _run_to_score("--backward", "in the other direction")]
RunToDraw = Annotated[str | None, _run_option("Draw this run's own.", False)]
RunToDescribe = Annotated[str | None, _run_option("The run to describe.", False)]
WhichWeights = Annotated[
    Literal["best", "latest"], typer.Option(help="The weights that scored best in validation, or the newest.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show results and errors only.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show log messages too, TensorFlow's included.")
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
    typer.Option("--resume", help="Resume an interrupted --output; progress is saved every 2,048 lines."),
]
BeamSize = Annotated[
    int | None,
    search_option(
        metavar="N",
        help="Beam width: number of hypotheses kept during search; 1 is greedy search.",
        show_default="decoding.beam_size of the run's config",
    ),
]
DecodingOverrides = Annotated[
    list[str] | None,
    search_option(
        "--set",
        metavar="decoding.OPTION=VALUE",
        help="Change a decoding option, such as length_penalty or top_k; may be given several times.",
        autocompletion=complete_decoding,
    ),
]


def decoding_overrides(overrides: Sequence[str] | None, flags: Mapping[str, int | None]) -> list[str]:
    """Combine ``--set`` with the decoding options that have a flag of their own; the flags win."""
    given = {name: value for name, value in flags.items() if value is not None}
    return [*(overrides or []), *(f"decoding.{name}={value}" for name, value in given.items())]


def chosen_decoding(
    decoding: DecodingConfig, overrides: Sequence[str], names: Mapping[str, str]
) -> DecodingConfig:
    """Change the decoding options of a run: arguments and errors as of ``override_decoding``.

    If more translations are requested than there are beams, and no beam size is, there will be as many beams.
    Error messages call the options by these ``names``, such as ``--n-best``; others are ``decoding.…``.
    """
    given = {override.partition("=")[0].strip(): override.partition("=")[2] for override in overrides}
    num_best = given.get("decoding.num_hypotheses", "")
    if num_best.isdecimal() and "decoding.beam_size" not in given and not decoding.is_sampled:
        overrides = [*overrides, f"decoding.beam_size={max(int(num_best), decoding.beam_size)}"]
        names = {**names, "beam_size": names.get("num_hypotheses", "decoding.num_hypotheses")}
    try:
        return override_decoding(decoding, overrides)
    except ConfigError as error:
        message = error.message
        for option, name in names.items():
            message = re.sub(rf"\bdecoding\.{option}=(\S+)", rf"{name} \1", message)
        raise ConfigError(message, error.hint) from error
