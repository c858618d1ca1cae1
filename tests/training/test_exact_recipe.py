"""All that a recipe carries from step to step, and all that must not matter to it, bit for bit."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ptenmt.config import (
    BatchConfig,
    CheckpointConfig,
    Config,
    MachineConfig,
    OptimizerConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.events import CheckpointSaved, CurvePoint, StepDone
from ptenmt.history import History
from ptenmt.runs import Run

Build = Callable[[Config, Path], Any]


@pytest.fixture(scope="module")
def rich(quick: Config) -> Config:
    """Three steps of two batches an epoch, five epochs; scored every seventh step."""
    return replace(
        quick,
        batch=BatchConfig(sentences=8, accumulate=2),
        training=TrainingConfig(epochs=5, warmup_steps=20, label_smoothing=0.1, log_every_steps=4),
        optimizer=OptimizerConfig(kind="adamw", clip_norm=0.5, ema=0.9),
        validation=ValidationConfig(every_epochs=None, every_steps=7, patience=9),
        checkpoint=CheckpointConfig(every_epochs=9, keep_best=2),
        machine=MachineConfig(precision="mixed_float16"),
    )


@pytest.fixture(scope="module")
def straight(rich: Config, build_trainer: Build, tmp_path_factory: pytest.TempPathFactory) -> Run:
    built = build_trainer(rich, tmp_path_factory.mktemp("rich") / "run")
    assert list(built.trainer.fit())
    return built.run


def tensors(run: Run, groups: tuple[str, ...] = ("",)) -> dict[str, np.ndarray]:
    reader = tf.train.load_checkpoint(str(run.checkpoints()[0]))
    return {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
        if name.startswith(groups) and not name.startswith(("seconds", "save_counter", "_CHECKPOINTABLE"))
    }


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_ended_at_a_limit_and_resumed_equals_straight_through(
    rich: Config, build_trainer: Build, straight: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Reading ahead, reporting and saving are other than before, which must not matter either."""
    monkeypatch.setattr("ptenmt.training.trainer.SECONDS_BETWEEN_REPORTS", 0)
    monkeypatch.setattr("ptenmt.training.input_pipeline._PREFETCHED_BATCHES", 1)
    config = replace(rich, checkpoint=CheckpointConfig(every_steps=2, every_minutes=1e-6, keep_best=2))
    limited = replace(config, training=replace(rich.training, max_steps=7))
    assert list(build_trainer(limited, tmp_path / "run").trainer.fit())
    last = build_trainer(config, tmp_path / "run")
    started, *events = last.trainer.fit()
    assert (started.epoch, started.step_in_epoch) == (2, 1)
    assert sum(isinstance(event, StepDone) for event in events) == 8
    assert sum(isinstance(event, CheckpointSaved) for event in events) >= 8

    expected = tensors(straight)
    assert expected["global_step/.ATTRIBUTES/VARIABLE_VALUE"] == 15
    assert expected["loss_scale/.ATTRIBUTES/VARIABLE_VALUE"] > 1
    assert any(name.startswith("averages/") for name in expected)
    assert_same(tensors(last.run), expected)
    for file in straight.weights_folder.iterdir():
        assert (last.run.weights_folder / file.name).read_bytes() == file.read_bytes(), file.name
    times = ("seconds", "peak_memory")
    mine, theirs = (
        [{name: line[name] for name in line if name not in times} for line in History(run.path).validations()]
        for run in (last.run, straight)
    )
    assert mine == theirs
    assert [line["step"] for line in mine] == [7, 14, 15]


def test_logging_and_scoring_change_no_weight(
    rich: Config, build_trainer: Build, straight: Run, tmp_path: Path
):
    other = replace(
        rich,
        training=replace(rich.training, log_every_steps=1),
        validation=replace(rich.validation, every_epochs=1, every_steps=2),
    )
    built = build_trainer(other, tmp_path / "run")
    assert sum(isinstance(event, CurvePoint) for event in built.trainer.fit()) == 15
    groups = ("weights", "optimizer", "averages", "of_epoch", "loss_scale", "gradient_norm", "global_step")
    assert_same(tensors(built.run, groups), tensors(straight, groups))
