"""The options of ``ptenmt translate`` alone."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.options import SEARCH_PANEL
from ptenmt.config import DecodingConfig
from ptenmt.config.loading import override_decoding
from ptenmt.config.schema import MAX_ALTERNATIVES
from ptenmt.errors import ConfigError

_FILES, _FORMAT = "Files", "Output format"

Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT", help="Sentences; standard input by default, or for a single -."),
]
InputFile = Annotated[
    Path | None,
    typer.Option(
        "--input", "-i", metavar="FILE", help="Translate this file, plain or .gz.", rich_help_panel=_FILES
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the translations to this file, which appears when it is complete; -: standard output.",
        rich_help_panel=_FILES,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Resume an interrupted --output; progress is saved every 2,048 lines.",
        rich_help_panel=_FILES,
    ),
]
SkipInvalid = Annotated[
    bool,
    typer.Option(
        "--skip-invalid",
        help="Write an empty line for input that is not valid UTF-8 instead of stopping.",
        rich_help_panel=_FILES,
    ),
]
NBest = Annotated[
    int | None,
    typer.Option(
        "--n-best",
        metavar="N",
        help="Write the N best translations of each text: rank, score and translation, separated by tabs. "
        "Raises the beam size to N unless --beam-size is given.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
MaxLength = Annotated[
    int | None,
    typer.Option(
        "--max-length",
        metavar="N",
        help="Maximum number of tokens of a translation.",
        show_default="grows with the source",
        rich_help_panel=SEARCH_PANEL,
    ),
]
Prefix = Annotated[
    str,
    typer.Option(
        "--prefix",
        metavar="TEXT",
        help="Target prefix: what every translation starts with.",
        show_default=False,
        rich_help_panel=SEARCH_PANEL,
    ),
]
Alternatives = Annotated[
    int | None,
    typer.Option(
        "--alternatives",
        min=1,
        max=MAX_ALTERNATIVES,
        metavar="N",
        help="Show the N most probable next tokens after the prefix, each with its completion; the format is "
        "that of --n-best.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Keep the spacing of the training corpus: 'well .' instead of 'well.'",
        rich_help_panel=_FORMAT,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Write a JSON object for each text: source, translation, raw, score, tokens, alternatives, "
        "milliseconds, is_complete, is_split, unknown.",
        rich_help_panel=_FORMAT,
    ),
]
Interactive = Annotated[
    bool,
    typer.Option(
        "--interactive",
        help="Prompt for sentences, with line editing and history; the default at a terminal without TEXT.",
        rich_help_panel=_FORMAT,
    ),
]


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
