"""Options that several commands share, declared once."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from ptenmt.config.loading import config_folders
from ptenmt.runs import list_runs

COMMAND_LINE = "ptenmt.command_line"
"""The entry of a context's ``meta`` that holds the words behind ``ptenmt``."""
SEARCH_PANEL = "How to search"
"""What the part of a help is called that tells how translations are searched for."""


def _presets() -> str:
    return ", ".join(sorted(path.stem for path in config_folders()[-1].glob("*.yaml")))


def _config_names(incomplete: str) -> list[str]:
    names = {path.name for folder in config_folders() for path in folder.glob("*.yaml")}
    return sorted(name for name in names if name.startswith(incomplete))


def complete_run(incomplete: str) -> list[str]:
    """Names of runs that begin so, for the shell's completion."""
    return [run.name for run in list_runs() if run.name.startswith(incomplete)]


ConfigName = Annotated[
    str,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE|NAME",
        help=f"A YAML file, or a preset: {_presets()}.",
        autocompletion=_config_names,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.OPTION=VALUE",
        help="Change an option of the config; may be given several times.",
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
RunToAverage = Annotated[str | None, _run_option("The run whose weights to average.", _LAST)]
RunToBeginWith = Annotated[
    str | None,
    typer.Option(
        "--init-from",
        metavar="NAME|DIR",
        help="Begin with this run's weights and tokenizers, to learn from other data (fine-tuning).",
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
    Literal["best", "latest"],
    typer.Option("--checkpoint", help="The weights that scored best in validation, or the newest."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show results and errors only.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show log messages too, TensorFlow's included.")
]
WhichEngine = Annotated[
    Literal["auto", "ctranslate2", "keras"],
    typer.Option(
        "--engine",
        help="CTranslate2, the fast one; Keras, the reference; or whichever can: CTranslate2, if it "
        "knows the model's options.",
    ),
]
Device = Annotated[
    Literal["cpu", "cuda", "auto"], typer.Option("--device", help="What CTranslate2 computes on.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        metavar="N",
        help="How many batches CTranslate2 translates at a time.",
        show_default="one a core",
    ),
]
BeamSize = Annotated[
    int | None,
    typer.Option(
        "--beam-size",
        metavar="N",
        help="How many beginnings of a translation are followed at a time; 1 is greedy search.",
        show_default="decoding.beam_size of the run's config",
        rich_help_panel=SEARCH_PANEL,
    ),
]
DecodingOverrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="decoding.OPTION=VALUE",
        help="Change another option of how to search, such as length_penalty or top_k; may be given several "
        "times. The model is trained, so only the section decoding can be changed.",
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
    """What ``--set`` and the options with a name of their own change; these win."""
    named = {"beam_size": beam_size, "num_hypotheses": n_best, "max_length": max_length}
    return [*overrides, *(f"decoding.{name}={value}" for name, value in named.items() if value is not None)]
