"""The model as CTranslate2 describes one, which it calls a specification.

CTranslate2 stores a dense layer's kernel as [outputs, inputs], the transpose of Keras', and projects
queries, keys and values with one matrix. All arrays are copies, since it quantizes them in place.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ctranslate2.specs import common_spec, transformer_spec

from ptenmt.config import ModelConfig
from ptenmt.model.positions import positional_encoding
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
    weights = {name.partition("/")[2]: array for name, array in weights.items()}  # without the model's name
    for stack, name in ((spec.encoder, "encoder"), (spec.decoder, "decoder")):
        for number, layer in enumerate(stack.layer, 1):
            _fill_block(layer, weights, f"{name}/block{number}")
        if stack.pre_norm:
            _fill_norm(stack.layer_norm, weights, f"{name}/norm")
    _fill_tables(spec, config, weights)
    spec.register_source_vocabulary([*tokenizers.source.vocabulary])
    spec.register_target_vocabulary([*tokenizers.target.vocabulary])
    spec.config.unk_token = SPECIAL_PIECES[UNK]
    spec.config.bos_token = spec.config.decoder_start_token = SPECIAL_PIECES[START]
    spec.config.eos_token = SPECIAL_PIECES[END]
    spec.config.layer_norm_epsilon = config.norm_epsilon
    return spec


def _fill_tables(spec: Any, config: ModelConfig, weights: Weights) -> None:
    """Embeddings, positions and the projection to logits; CTranslate2 stores tied matrices once."""
    tied = config.tied_embeddings
    source = weights["encoder/embedding/tokens/embeddings"]
    target = source if tied == "all" else weights["decoder/embedding/tokens/embeddings"]
    positions = positional_encoding(config.max_positions, config.d_model)
    spec.encoder.embeddings[0].weight = source.copy()
    spec.decoder.embeddings.weight = target.copy()
    spec.encoder.position_encodings.encodings = spec.decoder.position_encodings.encodings = positions
    spec.decoder.projection.weight = (weights["final/kernel"].T if tied == "none" else target).copy()
    spec.decoder.projection.bias = weights["final/bias"]


def _fill_block(layer: Any, weights: Weights, block: str) -> None:
    """An encoder or decoder block; only the latter has cross-attention."""
    attention = f"{block}/self_attention"
    projections = [f"{attention}/{part}" for part in ("query", "key", "value")]
    _fill_linear(layer.self_attention.linear[0], weights, projections)
    _fill_linear(layer.self_attention.linear[1], weights, [f"{attention}/output"])
    _fill_norm(layer.self_attention.layer_norm, weights, f"{attention}_norm/norm")
    if hasattr(layer, "attention"):
        attention = f"{block}/cross_attention"
        _fill_linear(layer.attention.linear[0], weights, [f"{attention}/query"])
        _fill_linear(layer.attention.linear[1], weights, [f"{attention}/key", f"{attention}/value"])
        _fill_linear(layer.attention.linear[2], weights, [f"{attention}/output"])
        _fill_norm(layer.attention.layer_norm, weights, f"{attention}_norm/norm")
    _fill_feed_forward(layer.ffn, weights, f"{block}/feed_forward")


def _fill_feed_forward(spec: Any, weights: Weights, layer: str) -> None:
    if hasattr(spec, "linear_0_noact"):  # with a gate, it is the gate that has the activation
        _fill_linear(spec.linear_0, weights, [f"{layer}/gate"])
        _fill_linear(spec.linear_0_noact, weights, [f"{layer}/expand"])
    else:
        _fill_linear(spec.linear_0, weights, [f"{layer}/expand"])
    _fill_linear(spec.linear_1, weights, [f"{layer}/contract"])
    _fill_norm(spec.layer_norm, weights, f"{layer}_norm/norm")


def _fill_linear(spec: Any, weights: Weights, names: Sequence[str]) -> None:
    """One dense layer, or several as one."""
    spec.weight = np.concatenate([weights[f"{name}/kernel"].T for name in names])  # -> [outputs, inputs]
    spec.bias = np.concatenate([weights[f"{name}/bias"] for name in names])


def _fill_norm(spec: Any, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}/gamma"], weights[f"{name}/beta"]
