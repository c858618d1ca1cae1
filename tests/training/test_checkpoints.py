import resource
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from saved_states import assert_same

from ptenmt.config import ModelConfig, OptimizerConfig
from ptenmt.errors import CheckpointError
from ptenmt.model.transformer import Transformer
from ptenmt.runs import Run
from ptenmt.training.optimizer import Adam
from ptenmt.training.state import COUNTERS, Checkpoints, TrainingState, read_checkpoint

CONFIG = ModelConfig(num_layers=1, d_model=32, num_heads=2, d_ff=48, dropout=0.1, max_positions=20)
EARLIER = Path(__file__).with_name("earlier_version")
DATA, INDEX = "ckpt-3.data-00000-of-00001", "ckpt-3.index"


class Saved:
    """A training state with values of its own everywhere."""

    def __init__(self) -> None:
        self.model = Transformer(CONFIG, 30, 40)
        self.state = TrainingState(self.model, Adam(self.model.trainable_variables, OptimizerConfig(ema=0.9)))

    @property
    def variables(self) -> dict[str, Any]:
        state, optimizer = self.state, self.state.optimizer
        named = {weight.path: weight.value for weight in self.model.trainable_variables}
        named |= {f"average of {path}": average for path, average in optimizer.averages.items()}
        named |= optimizer.variables
        named |= {f"seconds of {kind}": value for kind, value in state.seconds.items()}
        for sums in ("of_epoch", "since_curve_point"):
            named |= {f"{sums} {name}": value for name, value in getattr(state, sums).variables.items()}
        return named | {name: getattr(state, name) for name in COUNTERS}

    def values(self) -> dict[str, np.ndarray]:
        return {name: variable.numpy() for name, variable in self.variables.items()}

    def fill(self, seed: int) -> dict[str, np.ndarray]:
        """Give every variable new values."""
        numbers = np.random.default_rng(seed)
        for variable in self.variables.values():
            variable.assign((100 * numbers.random(variable.shape)).astype(variable.numpy().dtype))
        return self.values()


@pytest.fixture(scope="module")
def writer() -> Saved:
    return Saved()


@pytest.fixture(scope="module")
def reader() -> Saved:
    return Saved()


@pytest.fixture(scope="module")
def saved(
    writer: Saved, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[dict[str, np.ndarray]]]:
    """A folder with three checkpoints, and the values of each."""
    folder, values = tmp_path_factory.mktemp("saved"), []
    checkpoints = Checkpoints(writer.state.trackable(), Run(folder), keep=5)
    for number in range(3):
        values.append(writer.fill(number))
        checkpoints.save()
    return folder, values


@pytest.fixture
def three(saved: tuple[Path, list[dict[str, np.ndarray]]], tmp_path: Path) -> list[dict[str, np.ndarray]]:
    """Copies of the three checkpoints in ``tmp_path``, and the values of each."""
    shutil.copytree(saved[0], tmp_path, dirs_exist_ok=True)
    return saved[1]


def restore(reader: Saved, folder: Path) -> tuple[Checkpoints, Path | None, list[str]]:
    """Restore as a new process would."""
    warnings: list[str] = []
    checkpoints = Checkpoints(reader.state.trackable(), Run(folder), keep=5)
    reader.fill(99)
    return checkpoints, checkpoints.restore(warnings.append), warnings


def test_every_variable_comes_back_and_every_weight_without_the_rest(
    reader: Saved, three: list[dict[str, np.ndarray]], tmp_path: Path
):
    """TensorFlow passes over layers in Python lists, such as the blocks, without a word."""
    _, path, warnings = restore(reader, tmp_path)
    assert (path, warnings) == (tmp_path / "state" / "ckpt-3", [])
    assert_same(reader.values(), three[2])
    assert reader.model.non_trainable_variables == []
    assert len(reader.state.optimizer.variables) == 1 + 2 * len(reader.model.trainable_variables)
    shapes = tf.train.load_checkpoint(str(path)).get_variable_to_shape_map()
    assert len(shapes) == len(reader.variables) + 2, "and TensorFlow's own object graph and counter"
    variables = {name for name, value in vars(reader.state).items() if isinstance(value, tf.Variable)}
    assert variables == set(COUNTERS), "every variable is a key"

    step, weights = read_checkpoint(tmp_path / "state" / "ckpt-3")
    assert step == three[2]["global_step"]
    assert len(weights) == 2 + (8 + 4 + 4) + (16 + 4 + 6) + 2
    assert_same(weights, {path: three[2][f"average of {path}"] for path in weights})
    assert_same(weights, reader.state.weights())


def test_a_checkpoint_of_an_earlier_version_is_restored(tmp_path: Path):
    """It was written when the keys were found by reflection; every weight is 0.25, every average 0.5."""
    shutil.copytree(EARLIER, tmp_path / "run")
    small = ModelConfig(num_layers=1, d_model=2, num_heads=1, d_ff=2, max_positions=4)
    model = Transformer(small, 5, 5)
    state = TrainingState(model, Adam(model.trainable_variables, OptimizerConfig(ema=0.9)))
    Checkpoints(state.trackable(), Run(tmp_path / "run"), keep=5).restore(pytest.fail)
    loss_scale = {9, 11, 14, 15}  # its variables, which went
    assert sorted(float(getattr(state, name)) for name in COUNTERS) == sorted({*range(1, 16)} - loss_scale)
    assert (int(state.epoch), int(state.global_step), float(state.best_score)) == (1, 3, 5)
    assert (int(state.skipped_in_row), float(state.gradient_norm)) == (10, 13)
    assert {float(weight.numpy().flat[0]) for weight in model.trainable_variables} == {0.25}
    assert {float(average.numpy().flat[0]) for average in state.optimizer.averages.values()} == {0.5}
    assert state.of_epoch.means() == state.since_curve_point.means() == (1.0, 1.0)
    assert state.costs()["seconds"] == dict.fromkeys(("data", "step", "validation", "saving"), 0.5)
    moments = {
        name: float(value.numpy().flat[0])
        for name, value in state.optimizer.variables.items()
        if value.shape.rank
    }
    assert (int(state.optimizer.variables["count"]), set(moments.values())) == (3, {0.75})


def test_a_checkpoint_saved_by_a_killed_process_is_deleted_in_its_turn(writer: Saved, tmp_path: Path):
    """It was killed before the manager had listed its last checkpoint."""
    checkpoints = Checkpoints(writer.state.trackable(), Run(tmp_path), keep=2)
    checkpoints.save()
    listed = (tmp_path / "state" / "checkpoint").read_bytes()
    unlisted = checkpoints.save()
    (tmp_path / "state" / "checkpoint").write_bytes(listed)
    again = Checkpoints(writer.state.trackable(), Run(tmp_path), keep=2)
    assert again.restore(pytest.fail) == unlisted
    third = again.save()
    assert Run(tmp_path).checkpoints() == [third, unlisted]
    fourth = again.save()
    assert Run(tmp_path).checkpoints() == [fourth, third]
    names = {file.name.partition(".")[0] for file in tmp_path.glob("state/*")}
    assert names == {"checkpoint", third.name, fourth.name}


def truncate(folder: Path) -> None:
    data = (folder / "state" / DATA).read_bytes()
    cut = data[: len(data) // 9]  # the averages, which come first, are cut, too
    (folder / "state" / DATA).write_bytes(cut)


def flip_bytes(folder: Path) -> None:
    data = bytearray((folder / "state" / DATA).read_bytes())
    start = len(data) // 8  # in the averages, which both a training and a translation read
    data[start : start + 8] = bytes(byte ^ 0xFF for byte in data[start : start + 8])
    (folder / "state" / DATA).write_bytes(bytes(data))


def end_a_save_early(folder: Path) -> None:
    """TensorFlow writes into a folder, and renames first the data, then the index."""
    (folder / "state" / INDEX).unlink()
    (folder / "state" / "ckpt-3_temp").mkdir()
    (folder / "state" / "ckpt-3_temp" / "part-00000-of-00001.index").write_bytes(b"half")


def name_another(folder: Path) -> None:
    (folder / "state" / "checkpoint").write_text('model_checkpoint_path: "elsewhere/ckpt-9"\n')


DAMAGE = {
    "truncated data": truncate,
    "flipped bytes": flip_bytes,
    "empty index": lambda folder: (folder / "state" / INDEX).write_bytes(b""),
    "index of rubbish": lambda folder: (folder / "state" / INDEX).write_bytes(b"rubbish" * 500),
    "no data": lambda folder: (folder / "state" / DATA).unlink(),
    "a killed save": end_a_save_early,
    "no list": lambda folder: (folder / "state" / "checkpoint").unlink(),
    "a list of another": name_another,
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_the_newest_checkpoint_that_is_whole_is_restored(
    reader: Saved, three: list[dict[str, np.ndarray]], tmp_path: Path, kind: str
):
    """The file that lists them is not needed; a save that was killed is no damage."""
    DAMAGE[kind](tmp_path)
    number = 3 if kind in ("no list", "a list of another") else 2
    checkpoints, path, warnings = restore(reader, tmp_path)
    assert path == tmp_path / "state" / f"ckpt-{number}"
    assert_same(reader.values(), three[number - 1])
    if number == 3 or kind == "a killed save":
        assert warnings == []
    else:
        (warning,) = warnings
        assert f"{tmp_path / 'state' / 'ckpt-3'} is damaged" in warning
        assert "\n" not in warning
    expected = reader.fill(5)
    checkpoints.tidy()
    saved = checkpoints.save()
    assert list(tmp_path.glob("state/*_temp")) == []
    _, path, warnings = restore(reader, tmp_path)
    assert (path, warnings) == (saved, [])
    assert_same(reader.values(), expected)


@pytest.mark.usefixtures("three")
def test_checkpoints_of_another_version_or_all_damaged_are_an_error(reader: Saved, tmp_path: Path):
    more = tf.train.Checkpoint(more=tf.Variable(0.0))
    with pytest.raises(CheckpointError, match="ckpt-3 lacks a part of the training state") as failure:
        Checkpoints(more, Run(tmp_path), keep=1).restore(pytest.fail)
    assert "version of ptenmt" in failure.value.hint
    for file in tmp_path.glob("state/*.index"):
        file.write_bytes(b"rubbish" * 500)
    with pytest.raises(CheckpointError, match="none of the 3 checkpoints"):
        restore(reader, tmp_path)


@pytest.mark.parametrize("room", [0, 150_000])
def test_a_full_disk_harms_no_earlier_checkpoint(writer: Saved, reader: Saved, tmp_path: Path, room: int):
    """Writing fails after so many bytes of a file, as on a full disk."""
    checkpoints = Checkpoints(writer.state.trackable(), Run(tmp_path), keep=1)
    expected = writer.fill(1)
    earlier = checkpoints.save()
    assert (tmp_path / "state" / "ckpt-1.data-00000-of-00001").stat().st_size > room
    files = sorted(file.name for file in tmp_path.glob("state/*"))
    later = writer.fill(2)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(CheckpointError, match="cannot save a checkpoint in") as failure:
            checkpoints.save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert failure.value.message.endswith((": File too large", ": Disk quota exceeded"))
    assert "make room" in failure.value.hint
    assert sorted(file.name for file in tmp_path.glob("state/*")) == files
    assert restore(reader, tmp_path)[1:] == (earlier, [])
    assert_same(reader.values(), expected)
    saved = checkpoints.save()
    assert Run(tmp_path).checkpoints() == [saved]
    assert restore(reader, tmp_path)[1:] == (saved, [])
    assert_same(reader.values(), later)
