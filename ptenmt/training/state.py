"""Training state: everything that the next step depends on, and its checkpoints."""

import logging
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.errors import CheckpointError
from ptenmt.model.loss import TokenSums
from ptenmt.runs import Run
from ptenmt.training.optimizer import Adam

if sys.platform != "win32":
    import resource

COUNTERS = (
    "epoch",
    "step_in_epoch",
    "global_step",
    "validated",
    "best_score",
    "best_loss",
    "stale",
    "skipped",
    "skipped_in_row",
    "most_nonfinite_in_row",
    "gradient_norm",
)
"""The single variables of a checkpoint, attributes of ``TrainingState``: the format of every run's state."""

# What TensorFlow and its Python side raise for files that are truncated, damaged or missing.
_UNREADABLE = (tf.errors.OpError, IndexError, ValueError)


class RunningSums:
    """Sums of loss, correct predictions and tokens over batches."""

    def __init__(self) -> None:
        self._sums = TokenSums(*(_number(0.0) for _ in TokenSums._fields))

    def add(self, sums: TokenSums) -> None:
        """Add the sums of a step; part of the compiled step."""
        for mine, new in zip(self._sums, sums, strict=True):
            mine.assign_add(tf.cast(new, mine.dtype))

    def reset(self) -> None:
        """Reset to zero."""
        for mine in self._sums:
            mine.assign(0)

    @property
    def tokens(self) -> float:
        """Real labels so far."""
        return float(self._sums.tokens)

    def means(self) -> tuple[float, float]:
        """Mean loss and accuracy over all real labels so far; NaN without any."""
        tokens = self.tokens or float("nan")
        return float(self._sums.loss) / tokens, float(self._sums.correct) / tokens

    @property
    def variables(self) -> dict[str, Any]:
        """For the checkpoint."""
        return self._sums._asdict()


class TrainingState:
    """All variables of a training: model, optimizer, position in the data, running sums, best score."""

    def __init__(self, model: Any, optimizer: Adam) -> None:
        self.model = model
        self.optimizer = optimizer
        self.epoch = _number(0)
        """Complete epochs, validation included."""
        self.step_in_epoch = _number(0)
        """Complete steps of the current epoch."""
        self.global_step = _number(0)
        """Steps so far, skipped ones included; dropout and the learning rate are functions of it."""
        self.validated = _number(0)
        """``global_step`` of the last validation."""
        self.best_score = _number(float("nan"))
        self.best_loss = _number(float("nan"))
        """Of the same validation; breaks ties."""
        self.stale = _number(0)
        """Validations since the best one."""
        self.skipped = _number(0)
        """Updates skipped because the loss or the gradients were not finite."""
        self.skipped_in_row = _number(0)
        self.most_nonfinite_in_row = _number(0)
        """Since the training was started or resumed."""
        self.gradient_norm = _number(0.0)
        """Of the last update."""
        self.of_epoch = RunningSums()
        self.since_curve_point = RunningSums()
        """Sums since the last point of the training curves."""
        self.seconds = {kind: _number(0.0) for kind in ("data", "step", "validation", "saving")}
        """Time spent by kind of work, over the whole run."""

    def count_update(self, sums: TokenSums, norm: Any) -> None:
        """Count an update; part of the compiled step."""
        self.of_epoch.add(sums)
        self.since_curve_point.add(sums)
        self.gradient_norm.assign(tf.cast(norm, tf.float64))
        self.skipped_in_row.assign(0)

    def count_skipped(self) -> None:
        """Count a skipped update; part of the compiled step."""
        self.skipped.assign_add(1)
        self.skipped_in_row.assign_add(1)
        self.most_nonfinite_in_row.assign(tf.maximum(self.most_nonfinite_in_row, self.skipped_in_row))

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """Add the elapsed time to ``seconds[kind]``."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[kind].assign_add(time.perf_counter() - started)

    def costs(self) -> dict[str, Any]:
        """Time by kind of work, this process's peak memory, and skipped steps, for the history."""
        seconds = {kind: float(value) for kind, value in self.seconds.items()}
        return {"seconds": seconds, "peak_memory": peak_memory(), "skipped_steps": int(self.skipped)}

    def position(self) -> tuple[int, ...]:
        """Epoch, global step, and step of the last validation: it changes if there is something to save."""
        return int(self.epoch), int(self.global_step), int(self.validated)

    def weights(self) -> dict[str, np.ndarray]:
        """The model's weights, or their EMA if the optimizer keeps one, by Keras path."""
        weights = {weight.path: weight.value for weight in self.model.trainable_variables}
        return {path: value.numpy() for path, value in (self.optimizer.averages or weights).items()}

    def trackable(self) -> tf.train.Checkpoint:
        """All of it, variable by variable; a checkpoint must have each of these keys to be restored.

        Tracking the model as an object would silently omit the blocks: TensorFlow does not look into
        lists of Keras layers.
        """
        return tf.train.Checkpoint(
            weights={weight.path: weight.value for weight in self.model.trainable_variables},
            averages=self.optimizer.averages,
            optimizer=self.optimizer.variables,
            of_epoch=self.of_epoch.variables,
            since_curve_point=self.since_curve_point.variables,
            seconds=self.seconds,
            **{name: getattr(self, name) for name in COUNTERS},
        )


def _number(value: float) -> tf.Variable:
    kind = tf.int64 if isinstance(value, int) else tf.float64
    return tf.Variable(value, dtype=kind, trainable=False)


def peak_memory() -> int | None:
    """Peak resident memory of this process in bytes; None on Windows, which does not report it."""
    if sys.platform == "win32":
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


class Checkpoints:
    """Saves and restores the state of one run with ``tf.train.CheckpointManager``, which keeps ``keep``."""

    def __init__(self, state: tf.train.Checkpoint, run: Run, keep: int) -> None:
        self._run = run
        self._state = state
        self._keep = keep
        try:
            self._manager = tf.train.CheckpointManager(state, str(run.state_folder), max_to_keep=keep)
        except ValueError:  # the file "checkpoint", which only lists what may be deleted, is damaged
            (run.state_folder / "checkpoint").unlink()
            self._manager = tf.train.CheckpointManager(state, str(run.state_folder), max_to_keep=keep)

    def save(self) -> Path:
        """Write a checkpoint and return its path, without a suffix; those before it stay valid.

        Raises CheckpointError if the disk is full, or the folder cannot be written.
        """
        try:
            self._run.state_folder.mkdir(exist_ok=True)
            saved = Path(self._manager.save())
            # Old ones that the manager does not list, because their process was killed.
            names = [path.name for path in self._run.checkpoints()]
            for name in names[names.index(saved.name) + self._keep :]:
                for file in sorted(self._run.state_folder.glob(f"{name}.*")):  # the data, then the index
                    file.unlink(missing_ok=True)
            return saved
        except (tf.errors.OpError, OSError) as error:
            self.tidy()
            raise CheckpointError(
                f"cannot save a checkpoint in {self._run.state_folder}: {_reason(error)}",
                "make room and run the command again; what was saved before is unharmed",
            ) from error

    def tidy(self) -> None:
        """Remove the temporary files of a save that failed or was killed."""
        for folder in self._run.state_folder.glob("*_temp"):  # where TensorFlow writes before it renames
            shutil.rmtree(folder, ignore_errors=True)

    def restore(self, on_warning: Callable[[str], None]) -> Path | None:
        """Restore the newest checkpoint that can be read, and return its path; None if there is none yet.

        ``on_warning`` is called with a message for each newer checkpoint that is damaged. Raises
        CheckpointError if there are checkpoints, but none can be read.
        """
        paths = self._run.checkpoints()
        for path in paths:
            try:
                self._state.restore(str(path)).expect_partial().assert_existing_objects_matched()
                return path
            except AssertionError as error:
                raise CheckpointError(
                    f"checkpoint {path} lacks a part of the training state",
                    "resume with the version of ptenmt that wrote it, or train again with --fresh",
                ) from error
            except _UNREADABLE as error:
                tf.get_logger().addFilter(_is_news)
                on_warning(f"checkpoint {path} is damaged and will be ignored: {_reason(error)}")
        if paths:
            raise CheckpointError(
                f"none of the {len(paths)} checkpoints in {self._run.state_folder} can be read",
                "restore them from a copy, or train again with --fresh",
            )
        return None


def _is_news(record: logging.LogRecord) -> bool:
    """Whether TensorFlow says other things than which values of a damaged checkpoint were not restored."""
    return "restored" not in record.getMessage()


def read_checkpoint(path: Path) -> tuple[int, dict[str, np.ndarray]]:
    """Read the global step of a checkpoint, and its weights, or their EMA if it has one, by Keras path.

    Raises CheckpointError if it is damaged.
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
