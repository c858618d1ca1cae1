"""``ptenmt export``."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, silent_libraries
from ptenmt.cli.formatting import amount
from ptenmt.cli.options import RunName, WhichWeights
from ptenmt.export.packaging import Format, export_model
from ptenmt.model.ctranslate2_model import Quantization


def export(
    screen: Screen,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    form: Annotated[Format, typer.Option("--format")] = "ctranslate2",
    quantization: Annotated[Quantization | None, typer.Option(show_default="int8")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR|FILE", show_default="below the run's export/"),
    ] = None,
) -> None:
    """Export a run's model for another program, with a model card and checksums.

    ptenmt translate and ptenmt serve need no export. A savedmodel translates text in the form of the training
    corpus, with greedy search.

    Example: ptenmt export --run mine --format argos --output mine.argosmodel

    Args:
        form: ctranslate2; savedmodel for TensorFlow (Serving), text in and text out; argos for Argos
            Translate and LibreTranslate; weights for any framework.
        quantization: How weights are stored (ctranslate2, argos): int8 is the smallest and fastest.
        output: A folder, or for argos a file; an export that is there is replaced.
    """
    is_noisy = form in ("savedmodel", "weights", "argos")  # log lines of TensorFlow and SentencePiece
    with silent_libraries(screen) if is_noisy else nullcontext(screen.warn) as warn:
        exported = export_model(
            run, format=form, quantization=quantization, output=output, checkpoint=checkpoint, on_warning=warn
        )
    stored = exported.quantization or "float32"
    screen.say(
        f"exported {exported.weights.label} as {form} in {stored}: {exported.path}, "
        f"{amount(exported.num_bytes)}, {exported.seconds:.1f} s"
    )
