"""CTranslate2's models, Argos packages among them, with their weights as floats again.

CTranslate2 quantizes a row of a matrix to integers and one scale. Their products, quantized once more when
the run translates, are the same integers.
"""

import json
import struct
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from ptenmt.config import ModelConfig
from ptenmt.config.schema import Activation, SourceMarks
from ptenmt.errors import ModelImportError
from ptenmt.importing.foreign import (
    TO_FLOAT32,
    ForeignModel,
    Tensors,
    Vocabulary,
    check_architecture,
    read_json,
    reading,
    sentencepiece_models,
)
from ptenmt.model.layouts import in_ctranslate2, interleaving
from ptenmt.model.numpy_transformer import positional_encoding

_VERSIONS = (4, 5, 6)
"""Of the file's format, which are read alike."""
_DTYPES = ("<f4", "<i1", "<i2", "<i4", "<f2")
_MAX_POSITIONS = 1024
"""Enough for any sentence; other programs store 5,000."""
_ACTIVATIONS: dict[int, Activation] = {0: "relu", 2: "swish", 3: "gelu"}
_UNKNOWN_PARTS = tuple(
    "layernorm_embedding relative rotary alibi project_in norm_residual weight_zero".split()  # noqa: SIM905
)
_POSITIONS = "encoder/position_encodings/encodings"


def read_ctranslate2(folder: Path, place: Path | None = None) -> ForeignModel:
    """Read CTranslate2's folder, or that of an Argos package; raises ModelImportError.

    ``place`` has ``model.bin``; by default the folder itself, or ``model`` in it.
    """
    package = folder / "metadata.json"
    metadata = read_json(package, needed=False)
    check_architecture(package, {"target_prefix": (metadata.get("target_prefix"), ("", None))})
    place = place or (folder / "model" if (folder / "model" / "model.bin").exists() else folder)
    tensors = _open_model(place / "model.bin")
    config = read_json(place / "config.json", needed=False)
    source, target = _vocabularies(place, config, tensors)
    exported = metadata.get("ptenmt") or read_json(folder / "export.json", needed=False)
    marks = exported.get("source_marks") or _source_marks(tensors, config, source, is_bare=bool(metadata))
    model = _model_config(tensors, config, marks)
    return ForeignModel(
        form="Argos Translate" if metadata else "CTranslate2",
        model=model,
        source=source,
        target=target,
        spm=sentencepiece_models(folder, place),
        tensors=tensors,
        place=partial(in_ctranslate2, is_gated=model.activation == "swiglu"),
        has_sines_first=_has_sines_first(tensors, model),
        languages=(str(metadata.get("from_code", "")), str(metadata.get("to_code", ""))),
        exported={"licence": str(metadata.get("license", "")), **exported},
    )


def _open_model(file: Path) -> Tensors:
    """Open ``model.bin``: variables with name, shape, type and content, then other names of theirs."""
    arrays: dict[str, np.ndarray] = {}
    with reading(file):
        content = np.memmap(file, mode="r")
        with file.open("rb") as stream:
            version, spec, _ = _number(stream, "I"), _text(stream), _number(stream, "I")
            if version not in _VERSIONS or spec != "TransformerSpec":
                raise ModelImportError(
                    f"{file}: ptenmt cannot express {spec} of format {version}",
                    "convert it with a newer version of CTranslate2",
                )
            for _ in range(_number(stream, "I")):
                name = _text(stream)
                shape = tuple(_number(stream, "I") for _ in range(_number(stream, "B")))
                type_id, num_bytes = _number(stream, "B"), _number(stream, "I")
                if type_id >= len(_DTYPES):
                    raise ModelImportError(f"{file}: {name} is in bfloat16", TO_FLOAT32)
                end = stream.seek(num_bytes, 1)
                arrays[name] = content[end - num_bytes : end].view(_DTYPES[type_id]).reshape(shape)
            aliases = [(_text(stream), _text(stream)) for _ in range(_number(stream, "I"))]
        for alias, name in aliases:
            for ending in ("", "_scale"):
                if f"{name}{ending}" in arrays:
                    arrays[f"{alias}{ending}"] = arrays[f"{name}{ending}"]
        for name, array in [*arrays.items()]:  # as older versions of CTranslate2 named them
            if "/" not in name:
                arrays |= {f"encoder/{name}": array, f"decoder/{name}": array}
            arrays[name.replace("encoder/embeddings/", "encoder/embeddings_0/")] = array

    def read(name: str) -> np.ndarray:
        array = arrays[name].astype(np.float32)
        scale = arrays.get(f"{name}_scale")
        return (
            array if scale is None else array / scale.astype(np.float32).reshape(-1, *[1] * (scale.size > 1))
        )

    return Tensors(file, {name: array.shape for name, array in arrays.items()}, read)


def _number(stream: IO[bytes], form: str) -> int:
    size = struct.calcsize(f"<{form}")
    return int(struct.unpack(f"<{form}", stream.read(size))[0])


def _text(stream: IO[bytes]) -> str:
    return stream.read(_number(stream, "H")).rstrip(b"\0").decode()


def _scalar(tensors: Tensors, name: str, default: float = 0) -> float:
    return float(tensors.read(name).ravel()[0]) if name in tensors.shapes else default


def _source_marks(
    tensors: Tensors, config: dict[str, Any], vocabulary: Vocabulary, *, is_bare: bool
) -> SourceMarks:
    """The marks that are around the model's sources, whether CTranslate2 adds them or its user.

    Of a package of Argos', whose sub-words are bare, only those that CTranslate2 adds.
    """
    if config.get("add_source_bos"):
        return "both"
    if config.get("add_source_eos") or _scalar(tensors, "decoder/start_from_zero_embedding"):
        return "end"
    return "both" if vocabulary.is_own and not is_bare else "none"


def _model_config(tensors: Tensors, config: dict[str, Any], marks: SourceMarks) -> ModelConfig:
    """The sizes and variants of a model; ModelImportError for those that ptenmt cannot express."""
    file, shapes = tensors.file, tensors.shapes
    for name in shapes:
        if any(part in name for part in _UNKNOWN_PARTS) and tensors.read(name).any():
            raise ModelImportError(f"{file}: ptenmt cannot express {name}", "choose a model without it")
    is_gated = "encoder/layer_0/ffn/linear_0_noact/weight" in shapes
    activation = int(_scalar(tensors, "encoder/activation"))
    check_architecture(
        file,
        {
            "activation": (activation, (2,) if is_gated else tuple(_ACTIVATIONS)),
            "multi_query_attention": (_scalar(tensors, "encoder/multi_query_attention"), (0,)),
            "scale_embeddings": (_scalar(tensors, "encoder/scale_embeddings", 1) != 0, (True,)),
            "embeddings_1": ("encoder/embeddings_1/weight" in shapes, (False,)),
            "position_encodings": (_POSITIONS in shapes, (True,)),
        },
    )

    def is_same(one: str, other: str) -> bool:
        return np.array_equal(tensors.read(one), tensors.read(other))

    with reading(file):
        tied: Literal["none", "target", "all"] = "none"
        if is_same("decoder/embeddings/weight", "decoder/projection/weight"):
            is_shared = is_same("encoder/embeddings_0/weight", "decoder/embeddings/weight")
            tied = "all" if is_shared else "target"
        encoder, decoder = (
            len([name for name in shapes if name.startswith(stack) and name.endswith("/ffn/linear_0/weight")])
            for stack in ("encoder", "decoder")
        )
        width = shapes["encoder/embeddings_0/weight"][1]
        heads = int(_scalar(tensors, "encoder/num_heads"))
        head_size = int(_scalar(tensors, "encoder/layer_0/self_attention/head_dim")) or width // heads
        special_size = None if head_size * heads == width else head_size
        return ModelConfig(
            num_layers=encoder,
            decoder_layers=decoder,
            d_model=width,
            num_heads=heads,
            d_ff=shapes["encoder/layer_0/ffn/linear_0/weight"][0],
            key_size=special_size,
            value_size=special_size,
            norm="pre" if _scalar(tensors, "encoder/pre_norm", 1) else "post",
            tied_embeddings=tied,
            activation="swiglu" if is_gated else _ACTIVATIONS[activation],
            norm_epsilon=config.get("layer_norm_epsilon") or 1e-5,
            source_marks=marks,
            max_positions=min(shapes[_POSITIONS][0], _MAX_POSITIONS),
        )


def _has_sines_first(tensors: Tensors, model: ModelConfig) -> bool:
    """Whether positions are not interleaved; ModelImportError if they are no sines and cosines."""
    found = tensors.read(_POSITIONS)[: model.max_positions]
    interleaved = positional_encoding(len(found), model.d_model)
    sines_first = interleaved[:, np.argsort(interleaving(model.d_model))]
    for expected in (interleaved, sines_first):
        if found.shape == expected.shape and np.allclose(found, expected, atol=2e-3):
            return expected is sines_first
    raise ModelImportError(
        f"{tensors.file}: ptenmt cannot express learned positions", "choose a model with sinusoidal ones"
    )


def _vocabularies(folder: Path, config: dict[str, Any], tensors: Tensors) -> tuple[Vocabulary, Vocabulary]:
    found = []
    for names in (("shared_vocabulary", "source_vocabulary"), ("shared_vocabulary", "target_vocabulary")):
        files = [folder / f"{name}.{ending}" for name in names for ending in ("json", "txt")]
        file = next((file for file in files if file.exists()), files[0])
        with reading(file):
            text = file.read_text(encoding="utf-8")
            found.append(json.loads(text) if file.suffix == ".json" else text.removesuffix("\n").split("\n"))
    start = config.get("decoder_start_token", config.get("bos_token", "<s>"))
    if _scalar(tensors, "decoder/start_from_zero_embedding"):
        start = None
    elif start is None or (config.get("add_source_bos") and config.get("bos_token") != start):
        raise ModelImportError(
            f"{folder / 'config.json'}: ptenmt cannot express decoder_start_token={start!r}",
            "it knows one token that begins sources and targets",
        )
    special = {"unknown": config.get("unk_token", "<unk>"), "end": config.get("eos_token", "</s>")}
    source = Vocabulary(tokens=found[0], start=start if start in found[0] else None, **special)
    return source, Vocabulary(tokens=found[1], start=start, **special)
