"""``ptenmt export``."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, load_tensorflow, silent_libraries
from ptenmt.cli.options import Quiet, RunName, Verbose, WhichWeights
from ptenmt.cli.writing import amount
from ptenmt.export.formats import Format, Quantization
from ptenmt.runs import find_run


def export(
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="For CTranslate2; for TensorFlow (Serving), text in and text out; for Argos Translate and "
            "LibreTranslate; or the bare weights, for any framework.",
        ),
    ] = "ctranslate2",
    quantization: Annotated[
        Quantization | None,
        typer.Option(
            help="How weights are stored (ctranslate2, argos): int8 takes a quarter of the room, and is the "
            "fastest.",
            show_default="int8",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR|FILE",
            help="Where to, a folder, or for argos a file; an export that is there is replaced.",
            show_default="below the run's export/, where ptenmt translate finds its own",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Export a run's model for another program, with a model card and checksums.

    Training writes the one for CTranslate2 by itself, and ptenmt translate uses it. A savedmodel translates
    with greedy search, text in the form of the training corpus.

    Example: ptenmt export --run mine --format argos --output mine.argosmodel
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    found = find_run(run)
    from ptenmt.export.model import export_model

    warn: Callable[[str], None] = screen.warn
    with ExitStack() as silence:

        def load() -> None:
            nonlocal warn
            load_tensorflow(screen)
            warn = silence.enter_context(silent_libraries(screen))

        exported = export_model(
            found,
            format=form,
            quantization=quantization,
            output=output,
            checkpoint=checkpoint,
            on_warning=lambda told: warn(told),
            on_tensorflow=load,
        )
    stored = exported.quantization or "float32"
    screen.say(
        f"exported {exported.weights.name} as {form} in {stored}: {exported.path}, "
        f"{amount(exported.num_bytes)}, {exported.seconds:.1f} s"
    )
