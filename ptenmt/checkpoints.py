"""Saving and restoring everything that the next training step depends on."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from ptenmt.errors import CheckpointError
from ptenmt.model import TokenSums
from ptenmt.runs import Run

_UNREADABLE = (tf.errors.OpError, IndexError, ValueError, AssertionError)  # IndexError: data cut short


class TrainingState:
    """A training's variables: model, optimizer, position in the data, running sums.

    Args:
        model: Built.
        optimizer: Built on the model's variables.
    """

    def __init__(self, model: Any, optimizer: Any) -> None:
        self.model = model
        self.optimizer = optimizer
        self.epoch = tf.Variable(0, dtype=tf.int64, trainable=False)
        """Epochs complete, validation included."""
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        """Batches of the current epoch that are done."""
        self.loss_sum = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.correct = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.tokens = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self.seconds = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        """Time spent on the current epoch's batches, over all its processes."""

    def add(self, sums: TokenSums) -> None:
        """Count a batch that was just learnt; part of the compiled train step."""
        self.step.assign_add(1)
        self.loss_sum.assign_add(tf.cast(sums.loss, tf.float64))
        self.correct.assign_add(tf.cast(sums.correct, tf.float64))
        self.tokens.assign_add(tf.cast(sums.tokens, tf.float64))

    def finish_epoch(self) -> None:
        """Go on to the next epoch, with every sum at zero."""
        self.epoch.assign_add(1)
        for variable in (self.step, self.loss_sum, self.correct, self.tokens, self.seconds):
            variable.assign(0)

    def trackable(self) -> tf.train.Checkpoint:
        """All of it, variable by variable.

        Tracking the model as an object would silently leave out the blocks: TensorFlow does not look
        into the lists of Keras layers. Dropout has no state: its masks follow from seed and step.
        """
        numbers = ("epoch", "step", "loss_sum", "correct", "tokens", "seconds")
        return tf.train.Checkpoint(
            weights=_by_path(self.model.trainable_variables),
            optimizer=_by_path(self.optimizer.variables),
            **{name: getattr(self, name) for name in numbers},
        )


class Checkpoints:
    """The checkpoints of one run directory.

    Args:
        state: What is saved and restored.
        folder: The run directory.
        keep: How many checkpoints stay.
    """

    def __init__(self, state: TrainingState, folder: Path, keep: int) -> None:
        self._state = state
        self._folder = folder
        self._checkpoint = state.trackable()
        for leftover in folder.glob("ckpt-*_temp"):  # of a save that was killed
            _remove(leftover)
        self._manager = _open_manager(self._checkpoint, folder, keep)

    def save(self) -> Path:
        """Write a checkpoint; the ones before it stay valid whatever happens.

        Raises:
            CheckpointError: The disk is full or the folder cannot be written.
        """
        before = set(self._folder.glob("ckpt-*"))
        try:
            return Path(self._manager.save())
        except (tf.errors.OpError, OSError) as error:
            for leftover in set(self._folder.glob("ckpt-*")) - before:
                _remove(leftover)
            reason = _first_line(error)
            raise CheckpointError(
                f"cannot save a checkpoint in {self._folder}: {reason}",
                "the checkpoints before it are unharmed: make room, then train again to resume",
            ) from error

    def restore(self, on_damaged: Callable[[str], None]) -> Path | None:
        """Restore the newest checkpoint that can be read.

        Args:
            on_damaged: Told, in a sentence, of each newer checkpoint that cannot.

        Returns:
            The checkpoint, or None if the run has none yet.

        Raises:
            CheckpointError: There are checkpoints, but none can be read.
        """
        paths = Run(self._folder).checkpoints()
        for path in paths:
            try:
                self._checkpoint.restore(str(path)).assert_existing_objects_matched()
            except _UNREADABLE as error:
                on_damaged(f"checkpoint {path} is damaged and passed over: {_first_line(error)}")
                continue
            return path
        if paths:
            raise CheckpointError(f"none of the {len(paths)} checkpoints in {self._folder} can be read")
        return None


def restore_weights(model: Any, folder: Path, on_damaged: Callable[[str], None]) -> Path:
    """Restore a model's weights alone, from the newest checkpoint that can be read.

    Args:
        model: Built.
        folder: The run directory.
        on_damaged: Told, in a sentence, of each newer checkpoint that cannot.

    Raises:
        CheckpointError: The run has no checkpoint that can be read.
    """
    paths = Run(folder).checkpoints()
    for path in paths:
        try:
            status = tf.train.Checkpoint(weights=_by_path(model.trainable_variables)).restore(str(path))
            status.assert_existing_objects_matched()
            status.expect_partial()  # the optimizer's slots stay behind
        except _UNREADABLE as error:
            on_damaged(f"checkpoint {path} is damaged and passed over: {_first_line(error)}")
            continue
        return path
    if paths:
        raise CheckpointError(f"none of the {len(paths)} checkpoints in {folder} can be read")
    raise CheckpointError(
        f"no checkpoint in {folder}", f"train it first: ptenmt train --config CONFIG --run {folder}"
    )


def _open_manager(checkpoint: tf.train.Checkpoint, folder: Path, keep: int) -> Any:
    try:
        return tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=keep)
    except ValueError:  # a crash left the file ``checkpoint`` empty; it only lists what is there anyway
        (folder / "checkpoint").unlink()
        return tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=keep)


def _by_path(variables: Sequence[Any]) -> dict[str, Any]:
    """TensorFlow's variables by their Keras paths, such as ``transformer/encoder/block1/…/kernel``."""
    named = {variable.path: variable.value for variable in variables}
    assert len(named) == len(variables), "two variables share a path"
    return named


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "message", error)).splitlines()[0]
