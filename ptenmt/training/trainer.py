"""The training loop: it tells what happens and draws nothing."""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from ptenmt.checkpoints import Checkpoints, TrainingState
from ptenmt.config import Config
from ptenmt.corpus.batches import Batch, BatchPlan
from ptenmt.events import (
    CheckpointSaved,
    EpochDone,
    Event,
    StepDone,
    Stopped,
    TrainingStarted,
    Validated,
    Warned,
)
from ptenmt.model import Transformer, dropout_seed, token_sums
from ptenmt.runs import Run
from ptenmt.training.schedule import Schedule, learning_rate
from ptenmt.training.validation import Validator

SECONDS_BETWEEN_REPORTS = 0.25
_PREFETCHED_BATCHES = 4
_IDS = tf.TensorSpec([None, None], tf.int64)


class Trainer:
    """Trains one run, from its latest checkpoint if it has one.

    Args:
        config: The run's options.
        run: Where checkpoints and history are written.
        model: Built.
        plan: The batches of training pairs.
        validator: Scores the model after each epoch.
    """

    def __init__(
        self, config: Config, run: Run, model: Transformer, plan: BatchPlan, validator: Validator
    ) -> None:
        self._config = config
        self._run = run
        self._plan = plan
        self._validator = validator
        self._steps_per_epoch = len(plan)
        self._model = model
        schedule = Schedule(config.training, config.model.d_model, self._num_steps())
        self._optimizer = keras.optimizers.Adam(
            schedule,
            beta_1=0.9,
            beta_2=0.98,
            epsilon=1e-9,
            name="adam",  # of its variables' paths; by default Keras numbers a process' optimizers
        )
        self._optimizer.build(self._model.trainable_variables)
        self._state = TrainingState(self._model, self._optimizer)
        self._checkpoints = Checkpoints(self._state, run.path, config.checkpoint.keep)
        self._train_step = tf.function(self._step_eagerly, input_signature=[_IDS, _IDS])
        self._stop_requested = threading.Event()

    def stop(self) -> None:
        """Ask ``fit`` to finish its step, save and end; safe to call from a signal handler."""
        self._stop_requested.set()

    def fit(self) -> Iterator[Event]:
        """Train for all remaining epochs.

        Yields:
            Events as they happen. The last one is ``Stopped`` if ``stop`` was called.

        Raises:
            CheckpointError: A checkpoint cannot be written, or none of those there can be read.
        """
        warnings: list[str] = []
        restored = self._checkpoints.restore(warnings.append)
        yield from (Warned(message=message) for message in warnings)
        self._forget_history_after(int(self._state.epoch))
        yield TrainingStarted(
            run=self._run.path,
            parameters=self._model.count_params(),
            epochs=self._config.training.epochs,
            steps_per_epoch=self._steps_per_epoch,
            epoch=int(self._state.epoch),
            step=int(self._state.step),
            resumed_from=restored,
        )
        while int(self._state.epoch) < self._config.training.epochs and not self._stop_requested.is_set():
            yield from self._fit_epoch()
        if int(self._state.epoch) < self._config.training.epochs:
            yield self._save()
            yield Stopped(epoch=int(self._state.epoch), step=int(self._state.step))

    def _fit_epoch(self) -> Iterator[Event]:
        """Train what is left of the current epoch, validate, record, and save if it is time to."""
        yield from self._fit_batches()
        if self._stop_requested.is_set():
            return
        epoch = int(self._state.epoch) + 1
        loss, accuracy = self._means()
        done = EpochDone(
            epoch=epoch,
            loss=loss,
            accuracy=accuracy,
            learning_rate=self._learning_rate(),
            seconds=float(self._state.seconds),
        )
        yield done
        validated = None
        for event in self._validator.validate(epoch):
            yield event
            if isinstance(event, Validated):
                validated = event
            elif self._stop_requested.is_set():
                return
        assert validated is not None
        self._record(done, validated)
        self._state.finish_epoch()
        if epoch % self._config.checkpoint.every_epochs == 0 or epoch == self._config.training.epochs:
            yield self._save()

    def _fit_batches(self) -> Iterator[StepDone]:
        state = self._state
        first, trained_before = int(state.step), float(state.seconds)
        tokens_before = float(state.tokens)
        started = reported = time.perf_counter()
        batches = self._dataset(int(state.epoch), first)
        for step, (source, target) in enumerate(batches, first + 1):
            self._train_step(source, target)
            now = time.perf_counter()
            last = step == self._steps_per_epoch or self._stop_requested.is_set()
            if last or now - reported >= SECONDS_BETWEEN_REPORTS:
                reported = now
                loss, accuracy = self._means()
                state.seconds.assign(trained_before + now - started)
                yield StepDone(
                    epoch=int(state.epoch) + 1,
                    step=step,
                    loss=loss,
                    accuracy=accuracy,
                    learning_rate=self._learning_rate(),
                    tokens_per_second=(float(state.tokens) - tokens_before) / (now - started),
                )
            if self._stop_requested.is_set():
                return

    def _dataset(self, epoch: int, first: int) -> tf.data.Dataset:
        """The rest of an epoch, padded and ready a few batches ahead of the step."""

        def batches() -> Iterator[Batch]:
            return self._plan.batches(epoch, first)

        dataset = tf.data.Dataset.from_generator(batches, output_signature=(_IDS, _IDS))
        return dataset.prefetch(_PREFETCHED_BATCHES)

    def _step_eagerly(self, source: Any, target: Any) -> None:
        """One update on source ids [B, S] and target ids [B, T + 1]; compiled as ``_train_step``."""
        step = self._optimizer.iterations
        with dropout_seed(self._config.seed, step), tf.GradientTape() as tape:
            logits = self._model((source, target[:, :-1]), training=True)
            sums = token_sums(logits, target[:, 1:])
            loss = sums.loss / sums.tokens
        variables = self._model.trainable_variables
        # Keras' Adam would square each occurrence of a word by itself; Adam squares the sum of them all.
        gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
        self._optimizer.apply(gradients, variables)
        self._state.add(sums)

    def _means(self) -> tuple[float, float]:
        tokens = float(self._state.tokens)
        return float(self._state.loss_sum) / tokens, float(self._state.correct) / tokens

    def _learning_rate(self) -> float:
        """The rate of the update that was made last."""
        steps = int(self._state.epoch) * self._steps_per_epoch + int(self._state.step)
        config = self._config
        return float(learning_rate(steps, config.training, config.model.d_model, self._num_steps()))

    def _num_steps(self) -> int:
        return self._steps_per_epoch * self._config.training.epochs

    def _save(self) -> CheckpointSaved:
        path = self._checkpoints.save()
        return CheckpointSaved(epoch=int(self._state.epoch), step=int(self._state.step), path=path)

    def _record(self, done: EpochDone, validated: Validated) -> None:
        epochs: Sequence[dict[str, Any]] = self._run.history()
        line = {
            "epoch": done.epoch,
            "step": done.epoch * self._steps_per_epoch,
            "learning_rate": done.learning_rate,
            "train": {"loss": done.loss, "accuracy": done.accuracy, "seconds": done.seconds},
            "validation": {
                name: getattr(validated, name) for name in ("loss", "accuracy", "bleu", "chrf", "seconds")
            },
        }
        self._run.write_history([*epochs, line])

    def _forget_history_after(self, epoch: int) -> None:
        """Drop the epochs that a killed training went through after its last checkpoint."""
        history = self._run.history()
        kept = [line for line in history if line["epoch"] <= epoch]
        if len(kept) < len(history):
            self._run.write_history(kept)
