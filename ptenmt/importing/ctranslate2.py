"""CTranslate2's models, Argos packages among them, with their weights as floats again.

CTranslate2 quantizes a row of a matrix to integers and one scale. Their products, quantized once more when
the run translates, are the same integers.
"""

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from ptenmt.config import ModelConfig
from ptenmt.config.schema import SourceMarks
from ptenmt.errors import ConfigError, ModelImportError
from ptenmt.importing.foreign import ForeignModel, Vocabulary
from ptenmt.importing.tensors import read_json, reading
from ptenmt.model.layouts import interleaving
from ptenmt.model.positions import positional_encoding

_VERSIONS = (4, 5, 6)
"""Of the file's format, which are read alike."""
_DTYPES = ("<f4", "<i1", "<i2", "<i4", "<f2")
_MAX_POSITIONS = 1024
"""Enough for any sentence; other programs store 5,000."""
_ACTIVATIONS = {0: "relu", 2: "swish", 3: "gelu"}
_UNKNOWN_PARTS = (
    "layernorm_embedding",
    "relative",
    "rotary",
    "alibi",
    "project_in",
    "norm_residual",
    "_zero",
)
_SPM_FILES = (("sentencepiece.model",) * 2, ("spm.model",) * 2, ("source.spm", "target.spm"))
_OWNERS = {"self_attention": "self_attention", "cross_attention": "attention", "feed_forward": "ffn"}
_PARTS = {
    ("self_attention", "query"): ("linear_0", 0, 3),
    ("self_attention", "key"): ("linear_0", 1, 3),
    ("self_attention", "value"): ("linear_0", 2, 3),
    ("self_attention", "output"): ("linear_1", 0, 1),
    ("cross_attention", "query"): ("linear_0", 0, 1),
    ("cross_attention", "key"): ("linear_1", 0, 2),
    ("cross_attention", "value"): ("linear_1", 1, 2),
    ("cross_attention", "output"): ("linear_2", 0, 1),
    ("feed_forward", "gate"): ("linear_0", 0, 1),
    ("feed_forward", "contract"): ("linear_1", 0, 1),
}
"""Of the layers with one matrix: its name, which part of its rows the layer is, of how many."""


@dataclass(frozen=True)
class _Variables:
    """The variables of a ``model.bin``, which lies in memory."""

    file: Path
    arrays: dict[str, np.ndarray]

    def scalar(self, name: str, default: float = 0) -> float:
        found = self.arrays.get(name)
        return default if found is None else float(found.ravel()[0])

    def get(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """A variable in float32; ModelImportError if it is missing or of another shape."""
        found = self.arrays.get(name)
        if found is None:
            raise ModelImportError(f"{self.file} has no weight {name}", "it is of another architecture")
        if found.shape != shape:
            raise ModelImportError(
                f"{self.file}: {name} has the shape {found.shape}, and the model's sizes need {shape}",
                "copy or download it again",
            )
        array = found.astype(np.float32)
        scale = self.arrays.get(f"{name}_scale")
        if scale is not None:
            array /= scale.astype(np.float32).reshape(-1, 1) if scale.size > 1 else np.float32(scale)
        return array


def read_ctranslate2(folder: Path) -> ForeignModel:
    """Read CTranslate2's folder, or that of an Argos package; raises ModelImportError."""
    metadata = read_json(folder / "metadata.json", needed=False)
    if metadata.get("target_prefix"):
        raise ModelImportError(
            f"{folder / 'metadata.json'}: ptenmt cannot express target_prefix={metadata['target_prefix']!r}",
            "choose a package for one pair of languages",
        )
    place = folder / "model" if (folder / "model" / "model.bin").exists() else folder
    variables = _read_variables(place / "model.bin")
    config = read_json(place / "config.json", needed=False)
    source, target = _vocabularies(place, config, variables)
    exported = read_json(folder / "export.json", needed=False)
    marks = exported.get("source_marks") or _source_marks(variables, config, source, is_bare=bool(metadata))
    model = _model_config(variables, config, marks)
    width = model.d_model
    sizes = {"encoder": len(source.tokens), "decoder": len(target.tokens)}

    def layer(path: str, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
        name, part, num_parts = _name_of(path, is_gated=model.activation == "swiglu")
        if len(shape) == 1:
            return {
                "gamma": variables.get(f"{name}/gamma", shape),
                "beta": variables.get(f"{name}/beta", shape),
            }
        inputs, outputs = shape
        rows = slice(part * outputs, (part + 1) * outputs)
        kernel = variables.get(f"{name}/weight", (num_parts * outputs, inputs))[rows].T
        if f"{name}/bias" not in variables.arrays:
            return {"kernel": kernel, "bias": np.zeros(outputs, np.float32)}
        return {"kernel": kernel, "bias": variables.get(f"{name}/bias", (num_parts * outputs,))[rows]}

    def embedding(stack: str) -> np.ndarray:
        name = "encoder/embeddings_0/weight" if stack == "encoder" else "decoder/embeddings/weight"
        return variables.get(name, (sizes[stack], width))

    def bias() -> np.ndarray | None:
        name = "decoder/projection/bias"
        return variables.get(name, (sizes["decoder"],)) if name in variables.arrays else None

    source_language, target_language = exported.get(
        "languages", (metadata.get("from_code"), metadata.get("to_code"))
    )
    return ForeignModel(
        form="Argos Translate" if metadata else "CTranslate2",
        model=model,
        source=source,
        target=target,
        spm=_spm_models(folder, place),
        layer=layer,
        embedding=embedding,
        bias=bias,
        projection=None
        if model.tied_embeddings != "none"
        else lambda: variables.get("decoder/projection/weight", (sizes["decoder"], width)).T,
        has_sines_first=_has_sines_first(variables, model),
        languages=(source_language, target_language) if source_language and target_language else None,
        licence=str(metadata.get("license", "")),
    )


def _read_variables(file: Path) -> _Variables:
    """Read ``model.bin``: variables with name, shape, type and content, then other names of theirs."""
    with reading(file):
        left = file.stat().st_size
        with file.open("rb") as stream:
            version, spec, _ = _number(stream, "I"), _text(stream), _number(stream, "I")
            if version not in _VERSIONS or spec != "TransformerSpec":
                raise ModelImportError(
                    f"{file}: ptenmt cannot express {spec} of format {version}",
                    "convert it with a newer version of CTranslate2",
                )
            arrays = {}
            for _ in range(_number(stream, "I")):
                name = _text(stream)
                shape = tuple(_number(stream, "I") for _ in range(_number(stream, "B")))
                type_id, num_bytes = _number(stream, "B"), _number(stream, "I")
                if type_id >= len(_DTYPES):
                    raise ModelImportError(
                        f"{file}: {name} is in bfloat16", "convert the model to float32 first"
                    )
                dtype = np.dtype(_DTYPES[type_id])
                if num_bytes > left or num_bytes != math.prod(shape) * dtype.itemsize:
                    raise ValueError(f"{name} is larger than the file")
                arrays[name] = np.frombuffer(stream.read(num_bytes), dtype).reshape(shape)
            aliases = [(_text(stream), _text(stream)) for _ in range(_number(stream, "I"))]
        for alias, name in aliases:
            arrays[alias] = arrays[name]
            if f"{name}_scale" in arrays:
                arrays[f"{alias}_scale"] = arrays[f"{name}_scale"]
    return _Variables(file, arrays)


def _number(stream: IO[bytes], form: str) -> int:
    size = struct.calcsize(f"<{form}")
    return int(struct.unpack(f"<{form}", stream.read(size))[0])


def _text(stream: IO[bytes]) -> str:
    return stream.read(_number(stream, "H")).rstrip(b"\0").decode()


def _source_marks(
    variables: _Variables, config: dict[str, Any], vocabulary: Vocabulary, *, is_bare: bool
) -> SourceMarks:
    """The marks that are around the model's sources, whether CTranslate2 adds them or its user.

    Of a package of Argos', whose sub-words are bare, only those that CTranslate2 adds.
    """
    if config.get("add_source_bos"):
        return "both"
    if config.get("add_source_eos") or variables.scalar("decoder/start_from_zero_embedding"):
        return "end"
    return "both" if vocabulary.is_own and not is_bare else "none"


def _model_config(variables: _Variables, config: dict[str, Any], marks: SourceMarks) -> ModelConfig:
    """The sizes and variants of a model; ModelImportError for those that ptenmt cannot express."""
    arrays, file = variables.arrays, variables.file
    for name in arrays:
        part = next((part for part in _UNKNOWN_PARTS if part in name), None)
        if part and not (arrays[name].size == 1 and not arrays[name].any()):
            raise ModelImportError(f"{file}: ptenmt cannot express {name}", "choose a model without it")
    activation = int(variables.scalar("encoder/activation"))
    is_gated = "encoder/layer_0/ffn/linear_0_noact/weight" in arrays
    facts = {
        "activation": activation in _ACTIVATIONS and (not is_gated or activation == 2),
        "multi_query_attention": not variables.scalar("encoder/multi_query_attention"),
        "scale_embeddings=false": bool(variables.scalar("encoder/scale_embeddings", 1)),
        "num_source_embeddings": "encoder/embeddings_1/weight" not in arrays,
        "no position_encodings": "encoder/position_encodings/encodings" in arrays,
    }
    if wrong := [option for option, is_known in facts.items() if not is_known]:
        raise ModelImportError(f"{file}: ptenmt cannot express {wrong[0]}", "choose another model")
    source, target, output = (
        arrays.get(name, np.empty(0))
        for name in ("encoder/embeddings_0/weight", "decoder/embeddings/weight", "decoder/projection/weight")
    )
    tied = "none"
    if np.array_equal(target, output):
        tied = "all" if np.array_equal(source, target) else "target"
    with reading(file):
        depths = [
            sum(f"{stack}/layer_{i}/ffn/linear_0/weight" in arrays for i in range(1000))
            for stack in ("encoder", "decoder")
        ]
        width = source.shape[1]
        heads = int(variables.scalar("encoder/num_heads"))
        head_size = int(variables.scalar("encoder/layer_0/self_attention/head_dim")) or width // heads
        is_default = head_size * heads == width
        try:
            return ModelConfig(
                num_layers=depths[0],
                decoder_layers=None if depths[0] == depths[1] else depths[1],
                d_model=width,
                num_heads=heads,
                d_ff=arrays["encoder/layer_0/ffn/linear_0/weight"].shape[0],
                key_size=None if is_default else head_size,
                value_size=None if is_default else head_size,
                norm="pre" if variables.scalar("encoder/pre_norm") else "post",
                tied_embeddings=tied,  # type: ignore[arg-type]
                activation="swiglu" if is_gated else _ACTIVATIONS[activation],  # type: ignore[arg-type]
                norm_epsilon=config.get("layer_norm_epsilon") or 1e-5,
                source_marks=marks,
                max_positions=min(len(arrays["encoder/position_encodings/encodings"]), _MAX_POSITIONS),
            )
        except ConfigError as error:
            raise ModelImportError(f"{file}: {error.message}", error.hint) from error


def _has_sines_first(variables: _Variables, model: ModelConfig) -> bool:
    """Whether positions are not interleaved; ModelImportError if they are no sines and cosines."""
    found = variables.arrays["encoder/position_encodings/encodings"].astype(np.float32)[: model.max_positions]
    interleaved = positional_encoding(len(found), model.d_model)
    for order in (np.arange(model.d_model), np.argsort(interleaving(model.d_model))):
        if found.shape == interleaved.shape and np.allclose(found, interleaved[:, order], atol=2e-3):
            return not np.array_equal(order, np.arange(model.d_model))
    raise ModelImportError(
        f"{variables.file}: ptenmt cannot express learned positions", "choose a model with sinusoidal ones"
    )


def _name_of(path: str, *, is_gated: bool) -> tuple[str, int, int]:
    """A layer's name in CTranslate2; which part of its rows it is, of how many."""
    stack, block, *rest = path.split("/")
    if not rest:
        return f"{stack}/layer_norm", 0, 1
    name = f"{stack}/layer_{int(block.removeprefix('block')) - 1}"
    owner, part = rest
    if part == "expand":
        return f"{name}/ffn/{'linear_0_noact' if is_gated else 'linear_0'}", 0, 1
    if owner.endswith("_norm"):
        return f"{name}/{_OWNERS[owner.removesuffix('_norm')]}/layer_norm", 0, 1
    return (f"{name}/{_OWNERS[owner]}/{_PARTS[owner, part][0]}", *_PARTS[owner, part][1:])


def _vocabularies(
    folder: Path, config: dict[str, Any], variables: _Variables
) -> tuple[Vocabulary, Vocabulary]:
    found = []
    for names in (("shared_vocabulary", "source_vocabulary"), ("shared_vocabulary", "target_vocabulary")):
        files = [folder / f"{name}.{ending}" for name in names for ending in ("json", "txt")]
        file = next((file for file in files if file.exists()), files[0])
        with reading(file):
            text = file.read_text(encoding="utf-8")
            found.append(json.loads(text) if file.suffix == ".json" else text.removesuffix("\n").split("\n"))
    start = config.get("decoder_start_token", config.get("bos_token", "<s>"))
    if variables.scalar("decoder/start_from_zero_embedding"):
        start = None
    elif start is None or (config.get("add_source_bos") and config.get("bos_token") != start):
        raise ModelImportError(
            f"{folder / 'config.json'}: ptenmt cannot express decoder_start_token={start!r}",
            "it knows one token that begins sources and targets",
        )
    special = {"unknown": config.get("unk_token", "<unk>"), "end": config.get("eos_token", "</s>")}
    source = Vocabulary(tokens=found[0], start=start if start in found[0] else None, **special)
    return source, Vocabulary(tokens=found[1], start=start, **special)


def _spm_models(folder: Path, place: Path) -> tuple[bytes, bytes]:
    for parent in (folder, place):
        for source, target in _SPM_FILES:
            if (parent / source).exists():
                with reading(parent / target):
                    return (parent / source).read_bytes(), (parent / target).read_bytes()
    names = ", ".join(dict.fromkeys(name for pair in _SPM_FILES for name in pair))
    if any(folder.glob("bpe*")):
        raise ModelImportError(
            f"{folder} has sub-words by BPE, not by SentencePiece", f"ptenmt knows {names}"
        )
    raise ModelImportError(
        f"{folder} has no SentencePiece model", f"copy the one that the model was trained with there: {names}"
    )
