"""Model selection: validation, the best weights, early stopping."""

import math
from collections.abc import Generator, Iterator
from typing import Protocol

from ptenmt.config import Config
from ptenmt.config.schedule import num_steps
from ptenmt.runs import History, Run, rank
from ptenmt.runs.weights import keep_best
from ptenmt.training.distributed import Workers
from ptenmt.training.events import Scores, Validated, ValidationStep
from ptenmt.training.optimizer import averaged
from ptenmt.training.state import TrainingState


class Validator(Protocol):
    """Scores the model on the validation data."""

    def validate(self) -> Iterator[ValidationStep | Scores]:
        """Yield the progress, and the scores at the end."""
        ...


class ModelSelection:
    """Validates when it is due, records the scores and keeps the best weights in the run.

    Of several workers, the chief scores and writes, and the others wait for its scores.
    """

    def __init__(
        self,
        config: Config,
        run: Run,
        state: TrainingState,
        validator: Validator,
        steps_per_epoch: int,
        workers: Workers,
    ) -> None:
        self._config = config
        self._options = config.validation
        self._state = state
        self._validator = validator
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = num_steps(config.training, steps_per_epoch)
        self._workers = workers
        self._run = run
        self._history = History(run.path)

    @property
    def is_enabled(self) -> bool:
        """Whether there are validations at all."""
        return (self._options.every_steps or self._options.every_epochs) is not None

    def is_due(self) -> bool:
        """Whether a validation is due."""
        options, state = self._options, self._state
        step, epoch = int(state.global_step), int(state.epoch)
        is_epoch_end = int(state.step_in_epoch) == self._steps_per_epoch
        if int(state.step_in_epoch) == 0 or step == int(state.validated):
            return False
        by_steps, by_epochs = options.every_steps, options.every_epochs
        return (
            (by_steps is not None and step % by_steps == 0)
            or (by_epochs is not None and is_epoch_end and (epoch + 1) % by_epochs == 0)
            or (step >= self._total_steps and (by_steps or by_epochs) is not None)
        )

    def is_patience_exhausted(self) -> bool:
        """Early stopping: whether no score improved for ``validation.patience`` validations in a row."""
        patience = self._options.patience
        return patience is not None and int(self._state.stale) >= patience

    def validate(self, rate: float) -> Generator[ValidationStep | Validated, None, None]:
        """Score the model, with the EMA of its weights if the optimizer keeps one.

        Yields the progress, and the scores at the end; closing the generator before that changes nothing.
        ``rate``, the learning rate of the last update, is for the record.
        """
        with self._state.timed("validation"), averaged(self._state.model, self._state.optimizer):
            scores = None
            for event in self._validator.validate() if self._workers.is_chief else ():
                if isinstance(event, Scores):
                    scores = event
                else:
                    yield event
            figures = self._workers.gather(scores and scores.figures())[0]
            scores = scores or Scores(**figures, samples=[])
            validated = self._validated(scores, rate)
        if self._workers.is_chief:
            self._record(validated)
        yield validated

    def _validated(self, scores: Scores, rate: float) -> Validated:
        """Count a validation, and keep the weights if they are among the best."""
        state, options = self._state, self._options
        metric, score = options.metric, scores.figures()[options.metric]
        best = rank(metric, float(state.best_score), float(state.best_loss))
        is_best = not math.isnan(score) and rank(metric, score, scores.loss) > best
        if is_best:
            state.best_score.assign(score)
            state.best_loss.assign(scores.loss)
        state.stale.assign(0 if is_best else state.stale + 1)
        if self._workers.is_chief:
            folder, step = self._run.weights_folder, int(state.global_step)
            keep_best(folder, state.weights(), self._config, step, score, scores.loss)
        state.validated.assign(state.global_step)
        loss, accuracy = state.of_epoch.means()
        return Validated(
            epoch=int(state.epoch) + 1,
            global_step=int(state.global_step),
            train_loss=loss,
            train_accuracy=accuracy,
            learning_rate=rate,
            scores=scores,
            is_best=is_best,
            patience_left=None if options.patience is None else options.patience - int(state.stale),
        )

    def _record(self, event: Validated) -> None:
        """Add a validation to the history."""
        line = {
            "epoch": event.epoch,
            "step": event.global_step,
            "learning_rate": event.learning_rate,
            "train": {"loss": event.train_loss, "accuracy": event.train_accuracy},
            "validation": event.scores.figures(),
        }
        self._history.add(line | self._state.costs())
