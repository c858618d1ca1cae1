"""``ptenmt inspect probabilities``."""

from functools import partial
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import FigureFile, Quiet, RunName, Sentence, Target, Verbose, WhichWeights


def probabilities(
    text: Sentence,
    target: Target = None,
    runners_up: Annotated[
        int,
        typer.Option("--runners-up", min=0, metavar="K", help="How many other tokens to tell at each place."),
    ] = 4,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    output: FigureFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show how sure a model is of each token of a translation, and what else it might have said.

    The probabilities are the model's own, over its whole vocabulary, given the sentence and what is before.
    The entropy is 0 where it is certain.

    Example: ptenmt inspect probabilities "este modelo parece funcionar bem"

    Example: ptenmt inspect probabilities "estou feito ao bife" --target "i am done for ."
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.inspector import Inspector
    from ptenmt.inspection.probabilities import find_probabilities, probability_bars, probability_table

    screen = Screen(quiet=quiet, verbose=verbose)
    inspector = Inspector(
        run, checkpoint=checkpoint, on_warning=screen.warn, on_tensorflow=partial(load_tensorflow, screen)
    )
    found = find_probabilities(inspector, text, target, runners_up=runners_up)
    show([probability_table(found) if output is None else probability_bars(found)], output, screen)
