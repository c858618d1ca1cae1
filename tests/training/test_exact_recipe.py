"""All that a recipe carries from step to step, and all that must not matter to it, bit for bit."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from saved_states import assert_same, tensors
from trainer_setup import TrainerSetup

from ptenmt.config import (
    BatchConfig,
    CheckpointConfig,
    Config,
    MachineConfig,
    OptimizerConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.runs import Run
from ptenmt.runs.history import History
from ptenmt.runs.weights import read_weights
from ptenmt.training.events import CheckpointSaved, EpochDone, Event, Scores, StepDone
from ptenmt.training.trainer import Trainer

# Two trainings of a recipe with every option; test_resume compares a plain one in each run of all tests.
pytestmark = pytest.mark.slow

Build = Callable[..., TrainerSetup]


class Rising:
    """The score of a validation is its step: the last is the best."""

    trainer: Trainer

    def validate(self) -> Iterator[Scores]:
        step = float(self.trainer._state.global_step)
        yield Scores(loss=1.0, accuracy=0.5, bleu=step, chrf=20.0, samples=[])


class Trained(NamedTuple):
    """A training that came to its end."""

    setup: TrainerSetup
    events: list[Event]

    @property
    def run(self) -> Run:
        return self.setup.run


@pytest.fixture(scope="module")
def rich(quick: Config) -> Config:
    """Three steps of two batches an epoch, five epochs; scored every seventh step."""
    return replace(
        quick,
        batch=BatchConfig(sentences=8, accumulate=2),
        training=TrainingConfig(epochs=5, warmup_steps=20, label_smoothing=0.1, log_every_steps=4),
        optimizer=OptimizerConfig(kind="adamw", clip_norm=0.5, ema=0.9),
        validation=ValidationConfig(every_epochs=None, every_steps=7, patience=9),
        checkpoint=CheckpointConfig(every_epochs=9),
        machine=MachineConfig(precision="mixed_bfloat16"),
    )


def trained(build_trainer: Build, config: Config, folder: Path) -> Trained:
    validator = Rising()
    built = build_trainer(config, folder, validator)
    validator.trainer = built.trainer
    return Trained(built, list(built.trainer.fit()))


@pytest.fixture(scope="module")
def straight(rich: Config, build_trainer: Build, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return trained(build_trainer, rich, tmp_path_factory.mktemp("rich") / "run")


def test_ended_at_a_limit_and_resumed_equals_straight_through(
    rich: Config, build_trainer: Build, straight: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Reading ahead, reporting, logging, scoring and saving differ, which must not matter either."""
    monkeypatch.setattr("ptenmt.training.trainer.SECONDS_BETWEEN_REPORTS", 0)
    monkeypatch.setattr("ptenmt.training.input_pipeline._PREFETCHED_BATCHES", 1)
    config = replace(
        rich,
        training=replace(rich.training, log_every_steps=6),
        validation=replace(rich.validation, every_epochs=1),
        checkpoint=CheckpointConfig(every_steps=2, every_minutes=1e-6),
    )
    limited = replace(config, training=replace(config.training, max_steps=7))
    assert trained(build_trainer, limited, tmp_path / "run").events
    last = trained(build_trainer, config, tmp_path / "run")
    started, *events = last.events
    assert (started.epoch, started.step_in_epoch) == (2, 1)
    assert sum(isinstance(event, StepDone) for event in events) == 8
    assert sum(isinstance(event, CheckpointSaved) for event in events) >= 8

    expected = tensors(straight.run)
    assert expected["global_step/.ATTRIBUTES/VARIABLE_VALUE"] == 15
    assert any(name.startswith("averages/") for name in expected)
    assert_same(tensors(last.run), expected)
    for file in straight.run.weights_folder.iterdir():
        assert (last.run.weights_folder / file.name).read_bytes() == file.read_bytes(), file.name
    times = ("seconds", "peak_memory")
    mine, theirs = (
        [{name: line[name] for name in line if name not in times} for line in History(run.path).validations()]
        for run in (last.run, straight.run)
    )
    assert [line["step"] for line in mine] == [3, 6, 7, 9, 12, 14, 15]
    assert [line["step"] for line in theirs] == [7, 14, 15]
    assert [line for line in mine if line["step"] in (7, 14, 15)] == theirs


def test_half_precision_keeps_whole_weights(straight: Trained):
    assert {weight.dtype for weight in straight.setup.model.trainable_variables} == {"float32"}
    losses = [event.loss for event in straight.events if isinstance(event, EpochDone)]
    assert losses[-1] < losses[0]


def test_translation_uses_the_moving_averages(straight: Trained):
    """The last validation is the best, and of the last step."""
    averages = straight.setup.trainer._optimizer.averages
    trained = {weight.path: weight.numpy() for weight in straight.setup.model.trainable_variables}
    assert any((value.numpy() != trained[path]).any() for path, value in averages.items())
    for choice in ("best", "latest"):
        _, weights = read_weights(straight.run.weights_folder / f"{choice}.safetensors")
        assert weights.keys() == averages.keys()
        for path, value in weights.items():
            np.testing.assert_array_equal(value, averages[path].numpy(), err_msg=f"{choice} {path}")
