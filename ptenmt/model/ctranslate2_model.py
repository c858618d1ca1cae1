"""A model as CTranslate2, the production engine, reads it: converted from its weights."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ptenmt.atomic_files import temporary_folder
from ptenmt.config import ModelConfig
from ptenmt.config.schema import SourceMarks
from ptenmt.errors import ExportError
from ptenmt.tokenizers import TokenizerPair

Quantization = Literal[
    "int8", "int8_bfloat16", "int8_float16", "int8_float32", "bfloat16", "float16", "int16", "float32"
]
"""How CTranslate2 stores weights; the 8-bit types take a quarter of the space of ``float32``.

In order of precision, of the weights, then of the computation: 7, 8, 11, 15 and 24 bits."""

DEFAULT_QUANTIZATION: Quantization = "int8"
VOCABULARY_MAP = "vmap.txt"
"""A model's file with the tokens that search may generate, which CTranslate2 calls a vocabulary map."""


@dataclass(frozen=True, kw_only=True)
class CTranslate2Model:
    """A model in CTranslate2's form, in memory or in a folder."""

    weights: str
    """Checksum of the weights it was made from."""
    quantization: Quantization
    alignment_layer: int
    """The decoder layer, counted from 1, whose cross-attention it returns."""
    source_marks: SourceMarks = "both"
    """The marks around a source that it reads."""
    files: Mapping[str, bytes]
    """By name; none, if they are in a folder."""
    folder: Path | None = None
    """Where a cached model is. A training replaces the whole folder."""
    inode: int = 0
    """The folder's, when it was verified."""


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


def convert(
    config: ModelConfig,
    weights: Mapping[str, Any],
    tokenizers: TokenizerPair,
    checksum: str,
    quantization: Quantization = DEFAULT_QUANTIZATION,
    *,
    alignment_layer: int | None = None,
    output_ids: Collection[int] | None = None,
    adds_marks: bool = False,
) -> CTranslate2Model:
    """Convert a model, whose weights are arrays by Keras path; ``checksum`` is theirs.

    By default the attention of ``default_alignment_layer`` is returned. With ``output_ids``, search generates
    these target tokens only; prefixes and scored targets may have any. If it ``adds_marks``, the model itself
    adds the marks that it reads, [START] and [END], to a source of bare sub-words.

    Raises:
        ExportError: CTranslate2 cannot express the model.
        OutputError: There is no room for temporary files.
    """
    from ptenmt.model.ctranslate2_specification import specification

    check_ctranslate2(config)
    layer = alignment_layer or default_alignment_layer(config.num_decoder_layers)
    spec = specification(config, weights, tokenizers, layer)
    spec.config.add_source_bos = adds_marks and config.source_marks == "both"
    spec.config.add_source_eos = adds_marks and config.source_marks != "none"
    spec.validate()
    spec.optimize(quantization)
    files = _saved(spec)
    if output_ids is not None:
        files[VOCABULARY_MAP] = _vocabulary_map(tokenizers.target.pieces(sorted(output_ids)))
    return CTranslate2Model(
        weights=checksum,
        quantization=quantization,
        alignment_layer=layer,
        source_marks=config.source_marks,
        files=files,
    )


def _saved(spec: Any) -> dict[str, bytes]:
    """The files of a specification, by name."""
    with temporary_folder() as folder:  # it saves into files only
        spec.save(str(folder))
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def _vocabulary_map(tokens: Sequence[str]) -> bytes:
    """A line is a phrase of the source, and the tokens that it allows: those of the empty one always."""
    return f"\t{' '.join(tokens)}\n".encode()


def nearest_quantization(wanted: str, supported: Collection[str]) -> str:
    """The type to compute in where a processor does not support the wanted one: the next more precise one."""
    by_precision = get_args(Quantization)
    more_precise = by_precision[by_precision.index(wanted) :]
    return next((quantization for quantization in more_precise if quantization in supported), "float32")


def default_alignment_layer(num_layers: int) -> int:
    """The decoder layer whose cross-attention aligns words best in most models: last but one of 3 or more.

    In deeper models the last layer also represents the next token (measured on base.yaml with 4 layers;
    Garg et al. 2019 find the penultimate layer best, too). In a model of 2 layers only the last aligns.
    """
    return num_layers - 1 if num_layers > 2 else num_layers
