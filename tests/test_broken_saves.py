"""Checkpoints and best models when the process dies, or the disk fails, at any point of a save."""

import errno
import json
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from ptenmt import atomic_files, checkpoints, variable_files
from ptenmt.checkpoints import BestModels, Checkpoints, restore_weights
from ptenmt.errors import CheckpointError, OutputError
from ptenmt.history import History
from ptenmt.runs import Run


class Killed(BaseException):
    """Stands in for SIGKILL: nothing handles it, though ``finally`` clauses run."""


def failed() -> BaseException:
    """The disk is full, or read-only, or away."""
    return OSError(errno.EIO, "Input/output error")


class Fragile:
    """Lets so many operations on files happen; from then on each one raises."""

    def __init__(self, patch: pytest.MonkeyPatch, raised: Callable[[], BaseException]) -> None:
        self.left: int | None = None
        self._raised = raised
        for name in ("mkdir", "replace", "unlink", "rmdir"):
            patch.setattr(Path, name, self._counting(getattr(Path, name)))
        for module in (atomic_files, variable_files):
            patch.setattr(module, "sync", self._counting(atomic_files.sync))
        patch.setattr(shutil, "rmtree", self._counting(shutil.rmtree))
        patch.setattr(tf.train.Checkpoint, "write", self._counting(tf.train.Checkpoint.write))
        patch.setattr(os, "fsync", self._counting(os.fsync))

    def _counting(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    raise self._raised()
            return operation(*arguments, **options)

        return counted

    def breaks(self, after: int, work: Callable[[], Any]) -> bool:
        """Whether work fails that is allowed so many operations."""
        self.left = after
        try:
            work()
        except (Killed, CheckpointError):
            return True
        finally:
            self.left = None
        return False


@pytest.fixture(params=[Killed, failed], ids=["killed", "failed"])
def fragile(request: pytest.FixtureRequest) -> Iterator[Fragile]:
    with pytest.MonkeyPatch.context() as patch:
        yield Fragile(patch, request.param)


class Number:
    """A state of one variable."""

    def __init__(self) -> None:
        self.variable = tf.Variable(0, dtype=tf.int64)
        self.state = tf.train.Checkpoint(number=self.variable)

    def restored(self, folder: Path, keep: int = 2) -> Checkpoints:
        """Restore as a new process would, which must not come upon any damage."""
        opened = Checkpoints(self.state, folder, keep)
        opened.restore(pytest.fail)
        return opened


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def checkpoint_files(*numbers: int) -> set[str]:
    endings = ("index", "data-00000-of-00001")
    return {f"ckpt-{number}.{ending}" for number in numbers for ending in endings} | {"checkpoint"}


@pytest.mark.parametrize("earlier", [0, 3])
def test_a_save_that_ends_anywhere_leaves_the_old_or_the_new(fragile: Fragile, tmp_path: Path, earlier: int):
    number = Number()
    for operations in count():
        folder = tmp_path / str(operations)
        folder.mkdir()
        saver = number.restored(folder)
        for value in range(1, earlier + 1):
            number.variable.assign(value)
            saver.save(7)
        number.variable.assign(earlier + 1)
        is_broken = fragile.breaks(operations, partial(saver.save, 7))
        number.variable.assign(0)
        again = number.restored(folder)
        found = int(number.variable)
        assert found in (earlier, earlier + 1) if is_broken else found == earlier + 1
        number.variable.assign(9)
        again.save(7)
        kept = (found + 1, found) if found else (found + 1,)
        assert files(folder) == checkpoint_files(*kept), "nothing else is left"
        assert tf.train.latest_checkpoint(str(folder)) == str(folder / f"ckpt-{found + 1}")
        if not is_broken:
            break
    assert operations > 6


def scored(folder: Path) -> dict[str, int]:
    """The value that each model in ``best.json`` really has."""
    found = {}
    for model in Run(folder).best_models():
        variable = tf.Variable(0, dtype=tf.int64)
        status = tf.train.Checkpoint(weights={"number": variable}).read(str(folder / model.name))
        status.assert_existing_objects_matched()
        found[model.name] = int(variable)
    return found


@pytest.mark.parametrize("step", [4, 2], ids=["a new step", "the same step again"])
def test_best_json_names_whole_models_whenever_the_process_ends(fragile: Fragile, tmp_path: Path, step: int):
    def add(step: int, value: int) -> None:
        weights = {"number": tf.Variable(value, dtype=tf.int64)}
        BestModels(Run(folder), 2, "bleu").add(weights, step, float(value), 0.0)

    for operations in count():
        folder = tmp_path / str(operations)
        folder.mkdir()
        for earlier in (1, 2, 3):
            add(earlier, earlier)
        is_broken = fragile.breaks(operations, lambda: add(step, 9))
        assert set(scored(folder).items()) <= {("weights-3", 3), (f"weights-{step}", 9), ("weights-2", 2)}
        assert len(scored(folder)) >= 1
        checkpoints.Checkpoints(tf.train.Checkpoint(), folder, 1).restore(pytest.fail)
        BestModels(Run(folder), 2, "bleu").tidy()
        names = scored(folder)
        assert {name.split(".")[0] for name in files(folder)} == {"best", *names}, "nothing else is left"
        if not is_broken:
            break
    assert names == {f"weights-{step}": 9, "weights-3": 3}
    assert operations > 6


def test_a_best_model_that_is_damaged_or_lost_gives_way_to_the_latest(tmp_path: Path):
    from ptenmt.config import ModelConfig
    from ptenmt.model import Transformer

    size = ModelConfig(num_layers=1, d_model=4, num_heads=1, d_ff=4, max_positions=8)
    model = Transformer(size, 5, 5)
    weights = checkpoints.by_path(model.trainable_variables)
    Checkpoints(tf.train.Checkpoint(weights=weights), tmp_path, 1).save(7)
    best = BestModels(Run(tmp_path), 2, "bleu")
    best.add(weights, 1, 1.0, 0.0)
    best.add(weights, 2, 2.0, 0.0)
    data = tmp_path / "weights-2.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:100])
    told: list[str] = []
    assert restore_weights(model, Run(tmp_path), told.append) == tmp_path / "weights-1"
    (tmp_path / "weights-1.index").unlink()
    assert restore_weights(model, Run(tmp_path), told.append) == tmp_path / "ckpt-1"
    assert ["weights-2" in told[0], "weights-2" in told[1], "weights-1" in told[2]] == [True] * 3
    best.tidy()
    assert [entry["name"] for entry in json.loads((tmp_path / "best.json").read_text())] == ["weights-2"]
    assert not list(tmp_path.glob("weights-1.*"))


@pytest.mark.parametrize(("keep", "names"), [(0, []), (1, ["b"]), (2, ["b", "d"]), (9, ["b", "d", "a", "c"])])
@pytest.mark.parametrize("metric", ["bleu", "loss"])
def test_the_best_are_kept_and_of_equal_ones_the_earlier(
    tmp_path: Path, keep: int, names: list[str], metric: str
):
    scores = {"a": 2.0, "b": 3.0, "c": float("nan"), "d": 3.0}
    for step, score in enumerate(scores.values()):
        signed = -score if metric == "loss" else score
        BestModels(Run(tmp_path), keep, metric).add({"number": tf.Variable(step)}, step, signed, 0.0)
    assert ["abcd"[model.step] for model in Run(tmp_path).best_models()] == names
    assert not any("NaN" in file.read_text() for file in tmp_path.glob("best.json"))  # it is no JSON
    assert len(list(tmp_path.glob("weights-*.index"))) == len(names)


def test_of_equal_scores_the_one_with_the_lower_loss_is_the_best(tmp_path: Path):
    best = BestModels(Run(tmp_path), 2, "bleu")
    for step, loss in enumerate([6.0, 5.0, float("nan"), 5.5], 1):
        best.add({"number": tf.Variable(step)}, step, 0.0, loss)
    assert [model.step for model in Run(tmp_path).best_models()] == [2, 4]


def test_a_history_that_meets_a_full_disk_can_be_gone_on_with(tmp_path: Path):
    history = History(tmp_path)
    history.add({"step": 1, "loss": 1.5})
    size = (tmp_path / "history.jsonl").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5, before[1]))
    try:
        with pytest.raises(OutputError, match=r"cannot write .*history.jsonl: File too large"):
            history.add({"step": 2, "loss": 1.25})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "history.jsonl").stat().st_size == size + 5, "a line was begun"
    assert history.curve() == [{"step": 1, "loss": 1.5}]
    history.forget_after(1, 0)
    history.add({"step": 2, "loss": 1.25})
    assert history.curve() == [{"step": 1, "loss": 1.5}, {"step": 2, "loss": 1.25}]
