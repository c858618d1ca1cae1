"""The options of ``ptenmt serve`` alone."""

from pathlib import Path
from typing import Annotated

import typer

_ACCESS, _LIMITS = "Address and access", "Limits of a request"

Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Address to listen on; 0.0.0.0: all interfaces.",
        rich_help_panel=_ACCESS,
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
        help="Port to listen on; 0: any free port.",
        rich_help_panel=_ACCESS,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FILE",
        help="Require an API key from this file.",
        show_default="no keys",
        rich_help_panel=_ACCESS,
    ),
]
AddKey = Annotated[
    str | None,
    typer.Option(
        "--add-key",
        metavar="NAME",
        help="Do not serve: create a key for NAME, add its hash to --keys, and print the key.",
        show_default=False,
        rich_help_panel=_ACCESS,
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        metavar="URL",
        help="Allow web pages of this origin (CORS), such as https://example.org, or * for all; may be given "
        "several times.",
        show_default="none",
        rich_help_panel=_ACCESS,
    ),
]
MaxCharacters = Annotated[
    int,
    typer.Option(
        "--max-characters",
        metavar="N",
        min=1,
        help="Maximum characters per request.",
        rich_help_panel=_LIMITS,
    ),
]
MaxSentences = Annotated[
    int,
    typer.Option(
        "--max-sentences", metavar="N", min=1, help="Maximum sentences per request.", rich_help_panel=_LIMITS
    ),
]
MaxSeconds = Annotated[
    float,
    typer.Option(
        "--max-seconds",
        metavar="SECONDS",
        min=0.001,
        help="Maximum seconds per request.",
        rich_help_panel=_LIMITS,
    ),
]
MaxQueue = Annotated[
    int,
    typer.Option(
        "--max-queue",
        metavar="N",
        min=1,
        help="Maximum sentences waiting, of all requests; further requests get 'try again later'.",
        rich_help_panel=_LIMITS,
    ),
]
MaxFile = Annotated[
    float,
    typer.Option(
        "--max-file", metavar="MB", min=0.001, help="Maximum size of a document.", rich_help_panel=_LIMITS
    ),
]
