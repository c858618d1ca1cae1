"""Options that several commands share, declared once."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ptenmt.config import config_folders
from ptenmt.runs import list_runs


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
RunToDescribe = Annotated[str | None, _run_option("The run to describe.", False)]
WhichWeights = Annotated[
    Literal["best", "latest"],
    typer.Option("--checkpoint", help="The weights that scored best in validation, or the newest."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show results and errors only.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show log messages too, TensorFlow's included.")
]
InputFile = Annotated[
    Path | None, typer.Option("--input", "-i", metavar="FILE", help="Translate this file, a line a sentence.")
]
