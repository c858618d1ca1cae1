"""``ptenmt inspect tokens``."""

from functools import partial
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import FigureFile, Quiet, RunName, Sentence, Target, Verbose, WhichWeights


def tokens(
    text: Sentence,
    target: Target = None,
    length: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Pad both sides to so many tokens, as in a batch with longer sentences.",
            show_default="no padding",
        ),
    ] = None,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    output: FigureFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show a sentence and its translation as the model sees them: pieces, ids, labels, masks.

    The decoder is given the translation from [START] on, and learns to say the same one place further on. In
    a mask, 1 hides a token (column) from another (row).

    Example: ptenmt inspect tokens "este modelo parece funcionar bem" --length 10
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.inspector import Inspector
    from ptenmt.inspection.tokens import token_panels

    screen = Screen(quiet=quiet, verbose=verbose)
    inspector = Inspector(
        run, checkpoint=checkpoint, on_warning=screen.warn, on_tensorflow=partial(load_tensorflow, screen)
    )
    show(token_panels(inspector, text, target, length), output, screen, columns=2)
