"""Where other programs keep the weights of a Transformer.

A layer is named by its path in ptenmt, such as ``encoder/block1/self_attention/query``. It has a ``kernel``
[inputs, outputs] and a ``bias``, or if it is a layer norm, ``gamma`` and ``beta``.
"""

from collections.abc import Iterator

import numpy as np

from ptenmt.config import ModelConfig

_ATTENTION = ("query", "key", "value", "output")
_HUGGING_FACE = {
    "feed_forward/expand": "fc1",
    "feed_forward/contract": "fc2",
    "feed_forward_norm/norm": "final_layer_norm",
}
_MARIAN = {
    "feed_forward/expand": ("ffn_W1", "ffn_b1"),
    "feed_forward/contract": ("ffn_W2", "ffn_b2"),
    "feed_forward_norm/norm": ("ffn_ffn_ln_scale", "ffn_ffn_ln_bias"),
}
for _own, _theirs, _marians in (
    ("self_attention", "self_attn", "self"),
    ("cross_attention", "encoder_attn", "context"),
):
    for _part, _letter in zip(_ATTENTION, ("q", "k", "v", "o"), strict=True):
        _name = "out_proj" if _part == "output" else f"{_letter}_proj"
        _HUGGING_FACE[f"{_own}/{_part}"] = f"{_theirs}.{_name}"
        _MARIAN[f"{_own}/{_part}"] = (f"{_marians}_W{_letter}", f"{_marians}_b{_letter}")
    _HUGGING_FACE[f"{_own}_norm/norm"] = f"{_theirs}_layer_norm"
    _MARIAN[f"{_own}_norm/norm"] = (f"{_marians}_Wo_ln_scale", f"{_marians}_Wo_ln_bias")


def layer_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
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


def hugging_face_name(layer: str) -> str:
    """A layer's name in Hugging Face's Marian and Pegasus, without ``.weight`` and ``.bias``."""
    stack, block, rest = _split(layer)
    return f"model.{stack}.layers.{block - 1}.{_HUGGING_FACE[rest]}" if rest else f"model.{stack}.layer_norm"


def marian_names(layer: str) -> tuple[str, str]:
    """The names of a layer's kernel or gamma, and of its bias or beta, in a file of Marian's."""
    stack, block, rest = _split(layer)
    first, second = _MARIAN[rest]
    return f"{stack}_l{block}_{first}", f"{stack}_l{block}_{second}"


def _split(layer: str) -> tuple[str, int, str]:
    stack, block, *rest = layer.split("/")
    return stack, int(block.removeprefix("block")) if rest else 0, "/".join(rest)


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
