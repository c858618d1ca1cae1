"""Keeping a run's exports up to date: told by the weights that they were made of."""

from collections.abc import Callable
from pathlib import Path

from ptenmt.errors import CheckpointError, ExportError, OutputError, PtenmtError
from ptenmt.export.folders import Export, Facts, Form, NoExportError, OtherWeightsError
from ptenmt.export.origin import newest_weights
from ptenmt.runs import Choice, Run


def current_export(
    run: Run,
    choice: Choice,
    form: Form[Facts],
    make: Callable[[Facts | None], Export[Facts]],
    warn: Callable[[str], None],
    origin: str | None = None,
) -> Export[Facts]:
    """A run's export of a form, up to date if that can be had.

    Args:
        run: Where it is.
        choice: Of which of the run's weights.
        form: What it is like.
        make: Makes it anew, of the weights that are wanted; given what the one before says of itself.
        warn: Told, in a sentence, of what is not as it should be.
        origin: Which weights are wanted, as ``weights_id`` tells it, and no others; None: the newest, and if
            there is no export of those, an older one is better than none.

    Raises:
        CheckpointError: There is none, and no checkpoint that can be read.
        OtherWeightsError: There is none of ``origin``, and none can be made; the run has others by now.
        ExportError: There is none that can be read, or none of ``origin``, and none can be made.
    """
    folder = run.export_folder(choice, form.name)
    export: Export[Facts] | None = None
    try:
        export = form.read(folder)
        wanted = origin or newest_weights(run, choice)
        if wanted in (None, export.facts.weights):
            return export
        relation = "older than" if origin is None else "not of"
        reason = f"the export in {folder} is {relation} {str(wanted).partition(':')[0]}"
    except NoExportError as error:
        reason = error.message
    except ExportError as error:
        reason = error.message
        warn(f"{reason}: it is made anew")
    try:
        renewed = make(form.facts_in(folder))
        if newest_weights(run, choice) in (None, renewed.facts.weights):
            _write(folder, form, renewed, warn)
        return renewed
    except PtenmtError as error:
        if export is None and isinstance(error, CheckpointError):
            raise
        if export is None or origin is not None:
            told = f"{reason}, and none can be made: {error.message}"
            if origin is not None and newest_weights(run, choice) not in (None, origin):
                raise OtherWeightsError(told, "the run has other weights by now: start again") from error
            raise ExportError(told, error.hint) from error
        warn(f"{reason}, and cannot be made anew: {error.message}")
        return export


def _write(folder: Path, form: Form[Facts], export: Export[Facts], warn: Callable[[str], None]) -> None:
    """Write what was made anew, if the run can be written."""
    try:
        form.write(folder, export)
    except OutputError as error:
        warn(f"{error.message}: the export is made anew each time")
