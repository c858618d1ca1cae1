"""Which weights an export is made of, so that one that is older than a run's weights is noticed."""

import contextlib
import zlib
from pathlib import Path

from ptenmt.errors import CheckpointError, RunError
from ptenmt.runs import Choice, Run


def newest_weights(run: Run, choice: Choice) -> str | None:
    """Which weights are wanted, as ``weights_id`` tells it; None if the run has none, or nobody can say."""
    try:
        best = run.best_models() if choice == "best" else []
    except RunError:
        return None
    for path in (*(run.path / model.name for model in best), *run.checkpoints()):
        with contextlib.suppress(CheckpointError):  # lost, or a training has just replaced it
            return weights_id(path)
    return None


def weights_id(path: Path) -> str:
    """The name of a file of weights, with a checksum of its index, which holds checksums of the weights.

    Args:
        path: Without its ending.

    Raises:
        CheckpointError: It cannot be read.
    """
    try:
        index = path.with_name(f"{path.name}.index").read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"{path} cannot be read: {error.strerror or error}",
            "if a training has just replaced it, try again",
        ) from error
    return f"{path.name}:{zlib.crc32(index):08x}"
