"""Runs that are the mean of checkpoints."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from copy_task import TrainedRun

from ptenmt import average
from ptenmt.checkpoints import read_weights
from ptenmt.errors import CheckpointError, RunError
from ptenmt.evaluation import evaluate
from ptenmt.export.ctranslate2 import CTRANSLATE2
from ptenmt.export.origin import newest_weights
from ptenmt.export.weights import WEIGHTS, arrays_of
from ptenmt.runs import Run, find_run
from ptenmt.training import train
from ptenmt.training.averaging import _write


@pytest.fixture
def copy(copied: TrainedRun, tmp_path: Path) -> Run:
    """A copy of the trained run: ckpt-2, ckpt-3 and one best model."""
    return Run(Path(shutil.copytree(copied.path, tmp_path / "copy")))


def stored(path: Path, group: str = "weights") -> dict[str, np.ndarray]:
    """The weights in a checkpoint by their names in the file."""
    reader = tf.train.load_checkpoint(str(path))
    names = [name for name in reader.get_variable_to_shape_map() if name.startswith(f"{group}/")]
    return {name.removeprefix(f"{group}/"): reader.get_tensor(name) for name in names}


def assert_close(found: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    assert len(found) > 20
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-6, atol=1e-7, err_msg=name)


def test_the_last_ones(copy: Run, monkeypatch: pytest.MonkeyPatch):
    new = Run(average(copy.path, last=2))
    assert new.path == copy.path.with_name("copy-averaged")
    (model,) = new.best_models()
    assert (model.name, model.step, model.score) == ("weights-696", 24 * 29, None)
    first, second = stored(copy.path / "ckpt-2"), stored(copy.path / "ckpt-3")
    assert_close(stored(new.path / "weights-696"), {name: (first[name] + second[name]) / 2 for name in first})
    assert sorted(file.name.split(".")[0] for file in copy.path.parent.iterdir()) == ["copy", "copy-averaged"]
    assert CTRANSLATE2.read(new.export_folder()).facts.weights == newest_weights(new, "best")
    exact = WEIGHTS.read(new.export_folder("best", WEIGHTS.name))
    assert exact.facts.weights == newest_weights(new, "best")
    assert_close(arrays_of(exact), read_weights(new.path / "weights-696"))

    monkeypatch.setattr("ptenmt.runs.RUNS_FOLDER", copy.path.parent)
    assert find_run(None).path == new.path  # what commands without --run take
    facts = new.facts()
    assert facts["averaged_from"] == {"run": str(copy.path), "checkpoints": ["ckpt-3", "ckpt-2"]}
    assert (new.config(), facts["data"]) == (copy.config(), copy.facts()["data"])
    shutil.rmtree(copy.path)
    assert evaluate(new.path, "validation").scores[0].value > 80
    with pytest.raises(RunError, match="is an average of checkpoints") as failure:
        train(new.config(), new.path)
    assert failure.value.hint == f"begin another with its weights: --init-from {new.path} --run NAME"


def test_the_best_ones(copy: Run, tmp_path: Path):
    (best,) = copy.best_models()
    new = Run(average(copy.path, best=1, to=tmp_path / "mine"))
    assert new.path == tmp_path / "mine"
    assert_close(stored(new.path / best.name), stored(copy.path / best.name))


def test_moving_averages_are_what_is_averaged(copy: Run):
    """Beside ckpt-2 without any, as after a training that was given them later."""
    plain = stored(copy.path / "ckpt-3")
    by_name = {name.split("/.ATTRIBUTES")[0]: value for name, value in plain.items()}
    names = {name: name.replace(".S", "/").replace("..", ".") for name in by_name}
    groups = {
        group: {names[name]: tf.Variable(value + shift) for name, value in by_name.items()}
        for group, shift in (("weights", 0.0), ("averages", 5.0))
    }
    tf.train.Checkpoint(**groups, updates=tf.Variable(700)).write(str(copy.path / "ckpt-4"))
    new = average(copy.path, last=2)
    expected = {name: value + 2.5 for name, value in stored(copy.path / "ckpt-3").items()}
    found = stored(new / "weights-700")
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6, atol=1e-6)


def test_fewer_than_asked_for(copy: Run):
    with pytest.raises(RunError, match=r"copy has 2 checkpoints, 3 are asked for") as failure:
        average(copy.path, last=3)
    assert "checkpoint.keep says" in failure.value.hint
    with pytest.raises(RunError, match="copy has 1 best model, 2 are asked for") as failure:
        average(copy.path, best=2)
    assert "checkpoint.keep_best says" in failure.value.hint
    with pytest.raises(RunError, match="exclude each other"):
        average(copy.path, last=1, best=1)


def test_nothing_existing_is_harmed_and_nothing_half_is_left(copy: Run, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(RunError, match="copy exists already") as failure:
        average(copy.path, to=copy.path)
    assert "--to" in failure.value.hint
    (copy.path / "ckpt-2.index").unlink()
    with pytest.raises(CheckpointError, match="ckpt-2 is damaged"):
        average(copy.path, last=2)

    def full(*_arguments: object) -> None:
        raise CheckpointError("the disk is full")

    monkeypatch.setattr(f"{_write.__module__}.save_weights", full)
    with pytest.raises(CheckpointError):
        average(copy.path, last=1)
    assert [file.name for file in copy.path.parent.iterdir()] == ["copy"]
