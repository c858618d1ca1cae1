"""``ptenmt inspect embeddings``."""

from functools import partial
from typing import Annotated, Literal

import typer

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import FigureFile, Quiet, RunName, Verbose, WhichWeights


def embeddings(
    words: Annotated[
        list[str], typer.Argument(help="Words of the source language, or of a next-word model.")
    ],
    side: Annotated[
        Literal["source", "target"], typer.Option(help="Which language's words they are.")
    ] = "source",
    count: Annotated[int, typer.Option("--top", min=1, metavar="K", help="How many neighbours each.")] = 10,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    output: FigureFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the pieces of the vocabulary whose embeddings are most like a word's, by cosine.

    Of a word that falls into several pieces, the mean of their embeddings is compared.

    Example: ptenmt inspect embeddings casa mulher --top 5
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.embeddings import nearest, neighbour_bars
    from ptenmt.inspection.inspector import Inspector

    screen = Screen(quiet=quiet, verbose=verbose)
    inspector = Inspector(
        run, checkpoint=checkpoint, on_warning=screen.warn, on_tensorflow=partial(load_tensorflow, screen)
    )
    show(neighbour_bars(nearest(inspector, words, side=side, count=count)), output, screen, columns=2)
