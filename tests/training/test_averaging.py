"""Runs that are the mean of checkpoints."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from ptenmt import average
from ptenmt.errors import CheckpointError, RunError
from ptenmt.evaluation import evaluate
from ptenmt.runs import Run, find_run
from ptenmt.runs.weights import read_info, read_weights
from ptenmt.training.session import train
from ptenmt.training.state import read_checkpoint


def weights_in(folder: Path) -> dict[str, np.ndarray]:
    return read_weights(folder / "weights" / "best.safetensors")[1]


def test_the_last_ones(run: Run, monkeypatch: pytest.MonkeyPatch):
    new = Run(average(run.path, last=2))
    assert new.path == run.path.with_name("copy-averaged")
    info = read_info(new.weights_folder / "best.safetensors")
    assert (info.step, info.score) == (14 * 29, None)
    first, second = (read_checkpoint(run.state_folder / f"ckpt-{number}")[1] for number in (2, 3))
    found = weights_in(new.path)
    assert found.keys() == first.keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, (first[name] + second[name]) / 2, rtol=1e-6, atol=1e-7)
    assert sorted(file.name.split(".")[0] for file in run.path.parent.iterdir()) == ["copy", "copy-averaged"]
    assert json.loads((new.ctranslate2_folder / "cache.json").read_text())["weights"] == info.checksum

    monkeypatch.setattr("ptenmt.runs.directory.RUNS_FOLDER", run.path.parent)
    assert find_run(None).path == new.path  # what commands without --run take
    facts = new.facts()
    assert facts["averaged_from"] == {"run": str(run.path), "checkpoints": ["ckpt-3", "ckpt-2"]}
    assert (new.config(), facts["data"]) == (run.config(), run.facts()["data"])
    shutil.rmtree(run.path)
    assert evaluate(new.path, "validation").scores[0].value > 80
    with pytest.raises(RunError, match="has no checkpoints"):
        average(new.path)
    with pytest.raises(RunError, match="is an average of checkpoints") as failure:
        train(new.config(), new.path)
    assert failure.value.hint == f"start another run with its weights: --init-from {new.path} --run NAME"


def test_moving_averages_are_what_is_averaged(run: Run):
    """Beside ckpt-2 without any, as after a training that was given them later."""
    _, plain = read_checkpoint(run.state_folder / "ckpt-3")
    groups = {
        group: {name: tf.Variable(value + shift) for name, value in plain.items()}
        for group, shift in (("weights", 0.0), ("averages", 5.0))
    }
    tf.train.Checkpoint(**groups, global_step=tf.Variable(700)).write(str(run.state_folder / "ckpt-4"))
    found = weights_in(average(run.path, last=2))
    for name, value in plain.items():
        np.testing.assert_allclose(found[name], value + 2.5, rtol=1e-6, atol=1e-6)


def test_existing_files_are_kept_and_no_partial_ones_are_left(run: Run, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(RunError, match="copy exists already") as failure:
        average(run.path, to=run.path)
    assert "--to" in failure.value.hint
    (run.state_folder / "ckpt-2.data-00000-of-00001").unlink()
    with pytest.raises(CheckpointError, match="ckpt-2 is damaged"):
        average(run.path, last=2)

    def full(*_arguments: object, **_options: object) -> None:
        raise CheckpointError("the disk is full")

    monkeypatch.setattr("ptenmt.training.averaging.write_weights", full)
    with pytest.raises(CheckpointError):
        average(run.path, last=1)
    assert [file.name for file in run.path.parent.iterdir()] == ["copy"]
