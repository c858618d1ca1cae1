"""The options of ``ptenmt serve`` alone."""

from pathlib import Path
from typing import Annotated

import typer

_WHO, _LIMITS = "Where it answers, and whom", "How much one request may ask for"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Where to listen; 0.0.0.0 answers the whole network.",
        rich_help_panel=_WHO,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        "-p",
        metavar="N",
        min=0,
        max=65_535,
        help="Which port; 0: any that is free.",
        rich_help_panel=_WHO,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FILE",
        help="Answer only who has a key of this file.",
        show_default="everybody",
        rich_help_panel=_WHO,
    ),
]
AddKey = Annotated[
    str | None,
    typer.Option(
        "--add-key",
        metavar="NAME",
        help="Do not serve: make a key for somebody who has none, add its hash to --keys, and print it.",
        show_default=False,
        rich_help_panel=_WHO,
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        metavar="URL",
        help="Answer scripts of web pages elsewhere, such as https://example.org, or * for all; may be given "
        "several times.",
        show_default="none",
        rich_help_panel=_WHO,
    ),
]
MaxCharacters = Annotated[
    int,
    typer.Option("--max-characters", metavar="N", min=1, help="Of all its texts.", rich_help_panel=_LIMITS),
]
MaxSentences = Annotated[
    int,
    typer.Option(
        "--max-sentences", metavar="N", min=1, help="That its texts are cut into.", rich_help_panel=_LIMITS
    ),
]
MaxSeconds = Annotated[
    float,
    typer.Option(
        "--max-seconds", metavar="SECONDS", min=0.001, help="Until it is answered.", rich_help_panel=_LIMITS
    ),
]
MaxQueue = Annotated[
    int,
    typer.Option(
        "--max-queue",
        metavar="N",
        min=1,
        help="Sentences that may wait, of all requests together; who comes then is told to come again.",
        rich_help_panel=_LIMITS,
    ),
]
MaxFile = Annotated[
    float,
    typer.Option(
        "--max-file", metavar="MB", min=0.001, help="The most of a document.", rich_help_panel=_LIMITS
    ),
]
