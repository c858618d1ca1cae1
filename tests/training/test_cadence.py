"""When a training saves, scores, keeps its best models and ends; scores are scripted, nothing is learnt."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ptenmt.config import CheckpointConfig, Config, TrainingConfig, ValidationConfig
from ptenmt.model.loss import TokenSums
from ptenmt.runs import History, Run
from ptenmt.runs.weights import read_info
from ptenmt.training.events import (
    CheckpointSaved,
    Event,
    PatienceExhausted,
    Scores,
    StepDone,
    Stopped,
    Validated,
)

EPOCH = 6  # steps


class Script:
    """Gives one score after the other, as all metrics at once."""

    def __init__(self, scores: Sequence[float]) -> None:
        self._scores = iter(scores)

    def validate(self) -> Iterator[Scores]:
        score = next(self._scores)
        yield Scores(loss=score, accuracy=score, bleu=score, chrf=score, samples=[])


class Step:
    """Counts, and learns nothing: no compilation."""

    def __init__(self, _config: Config, state: Any, *_others: Any) -> None:
        self._state = state

    def __call__(self, _parts: Any) -> None:
        self._state.global_step.assign_add(1)
        self._state.step_in_epoch.assign_add(1)
        self._state.count_update(TokenSums(1.0, 1.0, 1.0), 0.0)

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
        return [event for event in self.events if isinstance(event, kind)]


Tell = Callable[..., Story]


@pytest.fixture
def tell(
    quick: Config, build_trainer: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _every_step: None
) -> Tell:
    """Trains with some options and scores, and asks to stop after a step."""
    monkeypatch.setattr("ptenmt.training.trainer.TrainStep", Step)

    def play(scores: Sequence[float] = (), stop_after: int | None = None, **sections: Any) -> Story:
        config = replace(quick, **sections)
        trainer = build_trainer(config, tmp_path / "run", Script(scores)).trainer
        events = []
        for event in trainer.fit():
            events.append(event)
            if isinstance(event, StepDone) and (event.epoch - 1) * EPOCH + event.step_in_epoch == stop_after:
                trainer.stop()
        return Story(events, Run(tmp_path / "run"))

    return play


NEVER = ValidationConfig(every_epochs=None)


def test_saving_by_epochs_and_at_the_end(tell: Tell):
    assert tell(checkpoint=CheckpointConfig(every_epochs=2), validation=NEVER).saved == [12, 18]


def test_saving_by_steps(tell: Tell):
    options = CheckpointConfig(every_epochs=9, every_steps=4, keep=2)
    story = tell(checkpoint=options, validation=NEVER)
    assert story.saved == [4, 8, 12, 16, 18], "each once"
    assert len(story.run.checkpoints()) == 2


def test_saving_by_minutes(tell: Tell, monkeypatch: pytest.MonkeyPatch):
    """A step takes 25 seconds here."""
    clock = SimpleNamespace(now=0.0)

    class Slow(Step):
        def __call__(self, parts: Any) -> None:
            clock.now += 25
            super().__call__(parts)

    monkeypatch.setattr("ptenmt.training.trainer.TrainStep", Slow)
    times = SimpleNamespace(monotonic=lambda: clock.now, perf_counter=lambda: clock.now)
    monkeypatch.setattr("ptenmt.training.trainer.time", times)
    story = tell(checkpoint=CheckpointConfig(every_epochs=9, every_minutes=2), validation=NEVER)
    assert story.saved == [5, 10, 15, 18]


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
    story = tell(
        signed,
        validation=ValidationConfig(every_epochs=None, every_steps=2, metric=metric, patience=2),
    )
    is_lost = steps < 18
    assert story.scored == [*range(2, steps + 1, 2)]
    assert story.saved[-1] == steps
    assert [event.num_stale for event in story.of(PatienceExhausted)] == [2] * is_lost
    assert [event.global_step for event in story.of(Validated) if event.is_best][-1:] == (
        [best] if best else []
    )
    if best is not None:
        assert story.best == best
    assert story.of(Validated)[-1].patience_left == (0 if is_lost else 2)


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


def test_the_best_weights_are_kept(tell: Tell):
    validation = ValidationConfig(every_epochs=None, every_steps=2)
    story = tell([1, 3, 5, 2, 4.5, 4, 5, 3, 1], validation=validation)
    assert story.best == 6
    assert {file.stem for file in story.run.weights_folder.iterdir()} == {"best", "latest"}
