"""Arrays of weights files of other programs, read one at a time, their shapes before their content."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.errors import ModelImportError
from ptenmt.model.layouts import Place

TO_FLOAT32 = "convert the model to float32 first"
_PICKLE_HINT = (
    "convert it where you trust it: python -c 'from transformers import AutoModelForSeq2SeqLM as M; "
    'M.from_pretrained("{folder}").save_pretrained("{folder}")\''
)

_SENTENCEPIECE_FILES = (
    ("source.spm", "target.spm"),
    ("sentencepiece.model", "sentencepiece.model"),
    ("spm.model", "spm.model"),
)


@dataclass(frozen=True)
class Tensors:
    """The arrays of a file."""

    file: Path
    shapes: Mapping[str, tuple[int, ...]]
    read: Callable[[str], np.ndarray]

    def get(self, place: Place, shape: tuple[int, ...]) -> np.ndarray:
        """Read a variable, as float32; ModelImportError if it is missing, damaged or of another shape."""
        name = next((name for name in place.names if name in self.shapes), None)
        if name is None:
            if place.is_optional:
                return np.zeros(shape, np.float32)
            raise ModelImportError(
                f"{self.file} has no weight {place.names[-1]}", "it is of another architecture"
            )
        rows, *columns = shape[::-1] if place.is_transposed else shape
        stored, found = (place.num_parts * rows, *columns), self.shapes[name]
        if _without_ones(found) != _without_ones(stored):
            raise ModelImportError(
                f"{self.file}: {name} has the shape {found}, and the model's sizes need {stored}",
                "the weights and the config are of different models",
            )
        with reading(self.file):
            array = self.read(name).reshape(stored)[place.part * rows : (place.part + 1) * rows]
        return (array.T if place.is_transposed else array).astype(np.float32, copy=False)


def open_tensors(folder: Path) -> Tensors:
    """Open the weights in a folder of Hugging Face's; ModelImportError if there are none that can be read."""
    file = folder / "model.safetensors"
    if file.exists():
        return _open_safetensors(file)
    if (folder / "tf_model.h5").exists():
        return _open_h5(folder / "tf_model.h5")
    if (folder / "model.safetensors.index.json").exists():
        raise ModelImportError(
            f"the weights in {folder} are in several files", "save them with max_shard_size='10GB'"
        )
    pickles = [*folder.glob("pytorch_model*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]
    if pickles:
        raise ModelImportError(
            f"{pickles[0]} is a pickle, which can run any program when it is read: ptenmt does not open it",
            _PICKLE_HINT.format(folder=folder),
        )
    raise ModelImportError(f"{folder} has no model.safetensors and no tf_model.h5", "copy the whole folder")


def most_unpacked(archive: Path) -> int:
    """The most bytes that an archive of weights, which hardly shrink, may have unpacked."""
    return max(1_000_000_000, 4 * archive.stat().st_size)


def _open_safetensors(file: Path) -> Tensors:
    import safetensors

    with reading(file):
        opened: Any = safetensors.safe_open(file, "numpy")
        slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
    for name, content in slices.items():
        if content.get_dtype() == "BF16":
            raise ModelImportError(f"{file}: {name} is in bfloat16", TO_FLOAT32)
    shapes = {name: tuple(content.get_shape()) for name, content in slices.items()}
    return Tensors(file, shapes, opened.get_tensor)


def _open_h5(file: Path) -> Tensors:
    """Open a file of Keras', with its names and shapes as in Hugging Face's safetensors."""
    import h5py

    found: dict[str, Any] = {}

    def visit(path: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[_name_of_h5(path)] = item

    with reading(file):
        h5py.File(file, "r").visititems(visit)

    def read(name: str) -> np.ndarray:
        array = found[name][()]
        return np.asarray(array.T if _is_kernel(name) else array)

    shapes = {name: item.shape[::-1] if _is_kernel(name) else item.shape for name, item in found.items()}
    return Tensors(file, shapes, read)


def _is_kernel(name: str) -> bool:
    return name.endswith(".weight") and ("_proj." in name or ".fc" in name)


def _name_of_h5(path: str) -> str:
    """Such as ``model.encoder.layers.0.fc1.weight`` for ``…/model/encoder/layers.0/fc1/kernel:0``."""
    *parents, last = path.removesuffix(":0").split("/")
    if last == "final_logits_bias":
        return last
    last = {"kernel": "weight", "gamma": "weight", "beta": "bias", "embeddings": "weight"}.get(last, last)
    if any(parent.endswith("shared") for parent in parents):
        return f"model.shared.{last}"
    stack = max((place for place, part in enumerate(parents) if part in ("encoder", "decoder")), default=0)
    return ".".join(["model", *parents[stack:], last])


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]


def sentencepiece_models(*folders: Path) -> tuple[bytes, bytes]:
    """Read the SentencePiece models of both languages, from the first folder that has one."""
    for folder in folders:
        for source, target in _SENTENCEPIECE_FILES:
            if (folder / source).exists():
                with reading(folder / target):
                    return (folder / source).read_bytes(), (folder / target).read_bytes()
    names = ", ".join(dict.fromkeys(name for pair in _SENTENCEPIECE_FILES for name in pair))
    missing = f"{folders[0]} has no SentencePiece model ({names})"
    if any([*folders[0].glob("bpe*"), *folders[0].glob("*.bpe")]):
        raise ModelImportError(f"{missing}, but sub-words by BPE", "choose a model with SentencePiece")
    raise ModelImportError(missing, "copy the one that the model was trained with there")


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Raise ModelImportError for a file that is missing, truncated or damaged."""
    try:
        yield
    except ModelImportError:
        raise
    except FileNotFoundError as error:
        raise ModelImportError(f"{file} is missing", "copy the whole folder") from error
    except KeyError as error:
        raise ModelImportError(f"{file} has no {error.args[0]}", "copy the whole file") from error
    except Exception as error:  # every format has errors of its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelImportError(f"{file} cannot be read: {reason}", "copy or download it again") from error


def read_json(file: Path, *, needed: bool = True) -> dict[str, Any]:
    """Read an object of JSON; ModelImportError if it is damaged, or missing and ``needed``."""
    if not needed and not file.exists():
        return {}
    with reading(file):
        return dict(json.loads(file.read_text(encoding="utf-8")))
