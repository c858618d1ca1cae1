"""Dry runs of a training."""

from dataclasses import replace
from pathlib import Path

import pytest
from copy_task import TrainedRun

from ptenmt.config import BatchConfig
from ptenmt.training.dry_run import dry_run
from ptenmt.training.events import CorpusReady, Event, StepDone


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(autouse=True)
def _two_steps(monkeypatch: pytest.MonkeyPatch, _uncompiled: None) -> None:
    """Measured steps, in each of the dry runs."""
    monkeypatch.setattr("ptenmt.training.dry_run.MAX_STEPS", 2)


def test_sizes_and_times_are_found_and_nothing_is_written(
    copied: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Epochs of one step, of two batches."""
    monkeypatch.chdir(tmp_path)
    whole = replace(copied.config, batch=BatchConfig(sentences=225, accumulate=2))
    events: list[Event] = []
    found = dry_run(whole, "new", on_event=events.append)
    assert list(tmp_path.iterdir()) == []
    assert (found.unit, found.examples) == ("pairs", {"train": 450, "validation": 20, "test": 30})
    assert found.parameters == copied.events[1].parameters
    assert (found.steps_per_epoch, found.steps_left) == (1, 14)
    assert found.largest_batch == (225, 7)
    assert found.seconds == pytest.approx(14 * found.seconds_per_step)
    assert found.seconds_per_step > 0
    assert 2**28 < found.peak_memory < 2**36
    assert isinstance(events[0], CorpusReady)
    assert StepDone in {type(event) for event in events}


def test_a_run_that_is_there_is_left_alone(copied: TrainedRun):
    before = files(copied.path)
    found = dry_run(copied.config, copied.path)
    assert files(copied.path) == before
    assert [file.name for file in copied.path.parent.iterdir() if file.name.startswith(".")] == []
    assert (found.steps_per_epoch, found.largest_batch) == (29, (16, 7))
    assert (found.steps_left, found.seconds) == (0, 0)
