"""The options of ``ptenmt translate`` alone."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.options import SEARCH_PANEL
from ptenmt.config import DecodingConfig
from ptenmt.config.loading import override_decoding
from ptenmt.config.schema import MAX_ALTERNATIVES
from ptenmt.errors import ConfigError

_FILES, _FORM = "Files", "What is shown"

Texts = Annotated[
    list[str] | None, typer.Argument(metavar="TEXT", help="Sentences; by default standard input.")
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
        help="Write the translations to this file; it appears when it is whole.",
        rich_help_panel=_FILES,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on with an --output that was interrupted; what is translated is kept every 2,048 lines.",
        rich_help_panel=_FILES,
    ),
]
SkipInvalid = Annotated[
    bool,
    typer.Option(
        "--skip-invalid",
        help="Leave a line empty that is not UTF-8, and count it, instead of ending there.",
        rich_help_panel=_FILES,
    ),
]
NBest = Annotated[
    int | None,
    typer.Option(
        "--n-best",
        metavar="N",
        help="Give N translations of each text, best first, a line each: rank, score and translation, "
        "with tabs between them. Raises the beam size to N if that is not given.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
MaxLength = Annotated[
    int | None,
    typer.Option(
        "--max-length",
        metavar="N",
        help="The most tokens of a translation.",
        show_default="grows with the source",
        rich_help_panel=SEARCH_PANEL,
    ),
]
Prefix = Annotated[
    str,
    typer.Option(
        "--prefix",
        metavar="TEXT",
        help="Complete this: what every translation begins with.",
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
        help="Give N different tokens after the prefix, the likeliest first, each with how it goes on; "
        "written as with --n-best.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Keep the training corpus' spacing: 'well .' for 'well.'",
        rich_help_panel=_FORM,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="A JSON object a text: source, translation, raw, score, tokens, alternatives, milliseconds, "
        "is_complete, is_split, unknown.",
        rich_help_panel=_FORM,
    ),
]
Interactive = Annotated[
    bool,
    typer.Option(
        "--interactive",
        help="Ask for sentences, with line editing and history; so it is without TEXT at a terminal.",
        rich_help_panel=_FORM,
    ),
]


def chosen_decoding(
    decoding: DecodingConfig, overrides: Sequence[str], names: dict[str, str]
) -> DecodingConfig:
    """How to search: the run's options with some changed.

    Where more translations are wanted than there are beams, and nothing is said about beams, there will be as
    many.

    Args:
        decoding: The run's options.
        overrides: See ``override_decoding``.
        names: What an option is called where these come from, if it has a name of its own: ``--n-best``.

    Raises:
        ConfigError: An option is unknown or unfit, or they do not go together.
    """
    given = {override.partition("=")[0].strip(): override.partition("=")[2] for override in overrides}
    wanted = given.get("decoding.num_hypotheses", "")
    if wanted.isdecimal() and "decoding.beam_size" not in given and not decoding.is_sampled:
        overrides = [*overrides, f"decoding.beam_size={max(int(wanted), decoding.beam_size)}"]
    try:
        return override_decoding(decoding, overrides)
    except ConfigError as error:
        message = error.message
        for option, name in names.items():
            message = re.sub(rf"\bdecoding\.{option}=(\S+)", rf"{name} \1", message)
        raise ConfigError(message, error.hint) from error
