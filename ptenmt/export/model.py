"""Exporting a run's model for use elsewhere."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ptenmt.errors import ExportError, OutputError
from ptenmt.export.ctranslate2 import CTRANSLATE2, make_export
from ptenmt.export.formats import Format, Quantization
from ptenmt.export.limits import check_ctranslate2
from ptenmt.export.origin import weights_id
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tokenizers import load_tokenizers


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was exported, and where to."""

    folder: Path
    weights: Path
    """The file that they are from, without its ending."""
    quantization: Quantization
    num_bytes: int
    seconds: float
    """That it took."""


def export_model(
    run: str | Path | Run | None = None,
    *,
    format: Format = "ctranslate2",  # noqa: A002 — as the command line has it
    quantization: Quantization = "int8",
    output: str | Path | None = None,
    checkpoint: Choice = "best",
    on_warning: Callable[[str], None] = warnings.warn,
) -> Exported:
    """Export a run's model.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
        format: ``ctranslate2``: a folder that ``ctranslate2.Translator`` opens.
        quantization: How the weights are stored.
        output: The folder; by default the run's own, from which ``ptenmt translate`` translates. An export
            that stood there before is replaced, and nothing else.
        checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
        on_warning: Told, in a sentence, of a damaged checkpoint that was passed over.

    Raises:
        RunError: There is no such run.
        CheckpointError: It has no checkpoint that can be read.
        ExportError: The format cannot express the model.
        OutputError: The folder cannot be written, or it is something else than an export.
    """
    started = time.perf_counter()
    if format not in get_args(Format):
        raise ExportError(
            f"there is no export format {format}", f"choose one of: {', '.join(get_args(Format))}"
        )
    run = run if isinstance(run, Run) else find_run(run)
    config = run.config()
    check_ctranslate2(config.model)
    folder = run.export_folder(checkpoint) if output is None else _checked(Path(output).expanduser())
    from ptenmt.checkpoints import load_weights  # with TensorFlow: what is wrong above is told at once

    path, weights = load_weights(run, on_warning, checkpoint)
    tokenizers = load_tokenizers(run.tokenizer_folder)
    export = make_export(config.model, weights, tokenizers, weights_id(path), quantization)
    CTRANSLATE2.write(folder, export)
    return Exported(
        folder=folder,
        weights=path,
        quantization=quantization,
        num_bytes=export.num_bytes,
        seconds=time.perf_counter() - started,
    )


def _checked(folder: Path) -> Path:
    """A folder that a user names, if it is empty, new, or an export of ours.

    Raises:
        OutputError: It is not; another program's model has the same files, too.
    """
    try:
        is_taken = (
            folder.is_dir() and any(folder.iterdir()) and not (folder / CTRANSLATE2.facts_file).exists()
        )
    except OSError as error:
        raise OutputError(f"cannot read {folder}: {error.strerror or error}") from error
    if is_taken:
        raise OutputError(f"{folder} is not empty and no export", "choose another folder with --output")
    return folder
