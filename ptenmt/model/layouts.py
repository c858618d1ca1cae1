"""Where other programs keep the weights of a Transformer.

A variable is named by its path in ptenmt, such as ``encoder/block1/self_attention/query/kernel``. A dense
layer has a ``kernel`` [inputs, outputs] and a ``bias``, a layer norm ``gamma`` and ``beta``.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ptenmt.config import ModelConfig

_LAYERS = {
    "self_attention/query": ("self_attn.q_proj", "self_attention/linear_0", 0, 3),
    "self_attention/key": ("self_attn.k_proj", "self_attention/linear_0", 1, 3),
    "self_attention/value": ("self_attn.v_proj", "self_attention/linear_0", 2, 3),
    "self_attention/output": ("self_attn.out_proj", "self_attention/linear_1", 0, 1),
    "self_attention_norm/norm": ("self_attn_layer_norm", "self_attention/layer_norm", 0, 1),
    "cross_attention/query": ("encoder_attn.q_proj", "attention/linear_0", 0, 1),
    "cross_attention/key": ("encoder_attn.k_proj", "attention/linear_1", 0, 2),
    "cross_attention/value": ("encoder_attn.v_proj", "attention/linear_1", 1, 2),
    "cross_attention/output": ("encoder_attn.out_proj", "attention/linear_2", 0, 1),
    "cross_attention_norm/norm": ("encoder_attn_layer_norm", "attention/layer_norm", 0, 1),
    "feed_forward/gate": ("", "ffn/linear_0", 0, 1),  # of CTranslate2 alone
    "feed_forward/expand": ("fc1", "ffn/linear_0", 0, 1),
    "feed_forward/contract": ("fc2", "ffn/linear_1", 0, 1),
    "feed_forward_norm/norm": ("final_layer_norm", "ffn/layer_norm", 0, 1),
}
"""A block's layers in Hugging Face's Marian and Pegasus, and in CTranslate2's files: there with the number of
its part of the matrix, and how many parts the matrix has."""
_TABLES = {
    "encoder/embedding/tokens/embeddings": (
        ("model.encoder.embed_tokens.weight", "model.shared.weight"),
        ("encoder/embeddings_0/weight",),
    ),
    "decoder/embedding/tokens/embeddings": (
        ("model.decoder.embed_tokens.weight", "model.shared.weight"),
        ("decoder/embeddings/weight",),
    ),
    "final/kernel": (("lm_head.weight",), ("decoder/projection/weight",)),
    "final/bias": (("final_logits_bias",), ("decoder/projection/bias",)),
}
"""The variables outside of blocks, in the same programs."""


class Place(NamedTuple):
    """Where a variable is in another program's file."""

    names: tuple[str, ...]
    """The array's name; the first of these that the file has."""
    is_transposed: bool = False
    part: int = 0
    """The variable is one of ``num_parts`` equal parts of the array's rows, counted from 0."""
    num_parts: int = 1
    is_optional: bool = False
    """Whether a model may lack it, which then has zeros."""


def in_hugging_face(path: str) -> Place:
    """A variable's place in Hugging Face's Marian and Pegasus."""
    layer, variable = path.rsplit("/", 1)
    if path in _TABLES:
        return Place(_TABLES[path][0], variable == "kernel", is_optional=path == "final/bias")
    stack, block, name = _split(layer)
    owner = f"model.{stack}.layers.{block - 1}.{_LAYERS[name][0]}" if name else f"model.{stack}.layer_norm"
    suffix = "weight" if variable in ("kernel", "gamma") else "bias"
    return Place((f"{owner}.{suffix}",), variable == "kernel")


def in_ctranslate2(path: str, *, is_gated: bool = False) -> Place:
    """A variable's place in a file of CTranslate2's; ``is_gated``: its feed-forward layers have a gate."""
    layer, variable = path.rsplit("/", 1)
    is_kernel, is_bias = variable == "kernel", variable == "bias"
    if path in _TABLES:
        return Place(_TABLES[path][1], is_kernel, is_optional=is_bias)
    stack, block, name = _split(layer)
    matrix, part, num_parts = _LAYERS[name][1:] if name else ("layer_norm", 0, 1)
    if is_gated and name == "feed_forward/expand":
        matrix = "ffn/linear_0_noact"
    owner = f"{stack}/layer_{block - 1}/{matrix}" if name else f"{stack}/{matrix}"
    return Place(
        (f"{owner}/{'weight' if is_kernel else variable}",), is_kernel, part, num_parts, is_optional=is_bias
    )


def _split(layer: str) -> tuple[str, int, str]:
    """The stack, the block, and the layer's name in it; 0 and nothing for a norm at the end of the stack."""
    stack, block, *name = layer.split("/")
    return stack, int(block.removeprefix("block")) if name else 0, "/".join(name)


def _layer_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The layers between embeddings and logits, with the shape of their ``kernel`` or ``gamma``."""
    width, inner, even = config.d_model, config.d_ff, config.d_model // config.num_heads
    keys, values = ((size or even) * config.num_heads for size in (config.key_size, config.value_size))
    attention = {
        "query": (width, keys),
        "key": (width, keys),
        "value": (width, values),
        "output": (values, width),
    }
    for stack, depth in (("encoder", config.num_encoder_layers), ("decoder", config.num_decoder_layers)):
        attentions = ("self_attention", "cross_attention") if stack == "decoder" else ("self_attention",)
        for number in range(1, depth + 1):
            block = f"{stack}/block{number}"
            for name in attentions:
                yield from ((f"{block}/{name}/{part}", shape) for part, shape in attention.items())
                yield f"{block}/{name}_norm/norm", (width,)
            if config.activation == "swiglu":
                yield f"{block}/feed_forward/gate", (width, inner)
            yield f"{block}/feed_forward/expand", (width, inner)
            yield f"{block}/feed_forward/contract", (inner, width)
            yield f"{block}/feed_forward_norm/norm", (width,)
        if config.norm == "pre":
            yield f"{stack}/norm", (width,)


def variable_shapes(
    config: ModelConfig, vocabulary_sizes: tuple[int, int]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """All variables and their shapes, the largest first; parts of a matrix in their order."""
    source, target = vocabulary_sizes
    yield "encoder/embedding/tokens/embeddings", (source, config.d_model)
    if config.tied_embeddings != "all":
        yield "decoder/embedding/tokens/embeddings", (target, config.d_model)
    if config.tied_embeddings == "none":
        yield "final/kernel", (config.d_model, target)
    yield "final/bias", (target,)
    for layer, shape in _layer_shapes(config):
        first, second = ("kernel", "bias") if len(shape) == 2 else ("gamma", "beta")
        yield f"{layer}/{first}", shape
        yield f"{layer}/{second}", shape[-1:]


def interleaving(d_model: int) -> np.ndarray:
    """The order that makes interleaved positions of sines in the first half and cosines in the second: [D].

    ``theirs[order]`` is ours, and ``ours[np.argsort(order)]`` is theirs.
    """
    return np.arange(d_model).reshape(2, -1).T.ravel()


def in_order(path: str, array: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An array, by its variable's path, with the components of the states (D) in another order."""
    layer, variable = path.split("/")[-2:]
    writes_states = variable in ("gamma", "beta", "embeddings") or layer in ("output", "contract")
    if writes_states:
        return array[..., order]
    return array[order] if variable == "kernel" else array
