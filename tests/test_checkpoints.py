import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ptenmt.checkpoints import Checkpoints, restore_weights
from ptenmt.config import ModelConfig, OptimizerConfig
from ptenmt.errors import CheckpointError
from ptenmt.model import Transformer
from ptenmt.runs import Run
from ptenmt.training.optimizer import Adam
from ptenmt.training.state import TrainingState

CONFIG = ModelConfig(num_layers=2, d_model=16, num_heads=2, d_ff=24, dropout=0.1, max_positions=20)
NUMBERS = ["epoch", "step", "updates", "validated", "best_score", "best_loss", "stale", "skipped", "faults"]
NUMBERS += [
    "skipped_in_row",
    "faults_in_row",
    "most_faults_in_row",
    "gradient_norm",
    "loss_scale",
    "scaled_steps",
]
DATA, INDEX = "ckpt-3.data-00000-of-00001", "ckpt-3.index"


class Saved:
    """A training state with values of its own everywhere, and its checkpoints in a folder."""

    def __init__(self, folder: Path, keep: int = 5) -> None:
        self.model = Transformer(CONFIG, 30, 40)
        self.state = TrainingState(self.model, Adam(self.model.trainable_variables, OptimizerConfig(ema=0.9)))
        self.checkpoints = Checkpoints(self.state.trackable(), folder, keep)

    @property
    def variables(self) -> dict[str, Any]:
        state, optimizer = self.state, self.state.optimizer
        named = {weight.path: weight.value for weight in self.model.trainable_variables}
        named |= {f"average of {path}": average for path, average in optimizer.averages.items()}
        named |= optimizer.variables
        named |= {f"seconds of {kind}": value for kind, value in state.seconds.items()}
        for sums in ("of_epoch", "of_window"):
            named |= {f"{sums} {name}": value for name, value in getattr(state, sums).variables.items()}
        return named | {name: getattr(state, name) for name in NUMBERS}

    def values(self) -> dict[str, np.ndarray]:
        return {name: variable.numpy() for name, variable in self.variables.items()}

    def fill(self, seed: int) -> dict[str, np.ndarray]:
        """Give every variable new values."""
        numbers = np.random.default_rng(seed)
        for variable in self.variables.values():
            variable.assign((100 * numbers.random(variable.shape)).astype(variable.numpy().dtype))
        return self.values()


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return Saved(tmp_path_factory.mktemp("writer"))


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return Saved(tmp_path_factory.mktemp("reader"))


@pytest.fixture
def three(writer: Saved, tmp_path: Path) -> list[dict[str, np.ndarray]]:
    """Three checkpoints in ``tmp_path``, and the values of each."""
    checkpoints = Checkpoints(writer.state.trackable(), tmp_path, keep=5)
    values = []
    for number in range(3):
        values.append(writer.fill(number))
        checkpoints.save(7)
    return values


def restore(reader: Saved, folder: Path) -> tuple[Checkpoints, Path | None, list[str]]:
    """Restore as a new process would."""
    warnings: list[str] = []
    checkpoints = Checkpoints(reader.state.trackable(), folder, keep=5)
    reader.fill(99)
    return checkpoints, checkpoints.restore(warnings.append), warnings


def test_every_variable_comes_back(reader: Saved, three: list[dict[str, np.ndarray]], tmp_path: Path):
    _, path, warnings = restore(reader, tmp_path)
    assert (path, warnings) == (tmp_path / "ckpt-3", [])
    assert_same(reader.values(), three[2])
    assert reader.model.non_trainable_variables == []
    assert len(reader.state.optimizer.variables) == 1 + 2 * len(reader.model.trainable_variables)
    shapes = tf.train.load_checkpoint(str(path)).get_variable_to_shape_map()
    assert len(shapes) == len(reader.variables) + 1, "and TensorFlow's own object graph"


def test_every_weight_comes_back_without_the_rest(
    reader: Saved, three: list[dict[str, np.ndarray]], tmp_path: Path
):
    """TensorFlow passes over layers in Python lists, such as the blocks, without a word."""
    reader.fill(99)
    assert restore_weights(reader.model, Run(tmp_path), pytest.fail) == tmp_path / "ckpt-3"
    weights = {variable.path: variable.numpy() for variable in reader.model.trainable_variables}
    assert len(weights) == 2 + 2 * (8 + 4 + 4) + 2 * (16 + 4 + 6) + 2
    assert_same(weights, {path: three[2][f"average of {path}"] for path in weights})


def test_as_many_as_asked_for_are_kept(writer: Saved, tmp_path: Path):
    checkpoints = Checkpoints(writer.state.trackable(), tmp_path, keep=2)
    paths = [checkpoints.save(7) for _ in range(4)]
    assert Run(tmp_path).checkpoints() == [paths[3], paths[2]]
    _, path, _ = restore(writer, tmp_path)
    assert path == paths[3]
    again = Checkpoints(writer.state.trackable(), tmp_path, keep=2)
    again.restore(pytest.fail)
    latest = again.save(7)
    assert Run(tmp_path).checkpoints() == [latest, paths[3]], "across processes, too"


def truncate(folder: Path) -> None:
    data = (folder / DATA).read_bytes()
    (folder / DATA).write_bytes(data[: len(data) // 9])  # the averages, which come first, are cut, too


def empty(folder: Path) -> None:
    (folder / DATA).write_bytes(b"")


def flip_bytes(name: str) -> Callable[[Path], None]:
    def flip(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        start = len(data) // 8  # in the averages, which both a training and a translation read
        data[start : start + 8] = bytes(byte ^ 0xFF for byte in data[start : start + 8])
        (folder / name).write_bytes(bytes(data))

    return flip


DAMAGE = {
    "truncated data": truncate,
    "empty data": empty,
    "flipped bytes in the data": flip_bytes(DATA),
    "flipped bytes in the index": flip_bytes(INDEX),
    "empty index": lambda folder: (folder / INDEX).write_bytes(b""),
    "index of rubbish": lambda folder: (folder / INDEX).write_bytes(b"rubbish" * 500),
    "no index": lambda folder: (folder / INDEX).unlink(),
    "no data": lambda folder: (folder / DATA).unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_checkpoint_gives_way_to_the_one_before(
    reader: Saved, three: list[dict[str, np.ndarray]], tmp_path: Path, damage: Callable[[Path], None]
):
    damage(tmp_path)
    checkpoints, path, warnings = restore(reader, tmp_path)
    assert path == tmp_path / "ckpt-2"
    assert_same(reader.values(), three[1])
    (warning,) = warnings
    assert str(tmp_path / "ckpt-3") in warning
    assert "\n" not in warning
    expected = reader.fill(5)
    saved = checkpoints.save(7)
    _, path, warnings = restore(reader, tmp_path)
    assert (path, warnings) == (saved, [])
    assert_same(reader.values(), expected)
    told: list[str] = []
    reader.fill(99)
    damage(tmp_path)
    restore_weights(reader.model, Run(tmp_path), told.append)
    assert len(told) == 1
    kernel = reader.model.final.kernel
    np.testing.assert_array_equal(kernel.numpy(), three[1][f"average of {kernel.path}"])


@pytest.mark.parametrize("text", [None, "", 'model_checkpoint_path: "elsewhere/ckpt-9"\n'])
def test_the_file_that_names_the_latest_is_not_needed(
    reader: Saved, three: list[dict[str, np.ndarray]], tmp_path: Path, text: str | None
):
    (tmp_path / "checkpoint").unlink()
    if text is not None:
        (tmp_path / "checkpoint").write_text(text)
    checkpoints, path, warnings = restore(reader, tmp_path)
    assert (path, warnings) == (tmp_path / "ckpt-3", [])
    assert_same(reader.values(), three[2])
    assert checkpoints.save(7) == tmp_path / "ckpt-4"
    assert restore(reader, tmp_path)[1] == tmp_path / "ckpt-4"


@pytest.mark.usefixtures("three")
def test_a_checkpoint_that_may_be_whole_is_not_passed_over(
    reader: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = sorted(file.name for file in tmp_path.iterdir())

    def starve(*_args: Any) -> None:
        raise tf.errors.ResourceExhaustedError(None, None, "no memory")

    with monkeypatch.context() as patch:
        patch.setattr(tf.train.Checkpoint, "read", starve)
        with pytest.raises(CheckpointError, match="ckpt-3 cannot be read: no memory"):
            restore(reader, tmp_path)
    more = tf.train.Checkpoint(more=tf.Variable(0.0))
    with pytest.raises(CheckpointError, match="ckpt-3 does not hold all") as failure:
        Checkpoints(more, tmp_path, keep=1).restore(pytest.fail)
    assert "another version" in failure.value.hint
    assert sorted(file.name for file in tmp_path.iterdir()) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="all may read everything")
@pytest.mark.usefixtures("three")
def test_a_checkpoint_that_may_not_be_read_is_not_passed_over(reader: Saved, tmp_path: Path):
    (tmp_path / DATA).chmod(0)
    with pytest.raises(CheckpointError, match="ckpt-3 cannot be read: Permission denied"):
        restore(reader, tmp_path)


def test_when_all_are_damaged_that_is_an_error(reader: Saved, three: list[Any], tmp_path: Path):
    assert len(three) == 3
    for file in tmp_path.glob("*.index"):
        file.write_bytes(b"rubbish" * 500)
    with pytest.raises(CheckpointError, match="none of the 3 checkpoints"):
        restore(reader, tmp_path)
    told: list[str] = []
    with pytest.raises(CheckpointError, match="none of the 3 checkpoints"):
        restore_weights(reader.model, Run(tmp_path), told.append)
    assert len(told) == 3


def test_without_any_a_training_begins_and_a_translation_cannot(reader: Saved, tmp_path: Path):
    assert restore(reader, tmp_path)[1:] == (None, [])
    with pytest.raises(CheckpointError, match="no checkpoint in") as failure:
        restore_weights(reader.model, Run(tmp_path), pytest.fail)
    assert "ptenmt train" in failure.value.hint


@pytest.mark.parametrize("room", [0, 4_000, 150_000])
def test_a_full_disk_harms_no_earlier_checkpoint(writer: Saved, reader: Saved, tmp_path: Path, room: int):
    """Writing fails after so many bytes of a file, as on a full disk."""
    checkpoints = Checkpoints(writer.state.trackable(), tmp_path, keep=1)
    expected = writer.fill(1)
    earlier = checkpoints.save(7)
    assert (tmp_path / "ckpt-1.data-00000-of-00001").stat().st_size > room
    files = sorted(file.name for file in tmp_path.iterdir())
    later = writer.fill(2)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(CheckpointError, match="cannot save a checkpoint in") as failure:
            checkpoints.save(7)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "\n" not in failure.value.message
    assert "make room" in failure.value.hint
    assert sorted(file.name for file in tmp_path.iterdir()) == files
    assert restore(reader, tmp_path)[1:] == (earlier, [])
    assert_same(reader.values(), expected)
    saved = checkpoints.save(7)
    assert Run(tmp_path).checkpoints() == [saved]
    assert restore(reader, tmp_path)[1:] == (saved, [])
    assert_same(reader.values(), later)
