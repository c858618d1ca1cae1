"""Trainings whose mixture of sources changes, and sampled ones: resumed, shown, and recorded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_task import copy_config, write_pairs
from recorded_events import stopped_after
from saved_states import assert_same, losses, tensors

from ptenmt.config import (
    AugmentConfig,
    BatchConfig,
    Config,
    CorpusFile,
    DataConfig,
    StageConfig,
    TokenizerConfig,
    TrainingConfig,
)
from ptenmt.config.schedule import learning_rate
from ptenmt.runs import Run
from ptenmt.runs.history import History
from ptenmt.training.events import Event, StageStarted, StepDone, Stopped, TrainingStarted
from ptenmt.training.session import train

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_every_step")]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Two epochs of 40 tagged and 20 other pairs (8 steps), then two of the 20 others (3 steps)."""
    folder = tmp_path_factory.mktemp("files")
    train = (
        CorpusFile(path=str(write_pairs(folder / "made.tsv", 60, seed=2)), tag="<bt>"),
        CorpusFile(path=str(write_pairs(folder / "ours.tsv", 20))),
    )
    held_out = (CorpusFile(path=str(write_pairs(folder / "held_out.tsv", 9, seed=3))),)
    stages = (StageConfig(mix={"ours": 1, "made": 2}, epochs=2), StageConfig(mix={"ours": 1}))
    data = DataConfig(train=train, validation=held_out, test=held_out, stages=stages)
    return copy_config(
        folder,
        data=data,
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=40, shared=True),
        training=TrainingConfig(
            epochs=4, schedule="cosine", learning_rate=0.01, warmup_steps=None, warmup_fraction=0.2
        ),
    )


def test_resumed_across_a_stage_equals_straight_through_bit_for_bit(staged: Config, tmp_path: Path) -> None:
    straight = stopped_after(staged, tmp_path / "straight", 0, 0)
    steps = [(event.epoch, event.step_in_epoch) for event in straight if isinstance(event, StepDone)]
    assert steps == [
        (epoch + 1, step + 1) for epoch, count in enumerate([8, 8, 3, 3]) for step in range(count)
    ]
    rates = [event.learning_rate for event in straight if isinstance(event, StepDone)]
    expected = [float(learning_rate(np.float32(step), staged.training, 16, 22, np)) for step in range(1, 23)]
    np.testing.assert_allclose(rates, expected, rtol=1e-6)

    started: list[Any] = []
    for epoch, step in ((2, 3), (2, 8), (3, 1), (9, 9)):  # within a stage, at its end, and in the next one
        events = stopped_after(staged, tmp_path / "parts", epoch, step)
        started.append(next(event for event in events if isinstance(event, TrainingStarted)))
    assert [(event.epoch, event.step_in_epoch) for event in started] == [(0, 0), (1, 3), (1, 8), (2, 1)]
    runs = [Run(tmp_path / name) for name in ("straight", "parts")]
    assert_same(tensors(runs[1]), tensors(runs[0]))
    assert losses(runs[1]) == losses(runs[0])


def test_the_shares_of_the_sources_are_shown_and_recorded(staged: Config, tmp_path: Path) -> None:
    events: list[Event] = []
    config = replace(staged, training=replace(staged.training, log_every_steps=2))
    result = train(config, tmp_path / "run", on_event=events.append)
    stages = [event for event in events if isinstance(event, StageStarted)]
    assert stages == [
        StageStarted(epoch=1, pairs={"made": 40, "ours": 20}, shares={"made": 0.6667, "ours": 0.3333}),
        StageStarted(epoch=3, pairs={"ours": 20}, shares={"ours": 1.0}),
    ]
    lines = [*result.history, *History(result.run).curve()]
    assert [line["shares"] for line in result.history] == [
        stages[0].shares,
        stages[0].shares,
        stages[1].shares,
        stages[1].shares,
    ]
    assert all("shares" in line for line in lines)
    run = Run(result.run)
    assert run.facts()["steps_per_epoch"] == {"1": 8, "3": 3}
    assert run.config() == config


def test_a_resumed_training_has_the_same_noise(tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.tsv", 120)
    config = copy_config(
        pairs,
        data=DataConfig(path=str(pairs), augment=AugmentConfig(upper_case=0.2, typos=0.2)),
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=60),
        batch=BatchConfig(tokens=256),
        training=TrainingConfig(epochs=1, warmup_steps=20),
    )
    straight = train(config, tmp_path / "straight").history
    assert isinstance(stopped_after(config, tmp_path / "stopped", 1, 1)[-1], Stopped)
    resumed = train(config, tmp_path / "stopped").history
    assert [epoch["train"]["loss"] for epoch in resumed] == [epoch["train"]["loss"] for epoch in straight]
