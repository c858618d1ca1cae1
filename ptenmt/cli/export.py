"""``ptenmt export``."""

from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, quiet_tensorflow
from ptenmt.cli.options import Quiet, RunName, Verbose, WhichWeights
from ptenmt.cli.writing import amount
from ptenmt.export.formats import Format, Quantization
from ptenmt.runs import find_run


def export(
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    form: Annotated[Format, typer.Option("--format", help="For which engine.")] = "ctranslate2",
    quantization: Annotated[
        Quantization,
        typer.Option(help="How weights are stored: int8 takes a quarter of the room, and is the fastest."),
    ] = "int8",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Where to; an export that is there is replaced.",
            show_default="the run's own, which translates",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Export a run's model for CTranslate2, which translates without TensorFlow.

    Training does it by itself: this is for another quantization, or for another place.

    Example: ptenmt export --run base --quantization float32 --output base.ctranslate2
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    found = find_run(run)
    with quiet_tensorflow(screen):
        from ptenmt.export.model import export_model
    exported = export_model(
        found,
        format=form,
        quantization=quantization,
        output=output,
        checkpoint=checkpoint,
        on_warning=screen.warn,
    )
    screen.say(
        f"exported {exported.weights.name} in {exported.quantization}: {exported.folder}, "
        f"{amount(exported.num_bytes)}, {exported.seconds:.1f} s"
    )
