"""The model as CTranslate2 describes one, which it calls a specification.

CTranslate2 stores a dense layer's kernel as [outputs, inputs], the transpose of Keras', and projects
queries, keys and values with one matrix. All arrays are copies, since it quantizes them in place.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from ctranslate2.specs import common_spec, transformer_spec
from ctranslate2.specs.model_spec import visit_spec

from ptenmt.config import ModelConfig
from ptenmt.model.layouts import in_ctranslate2, variable_shapes
from ptenmt.model.numpy_transformer import positional_encoding
from ptenmt.tokenizers import END, SPECIAL_PIECES, START, UNK, TokenizerPair

Weights = Mapping[str, np.ndarray]
"""Arrays by the Keras path of their variable: ``transformer/encoder/block1/…/kernel``."""

_ACTIVATIONS = {
    "relu": common_spec.Activation.RELU,
    "gelu": common_spec.Activation.GELU,
    "swish": common_spec.Activation.SWISH,
    "swiglu": common_spec.Activation.SWISH,
}


def specification(
    config: ModelConfig, weights: Weights, tokenizers: TokenizerPair, alignment_layer: int
) -> transformer_spec.TransformerSpec:
    """Describe a model, which CTranslate2 must be able to express, with all of its weights.

    The attention of ``alignment_layer``, counted from 1, is what CTranslate2 returns.
    """
    options: dict[str, Any] = {
        "num_heads": config.num_heads,
        "pre_norm": config.norm == "pre",
        "activation": _ACTIVATIONS[config.activation],
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


def _arrays(config: ModelConfig, weights: Weights, tokenizers: TokenizerPair) -> dict[str, np.ndarray]:
    """The weights and positions by CTranslate2's names; it stores tied matrices once."""
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
