"""The training loop. It emits events and renders nothing."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import tensorflow as tf

from ptenmt.atomic_files import remove_unfinished
from ptenmt.config import Config
from ptenmt.config.schedule import num_steps
from ptenmt.data.batches import BatchPlan
from ptenmt.errors import TrainingError
from ptenmt.model.transformer import TrainableModel
from ptenmt.runs import History, Run
from ptenmt.runs.weights import write_weights
from ptenmt.training import events
from ptenmt.training.distributed import Workers
from ptenmt.training.input_pipeline import InputPipeline, MicroBatch, num_epoch_steps
from ptenmt.training.model_selection import ModelSelection, Validator
from ptenmt.training.optimizer import Adam
from ptenmt.training.state import Checkpoints, TrainingState
from ptenmt.training.step import TrainStep

SECONDS_BETWEEN_REPORTS = 0.25
MAX_NONFINITE_IN_ROW = 10


class Trainer:
    """Trains one run, from its latest checkpoint if it has one.

    The model was built under the strategy of the ``workers``, the processes that train; by default this one.
    With ``validates_start`` the initial weights are validated, too, and may remain the best.
    """

    def __init__(
        self,
        config: Config,
        run: Run,
        model: TrainableModel,
        plan: BatchPlan,
        validator: Validator,
        workers: Workers | None = None,
        *,
        validates_start: bool = False,
    ) -> None:
        self._workers = workers or Workers(tf.distribute.get_strategy())
        strategy = self._workers.strategy
        self._config = config
        self._validates_start = validates_start
        self._run = run
        self._history = History(run.path)
        self._model = model
        self._input = InputPipeline(plan, config.batch.accumulate, strategy)
        self._pairs_by_file = plan.mixture.pairs
        self._steps_per_epoch = num_epoch_steps(plan, config.batch.accumulate)
        self._total_steps = num_steps(config.training, self._steps_per_epoch)
        with strategy.scope():
            self._optimizer = Adam(model.trainable_variables, config.optimizer)
        self._state = TrainingState(model, self._optimizer)
        self._train_step = TrainStep(config, self._state, self._total_steps, strategy)
        self._checkpoints = Checkpoints(self._state.trackable(), run, config.checkpoint.keep)
        self._selection = ModelSelection(
            config, run, self._state, validator, self._steps_per_epoch, self._workers
        )
        self._throughput = Throughput()
        self._epoch_batches: Iterator[list[MicroBatch]] = iter(())
        self._stop_wanted = threading.Event()  # by this process; _stop_requested: all workers agreed
        self._stop_requested = self._stop_wanted if self._workers.count == 1 else threading.Event()
        self._saved_at = self._reported_at = time.monotonic()
        self._saved_position: tuple[int, ...] | None = None
        self._is_save_overdue = False
        self._num_reported_skipped = 0

    def stop(self) -> None:
        """Ask ``fit`` to finish its step, save and end; safe to call from a signal handler."""
        self._stop_wanted.set()

    def fit(self) -> Iterator[events.Event]:
        """Train until all steps are done or early stopping (``validation.patience``).

        Yields:
            Events as they happen. The last one is ``Stopped`` if ``stop`` was called in time.

        Raises:
            CheckpointError: A checkpoint cannot be written, or none of those there can be read.
            TrainingError: The loss is not finite for many steps in a row.
        """
        yield from self._start()
        if self._is_over():
            return
        is_start = self._validates_start and int(self._state.global_step) == 0
        yield from self._validate(is_due=is_start and self._selection.is_enabled)
        yield from self._validate()  # one that an earlier stop interrupted
        self._finish_epoch()
        while not (self._is_over() or self._may_stop()):
            with self._state.timed("data"):
                batches = next(self._epoch_batches)
            self._update(batches)
            yield from self._report()
            yield from self._validate()
            self._finish_epoch()
            if self._is_save_due():
                yield from self._save()
        yield from self._save_at_end()
        if self._selection.is_patience_exhausted():
            state = self._state
            yield events.PatienceExhausted(best_score=float(state.best_score), num_stale=int(state.stale))
        elif not self._is_over():
            yield events.Stopped(epoch=int(self._state.epoch), step_in_epoch=int(self._state.step_in_epoch))

    def _start(self) -> Iterator[events.Event]:
        """Restore the latest checkpoint and remove what was written after it."""
        warnings: list[str] = []
        restored = self._checkpoints.restore(warnings.append)
        yield from (events.Warned(message=message) for message in warnings)
        state = self._state
        self._num_reported_skipped = int(state.skipped)
        state.most_nonfinite_in_row.assign(int(state.skipped_in_row))
        self._saved_position = None if restored is None else state.position()
        self._workers.agree(step=int(state.global_step))
        if self._workers.is_chief:
            remove_unfinished(self._run.path)
            self._checkpoints.tidy()
            remove_unfinished(self._run.weights_folder)
            self._history.forget_after(int(state.global_step), int(state.validated))
        yield events.TrainingStarted(
            run=self._run.path,
            parameters=self._model.count_params(),
            epochs=self._config.training.epochs,
            pairs_by_file=self._pairs_by_file,
            steps_per_epoch=self._steps_per_epoch,
            total_steps=self._total_steps,
            epoch=int(state.epoch),
            step_in_epoch=int(state.step_in_epoch),
            is_over=self._is_over(),
            resumed_from=restored,
        )
        self._throughput.start(state.of_epoch.tokens)
        self._epoch_batches = self._input.steps(int(state.epoch), int(state.step_in_epoch))

    def _is_over(self) -> bool:
        """Whether all steps are done, or early stopping, and no validation is due."""
        return not self._selection.is_due() and (
            int(self._state.global_step) >= self._total_steps or self._selection.is_patience_exhausted()
        )

    def _is_epoch_end(self) -> bool:
        return int(self._state.step_in_epoch) == self._steps_per_epoch

    def _update(self, batches: list[MicroBatch]) -> None:
        with self._state.timed("step"):
            self._train_step(batches)
        self._throughput.add_step()
        if self._workers.any(self._stop_wanted.is_set()):
            self._stop_requested.set()

    def _report(self) -> Iterator[events.Event]:
        """Emit the figures of the epoch so far, but not every step: reading them waits for the device."""
        state, step, now = self._state, int(self._state.global_step), time.monotonic()
        if self._workers.count > 1:  # all workers must raise after the same step
            yield from self._check_nonfinite()
        if step % self._config.training.log_every_steps == 0:
            self._record_curve()
        is_last = self._is_epoch_end() or step == self._total_steps or self._stop_requested.is_set()
        if now - self._reported_at < SECONDS_BETWEEN_REPORTS and not is_last:
            return
        self._reported_at = now
        yield from self._check_nonfinite()
        loss, accuracy = state.of_epoch.means()
        yield events.StepDone(
            epoch=int(state.epoch) + 1,
            step_in_epoch=int(state.step_in_epoch),
            loss=loss,
            accuracy=accuracy,
            learning_rate=self._train_step.learning_rate(),
            tokens_per_second=self._throughput.tokens_per_second(state.of_epoch.tokens),
            seconds_left=self._throughput.seconds_left(self._total_steps - step),
        )

    def _check_nonfinite(self) -> Iterator[events.Warned]:
        """Warn of steps that were skipped since the last report; too many in a row are an error."""
        state = self._state
        num_skipped, in_row = int(state.skipped), int(state.most_nonfinite_in_row)
        if in_row >= MAX_NONFINITE_IN_ROW:
            raise TrainingError(
                f"the loss or its gradients are not finite at step {int(state.global_step):,} "
                f"(epoch {int(state.epoch) + 1}), for {in_row} steps in a row",
                "the last checkpoint is intact; lower the learning rate, lengthen the warm-up, or clip the "
                "gradients (optimizer.clip_norm=1), then train beside it with --run NAME",
            )
        if new := num_skipped - self._num_reported_skipped:
            what = "a step" if new == 1 else f"{new} steps"
            yield events.Warned(
                message=f"skipped {what} (now at step {int(state.global_step):,}): "
                "the loss or its gradients are not finite"
            )
            self._num_reported_skipped = num_skipped

    def _record_curve(self) -> None:
        """Add a point of the training curves: means over the steps since the previous one."""
        state, sums = self._state, self._state.since_curve_point
        loss, accuracy = sums.means()
        line: dict[str, Any] = {
            "step": int(state.global_step),
            "tokens": int(sums.tokens),
            "loss": loss,
            "accuracy": accuracy,
            "learning_rate": self._train_step.learning_rate(),
            "gradient_norm": float(state.gradient_norm),  # of the last step, before clipping
        }
        sums.reset()
        if self._workers.is_chief:
            self._history.add(line | state.costs())

    def _validate(self, *, is_due: bool = False) -> Iterator[events.Event]:
        """Score the model if that is due; a stop interrupts it, unless there are several workers."""
        if (is_due or self._selection.is_due()) and not self._stop_requested.is_set():
            with closing(self._selection.validate(self._train_step.learning_rate())) as validation:
                for event in validation:
                    yield event
                    if isinstance(event, events.ValidationStep) and self._stop_requested.is_set():
                        return
            self._throughput.start(self._state.of_epoch.tokens)

    def _finish_epoch(self) -> None:
        """Start the next epoch if this one has ended and its validation is done."""
        if self._is_epoch_end() and not self._selection.is_due():
            self._state.epoch.assign_add(1)
            self._state.step_in_epoch.assign(0)
            self._state.of_epoch.reset()
            self._throughput.start(0.0)
            self._epoch_batches = self._input.steps(int(self._state.epoch), 0)

    def _is_save_due(self) -> bool:
        """Whether to save now. Never right after a non-finite step: it could replace a good checkpoint."""
        options, state = self._config.checkpoint, self._state
        is_new_epoch = int(state.step_in_epoch) == 0
        minutes = (time.monotonic() - self._saved_at) / 60
        self._is_save_overdue = (
            self._is_save_overdue
            or (is_new_epoch and int(state.epoch) % options.every_epochs == 0)
            or (options.every_steps is not None and int(state.global_step) % options.every_steps == 0)
            or (options.every_minutes is not None and minutes >= options.every_minutes)
        )
        return self._is_save_overdue and int(state.skipped_in_row) == 0

    def _may_stop(self) -> bool:
        """Whether a stop was requested, and the state can be saved: not right after a non-finite step."""
        if not self._stop_requested.is_set():
            return False
        return int(self._state.skipped_in_row) == 0 or self._is_epoch_end()

    def _save_at_end(self) -> Iterator[events.Event]:
        """Save the last state, unless its step was not finite: it could replace a good checkpoint."""
        if int(self._state.skipped_in_row) == 0:
            yield from self._save()
        elif self._state.position() != self._saved_position:
            yield events.Warned(
                message="the last step was not finite, so the state after it is not saved: "
                "the last checkpoint is kept"
            )

    def _save(self) -> Iterator[events.CheckpointSaved]:
        """Save the state and the latest weights, unless this position is saved already."""
        self._is_save_overdue = False
        position = self._state.position()
        if not self._workers.is_chief or position == self._saved_position:
            return
        with self._state.timed("saving"):
            path = self._checkpoints.save()
            latest = self._run.weights_folder / "latest.safetensors"
            write_weights(latest, self._state.weights(), self._config, int(self._state.global_step))
        self._saved_at, self._saved_position = time.monotonic(), position
        self._throughput.start(self._state.of_epoch.tokens)
        epoch, step = int(self._state.epoch), int(self._state.step_in_epoch)
        yield events.CheckpointSaved(epoch=epoch, step_in_epoch=step, path=path)


class Throughput:
    """Speed of this process, and the time that is left."""

    def __init__(self) -> None:
        self._num_steps = 0
        self._first_step_done = 0.0
        self.start(0.0)

    def start(self, tokens: float) -> None:
        """Measure from here: the start of an epoch, a validation or a save; ``tokens`` are processed."""
        self._started, self._tokens_before = time.perf_counter(), tokens

    def add_step(self) -> None:
        """Count a step. The first one waits for the compilation and says nothing about the others."""
        self._num_steps += 1
        if self._num_steps == 1:
            self._first_step_done = time.perf_counter()

    def tokens_per_second(self, tokens: float) -> float:
        """Mean tokens per second since the start; ``tokens`` processed so far."""
        return (tokens - self._tokens_before) / (time.perf_counter() - self._started)

    def seconds_left(self, num_steps: int) -> float | None:
        """Estimated seconds for ``num_steps`` more steps, validations included; None before the second."""
        if self._num_steps < 2:
            return None
        return (time.perf_counter() - self._first_step_done) / (self._num_steps - 1) * num_steps
