"""Saving and restoring everything that the next training step depends on."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import tensorflow as tf

from ptenmt.errors import CheckpointError
from ptenmt.runs import Model, Run

Choice = Literal["best", "latest"]
"""Which of a run's weights: those that scored best in validation, or those of the newest checkpoint."""

_UNREADABLE = (tf.errors.OpError, IndexError, ValueError, AssertionError)  # IndexError: data cut short


class Checkpoints:
    """The checkpoints of one run directory: everything that the next training step depends on.

    Args:
        state: What is saved and restored, variable by variable.
        folder: The run directory.
        keep: How many checkpoints stay.
    """

    def __init__(self, state: tf.train.Checkpoint, folder: Path, keep: int) -> None:
        self._folder = folder
        self._checkpoint = state
        for leftover in (
            *folder.glob("ckpt-*_temp"),
            *folder.glob("weights-*_temp"),
        ):  # of a save that was killed
            _remove(leftover)
        self._manager = _open_manager(self._checkpoint, folder, keep)

    def save(self) -> Path:
        """Write a checkpoint; the ones before it stay valid whatever happens.

        Raises:
            CheckpointError: The disk is full or the folder cannot be written.
        """
        with _saving(self._folder, "ckpt-*"):
            return Path(self._manager.save())

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


class BestModels:
    """The best models of a training so far, weights alone, which is what translates.

    Args:
        run: Where they are.
        keep: How many stay.
        metric: The score they are chosen by.
    """

    def __init__(self, run: Run, keep: int, metric: str) -> None:
        self._run = run
        self._keep = keep
        self._sign = -1 if metric == "loss" else 1

    def add(self, weights: Mapping[str, Any], step: int, score: float) -> Path | None:
        """Keep a model if it is among the best; the worst of those before gives way to it.

        Args:
            weights: TensorFlow's variables by their Keras paths.
            step: After which the model was scored.
            score: What it scored.

        Returns:
            Where it is, or None if others are better.

        Raises:
            CheckpointError: The disk is full or the folder cannot be written.
        """
        models = [model for model in self._run.best_models() if model.step != step]
        name = f"weights-{step}"
        ranked = sorted([*models, Model(name=name, step=step, score=score)], key=self._rank, reverse=True)
        kept = ranked[: self._keep]
        if all(model.name != name for model in kept):
            return None
        path = save_weights(weights, self._run.path / name)
        self._run.write_best_models(kept)
        names = {model.name for model in kept}
        for file in self._run.path.glob("weights-*"):
            if file.name.split(".")[0] not in names:
                _remove(file)
        return path

    def _rank(self, model: Model) -> tuple[float, int]:
        assert model.score is not None
        return self._sign * model.score, model.step


def save_weights(weights: Mapping[str, Any], path: Path) -> Path:
    """Write a model's weights alone.

    Args:
        weights: TensorFlow's variables by their Keras paths.
        path: Without an ending.

    Raises:
        CheckpointError: The disk is full or the folder cannot be written.
    """
    with _saving(path.parent, f"{path.name}*"):
        tf.train.Checkpoint(weights=dict(weights)).write(str(path))
    return path


def restore_weights(model: Any, run: Run, on_damaged: Callable[[str], None], choice: Choice = "best") -> Path:
    """Restore a model's weights alone; where the training keeps a moving average of them, that.

    Args:
        model: Built.
        run: Where they are.
        on_damaged: Told, in a sentence, of each checkpoint that is passed over because it is damaged.
        choice: Which weights; if none of the best can be read, the latest.

    Raises:
        CheckpointError: The run has no checkpoint that can be read.
    """
    best = [run.path / found.name for found in run.best_models()] if choice == "best" else []
    latest = run.checkpoints()
    for path in (*best, *latest):
        try:
            read_weights(model, path)
        except CheckpointError as error:
            on_damaged(f"{error.message}; it is passed over")
            continue
        return path
    if latest or best:
        raise CheckpointError(f"none of the {len(latest) + len(best)} checkpoints in {run.path} can be read")
    raise CheckpointError(
        f"no checkpoint in {run.path}", f"train it first: ptenmt train --config CONFIG --run {run.path}"
    )


def read_weights(model: Any, path: Path) -> None:
    """Read a model's weights from a checkpoint; where it has a moving average of them, that.

    Args:
        model: Built.
        path: Without an ending.

    Raises:
        CheckpointError: It is damaged.
    """
    try:
        names = tf.train.load_checkpoint(str(path)).get_variable_to_shape_map()
        has_averages = any(name.startswith("averages/") for name in names)
        kind = "averages" if has_averages else "weights"
        status = tf.train.Checkpoint(**{kind: by_path(model.trainable_variables)}).read(str(path))
        status.assert_existing_objects_matched()
        status.expect_partial()  # the optimizer's slots stay behind
    except _UNREADABLE as error:
        raise CheckpointError(f"checkpoint {path} is damaged: {_first_line(error)}") from error


@contextmanager
def _saving(folder: Path, pattern: str) -> Iterator[None]:
    """Leave nothing behind of a save that fails, and say what to do.

    Raises:
        CheckpointError: The disk is full or the folder cannot be written.
    """
    before = set(folder.glob(pattern))
    try:
        yield
    except (tf.errors.OpError, OSError) as error:
        for leftover in set(folder.glob(pattern)) - before:
            _remove(leftover)
        raise CheckpointError(
            f"cannot save a checkpoint in {folder}: {_first_line(error)}",
            "the checkpoints before it are unharmed: make room, then train again to resume",
        ) from error


def _open_manager(checkpoint: tf.train.Checkpoint, folder: Path, keep: int) -> Any:
    try:
        return tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=keep)
    except ValueError:  # a crash left the file ``checkpoint`` empty; it only lists what is there anyway
        (folder / "checkpoint").unlink()
        return tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=keep)


def by_path(variables: Sequence[Any]) -> dict[str, Any]:
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
