import json
import os
import re
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from copy_task import TrainedRun, write_pairs
from recorded_events import begin, of

from ptenmt.config import CheckpointConfig, DecodingConfig, TrainingConfig
from ptenmt.errors import DataError, RunError
from ptenmt.runs import History, Run
from ptenmt.training.events import CorpusReady, Event, TrainingStarted, Warned
from ptenmt.training.session import train


@pytest.fixture
def copy(run: Run) -> Path:
    """A copy of the trained run, to be spoilt."""
    return run.path


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_run_that_is_done_is_left_as_it_is(copied: TrainedRun, copy: Path):
    """Outside the main thread, too, where signals are left alone."""
    before = contents(copy)
    events: list[Event] = []
    results = []
    thread = threading.Thread(
        target=lambda: results.append(train(copied.config, copy, on_event=events.append))
    )
    thread.start()
    thread.join()
    assert [type(event) for event in events] == [CorpusReady, TrainingStarted]
    assert (events[1].epoch, events[1].resumed_from) == (14, copy / "state" / "ckpt-3")
    assert (results[0].history, results[0].stopped_by) == (copied.history, None)
    after = contents(copy)
    del before["run.json"], after["run.json"]  # says when
    assert after == before


def test_resumable_options_may_change(copied: TrainedRun, copy: Path):
    config = replace(
        copied.config,
        training=replace(copied.config.training, epochs=20),
        checkpoint=CheckpointConfig(every_epochs=1, keep=1),
        decoding=DecodingConfig(max_length=7),
    )
    started = begin(config, copy)[-1]
    assert (started.epoch, started.epochs, started.resumed_from) == (14, 20, copy / "state" / "ckpt-3")
    assert Run(copy).config() == config


def test_other_options_may_not_and_each_is_named(copied: TrainedRun, copy: Path):
    config = replace(
        copied.config,
        seed=7,
        model=replace(copied.config.model, d_ff=128),
        training=TrainingConfig(epochs=14, warmup_steps=5),
    )
    with pytest.raises(RunError) as failure:
        train(config, copy)
    changes = "seed: 42 → 7; model.d_ff: 64 → 128; training.warmup_steps: 150 → 5"
    assert failure.value.message == f"{copy} was trained with other options: {changes}"
    assert "--fresh" in failure.value.hint
    assert Run(copy).config() == copied.config


def test_a_run_resumes_only_with_its_own_data(copied: TrainedRun, copy: Path, tmp_path: Path):
    pairs = Path(str(copied.config.data.path))
    same = shutil.copy(pairs, tmp_path / "moved.tsv")
    moved = replace(copied.config, data=replace(copied.config.data, path=str(same)))
    assert begin(moved, copy)[-1].epoch == 14
    other = write_pairs(tmp_path / "other.tsv", 500, seed=2)
    with pytest.raises(RunError, match="other data") as failure:
        train(replace(copied.config, data=replace(copied.config.data, path=str(other))), copy)
    assert "--fresh" in failure.value.hint


def test_a_run_whose_epochs_differed_in_an_older_version_is_not_resumed(copied: TrainedRun, copy: Path):
    facts = json.loads((copy / "run.json").read_text(encoding="utf-8"))
    (copy / "run.json").write_text(json.dumps(facts | {"steps_per_epoch": {"1": 29, "3": 20}}))
    with pytest.raises(RunError, match="by an older version in stages"):
        train(copied.config, copy)


def test_fresh_moves_the_old_run_aside(copied: TrainedRun, copy: Path):
    before = contents(copy)
    config = replace(copied.config, model=replace(copied.config.model, d_ff=128))
    events = begin(config, copy, fresh=True)
    (warned,), started = of(Warned, events), events[-1]
    assert (started.epoch, started.step_in_epoch, started.resumed_from) == (0, 0, None)
    (aside,) = copy.parent.glob("copy.*")
    assert str(aside) in warned.message
    assert re.fullmatch(r"copy\.\d{8}-\d{6}", aside.name)
    assert contents(aside) == before
    assert Run(copy).config() == config
    assert History(copy).validations() == []


def test_fresh_touches_nothing_before_all_else_is_well(copied: TrainedRun, copy: Path, tmp_path: Path):
    missing = replace(copied.config, data=replace(copied.config.data, path=str(tmp_path / "missing.tsv")))
    with pytest.raises(DataError):
        train(missing, copy, fresh=True)
    assert [folder.name for folder in copy.parent.glob("copy*")] == [copy.name]


def test_a_run_without_checkpoint_starts_over(copied: TrainedRun, copy: Path):
    """It was killed before its first checkpoint: other options are no obstacle."""
    for file in copy.glob("state/ckpt-*"):
        file.unlink()
    config = replace(copied.config, seed=7)
    events = begin(config, copy)
    assert (events[-1].epoch, events[-1].resumed_from) == (0, None)
    (warned,) = of(Warned, events)
    assert warned.message.startswith(
        "nothing had been saved yet: starting again at step 0; the old run is kept"
    )
    assert History(copy).validations() == []


def test_a_folder_that_is_no_run_is_refused(copied: TrainedRun, tmp_path: Path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.jpg").write_bytes(b"x")
    with pytest.raises(RunError, match="not empty and not a run"):
        train(copied.config, tmp_path / "photos")
    with pytest.raises(RunError, match="is a file"):
        train(copied.config, tmp_path / "photos" / "me.jpg")
    (picture,) = (tmp_path / "photos").iterdir()
    picture.rename(picture.with_name(".me.jpg"))  # like what a killed training leaves
    assert begin(copied.config, tmp_path / "photos")[-1].epoch == 0


def test_a_second_training_of_the_run_is_refused(copied: TrainedRun, copy: Path):
    with (
        Run(copy).locked(),
        pytest.raises(RunError, match=rf"is being trained by process {os.getpid()}"),
    ):
        train(copied.config, copy)
    (copy.parent / "link").symlink_to(copy)
    with Run(copy.parent / "link").locked(), pytest.raises(RunError, match="is being trained"):
        train(copied.config, copy)
    train(copied.config, copy)  # the lock is gone
    assert [file.name for file in copy.parent.glob(".*.lock")] == []
