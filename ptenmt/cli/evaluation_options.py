"""Options of ``ptenmt evaluate`` only."""

from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.options import SEARCH_PANEL
from ptenmt.data.corpus import HeldOutSplit

_FILES, _OUTPUT = "Files of your own", "Output"

Split = Annotated[
    HeldOutSplit | None,
    typer.Option(help="Which of the run's own pairs to score.", show_default="test; validation for --sweep"),
]
SourceFile = Annotated[
    Path | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="Translate this instead of the run's own pairs: one sentence per line, plain or .gz.",
        rich_help_panel=_FILES,
    ),
]
References = Annotated[
    list[Path] | None,
    typer.Option(
        "--reference",
        metavar="FILE",
        help="Reference translations, one per line. May be given several times; then each sentence needs a "
        "line that is not empty in one of them.",
        rich_help_panel=_FILES,
    ),
]
HypothesesFile = Annotated[
    Path | None,
    typer.Option(
        "--hypotheses",
        metavar="FILE",
        help="Score these translations, one per line, instead of translating. With --reference no run is "
        "needed; with --run, too, the words unknown to that run are counted.",
        rich_help_panel=_FILES,
    ),
]
Tokenised = Annotated[
    bool,
    typer.Option(
        "--tokenised",
        help="These files have words and punctuation separated by spaces, as the training corpus (and "
        "translate --raw) has them. They are scored on these tokens, too.",
        rich_help_panel=_FILES,
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="RUN|FILE",
        help="Compare with another run, or with a file of translations, with a significance test.",
    ),
]
WithSweep = Annotated[
    bool,
    typer.Option(
        "--sweep",
        help="Try beam sizes and length penalties on the validation pairs, and report which to use.",
        rich_help_panel=SEARCH_PANEL,
    ),
]
Details = Annotated[
    bool,
    typer.Option(
        "--details",
        help="Show more of the error analysis: scores by source length, word rarity and split words; "
        "minimal pairs; the worst and the best sentences.",
        rich_help_panel=_OUTPUT,
    ),
]
TextsFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write sources, references and translations, including the baseline's, to text files in this "
        "folder.",
        rich_help_panel=_OUTPUT,
    ),
]
Reports = Annotated[
    list[Path] | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a full report with charts and examples: .html, .md or .json. May be given several times.",
        rich_help_panel=_OUTPUT,
    ),
]
