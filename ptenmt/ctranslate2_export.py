"""A run's model as CTranslate2, the production engine, reads it.

``ctranslate2/`` in the run directory is a cache: the int8 model of the best weights, with their checksum.
"""

import json
import logging
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ptenmt.atomic_files import folder_written_whole, temporary_folder
from ptenmt.config import ModelConfig
from ptenmt.errors import ExportError
from ptenmt.tokenizers import TokenizerPair
from ptenmt.trained_model import TrainedModel, default_alignment_layer

logger = logging.getLogger(__name__)

Quantization = Literal[
    "int8", "int8_bfloat16", "int8_float16", "int8_float32", "bfloat16", "float16", "int16", "float32"
]
"""How CTranslate2 stores weights; the 8-bit types take a quarter of the space of ``float32``.

In order of precision, of the weights, then of the computation: 7, 8, 11, 15 and 24 bits."""

_CACHE_FILE = "cache.json"
_CACHE_FORMAT = 1
_CACHED_QUANTIZATION: Quantization = "int8"


@dataclass(frozen=True, kw_only=True)
class CTranslate2Model:
    """A model in CTranslate2's form, in memory."""

    weights: str
    """Checksum of the weights it was made from."""
    quantization: Quantization
    alignment_layer: int
    """The decoder layer, counted from 1, whose cross-attention it returns."""
    files: dict[str, bytes]
    """By name, as ``ctranslate2.Translator`` takes them."""


def why_not_ctranslate2(config: ModelConfig) -> str:
    """Why CTranslate2 cannot express a model, in a sentence; empty if it can."""
    even = config.d_model // config.num_heads
    key_size, value_size = config.key_size or even, config.value_size or even
    if key_size != value_size:
        return (
            "CTranslate2 has one size for a head's keys and values, and this model has two "
            f"(model.key_size={key_size}, model.value_size={value_size})"
        )
    if config.positions == "none":
        return "CTranslate2 always adds positions, and this model has none (model.positions=none)"
    return ""


def check_ctranslate2(config: ModelConfig) -> None:
    """Raise ExportError for a model that CTranslate2 cannot express."""
    if reason := why_not_ctranslate2(config):
        raise ExportError(reason, "translate with the engine keras")


def ctranslate2_model(trained: TrainedModel) -> CTranslate2Model:
    """Load a run's model for translating from the cache, or convert its weights and fill the cache.

    Raises ExportError if CTranslate2 cannot express the model, CheckpointError if its weights are damaged.
    """
    check_ctranslate2(trained.config.model)
    folder = trained.run.ctranslate2_folder
    cached, layer = _read_cache(folder), trained.alignment_layer
    if cached is not None and (cached.weights, cached.alignment_layer) == (trained.info.checksum, layer):
        trained.is_settled = True
        return cached
    weights, checksum = trained.weights, trained.info.checksum
    model = convert(trained.config.model, weights, trained.tokenizers, checksum, alignment_layer=layer)
    if trained.info.file.stem != "latest":
        try:
            _write_cache(folder, model)
        except OSError as error:
            logger.info("cannot write %s, keeping the model in memory: %s", folder, error)
    return model


def convert(
    config: ModelConfig,
    weights: Mapping[str, Any],
    tokenizers: TokenizerPair,
    checksum: str,
    quantization: Quantization = _CACHED_QUANTIZATION,
    *,
    alignment_layer: int | None = None,
    adds_marks: bool = False,
) -> CTranslate2Model:
    """Convert a model, whose weights are arrays by Keras path; ``checksum`` is theirs.

    By default the attention of ``default_alignment_layer`` is returned. If it ``adds_marks``, the model
    itself adds [START] and [END] to a source of bare sub-words.

    Raises:
        ExportError: CTranslate2 cannot express the model.
        OutputError: There is no room for temporary files.
    """
    from ptenmt.ctranslate2_specification import specification

    check_ctranslate2(config)
    layer = alignment_layer or default_alignment_layer(config.num_decoder_layers)
    spec = specification(config, weights, tokenizers, layer)
    spec.config.add_source_bos = spec.config.add_source_eos = adds_marks
    spec.validate()
    spec.optimize(quantization)
    with temporary_folder() as folder:  # it saves into files only
        spec.save(str(folder))
        files = {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
    return CTranslate2Model(weights=checksum, quantization=quantization, alignment_layer=layer, files=files)


def nearest_quantization(wanted: str, supported: Collection[str]) -> str:
    """The type to compute in where a processor does not support the wanted one: the next more precise one."""
    by_precision = get_args(Quantization)
    more_precise = by_precision[by_precision.index(wanted) :]
    return next((each for each in more_precise if each in supported), "float32")


def _read_cache(folder: Path) -> CTranslate2Model | None:
    """The cached model, if it is whole; read first and then verified, as training may replace it."""
    try:
        facts = json.loads((folder / _CACHE_FILE).read_text(encoding="utf-8"))
        files = {name: (folder / name).read_bytes() for name in facts["files"]}
        if facts["format"] != _CACHE_FORMAT or facts["files"] != _checksums(files):
            return None
        return CTranslate2Model(
            weights=facts["weights"],
            quantization=_CACHED_QUANTIZATION,
            alignment_layer=facts["alignment_layer"],
            files=files,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write_cache(folder: Path, model: CTranslate2Model) -> None:
    facts = {
        "format": _CACHE_FORMAT,
        "weights": model.weights,
        "alignment_layer": model.alignment_layer,
        "files": _checksums(model.files),
    }
    with folder_written_whole(folder) as new:
        for name, content in model.files.items():
            (new / name).write_bytes(content)
        (new / _CACHE_FILE).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _checksums(files: Mapping[str, bytes]) -> dict[str, list[int]]:
    """Size and CRC-32 of each file."""
    return {name: [len(content), zlib.crc32(content)] for name, content in files.items()}
