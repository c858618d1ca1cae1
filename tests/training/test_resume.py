import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from copy_task import uncompiled
from saved_states import assert_same, losses, tensors

from ptenmt.config import BatchConfig, Config
from ptenmt.runs import History, Run
from ptenmt.training.events import (
    CheckpointSaved,
    Event,
    StepDone,
    Stopped,
    TrainingStarted,
    Validated,
    ValidationStep,
)

pytestmark = pytest.mark.usefixtures("_report_steps")


@pytest.fixture(scope="module")
def _report_steps() -> Iterator[None]:
    """Report each step, and run it as Python: test_kills.py has compiled steps."""
    with pytest.MonkeyPatch.context() as patch, uncompiled():
        patch.setattr("ptenmt.training.trainer.SECONDS_BETWEEN_REPORTS", 0)
        yield


@pytest.fixture(scope="module")
def random_steps(quick: Config) -> Config:
    """With dropout; two steps an epoch."""
    return replace(quick, batch=BatchConfig(sentences=24))


@pytest.fixture(scope="module")
def straight(
    random_steps: Config,
    build_trainer: Callable,
    tmp_path_factory: pytest.TempPathFactory,
    _report_steps: None,
) -> Run:
    trainer, _, _, run = build_trainer(random_steps, tmp_path_factory.mktemp("straight") / "run")
    assert sum(isinstance(event, StepDone) for event in trainer.fit()) == 3 * 2
    return run


def position(event: Any) -> tuple[int, int]:
    return event.epoch, event.step_in_epoch


def test_stopped_and_resumed_equals_straight_through_bit_for_bit(
    straight: Run, random_steps: Config, build_trainer: Callable, tmp_path: Path
):
    """Stopped in the middle of epoch 1, during the validation after epoch 2, and in epoch 3."""
    run = Run(tmp_path / "run")
    stops: list[Callable[[Event], bool]] = [
        lambda event: isinstance(event, StepDone) and position(event) == (1, 1),
        lambda event: isinstance(event, ValidationStep) and len(History(run.path).validations()) == 1,
        lambda event: isinstance(event, StepDone) and position(event) == (3, 1),
        lambda _event: False,
    ]
    parts: list[list[Any]] = []
    for is_time_to_stop in stops:
        trainer = build_trainer(random_steps, run.path).trainer
        parts.append([])
        for event in trainer.fit():
            parts[-1].append(event)
            if is_time_to_stop(event):
                trainer.stop()

    assert_same(tensors(run), tensors(straight))
    assert losses(run) == losses(straight)
    assert [line["step"] for line in History(run.path).validations()] == [2, 4, 6]
    started = [part[0] for part in parts]
    assert all(isinstance(event, TrainingStarted) for event in started)
    assert [position(event) for event in started] == [(0, 0), (0, 1), (1, 2), (2, 1)]
    assert started[0].resumed_from is None
    for before, after in zip(parts[:-1], started[1:], strict=True):
        saved, stopped = before[-2:]
        assert isinstance(saved, CheckpointSaved)
        assert isinstance(stopped, Stopped)
        assert position(saved) == position(stopped) == position(after)
        assert after.resumed_from == saved.path
    steps = [[position(event) for event in part if isinstance(event, StepDone)] for part in parts]
    assert steps == [[(1, 1)], [(1, 2), (2, 1), (2, 2)], [(3, 1)], [(3, 2)]]
    validated = [[event.epoch for event in part if isinstance(event, Validated)] for part in parts]
    assert validated == [[], [1], [2], [3]], "one that was stopped is made up for"


def test_what_a_killed_training_did_after_its_last_checkpoint_is_done_again(
    straight: Run, random_steps: Config, build_trainer: Callable, tmp_path: Path
):
    """Its history has more than that checkpoint knows, and a line that is cut short."""
    run = Run(shutil.copytree(straight.path, tmp_path / "run"))
    for checkpoint in run.checkpoints()[:-1]:
        for file in run.state_folder.glob(f"{checkpoint.name}.*"):
            file.unlink()
    with (run.path / "history.jsonl").open("a") as file:
        file.write('{"epoch": 4, "tra')
    started, *_ = build_trainer(random_steps, run.path).trainer.fit()
    assert position(started) == (1, 0)
    assert_same(tensors(run), tensors(straight))
    assert losses(run) == losses(straight)
