"""A run's weights on disk, which everything but training reads: ``weights/*.safetensors``.

- ``best.safetensors``: the best of all validations, by ``validation.metric``
- ``latest.safetensors``: saved together with the newest training state

A file holds the arrays of one model by their Keras paths, such as
``transformer/encoder/block1/self_attention/query/kernel``, in float32, or in float16 to be passed on; any
program that reads safetensors can use it.
Its metadata have the training step, the scores, and the checksum of the arrays. Files are written
whole or not at all.
"""

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.atomic_files import json_checksum, output_errors, write_bytes
from ptenmt.config import Config, ModelConfig
from ptenmt.errors import CheckpointError, OutputError
from ptenmt.runs.directory import Choice, Run, rank
from ptenmt.tokenizers import tokenizer_fingerprint

if TYPE_CHECKING:
    import numpy as np

FORMAT_VERSION = 1
_METADATA = "ptenmt_weights"
_LARGEST_HEADER = 100_000_000  # bytes, as safetensors itself allows


@dataclass(frozen=True, kw_only=True)
class WeightsInfo:
    """The metadata of a weights file."""

    file: Path
    step: int
    """Number of updates after which the weights were saved."""
    metric: str
    score: float | None
    """By that metric; None if these weights were not validated."""
    loss: float | None
    """Teacher-forced loss of the same validation."""
    model: str
    """Fingerprint of the model's options, see ``model_fingerprint``."""
    checksum: str
    """CRC-32 of the arrays; identifies the weights."""
    tokenizer: str = ""
    """Fingerprint of the run's tokenizers, see ``tokenizer_fingerprint``; empty if it is unknown."""

    @property
    def label(self) -> str:
        """For display, such as ``best (step 1,512)``."""
        kind = self.file.stem
        return f"{kind} (step {self.step:,})" if kind in ("best", "latest") else f"step {self.step:,}"


def model_fingerprint(config: ModelConfig) -> str:
    """Identify a model by its options that differ from their defaults."""
    defaults = asdict(ModelConfig())
    changed = {name: value for name, value in asdict(config).items() if value != defaults[name]}
    return json_checksum(changed)[:16]


def write_weights(
    file: Path,
    arrays: Mapping[str, "np.ndarray"],
    config: Config,
    step: int,
    score: float | None = None,
    loss: float | None = None,
) -> WeightsInfo:
    """Write a weights file of a run, whole or not at all, and create its folder; facts as of ``WeightsInfo``.

    Arrays of float16 are written as they are, others in float32. Raises CheckpointError if the disk is full,
    or the folder cannot be written.
    """
    arrays = {
        name: array.astype("<f2" if array.dtype == "f2" else "<f4", order="C", copy=False)
        for name, array in arrays.items()
    }
    info = WeightsInfo(
        file=file,
        step=step,
        metric=config.validation.metric,
        score=score,
        loss=loss,
        model=model_fingerprint(config.model),
        checksum=_checksum(arrays),
        tokenizer=tokenizer_fingerprint(Run(file.parents[1]).tokenizer_folder),
    )
    try:
        with output_errors(f"create {file.parent}"):
            file.parent.mkdir(exist_ok=True)
        write_bytes(file, serialized(info, arrays))
    except OutputError as error:
        hint = "make room and run the command again; what was saved before is unharmed"
        raise CheckpointError(error.message, hint) from error
    return info


def serialized(info: WeightsInfo, arrays: Mapping[str, "np.ndarray"]) -> bytes:
    """The content of a weights file."""
    import safetensors.numpy

    facts = {name: value for name, value in vars(info).items() if name != "file"}
    metadata = {_METADATA: json.dumps({"format": FORMAT_VERSION, **facts})}
    return safetensors.numpy.save(dict(arrays), metadata)


def read_info(file: Path) -> WeightsInfo:
    """Read a weights file's metadata, fast and without NumPy; CheckpointError if it is missing or damaged."""
    with _reading(file), file.open("rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > _LARGEST_HEADER:
            raise ValueError("no safetensors header")
        header = json.loads(stream.read(length))
        info = _info(file, header.pop("__metadata__"))
        size = 8 + length + max(entry["data_offsets"][1] for entry in header.values())
        if size != os.fstat(stream.fileno()).st_size:
            raise ValueError("truncated")
        return info


def read_weights(file: Path) -> tuple[WeightsInfo, dict[str, "np.ndarray"]]:
    """Read a weights file, its metadata and float32 arrays by Keras path, and verify its checksum.

    Raises CheckpointError if it is missing, truncated or damaged.
    """
    from safetensors import SafetensorError, safe_open

    with _reading(file):
        try:
            with safe_open(file, "numpy") as stored:  # once: training may replace the file at any moment
                info = _info(file, stored.metadata())
                arrays = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise ValueError(str(error)) from error
        if _checksum(arrays) != info.checksum:
            raise ValueError("its checksum is not that of its arrays")
    return info, {name: array.astype("<f4", copy=False) for name, array in arrays.items()}


def list_weights(
    folder: Path, choice: Choice, on_damaged: Callable[[str], None] = lambda _reason: None
) -> list[WeightsInfo]:
    """The weights files to choose from, the preferred one first: the best and the latest.

    ``choice`` may be only ``latest``. ``on_damaged`` is called for each file whose metadata cannot be read.
    """
    readable = []
    for name in ("best", "latest") if choice == "best" else ("latest",):
        file = folder / f"{name}.safetensors"
        try:
            readable.append(read_info(file))
        except CheckpointError as error:
            if file.exists():
                on_damaged(error.message)
    return readable


def best_weights(folder: Path) -> WeightsInfo | None:
    """The best weights; None if there are none that can be read."""
    return next((info for info in list_weights(folder, "best") if info.file.stem == "best"), None)


def keep_best(
    folder: Path, arrays: Mapping[str, "np.ndarray"], config: Config, step: int, score: float, loss: float
) -> None:
    """Save validated weights if they are the best; those of the same step, validated again, are replaced.

    Of equal scores the one with the lower loss is better, then the earlier. Raises CheckpointError if they
    cannot be written.
    """
    best, quality = best_weights(folder), rank(config.validation.metric, score, loss)
    if best is None or best.step == step or quality > rank(best.metric, best.score, best.loss):
        write_weights(folder / "best.safetensors", arrays, config, step, score, loss)


def _info(file: Path, metadata: dict[str, str]) -> WeightsInfo:
    """Raise ValueError, KeyError or TypeError for metadata of another program or format."""
    facts = json.loads(metadata[_METADATA])
    if (version := facts.pop("format")) != FORMAT_VERSION:
        raise ValueError(f"format {version}; this ptenmt reads format {FORMAT_VERSION}")
    return WeightsInfo(file=file, **facts)


def _checksum(arrays: Mapping[str, "np.ndarray"]) -> str:
    """CRC-32 of all names and values."""
    checksum = 0
    for name in sorted(arrays):
        checksum = zlib.crc32(arrays[name].data, zlib.crc32(name.encode(), checksum))
    return f"{checksum:08x}"


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CheckpointError(f"cannot read weights {file}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        reason = error if type(error) is ValueError else "no whole weights file of ptenmt"
        hint = "copy the file again, or use the run's other weights with --checkpoint"
        raise CheckpointError(f"weights {file} are damaged: {reason}", hint) from error
