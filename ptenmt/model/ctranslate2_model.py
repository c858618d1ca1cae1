"""A model as CTranslate2, the production engine, reads it: converted from its weights.

CTranslate2 and NumPy are imported when a model is converted: to use the cache, neither is needed here.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ptenmt.atomic_files import temporary_folder
from ptenmt.config import ModelConfig
from ptenmt.config.schema import SourceMarks
from ptenmt.errors import ExportError
from ptenmt.tokenizers import END, SPECIAL_PIECES, START, UNK, TokenizerPair

Quantization = Literal[
    "int8", "int8_bfloat16", "int8_float16", "int8_float32", "bfloat16", "float16", "int16", "float32"
]
"""How CTranslate2 stores weights; the 8-bit types take a quarter of the space of ``float32``.

In order of precision, of the weights, then of the computation: 7, 8, 11, 15 and 24 bits."""

DEFAULT_QUANTIZATION: Quantization = "int8"
_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swish": "SWISH", "swiglu": "SWISH"}
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


def specification(
    config: ModelConfig, weights: Mapping[str, Any], tokenizers: TokenizerPair, alignment_layer: int
) -> Any:
    """Describe a model, which CTranslate2 must be able to express, with all of its weights.

    The attention of ``alignment_layer``, counted from 1, is what CTranslate2 returns.
    """
    from ctranslate2.specs import common_spec, transformer_spec
    from ctranslate2.specs.model_spec import visit_spec

    options: dict[str, Any] = {
        "num_heads": config.num_heads,
        "pre_norm": config.norm == "pre",
        "activation": getattr(common_spec.Activation, _ACTIVATIONS[config.activation]),
        "ffn_glu": config.activation == "swiglu",
        "head_dim": config.key_size or config.d_model // config.num_heads,
    }
    spec = transformer_spec.TransformerSpec(
        transformer_spec.TransformerEncoderSpec(config.num_encoder_layers, **options),
        transformer_spec.TransformerDecoderSpec(
            config.num_decoder_layers,
            **options,
            alignment_layer=alignment_layer - 1,
            alignment_heads=config.num_heads,
        ),
    )
    arrays = _arrays(config, weights, tokenizers)

    def fill(owner: Any, name: str, _value: Any) -> None:
        if name in arrays:
            setattr(owner, name.rpartition("/")[2], arrays[name])

    visit_spec(spec, fill)
    spec.register_source_vocabulary([*tokenizers.source.vocabulary])
    spec.register_target_vocabulary([*tokenizers.target.vocabulary])
    spec.config.unk_token = SPECIAL_PIECES[UNK]
    spec.config.bos_token = spec.config.decoder_start_token = SPECIAL_PIECES[START]
    spec.config.eos_token = SPECIAL_PIECES[END]
    spec.config.layer_norm_epsilon = config.norm_epsilon
    return spec


def _arrays(config: ModelConfig, weights: Mapping[str, Any], tokenizers: TokenizerPair) -> dict[str, Any]:
    """The weights and positions by CTranslate2's names; it stores tied matrices once.

    CTranslate2 stores a dense layer's kernel as [outputs, inputs], the transpose of Keras', and projects
    queries, keys and values with one matrix. All arrays are copies, since it quantizes them in place.
    """
    import numpy as np

    from ptenmt.model.layouts import in_ctranslate2, variable_shapes
    from ptenmt.model.numpy_transformer import positional_encoding

    parts: dict[str, list[np.ndarray]] = defaultdict(list)
    weights = {name.partition("/")[2]: array for name, array in weights.items()}  # without the model's name
    for path, _ in variable_shapes(config, tokenizers.vocabulary_sizes):
        place = in_ctranslate2(path, is_gated=config.activation == "swiglu")
        parts[place.names[0]].append(weights[path].T if place.is_transposed else weights[path])
    arrays = {name: np.concatenate(of_name) for name, of_name in parts.items()}
    source = arrays["encoder/embeddings_0/weight"]
    target = arrays.setdefault("decoder/embeddings/weight", source.copy())
    arrays.setdefault("decoder/projection/weight", target.copy())
    positions = positional_encoding(config.max_positions, config.d_model)
    return arrays | {f"{stack}/position_encodings/encodings": positions for stack in ("encoder", "decoder")}


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
