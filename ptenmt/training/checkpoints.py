"""Checkpoints of the training state: everything that the next training step depends on."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf

from ptenmt.errors import CheckpointError
from ptenmt.runs import Run

# What TensorFlow and its Python side raise for files that are truncated, damaged or missing.
_UNREADABLE = (tf.errors.OpError, IndexError, ValueError)


class Checkpoints:
    """Saves and restores the state of one run with ``tf.train.CheckpointManager``.

    Args:
        state: What is saved, variable by variable.
        run: The run directory.
        keep: How many checkpoints to keep.
    """

    def __init__(self, state: tf.train.Checkpoint, run: Run, keep: int) -> None:
        self._run = run
        self._state = state
        try:
            self._manager = tf.train.CheckpointManager(state, str(run.state_folder), max_to_keep=keep)
        except ValueError:  # the file "checkpoint", which only lists what may be deleted, is damaged
            (run.state_folder / "checkpoint").unlink()
            self._manager = tf.train.CheckpointManager(state, str(run.state_folder), max_to_keep=keep)

    def save(self) -> Path:
        """Write a checkpoint; the ones before it stay valid whatever happens.

        Returns:
            Its path, without a suffix.

        Raises:
            CheckpointError: The disk is full, or the folder cannot be written.
        """
        try:
            self._run.state_folder.mkdir(exist_ok=True)
            return Path(self._manager.save())
        except (tf.errors.OpError, OSError) as error:
            self.tidy()
            raise CheckpointError(
                f"cannot save a checkpoint in {self._run.state_folder}: {_reason(error)}",
                "make room and run the command again; what was saved before is unharmed",
            ) from error

    def tidy(self) -> None:
        """Remove what a save that failed or was killed has left behind."""
        for folder in self._run.state_folder.glob("*_temp"):  # where TensorFlow writes before it renames
            shutil.rmtree(folder, ignore_errors=True)

    def restore(self, on_warning: Callable[[str], None]) -> Path | None:
        """Restore the newest checkpoint that can be read.

        Args:
            on_warning: Called with a message for each newer checkpoint that is damaged.

        Returns:
            Its path, or None if there is none yet.

        Raises:
            CheckpointError: There are checkpoints, but none can be read.
        """
        paths = self._run.checkpoints()
        for path in paths:
            try:
                self._state.restore(str(path)).assert_existing_objects_matched()
                return path
            except AssertionError as error:
                raise CheckpointError(
                    f"checkpoint {path} lacks a part of the training state",
                    "resume with the version of ptenmt that wrote it, or train again with --fresh",
                ) from error
            except _UNREADABLE as error:
                on_warning(f"checkpoint {path} is damaged and will be ignored: {_reason(error)}")
        if paths:
            raise CheckpointError(
                f"none of the {len(paths)} checkpoints in {self._run.state_folder} can be read",
                "restore them from a copy, or train again with --fresh",
            )
        return None


def read_checkpoint(path: Path) -> tuple[int, dict[str, np.ndarray]]:
    """Read the weights of a checkpoint, or their moving averages if it has them.

    Args:
        path: Without a suffix.

    Returns:
        The number of updates before it was saved, and arrays by Keras path.

    Raises:
        CheckpointError: It is damaged.
    """
    try:
        reader = tf.train.load_checkpoint(str(path))
        names = reader.get_variable_to_shape_map()
        kind = "averages/" if any(name.startswith("averages/") for name in names) else "weights/"
        # "weights/transformer.Sencoder.S…/.ATTRIBUTES/VARIABLE_VALUE" holds "transformer/encoder/…".
        arrays = {
            name.removeprefix(kind).split("/")[0].replace(".S", "/"): reader.get_tensor(name)
            for name in names
            if name.startswith(kind)
        }
        return int(reader.get_tensor("global_step/.ATTRIBUTES/VARIABLE_VALUE")), arrays
    except _UNREADABLE as error:
        raise CheckpointError(f"checkpoint {path} is damaged: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """One line for users, without the names of TensorFlow's operations."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    line = str(getattr(error, "message", error)).splitlines()[0]
    return re.sub(r"\{\{.*?\}\} ?| \[Op:\w+\]", "", line).rpartition("; ")[2]
