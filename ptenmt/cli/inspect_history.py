"""``ptenmt inspect history``."""

from typing import Annotated, Literal

import typer

from ptenmt.cli.console import Screen
from ptenmt.cli.options import FigureFile, Quiet, RunsToCompare, Verbose
from ptenmt.runs import find_run


def history(
    runs: RunsToCompare = None,
    over: Annotated[
        Literal["steps", "epochs", "minutes"], typer.Option(help="What is counted across.")
    ] = "steps",
    what: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="CURVE",
            help="What to draw: loss, accuracy, bleu, chrf, rate, speed; may be given several times.",
            show_default="all",
        ),
    ] = None,
    output: FigureFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw how trainings went: loss, accuracy, BLEU, chrF, learning rate, tokens a second.

    Example: ptenmt inspect history --run base --run small --over minutes --show bleu

    Example: ptenmt inspect history --run base --output base.pdf
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.history import history_plots

    screen = Screen(quiet=quiet, verbose=verbose)
    found = [find_run(run) for run in runs] if runs else [find_run()]
    show(history_plots(found, over, what or ()), output, screen, columns=2)
