"""Options that several commands share, declared once."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from ptenmt.config import Config, DecodingConfig
from ptenmt.config.loading import config_names, flat_options, override_decoding
from ptenmt.errors import ConfigError
from ptenmt.runs import list_runs

COMMAND_LINE = "ptenmt.command_line"
"""Key of a context's ``meta``: the command line after ``ptenmt``."""
MARKUP: Any = {"rich_markup_mode": "markdown", "pretty_exceptions_enable": False}
"""Settings of every Typer app."""
PRESETS = ("base", "demo", "files", "next-word", "pairs", "paper", "small")
SEARCH_PANEL = "Search"
"""Heading of the decoding options in a command's help."""


def complete_config(incomplete: str) -> list[str]:
    """Names of configs that begin like this, for shell completion."""
    return [name for name in config_names() if name.startswith(incomplete)]


def complete_run(incomplete: str) -> list[str]:
    """Names of runs that begin like this, for shell completion."""
    return [run.name for run in list_runs() if run.name.startswith(incomplete)]


def complete_option(incomplete: str) -> list[str]:
    """Config options that begin like this, for shell completion."""
    return [f"{name}=" for name in flat_options(Config()) if name.startswith(incomplete)]


def complete_decoding(incomplete: str) -> list[str]:
    """Decoding options that begin like this, for shell completion."""
    return [name for name in complete_option(incomplete) if name.startswith("decoding.")]


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


_WHICH = "A folder, or a name below checkpoints/."
_LAST = "the run trained or averaged last"
RunName = Annotated[str | None, _run_option(_WHICH, _LAST)]
RunToTrain = Annotated[str | None, _run_option(_WHICH, "the config's name")]
InitFrom = Annotated[
    str | None,
    typer.Option(
        "--init-from",
        metavar="NAME|DIR",
        help="Start from this run's weights and tokenizers (fine-tuning).",
        autocompletion=complete_run,
    ),
]
RunsToCompare = Annotated[
    list[str] | None,
    _run_option("A folder, or a name below checkpoints/; may be given several times.", _LAST),
]
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
BeamSize = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Beam width: number of hypotheses kept during search; 1 is greedy search.",
        show_default="decoding.beam_size of the run's config",
        rich_help_panel=SEARCH_PANEL,
    ),
]
DecodingOverrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="decoding.OPTION=VALUE",
        help="Change a decoding option, such as length_penalty or top_k; may be given several times.",
        autocompletion=complete_decoding,
        rich_help_panel=SEARCH_PANEL,
    ),
]


def decoding_overrides(
    overrides: Sequence[str],
    *,
    beam_size: int | None = None,
    n_best: int | None = None,
    max_length: int | None = None,
) -> list[str]:
    """Combine ``--set`` with the decoding options that have a flag of their own; the flags win."""
    named = {"beam_size": beam_size, "num_hypotheses": n_best, "max_length": max_length}
    return [*overrides, *(f"decoding.{name}={value}" for name, value in named.items() if value is not None)]


def chosen_decoding(
    decoding: DecodingConfig, overrides: Sequence[str], names: Mapping[str, str]
) -> DecodingConfig:
    """Change the decoding options of a run.

    If more translations are requested than there are beams, and no beam size is, there will be as many beams.

    Args:
        decoding: The run's options.
        overrides: See ``override_decoding``.
        names: The names that options have here, such as ``--n-best``, for error messages.

    Raises:
        ConfigError: An option is unknown or invalid, or options are incompatible.
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
