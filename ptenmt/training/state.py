"""Everything that the next step of a training depends on."""

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.model import TokenSums
from ptenmt.training.memory import peak_memory
from ptenmt.training.optimizer import Adam

FIRST_LOSS_SCALE = 2.0**15


class RunningSums:
    """Sums over the batches since some point of the training."""

    def __init__(self) -> None:
        self._sums = TokenSums(*(_number(0.0) for _ in TokenSums._fields))

    def add(self, sums: TokenSums) -> None:
        """Count batches that were just learnt; part of the compiled step."""
        for mine, new in zip(self._sums, sums, strict=True):
            mine.assign_add(tf.cast(new, mine.dtype))

    def reset(self) -> None:
        """Start again from zero."""
        for mine in self._sums:
            mine.assign(0)

    @property
    def tokens(self) -> float:
        """Real labels so far."""
        return float(self._sums.tokens)

    def means(self) -> tuple[float, float]:
        """Loss and accuracy over all real labels so far; not a number if there are none."""
        tokens = self.tokens or float("nan")
        return float(self._sums.loss) / tokens, float(self._sums.correct) / tokens

    @property
    def variables(self) -> dict[str, Any]:
        """What a checkpoint is to hold."""
        return self._sums._asdict()


class TrainingState:
    """A training's variables: model, optimizer, position in the data, running sums, best score.

    Args:
        model: Built.
        optimizer: Of the model's weights.
    """

    def __init__(self, model: Any, optimizer: Adam) -> None:
        self.model = model
        self.optimizer = optimizer
        self.epoch = _number(0)
        """Epochs complete, validation included."""
        self.step_in_epoch = _number(0)
        """Steps of the current epoch that are done."""
        self.global_step = _number(0)
        """Steps done in all; dropout and the learning rate follow from it."""
        self.validated = _number(0)
        """The step, in all, after which the last validation was."""
        self.best_score = _number(float("nan"))
        self.best_loss = _number(float("nan"))
        """Of the same validation, which breaks ties."""
        self.stale = _number(0)
        """Validations since the best one."""
        self.skipped = _number(0)
        """Updates that were not made because the loss or the gradients were not finite."""
        self.skipped_in_row = _number(0)
        self.faults = _number(0)
        """Those of them that a smaller scale of the loss would not have mended."""
        self.faults_in_row = _number(0)
        self.most_faults_in_row = _number(0)
        self.gradient_norm = _number(0.0)
        """Of the last update."""
        self.loss_scale = _number(FIRST_LOSS_SCALE)
        self.scaled_steps = _number(0)
        """Steps since the loss scale changed."""
        self.of_epoch = RunningSums()
        self.since_curve_point = RunningSums()
        """Since the last point of the training curves."""
        self.seconds = {kind: _number(0.0) for kind in ("data", "step", "validation", "saving")}
        """Where the time went, over all of the run's processes."""

    def learnt(self, sums: TokenSums, norm: Any) -> None:
        """Count an update; part of the compiled step."""
        self.of_epoch.add(sums)
        self.since_curve_point.add(sums)
        self.gradient_norm.assign(tf.cast(norm, tf.float64))
        self.skipped_in_row.assign(0)
        self.faults_in_row.assign(0)

    def skip(self, is_fault: Any = True) -> None:
        """Count an update that was not made; part of the compiled step.

        Args:
            is_fault: False where float16 may have overflowed, which a smaller scale of the loss mends.
        """
        self.skipped.assign_add(1)
        self.skipped_in_row.assign_add(1)
        self.faults.assign_add(tf.cast(is_fault, tf.int64))
        self.faults_in_row.assign_add(tf.cast(is_fault, tf.int64))
        self.most_faults_in_row.assign(tf.maximum(self.most_faults_in_row, self.faults_in_row))

    def adapt_loss_scale(self, is_finite: Any, patience: int) -> None:
        """Halve the scale of the loss where float16 overflowed, double it after so many good steps."""
        steps = tf.where(is_finite, self.scaled_steps + 1, tf.zeros_like(self.scaled_steps))
        is_time = steps >= patience
        grown = tf.where(is_time, self.loss_scale * 2, self.loss_scale)
        self.loss_scale.assign(tf.where(is_finite, grown, tf.maximum(self.loss_scale / 2, 1.0)))
        self.scaled_steps.assign(tf.where(is_time, tf.zeros_like(steps), steps))

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """Count the time as the run's time for this kind of work."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[kind].assign_add(time.perf_counter() - started)

    def costs(self) -> dict[str, Any]:
        """What the training has cost so far: its time by kind of work, and this process's peak memory."""
        seconds = {kind: float(value) for kind, value in self.seconds.items()}
        return {"seconds": seconds, "peak_memory": peak_memory(), "skipped_steps": int(self.skipped)}

    def position(self) -> tuple[int, ...]:
        """How far the training is: epochs, steps, and the step of the last validation."""
        return int(self.epoch), int(self.global_step), int(self.validated)

    def weights(self) -> dict[str, np.ndarray]:
        """The model's weights, or their moving averages if the optimizer keeps any, by Keras path."""
        weights = {weight.path: weight.value for weight in self.model.trainable_variables}
        return {path: value.numpy() for path, value in (self.optimizer.averages or weights).items()}

    def checksum(self) -> int:
        """Of the weights and their moving averages."""
        checksum = 0
        for weight in (*self.model.trainable_variables, *self.optimizer.averages.values()):
            checksum = zlib.crc32(weight.numpy().tobytes(), checksum)
        return checksum

    def finish_epoch(self) -> None:
        """Go on to the next epoch."""
        self.epoch.assign_add(1)
        self.step_in_epoch.assign(0)
        self.of_epoch.reset()

    def trackable(self) -> tf.train.Checkpoint:
        """All of it, variable by variable.

        Tracking the model as an object would silently leave out the blocks: TensorFlow does not look
        into the lists of Keras layers.
        """
        return tf.train.Checkpoint(
            weights={weight.path: weight.value for weight in self.model.trainable_variables},
            averages=self.optimizer.averages,
            optimizer=self.optimizer.variables,
            of_epoch=self.of_epoch.variables,
            since_curve_point=self.since_curve_point.variables,
            seconds=self.seconds,
            **{name: value for name, value in vars(self).items() if isinstance(value, tf.Variable)},
        )


def _number(value: float) -> tf.Variable:
    kind = tf.int64 if isinstance(value, int) else tf.float64
    return tf.Variable(value, dtype=kind, trainable=False)
