import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

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


@dataclass(frozen=True)
class Interrupted:
    """A training in four parts; the events of each, and a copy of the run after the first."""

    run: Run
    first_part: Path
    parts: list[list[Event]]


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


@pytest.fixture(scope="module")
def interrupted(
    random_steps: Config,
    build_trainer: Callable,
    tmp_path_factory: pytest.TempPathFactory,
    _report_steps: None,
) -> Interrupted:
    """Stopped in the middle of epoch 1, during the validation after epoch 2, and in epoch 3."""
    folder = tmp_path_factory.mktemp("interrupted")
    stops: list[Callable[[Event], bool]] = [
        lambda event: isinstance(event, StepDone) and (event.epoch, event.step_in_epoch) == (1, 1),
        lambda event: isinstance(event, ValidationStep) and len(History(folder / "run").validations()) == 1,
        lambda event: isinstance(event, StepDone) and (event.epoch, event.step_in_epoch) == (3, 1),
        lambda _event: False,
    ]
    parts = []
    for number, is_time_to_stop in enumerate(stops):
        trainer = build_trainer(random_steps, folder / "run").trainer
        parts.append([])
        for event in trainer.fit():
            parts[-1].append(event)
            if is_time_to_stop(event):
                trainer.stop()
        if number == 0:
            shutil.copytree(folder / "run", folder / "first part")
    return Interrupted(Run(folder / "run"), folder / "first part", parts)


def test_stopped_and_resumed_equals_straight_through_bit_for_bit(straight: Run, interrupted: Interrupted):
    assert_same(tensors(interrupted.run), tensors(straight))
    assert losses(interrupted.run) == losses(straight)
    assert [line["step"] for line in History(interrupted.run.path).validations()] == [2, 4, 6]


def test_each_part_resumes_where_the_one_before_stopped(interrupted: Interrupted):
    started = [part[0] for part in interrupted.parts]
    assert all(isinstance(event, TrainingStarted) for event in started)
    assert [(event.epoch, event.step_in_epoch) for event in started] == [(0, 0), (0, 1), (1, 2), (2, 1)]
    assert started[0].resumed_from is None
    for before, after in zip(interrupted.parts[:-1], started[1:], strict=True):
        saved, stopped = before[-2:]
        assert isinstance(saved, CheckpointSaved)
        assert isinstance(stopped, Stopped)
        assert (
            (stopped.epoch, stopped.step_in_epoch)
            == (saved.epoch, saved.step_in_epoch)
            == (after.epoch, after.step_in_epoch)
        )
        assert after.resumed_from == saved.path
    steps = [
        [(event.epoch, event.step_in_epoch) for event in part if isinstance(event, StepDone)]
        for part in interrupted.parts
    ]
    assert sum(steps, []) == [(epoch, step) for epoch in (1, 2, 3) for step in (1, 2)]
    assert [len(part) for part in steps] == [1, 3, 1, 1]


def test_a_validation_that_was_stopped_is_made_up_for(interrupted: Interrupted):
    done = [[event.epoch for event in part if isinstance(event, Validated)] for part in interrupted.parts]
    assert done == [[], [1], [2], [3]]
    assert not any(isinstance(event, StepDone) for event in interrupted.parts[2][:3])


def test_history_after_the_last_checkpoint_is_forgotten(
    random_steps: Config, build_trainer: Callable, interrupted: Interrupted, tmp_path: Path
):
    """A training that was killed has more history than its last checkpoint knows."""
    shutil.copytree(interrupted.run.path, tmp_path / "run")
    run = Run(tmp_path / "run")
    for checkpoint in run.checkpoints()[:-2]:  # the second one was written in the middle of epoch 2
        for file in run.state_folder.glob(f"{checkpoint.name}.*"):
            file.unlink()
    with (run.path / "history.jsonl").open("a") as file:
        file.write('{"epoch": 4, "tra')
    started = next(iter(build_trainer(random_steps, run.path).trainer.fit()))
    assert started.epoch == 1
    assert [line["epoch"] for line in History(run.path).validations()] == [1]
