"""Trainings whose mixture of sources changes, in bfloat16: resumed, shown, and recorded."""

from pathlib import Path

import numpy as np
import pytest
from copy_task import copy_config, write_pairs
from recorded_events import of, stopped_after
from saved_states import assert_same, losses, tensors

from ptenmt.config import (
    Config,
    CorpusFile,
    DataConfig,
    MachineConfig,
    StageConfig,
    TokenizerConfig,
    TrainingConfig,
)
from ptenmt.config.schedule import learning_rate
from ptenmt.runs import Run
from ptenmt.runs.history import History
from ptenmt.training.events import Event, StageStarted, StepDone, TrainingStarted

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
            epochs=4, schedule="cosine", learning_rate=0.01, warmup_fraction=0.2, log_every_steps=2
        ),
        machine=MachineConfig(precision="mixed_bfloat16"),
    )


@pytest.fixture(scope="module")
def straight(staged: Config, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Event]]:
    """The staged training in one go, and its events."""
    run = Run(tmp_path_factory.mktemp("straight") / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ptenmt.training.trainer.SECONDS_BETWEEN_REPORTS", 0)
        return run, stopped_after(staged, run.path, 0, 0)


def test_resumed_across_a_stage_equals_straight_through_bit_for_bit(
    staged: Config, straight: tuple[Run, list[Event]], tmp_path: Path
) -> None:
    run, events = straight
    done = of(StepDone, events)
    assert [(event.epoch, event.step_in_epoch) for event in done] == [
        (epoch + 1, step + 1) for epoch, count in enumerate([8, 8, 3, 3]) for step in range(count)
    ]
    expected = [float(learning_rate(np.float32(step), staged.training, 16, 22, np)) for step in range(1, 23)]
    np.testing.assert_allclose([event.learning_rate for event in done], expected, rtol=1e-6)

    started = [
        of(TrainingStarted, stopped_after(staged, tmp_path / "parts", epoch, step))[0]
        for epoch, step in ((2, 3), (2, 8), (3, 1), (9, 9))  # within a stage, at its end, and in the next one
    ]
    assert [(event.epoch, event.step_in_epoch) for event in started] == [(0, 0), (1, 3), (1, 8), (2, 1)]
    parts = Run(tmp_path / "parts")
    assert_same(tensors(parts), tensors(run))
    assert losses(parts) == losses(run)


def test_the_shares_of_the_sources_are_shown_and_recorded(straight: tuple[Run, list[Event]]) -> None:
    run, events = straight
    first, second = of(StageStarted, events)
    assert first == StageStarted(
        epoch=1, pairs={"made": 40, "ours": 20}, shares={"made": 0.6667, "ours": 0.3333}
    )
    assert second == StageStarted(epoch=3, pairs={"ours": 20}, shares={"ours": 1.0})
    shares = [line["shares"] for line in History(run.path).validations()]
    assert shares == [first.shares, first.shares, second.shares, second.shares]
    curve = History(run.path).curve()
    assert [line["shares"] for line in curve] == [
        (first if line["step"] <= 16 else second).shares for line in curve
    ]
    assert run.facts()["steps_per_epoch"] == {"1": 8, "3": 3}
