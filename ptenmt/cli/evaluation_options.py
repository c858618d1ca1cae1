"""The options of ``ptenmt evaluate`` alone."""

from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.options import SEARCH_PANEL
from ptenmt.data.corpus import HeldOutSplit

_FILES, _SHOWN = "Files of your own", "What is shown"

Split = Annotated[
    HeldOutSplit | None,
    typer.Option(help="Which of the run's own pairs to score.", show_default="test; validation for --sweep"),
]
Source = Annotated[
    Path | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="Translate this instead of the run's own pairs: a sentence a line, plain or .gz.",
        rich_help_panel=_FILES,
    ),
]
References = Annotated[
    list[Path] | None,
    typer.Option(
        "--reference",
        metavar="FILE",
        help="The right translations, a line each. May be given several times; then each sentence needs a "
        "line that is not empty in one of them.",
        rich_help_panel=_FILES,
    ),
]
Hypotheses = Annotated[
    Path | None,
    typer.Option(
        "--hypotheses",
        metavar="FILE",
        help="Score these translations, a line each, instead of translating. Together with --reference no "
        "run is needed; one that is named with --run tells which words it knows.",
        rich_help_panel=_FILES,
    ),
]
Tokenised = Annotated[
    bool,
    typer.Option(
        "--tokenised",
        help="These files have words and punctuation apart, as the training corpus has (as translate --raw "
        "writes it). They are scored on these tokens, too.",
        rich_help_panel=_FILES,
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="RUN|FILE",
        help="Compare with another run, or with a file of translations: is the difference more than chance?",
    ),
]
WithSweep = Annotated[
    bool,
    typer.Option(
        "--sweep",
        help="Try beam sizes and length penalties, on the validation pairs, and say which to use.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
Details = Annotated[
    bool,
    typer.Option(
        "--details",
        help="Show where it fails, too: scores by length, by rarity of words and by how many are cut into "
        "pieces; minimal pairs; the worst and the best sentences.",
        rich_help_panel=_SHOWN,
    ),
]
TextsFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write sources, references and translations, the baseline's too, as text files into this "
        "folder, for other programs.",
        rich_help_panel=_SHOWN,
    ),
]
Reports = Annotated[
    list[Path] | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write all of it, with charts and examples, into a page (.html) or a text (.md), or as "
        "facts for programs (.json). May be given several times.",
        rich_help_panel=_SHOWN,
    ),
]
