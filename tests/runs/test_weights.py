"""Weights files: whole, verified, ranked, and what is left if a process dies anywhere."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptenmt.atomic_files import remove_unfinished
from ptenmt.config import Config, ModelConfig, ValidationConfig
from ptenmt.errors import CheckpointError
from ptenmt.runs.weights import (
    best_weights,
    keep_best,
    list_weights,
    model_fingerprint,
    read_info,
    read_weights,
    write_weights,
)

CONFIG = ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=8)
NAN = float("nan")


def config_of(metric: Any) -> Config:
    return Config(model=CONFIG, validation=ValidationConfig(metric=metric))


def arrays(value: float = 0.0) -> dict[str, np.ndarray]:
    return {
        "transformer/final/kernel": np.arange(600, dtype="f4").reshape(20, 30).T,
        "a/bias": np.array([value]),
    }


def keep(folder: Path, step: int, score: float, *, metric: str = "bleu", loss: float = 1.0) -> None:
    keep_best(folder, arrays(step), config_of(metric), step, score, loss)


def best_step(folder: Path) -> int:
    info, found = read_weights(folder / "best.safetensors")
    assert found["a/bias"] == [info.step]
    return info.step


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "weights" / "best.safetensors"
    write_weights(written, arrays(7), config_of("bleu"), 1512, 12.5, 2.25)
    return written


def test_what_is_written_is_read(file: Path) -> None:
    info, found = read_weights(file)
    assert info == read_info(file)
    assert (info.step, info.metric, info.score, info.loss) == (1512, "bleu", 12.5, 2.25)
    assert (info.file, info.label, info.model) == (file, "best (step 1,512)", model_fingerprint(CONFIG))
    assert found.keys() == arrays().keys()
    for name, array in arrays(7).items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == np.float32


def test_the_metadata_are_read_without_numpy(file: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from ptenmt.runs.weights import read_info; "
        "read_info(Path(sys.argv[1]))"
    )
    program += "; print(sorted({'numpy', 'safetensors', 'tensorflow', 'keras'} & sys.modules.keys()))"
    command = [sys.executable, "-c", program, str(file)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _content: b"",
    "truncated header": lambda content: content[:50],
    "truncated arrays": lambda content: content[:-100],
    "longer": lambda content: content + b"more",
    "rubbish": lambda content: b"rubbish" * len(content),
    "another program's": lambda content: content.replace(b"ptenmt_weights", b"unknown_weight"),
    "another format": lambda content: content.replace(b'{\\"format\\": 1', b'{\\"format\\": 2'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_noticed(file: Path, damage: Callable[[bytes], bytes]) -> None:
    file.write_bytes(damage(file.read_bytes()))
    for read in (read_info, read_weights):
        with pytest.raises(CheckpointError, match=r"best\.safetensors are damaged: ") as failure:
            read(file)
        assert "\n" not in failure.value.message


def test_a_flipped_bit_is_noticed_when_the_arrays_are_read(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-50] ^= 1
    file.write_bytes(content)
    read_info(file)
    with pytest.raises(CheckpointError, match="its checksum is not that of its arrays") as failure:
        read_weights(file)
    assert "use the run's other weights with --checkpoint" in failure.value.hint


@pytest.mark.parametrize("metric", ["bleu", "loss"])
def test_the_best_is_kept_and_of_equal_ones_the_earlier(tmp_path: Path, metric: str) -> None:
    assert best_weights(tmp_path) is None
    for step, score in enumerate([NAN, 2.0, 3.0, NAN, 3.0]):
        keep(tmp_path, step, -score if metric == "loss" else score, metric=metric)
    assert best_step(tmp_path) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["best.safetensors"]
    keep(tmp_path, 2, 1.0)  # validated again, after a kill
    assert best_weights(tmp_path) == read_info(tmp_path / "best.safetensors")
    assert read_info(tmp_path / "best.safetensors").score == 1.0


def test_of_equal_scores_the_one_with_the_lower_loss_is_the_best(tmp_path: Path) -> None:
    for step, loss in enumerate([6.0, 5.0, NAN, 5.5], 1):
        keep(tmp_path, step, 0.0, loss=loss)
    assert best_step(tmp_path) == 2


def test_the_order_of_choice(tmp_path: Path) -> None:
    keep(tmp_path, 3, 5.0)
    write_weights(tmp_path / "latest.safetensors", arrays(), config_of("bleu"), 4)
    assert [info.file.stem for info in list_weights(tmp_path, "best")] == ["best", "latest"]
    assert [info.file.stem for info in list_weights(tmp_path, "latest")] == ["latest"]
    (tmp_path / "best.safetensors").write_bytes(b"damaged")
    damaged: list[str] = []
    assert [info.step for info in list_weights(tmp_path, "best", damaged.append)] == [4]
    assert len(damaged) == 1
    keep(tmp_path, 5, 1.0)
    assert best_step(tmp_path) == 5, "a damaged file is replaced"


class Killed(BaseException):
    """Stands in for SIGKILL: nothing handles it, though ``finally`` clauses run."""


class Fragile:
    """Lets so many operations on files happen; from then on each one raises."""

    def __init__(self, patch: pytest.MonkeyPatch, raised: Callable[[], BaseException]) -> None:
        self.left: int | None = None
        self._raised = raised
        for name in ("mkdir", "replace", "unlink"):
            patch.setattr(Path, name, self._counting(getattr(Path, name)))
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


@pytest.fixture(params=[Killed, lambda: OSError(errno.EIO, "Input/output error")], ids=["killed", "failed"])
def fragile(request: pytest.FixtureRequest) -> Iterator[Fragile]:
    with pytest.MonkeyPatch.context() as patch:
        yield Fragile(patch, request.param)


def test_the_best_weights_are_whole_whenever_the_process_ends(fragile: Fragile, tmp_path: Path) -> None:
    for operations in count():
        folder = tmp_path / str(operations)
        keep(folder, 3, 3.0)
        is_broken = fragile.breaks(operations, lambda folder=folder: keep(folder, 4, 9.0))  # type: ignore[misc]
        assert best_step(folder) in (3, 4)
        remove_unfinished(folder)
        assert {file.name for file in folder.iterdir()} == {"best.safetensors"}
        if not is_broken:
            break
    assert operations > 1
