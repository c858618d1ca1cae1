"""The training loop: it tells what happens and draws nothing."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict

import tensorflow as tf

from ptenmt.atomic_files import remove_unfinished
from ptenmt.config import Config
from ptenmt.errors import TrainingError
from ptenmt.events import (
    CheckpointSaved,
    CurvePoint,
    EpochDone,
    Event,
    PatienceLost,
    StepDone,
    Stopped,
    TrainingStarted,
    Validated,
    Warned,
)
from ptenmt.history import History
from ptenmt.model import TrainableModel
from ptenmt.runs import Run
from ptenmt.training.checkpoints import Checkpoints
from ptenmt.training.feed import Feed, Plan
from ptenmt.training.judge import Judge, Scorer, total_steps
from ptenmt.training.optimizer import Adam
from ptenmt.training.pace import Pace
from ptenmt.training.state import TrainingState
from ptenmt.training.step import TrainStep
from ptenmt.training.workers import Workers
from ptenmt.weights import tidy_weights, write_weights

SECONDS_BETWEEN_REPORTS = 0.25
MOST_FAULTS_IN_ROW = 10


class Trainer:
    """Trains one run, from its latest checkpoint if it has one.

    Args:
        config: The run's options.
        run: Where checkpoints and history are written.
        model: Built.
        plan: The batches of training pairs.
        validator: Scores the model.
        workers: The processes that train, in whose strategy the model was built; by default this one alone.
    """

    def __init__(
        self,
        config: Config,
        run: Run,
        model: TrainableModel,
        plan: Plan,
        validator: Scorer,
        workers: Workers | None = None,
    ) -> None:
        self._workers = workers or Workers(tf.distribute.get_strategy())
        strategy = self._workers.strategy
        self._config = config
        self._run = run
        self._history = History(run.path)
        self._model = model
        self._feed = Feed(plan, config.batch.accumulate, strategy)
        self._steps_per_epoch = self._feed.steps_per_epoch
        self._total_steps = total_steps(config, self._steps_per_epoch)
        with strategy.scope():
            self._optimizer = Adam(model.trainable_variables, config.optimizer)
        self._state = TrainingState(model, self._optimizer)
        self._train_step = TrainStep(config, self._state, self._total_steps, strategy)
        self._checkpoints = Checkpoints(self._state.trackable(), run, config.checkpoint.keep)
        self._judge = Judge(
            config, run, self._state, validator, self._steps_per_epoch, self._workers.is_chief
        )
        self._pace = Pace()
        self._stop_wanted = threading.Event()  # from this process
        self._stop_requested = self._stop_wanted if self._workers.count == 1 else threading.Event()
        self._saved = self._reported = time.monotonic()
        self._saved_position: tuple[int, ...] | None = None
        self._is_save_overdue = False
        self._faults_told = 0

    def stop(self) -> None:
        """Ask ``fit`` to finish its step, save and end; safe to call from a signal handler."""
        self._stop_wanted.set()
        if self._workers.count == 1:  # several go on together until all know of it
            self._judge.give_up()

    def fit(self) -> Iterator[Event]:
        """Train until all steps are done or the patience is lost.

        Yields:
            Events as they happen. The last one is ``Stopped`` if ``stop`` was called in time.

        Raises:
            CheckpointError: A checkpoint cannot be written, or none of those there can be read.
            TrainingError: The loss is not finite for many steps in a row.
        """
        yield from self._start()
        while not self._is_over() and not self._stop_requested.is_set():
            yield from self._fit_epoch()
        if not self._is_over():
            yield from self._save()
            yield Stopped(epoch=int(self._state.epoch), step=int(self._state.step))

    def _start(self) -> Iterator[Event]:
        warnings: list[str] = []
        restored = self._checkpoints.restore(warnings.append)
        yield from (Warned(message=message) for message in warnings)
        state = self._state
        if self._workers.count > 1:
            self._workers.agree(step=int(state.updates), weights=state.checksum())
        self._faults_told = int(state.faults)
        self._saved_position = None if restored is None else state.position()
        if self._workers.is_chief:
            remove_unfinished(self._run.path)
            self._checkpoints.tidy()
            tidy_weights(self._run.weights_folder, self._config.checkpoint.keep_best)
            self._history.forget_after(int(state.updates), int(state.validated))
        yield TrainingStarted(
            run=self._run.path,
            parameters=self._model.count_params(),
            epochs=self._config.training.epochs,
            steps_per_epoch=self._steps_per_epoch,
            total_steps=self._total_steps,
            epoch=int(state.epoch),
            step=int(state.step),
            is_over=self._is_over(),
            resumed_from=restored,
        )

    def _is_over(self) -> bool:
        return not self._judge.is_due() and (
            int(self._state.updates) >= self._total_steps or self._judge.is_patience_lost()
        )

    def _fit_epoch(self) -> Iterator[Event]:
        """Train what is left of the current epoch, validate, record, and save if it is time to."""
        yield from self._fit_steps()
        is_whole = int(self._state.step) == self._steps_per_epoch
        if is_whole:
            yield self._epoch_done()
        if self._stop_requested.is_set() and not is_whole and not self._is_over():
            return
        yield from self._validate()
        if self._judge.is_due():  # and was interrupted
            return
        if is_whole:
            self._state.finish_epoch()
        if self._is_save_due(is_whole) or self._is_over():
            yield from self._save()
        if self._judge.is_patience_lost():
            yield PatienceLost(best_score=float(self._state.best_score), stale=int(self._state.stale))

    def _fit_steps(self) -> Iterator[Event]:
        """Train to the end of the epoch or of the training, with what falls due on the way."""
        yield from self._validate(within_epoch=True)
        state = self._state
        self._pace.start_epoch(state.of_epoch.tokens)
        steps = self._feed.steps(int(state.epoch), int(state.step))
        started = time.perf_counter()
        while int(state.updates) < self._total_steps and not self._must_pause():
            with self._state.timed("data"):
                parts = next(steps, None)
            if parts is None:
                return
            with self._state.timed("step"):
                self._train_step(parts, self._stop_wanted.is_set())
            now = time.perf_counter()
            self._pace.add_step(now - started)
            started = now  # what reporting takes, such as waiting for the device, is part of the next step
            if self._workers.count > 1:
                yield from self._heed_others()
            yield from self._report()
            paused = time.perf_counter()
            yield from self._validate(within_epoch=True)
            is_last = int(state.step) == self._steps_per_epoch or int(state.updates) >= self._total_steps
            if not is_last and not self._must_pause() and self._is_save_due(is_epoch_end=False):
                yield from self._save()
            started += time.perf_counter() - paused

    def _heed_others(self) -> Iterator[Event]:
        """What all workers must notice after the same step."""
        if self._train_step.stops:
            self._stop_requested.set()
        yield from self._check_faults()

    def _must_pause(self) -> bool:
        return self._stop_requested.is_set() or self._judge.is_patience_lost()

    def _report(self) -> Iterator[Event]:
        """Tell how the training goes, if it is time to: reading the figures waits for the device."""
        state, step, now = self._state, int(self._state.updates), time.monotonic()
        if step % self._config.training.log_every_steps == 0:
            yield self._curve_point()
        is_last = int(state.step) == self._steps_per_epoch or step == self._total_steps
        if now - self._reported < SECONDS_BETWEEN_REPORTS and not is_last and not self._must_pause():
            return
        self._reported = now
        yield from self._check_faults()
        loss, accuracy = state.of_epoch.means()
        yield StepDone(
            epoch=int(state.epoch) + 1,
            step=int(state.step),
            loss=loss,
            accuracy=accuracy,
            learning_rate=self._train_step.learning_rate(),
            tokens_per_second=self._pace.tokens_per_second(state.of_epoch.tokens),
            seconds_left=self._pace.seconds_left(self._total_steps - step, self._judge.validations_left()),
        )

    def _check_faults(self) -> Iterator[Warned]:
        """Tell of steps that were skipped since the last report; too many in a row are an error."""
        state = self._state
        faults, in_row = int(state.faults), int(state.most_faults_in_row)
        if in_row >= MOST_FAULTS_IN_ROW:
            raise TrainingError(
                f"the loss or its gradients are not finite at step {int(state.updates):,} "
                f"(epoch {int(state.epoch) + 1}), for {in_row} steps in a row",
                "the last checkpoint stands; lower the learning rate, lengthen the warm-up, or clip the "
                "gradients (optimizer.clip_norm=1), then train beside it with --run NAME",
            )
        if faults > self._faults_told:
            count = faults - self._faults_told
            what = "a step" if count == 1 else f"{count} steps"
            yield Warned(
                message=f"skipped {what} (now at step {int(state.updates):,}): "
                "the loss or its gradients are not finite"
            )
            self._faults_told = faults

    def _curve_point(self) -> CurvePoint:
        state = self._state
        loss, accuracy = state.of_window.means()
        point = CurvePoint(
            step=int(state.updates),
            tokens=int(state.of_window.tokens),
            loss=loss,
            accuracy=accuracy,
            learning_rate=self._train_step.learning_rate(),
            gradient_norm=float(state.gradient_norm),
        )
        state.of_window.reset()
        if self._workers.is_chief:
            self._history.add(asdict(point) | state.costs())
        return point

    def _validate(self, within_epoch: bool = False) -> Iterator[Event]:
        """Score the model, unless it is not the time or a stop is requested before the scores are there.

        Args:
            within_epoch: Leave what is due at an epoch's end to the epoch's end.
        """
        if self._stop_requested.is_set() or not self._judge.is_due(within_epoch):
            return
        with closing(self._judge.validate(self._train_step.learning_rate())) as validation:
            started, until_first_sign = time.perf_counter(), None
            for event in validation:
                if until_first_sign is None:
                    until_first_sign = time.perf_counter() - started
                yield event
                if isinstance(event, Validated):
                    self._pace.add_validation(event.seconds, until_first_sign)
                elif any(self._workers.gather(self._stop_wanted.is_set())):
                    self._stop_requested.set()
                    return

    def _epoch_done(self) -> EpochDone:
        loss, accuracy = self._state.of_epoch.means()
        return EpochDone(
            epoch=int(self._state.epoch) + 1,
            loss=loss,
            accuracy=accuracy,
            learning_rate=self._train_step.learning_rate(),
        )

    def _is_save_due(self, is_epoch_end: bool) -> bool:
        """Whether to save now; weights of which no finite loss came since wait, lest they oust good ones."""
        options, state = self._config.checkpoint, self._state
        minutes = (time.monotonic() - self._saved) / 60
        self._is_save_overdue = (
            self._is_save_overdue
            or (is_epoch_end and int(state.epoch) % options.every_epochs == 0)
            or (options.every_steps is not None and int(state.updates) % options.every_steps == 0)
            or (options.every_minutes is not None and minutes >= options.every_minutes)
        )
        return self._is_save_overdue and int(state.skipped_in_row) == 0

    def _save(self) -> Iterator[CheckpointSaved]:
        self._is_save_overdue = False
        position = self._state.position()
        if not self._workers.is_chief or position == self._saved_position:
            return
        with self._state.timed("saving"):
            path = self._checkpoints.save()
            write_weights(
                self._run.weights_folder / "latest.safetensors",
                self._state.weights(),
                config=self._config.model,
                step=int(self._state.updates),
                metric=self._config.validation.metric,
            )
        self._saved, self._saved_position = time.monotonic(), position
        yield CheckpointSaved(epoch=int(self._state.epoch), step=int(self._state.step), path=path)
