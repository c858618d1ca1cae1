"""``ptenmt inspect positions``."""

from typing import Annotated

import typer

from ptenmt.cli.console import Screen
from ptenmt.cli.options import FigureFile, Quiet, RunToDraw, Verbose
from ptenmt.errors import PtenmtError
from ptenmt.runs import find_run

_MOST = 10_000


def positions(
    run: RunToDraw = None,
    num_positions: Annotated[
        int | None,
        typer.Option("--positions", min=1, max=_MOST, metavar="N", help="How many.", show_default="50"),
    ] = None,
    dimensions: Annotated[
        int | None,
        typer.Option(
            min=2, max=_MOST, metavar="N", help="How many numbers stand for each.", show_default="128"
        ),
    ] = None,
    similarity: Annotated[
        bool, typer.Option("--similarity", help="Draw how alike any two positions are instead.")
    ] = False,
    output: FigureFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw the positional encoding: what the model is told about where a word stands.

    Example: ptenmt inspect positions --positions 100 --dimensions 100 --output positions.png

    Example: ptenmt inspect positions --run base --similarity
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.positions import positions_map, similarity_map

    screen = Screen(quiet=quiet, verbose=verbose)
    if run is not None:
        if dimensions is not None:
            raise PtenmtError(
                "--dimensions and --run exclude each other: a run has its own", "give one of them"
            )
        model = find_run(run).config().model
        num_positions, dimensions = num_positions or model.max_positions, model.d_model
    drawn = similarity_map if similarity else positions_map
    show([drawn(num_positions or 50, dimensions or 128)], output, screen)
