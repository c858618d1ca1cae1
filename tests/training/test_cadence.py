"""When a training saves, scores, keeps its best models and ends; steps and scores are scripted."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keras
import numpy as np
import pytest
from recorded_events import of

from ptenmt.config import CheckpointConfig, Config, TrainingConfig, ValidationConfig
from ptenmt.data.batches import BatchPlan, EncodedPairs
from ptenmt.data.mixing import Mixture
from ptenmt.data.store import RaggedIds
from ptenmt.errors import TrainingError
from ptenmt.model.loss import TokenSums
from ptenmt.runs import History, Run
from ptenmt.runs.weights import read_info, read_weights
from ptenmt.training.events import (
    CheckpointSaved,
    Event,
    PatienceExhausted,
    Scores,
    StepDone,
    Stopped,
    Validated,
    Warned,
)
from ptenmt.training.state import read_checkpoint
from ptenmt.training.trainer import Trainer

EPOCH = 6  # steps


class Script:
    """Gives one score after the other, as all metrics at once."""

    def __init__(self, scores: Sequence[float]) -> None:
        self._scores = iter(scores)

    def validate(self) -> Iterator[Scores]:
        score = next(self._scores)
        yield Scores(loss=score, accuracy=score, bleu=score, chrf=score, samples=[])


class Weights:
    """Stands in for a model: one variable."""

    def __init__(self) -> None:
        self.trainable_variables = [keras.Variable(np.zeros(1, "float32"), name="updates")]

    def count_params(self) -> int:
        return 1


class Step:
    """An update adds one to each weight; some are skipped, as if the loss were not finite."""

    skipped: Collection[int] = ()
    clock = 0

    def __init__(self, _config: Config, state: Any, *_others: Any) -> None:
        self._state = state

    def __call__(self, _parts: Any) -> None:
        Step.clock += 25
        state = self._state
        state.global_step.assign_add(1)
        state.step_in_epoch.assign_add(1)
        if int(state.global_step) in self.skipped:
            state.count_skipped()
            return
        state.count_update(TokenSums(1.0, 1.0, 1.0), 0.0)
        for weight in state.model.trainable_variables:
            weight.assign(weight + 1)

    def learning_rate(self) -> float:
        return 0.5


class Story:
    """The events of a training."""

    def __init__(self, events: Sequence[Event], run: Run) -> None:
        self.events = list(events)
        self.run = run

    @property
    def saved(self) -> list[int]:
        return [event.epoch * EPOCH + event.step_in_epoch for event in self.of(CheckpointSaved)]

    @property
    def scored(self) -> list[int]:
        return [event.global_step for event in self.of(Validated)]

    @property
    def best(self) -> int:
        """The step of the best weights."""
        return read_info(self.run.weights_folder / "best.safetensors").step

    def of(self, kind: type) -> list[Any]:
        return of(kind, self.events)


Tell = Callable[..., Story]


@pytest.fixture
def tell(quick: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _every_step: None) -> Tell:
    """Trains with some options and scores, by steps of 25 seconds, and asks to stop after a step."""
    monkeypatch.setattr("ptenmt.training.trainer.TrainStep", Step)
    times = SimpleNamespace(monotonic=lambda: Step.clock, perf_counter=lambda: Step.clock)
    monkeypatch.setattr("ptenmt.training.trainer.time", times)
    side = RaggedIds([[2, 5, 3]] * EPOCH * quick.batch.sentences)

    def play(
        scores: Sequence[float] = (),
        stop_after: int | None = None,
        skipped: Collection[int] = (),
        **sections: Any,
    ) -> Story:
        monkeypatch.setattr(Step, "skipped", skipped)
        config, run = replace(quick, **sections), Run(tmp_path / "run")
        run.path.mkdir(exist_ok=True)
        mixture = Mixture.configured(config.data, (len(side),))
        plan = BatchPlan(EncodedPairs(side, side), config.batch, config.seed, mixture)
        trainer: Any = Trainer(config, run, Weights(), plan, Script(scores))  # type: ignore[arg-type]
        events = []
        for event in trainer.fit():
            events.append(event)
            if isinstance(event, StepDone) and (event.epoch - 1) * EPOCH + event.step_in_epoch == stop_after:
                trainer.stop()
        return Story(events, run)

    return play


NEVER = ValidationConfig(every_epochs=None)


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"every_epochs": 2}, [12, 18]),
        ({"every_epochs": 9, "every_steps": 4}, [4, 8, 12, 16, 18]),
        ({"every_epochs": 9, "every_minutes": 2}, [5, 10, 15, 18]),
    ],
)
def test_saving_in_between_and_at_the_end(tell: Tell, options: dict[str, Any], steps: list[int]):
    story = tell(checkpoint=CheckpointConfig(**options, keep=2), validation=NEVER)
    assert story.saved == steps
    assert len(story.run.checkpoints()) == 2


def test_max_steps_ends_scores_and_saves_and_can_be_raised(tell: Tell):
    by_epochs = ValidationConfig(every_epochs=2)
    checkpoint = CheckpointConfig(every_epochs=9)

    def until(steps: int | None, scores: Sequence[float]) -> Story:
        training = TrainingConfig(epochs=3, max_steps=steps)
        return tell(scores, training=training, validation=by_epochs, checkpoint=checkpoint)

    story = until(8, [1.0])
    assert (story.of(StepDone)[-1].step_in_epoch, story.scored, story.saved) == (2, [8], [8])
    story = until(8, [])
    assert [type(event).__name__ for event in story.events] == ["TrainingStarted"]
    story = until(None, [2.0, 3.0])
    assert [(event.epoch, event.step_in_epoch) for event in story.of(StepDone)][:2] == [(2, 3), (2, 4)]
    assert (story.scored, story.saved) == ([12, 18], [18])
    assert [line["step"] for line in History(story.run.path).validations()] == [8, 12, 18]


def test_a_stop_in_the_very_step_that_ends_the_training_saves_that_end(tell: Tell):
    training = TrainingConfig(epochs=3, max_steps=8)
    story = tell(training=training, validation=NEVER, stop_after=8)
    assert (story.saved[-1], story.of(Stopped)) == (8, [])


def test_a_stop_before_the_last_scores_leaves_them_to_the_next_part(tell: Tell):
    training = TrainingConfig(epochs=3, max_steps=8)
    validation = ValidationConfig(every_epochs=2)
    story = tell(training=training, validation=validation, stop_after=8)
    assert (story.saved[-1], story.scored, len(story.of(Stopped))) == (8, [], 1)
    story = tell([1.0], training=training, validation=validation)
    assert (story.saved, story.scored, story.of(StepDone)) == ([8], [8], [])


@pytest.mark.parametrize(
    ("metric", "scores", "steps", "best"),
    [
        ("loss", [1, 2, 3, 4, 5, 6, 7, 8, 9], 18, 18),
        ("chrf", [5, 4, 6, 5, 4], 10, 6),
        ("loss", [5, 4, 6, 5, 4], 10, 6),
        ("bleu", [5, 5, 5], 6, 2),
        ("loss", [math.nan, math.nan], 4, None),
        ("bleu", [math.nan, 3, math.nan, 2], 8, 4),
    ],
)
def test_patience(tell: Tell, metric: Any, scores: list[float], steps: int, best: int | None):
    """Scored every other step, two times without a better score are too many."""
    signed = [-score if metric == "loss" else score for score in scores]
    options = ValidationConfig(every_epochs=None, every_steps=2, metric=metric, patience=2)
    story = tell(signed, validation=options)
    is_exhausted = steps < 18
    assert story.scored == [*range(2, steps + 1, 2)]
    assert story.saved[-1] == steps
    assert [event.num_stale for event in story.of(PatienceExhausted)] == [2] * is_exhausted
    assert story.of(Validated)[-1].patience_left == (0 if is_exhausted else 2)
    best_so_far = [event.global_step for event in story.of(Validated) if event.is_best]
    if best is None:
        assert best_so_far == []
    else:
        assert best_so_far[-1] == story.best == best


def test_patience_survives_a_stop_and_more_patience_continues(tell: Tell):
    def patient(patience: int, scores: list[float], stop_after: int | None = None) -> Story:
        validation = ValidationConfig(every_epochs=None, every_steps=2, patience=patience)
        return tell(scores, stop_after=stop_after, validation=validation)

    assert patient(3, [9, 1], stop_after=5).scored == [2, 4]
    story = patient(3, [1, 1])
    assert (story.scored, len(story.of(PatienceExhausted))) == ([6, 8], 1)
    assert patient(3, []).of(StepDone) == []
    story = patient(4, [1])
    assert (story.scored, story.of(PatienceExhausted)[0].best_score, story.best) == ([10], 9, 2)


# Steps that are not finite


def test_a_save_that_falls_on_a_skipped_step_is_made_up_for(tell: Tell, monkeypatch: pytest.MonkeyPatch):
    """And all skipped steps are reported, though only the last step of an epoch reports."""
    monkeypatch.setattr("ptenmt.training.trainer.SECONDS_BETWEEN_REPORTS", math.inf)
    checkpoint = CheckpointConfig(every_steps=4, every_epochs=9)
    story = tell(skipped=(4, 5), checkpoint=checkpoint, validation=NEVER)
    assert story.saved == [6, 8, 12, 16, 18]
    (warned,) = story.of(Warned)
    assert warned.message.startswith("skipped 2 steps (now at step 6): ")


def test_a_training_that_has_diverged_ends_and_leaves_its_last_finite_weights(tell: Tell, tmp_path: Path):
    """A save is due after each step, and one checkpoint is kept: none may come of a step that was skipped."""
    checkpoint = CheckpointConfig(every_steps=1, keep=1)
    with pytest.raises(
        TrainingError, match=r"not finite at step 17 .*epoch 3.* 10 steps in a row"
    ) as failure:
        tell(skipped=range(8, 19), checkpoint=checkpoint, validation=NEVER)
    assert "optimizer.clip_norm" in failure.value.hint
    run = Run(tmp_path / "run")
    (kept,) = run.checkpoints()
    latest = read_weights(run.weights_folder / "latest.safetensors")
    assert read_checkpoint(kept) == (7, {"updates": [7]}), "the last that was learnt"
    assert (latest[0].step, latest[1]) == (7, {"updates": [7]})


def test_a_stop_waits_for_a_step_that_is_finite(tell: Tell):
    assert tell(skipped=(8, 9, 10), stop_after=8, validation=NEVER).saved[-1] == 11


def test_a_last_step_that_is_not_finite_is_not_saved(tell: Tell):
    story = tell(skipped=(18,), checkpoint=CheckpointConfig(every_steps=12), validation=NEVER)
    assert story.saved[-1] == 12
    assert isinstance(story.events[-1], Warned)
    assert "the last checkpoint is kept" in story.events[-1].message
