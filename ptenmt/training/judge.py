"""When the model is scored, which scores are the best, and when patience is lost."""

import math
import threading
import time
from collections.abc import Generator, Iterator
from typing import Any, Protocol

from ptenmt.config import Config, ValidationConfig
from ptenmt.events import Scores, Validated, ValidationStep
from ptenmt.history import History, rank
from ptenmt.runs import Run
from ptenmt.training.optimizer import averaged
from ptenmt.training.state import TrainingState
from ptenmt.weights import keep_best


class Scorer(Protocol):
    """What scores the model: ``Validator``."""

    def validate(self) -> Iterator[ValidationStep | Scores]:
        """Tell how far it is, and at the end the scores."""
        ...


class _GivenUp(BaseException):
    """Passes through libraries that handle every ``Exception``."""


class Judge:
    """Has the model scored when it is time to, records the scores and keeps the best models.

    Args:
        config: The run's options.
        run: Where scores and models are written.
        state: Of the training.
        scorer: Scores the model.
        steps_per_epoch: Of the training pairs.
        writes: Whether this process keeps scores and models.
    """

    def __init__(
        self,
        config: Config,
        run: Run,
        state: TrainingState,
        scorer: Scorer,
        steps_per_epoch: int,
        writes: bool = True,
    ) -> None:
        self._config = config
        self._options = config.validation
        self._state = state
        self._scorer = scorer
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = total_steps(config, steps_per_epoch)
        self._writes = writes
        self._run = run
        self._history = History(run.path)
        self._scoring_thread: int | None = None
        self._has_given_up = False

    def is_due(self, within_epoch: bool = False) -> bool:
        """Whether the model is to be scored now.

        Args:
            within_epoch: Leave what is due at an epoch's end to the epoch's end.
        """
        options, state = self._options, self._state
        step, is_whole = int(state.updates), int(state.step) == self._steps_per_epoch
        if int(state.step) == 0 or step == int(state.validated) or (within_epoch and is_whole):
            return False
        by_steps, by_epochs = options.every_steps, options.every_epochs
        return (
            (by_steps is not None and step % by_steps == 0)
            or (by_epochs is not None and is_whole and (int(state.epoch) + 1) % by_epochs == 0)
            or (step >= self._total_steps and (by_steps or by_epochs) is not None)
        )

    def is_patience_lost(self) -> bool:
        """Whether the scores have not become better for too long."""
        patience = self._options.patience
        return patience is not None and int(self._state.stale) >= patience

    def validations_left(self) -> int:
        """About how many validations are ahead."""
        ahead = self._total_steps - int(self._state.updates)
        return num_validations(self._options, ahead, self._steps_per_epoch)

    def validate(self, rate: float) -> Generator[ValidationStep | Validated, None, None]:
        """Score the model, or where there are moving averages of its weights, those.

        Args:
            rate: The learning rate of the last update, which is recorded.

        Yields:
            How far it is, and at the end the scores. Whoever stops before that leaves nothing changed.
        """
        started = time.perf_counter()
        with self._state.timed("validation"), averaged(self._state.model, self._state.optimizer):
            for event in self._scored():
                if isinstance(event, Scores):
                    yield self._validated(event, rate, time.perf_counter() - started)
                else:
                    yield event

    def give_up(self) -> None:
        """End a ``validate`` that is at work in this thread, for which a signal handler may call this.

        A compilation or a batch of long sentences takes seconds; scores can be had again.
        """
        if self._scoring_thread == threading.get_ident():
            self._has_given_up = True
            raise _GivenUp

    def _scored(self) -> Iterator[ValidationStep | Scores]:
        """What the scorer tells, up to the moment of giving up."""
        events = self._scorer.validate()
        while True:
            try:
                self._scoring_thread = threading.get_ident()
                event = next(events, None)
            except _GivenUp:
                return
            except Exception:  # whatever a library made of it
                if self._has_given_up:
                    return
                raise
            finally:
                self._scoring_thread = None
            if event is None:
                return
            yield event

    def _validated(self, scores: Scores, rate: float, seconds: float) -> Validated:
        """Record scores, and keep the model if it is among the best."""
        state, options = self._state, self._options
        metric, score = options.metric, scores.figures()[options.metric]
        best = rank(metric, float(state.best_score), float(state.best_loss))
        is_best = not math.isnan(score) and rank(metric, score, scores.loss) > best
        if is_best:
            state.best_score.assign(score)
            state.best_loss.assign(scores.loss)
        state.stale.assign(0 if is_best else state.stale + 1)
        if self._writes:
            keep_best(
                self._run.weights_folder,
                state.weights(),
                keep=self._config.checkpoint.keep_best,
                config=self._config.model,
                step=int(state.updates),
                metric=metric,
                score=score,
                loss=scores.loss,
            )
        state.validated.assign(state.updates)
        loss, accuracy = state.of_epoch.means()
        event = Validated(
            epoch=int(state.epoch) + 1,
            step=int(state.updates),
            train_loss=loss,
            train_accuracy=accuracy,
            learning_rate=rate,
            scores=scores,
            is_best=is_best,
            patience_left=None if options.patience is None else options.patience - int(state.stale),
            seconds=seconds,
        )
        if self._writes:
            self._history.add(self._line(event))
        return event

    def _line(self, event: Validated) -> dict[str, Any]:
        costs = self._state.costs()
        costs["seconds"]["validation"] += event.seconds
        return {
            "epoch": event.epoch,
            "step": event.step,
            "learning_rate": event.learning_rate,
            "train": {"loss": event.train_loss, "accuracy": event.train_accuracy},
            "validation": event.scores.figures(),
        } | costs


def num_validations(options: ValidationConfig, steps: int, steps_per_epoch: int) -> int:
    """About how many validations there are in so many steps."""
    periods = ((options.every_steps, 1), (options.every_epochs, steps_per_epoch))
    return sum(math.ceil(steps / (n * unit)) for n, unit in periods if n is not None)


def total_steps(config: Config, steps_per_epoch: int) -> int:
    """Updates in the whole training."""
    all_epochs = config.training.epochs * steps_per_epoch
    return min(all_epochs, config.training.max_steps or all_epochs)
