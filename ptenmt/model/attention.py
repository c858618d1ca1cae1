"""Attention: who may look at whom, how much, and what they take home.

The letters in shape comments, here and in every other file:

    B  sentences in a batch        H  attention heads
    S  source tokens               K  width of a head (of its keys or of its values)
    T  target tokens               F  inner width of a feed-forward layer
    D  d_model, width of the model V  vocabulary size

Masks are boolean and say *who may attend*: True = visible, False = hidden.
"""

import inspect
import warnings
from typing import Any

import keras
from keras import ops

from ptenmt.model.building import build_once
from ptenmt.model.dense import Dense
from ptenmt.model.dropout import Dropout
from ptenmt.model.positions import MASKED_SCORE
from ptenmt.model.shapes import check_shape


def padding_mask(ids: Any) -> Any:
    """Show the real tokens and hide the padding.

    Args:
        ids: Token ids [B, S], 0 where padded.

    Returns:
        Boolean mask [B, 1, 1, S], the same for every head and every query.

    Raises:
        ValueError: They have not two axes.
    """
    is_real = ops.not_equal(ids, 0)
    check_shape("ids", is_real, ("B", "S"))
    return is_real[:, None, None, :]


def causal_mask(length: Any) -> Any:
    """Show each position itself and what came before it.

    Args:
        length: T, the number of positions.

    Returns:
        Boolean mask [T, T]: rows are queries, columns the keys they may attend to.
    """
    positions = ops.arange(length)
    return positions[:, None] >= positions[None, :]


class ExplicitMasks(keras.layers.Layer):
    """A layer whose masks are arguments: none comes in with a tensor, and none goes on with one.

    What Keras attaches to tensors, as ``Embedding(mask_zero=True)`` and ``Masking`` let it, says which of
    [B, S] are real. It would fill an argument ``mask``, which says who may attend to whom.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the layer on its inputs alone, and warn where that leaves it with no mask at all."""
        attached = [value for value in (*args, *kwargs.values()) if _is_masked(value)]
        if not attached:
            return super().__call__(*args, **kwargs)
        given = inspect.signature(self.call).bind_partial(*args, **kwargs).arguments
        if all(value is None for name, value in given.items() if name.endswith("mask")):
            warnings.warn(
                f"{type(self).__name__} {self.name!r} does not use the mask that Keras attached to its input "
                "and attends to padding: pass a mask as an argument, such as padding_mask(ids)",
                stacklevel=2,
            )
        args = tuple(ops.copy(value) if _is_masked(value) else value for value in args)
        kwargs = {name: ops.copy(value) if _is_masked(value) else value for name, value in kwargs.items()}
        return super().__call__(*args, **kwargs)

    def compute_mask(self, inputs: Any, previous_mask: Any) -> None:  # noqa: ARG002 — as Keras calls it
        """None goes on from here."""


def _is_masked(value: Any) -> bool:
    return getattr(value, "_keras_mask", None) is not None


@keras.saving.register_keras_serializable(package="ptenmt")
class MultiHeadAttention(ExplicitMasks):
    """Scaled dot-product attention in several heads (Vaswani et al. 2017, section 3.2).

    ``softmax(Q Kᵀ / √key_size) V`` a head, on learnt projections of the inputs; the heads' results are
    joined and projected back to ``d_model``. The softmax is taken in float32 whatever the precision.

    Args:
        d_model: Width of the output.
        num_heads: Number of heads.
        key_size: Width of a head's queries and keys; by default ``d_model / num_heads``.
        value_size: Width of a head's values; by default ``d_model / num_heads``.
        dropout: Share of the attention weights that are dropped while training.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.

    Raises:
        ValueError: ``d_model`` is not divisible by ``num_heads`` and a head size is left open, or one of them
            is below 1.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        key_size: int | None = None,
        value_size: int | None = None,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        sizes = {"d_model": d_model, "num_heads": num_heads, "key_size": key_size, "value_size": value_size}
        for name, size in sizes.items():
            if size is not None and size < 1:
                raise ValueError(f"{name}={size} must be 1 or more")
        if None in (key_size, value_size) and d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.input_spec = keras.layers.InputSpec(ndim=3, name="query [B, T, D]")
        self.d_model = d_model
        self.num_heads = num_heads
        self.key_size = key_size or d_model // num_heads
        self.value_size = value_size or d_model // num_heads
        self.dropout = Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.query_projection = Dense(num_heads * self.key_size, name="query", dtype=self.dtype_policy)
        self.key_projection = Dense(num_heads * self.key_size, name="key", dtype=self.dtype_policy)
        self.value_projection = Dense(num_heads * self.value_size, name="value", dtype=self.dtype_policy)
        self.output_projection = Dense(d_model, name="output", dtype=self.dtype_policy)

    def build(self, query_shape: Any, key_shape: Any = None, value_shape: Any = None) -> None:
        """Make the weights of all projections."""
        build_once(self.query_projection, query_shape)
        build_once(self.key_projection, key_shape or query_shape)
        build_once(self.value_projection, value_shape or key_shape or query_shape)
        build_once(self.output_projection, (*query_shape[:-1], self.num_heads * self.value_size))

    def call(
        self, query: Any, key: Any = None, value: Any = None, mask: Any = None, training: bool = False
    ) -> Any:
        """Let every query attend to the keys, and take home of the values.

        Args:
            query: [B, T, D].
            key: [B, S, D], from which keys are made; by default the query itself: self-attention.
            value: [B, S, D], from which values are made; by default what the keys are made from.
            mask: Boolean, broadcastable to [B, H, T, S], True = may attend; None hides nothing.
            training: Whether dropout is on.

        Returns:
            [B, T, d_model].

        Raises:
            ValueError: The mask is not boolean, or a shape does not fit.
        """
        key = query if key is None else key
        return self.attend(query, *self.keys_and_values(key, value), mask, training)

    def keys_and_values(self, key: Any, value: Any = None) -> tuple[Any, Any]:
        """Project what they are made from, [B, S, D] each, to keys and values [B, H, S, K].

        On a layer that has no weights yet, queries are taken to be ``d_model`` wide.

        Raises:
            ValueError: One has not three axes or is not as wide as before, or they differ in length.
        """
        value = key if value is None else value
        build_once(self, (*key.shape[:-1], self.d_model), tuple(key.shape), tuple(value.shape))
        widths = [layer.kernel.shape[0] for layer in (self.key_projection, self.value_projection)]
        check_shape(f"{self.name}: a key", key, ("B", "S", widths[0]))
        beside = f"{self.name}: beside a key of shape {tuple(key.shape)} a value"
        check_shape(beside, value, (*key.shape[:2], widths[1]))
        return (
            self._split_heads(self.key_projection(key), self.key_size),
            self._split_heads(self.value_projection(value), self.value_size),
        )

    def attend(self, query: Any, keys: Any, values: Any, mask: Any = None, training: bool = False) -> Any:
        """Attend to keys and values [B, H, S, K] that are projected already (see ``call``)."""
        build_once(self, tuple(query.shape))
        weights = self._weights(query, keys, mask)  # -> [B, H, T, S]
        weights = self.dropout(ops.cast(weights, values.dtype), training=training)
        heads = ops.matmul(weights, values)  # -> [B, H, T, K]
        joined = ops.transpose(heads, (0, 2, 1, 3))  # -> [B, T, H, K]
        batch, length = ops.shape(query)[:2]
        width = self.num_heads * self.value_size
        return self.output_projection(ops.reshape(joined, (batch, length, width)))

    def attention_weights(self, query: Any, memory: Any, mask: Any = None) -> Any:
        """How much each query attends to each memory position: float32 [B, H, T, S], rows sum to 1."""
        build_once(self, tuple(query.shape), tuple(memory.shape))
        keys, _ = self.keys_and_values(memory)
        return self._weights(query, keys, mask)

    def _weights(self, query: Any, keys: Any, mask: Any) -> Any:
        width = self.query_projection.kernel.shape[0]
        batch = "B" if 1 in (query.shape[0], keys.shape[0]) else keys.shape[0]  # one goes with many
        check_shape(f"{self.name}: a query", query, (batch, "T", width))
        queries = self._split_heads(self.query_projection(query), self.key_size)  # -> [B, H, T, K]
        queries = queries * ops.cast(self.key_size**-0.5, queries.dtype)
        scores = ops.matmul(queries, ops.transpose(keys, (0, 1, 3, 2)))  # -> [B, H, T, S]
        scores = ops.cast(scores, "float32")
        if mask is not None:
            mask = ops.convert_to_tensor(mask)
            _check_mask(mask, scores.shape)
            # A sum, whose gradient costs nothing, and not a choice between scores, whose gradient is another.
            scores = scores + MASKED_SCORE * ops.cast(ops.logical_not(mask), "float32")
        return ops.softmax(scores, axis=-1)

    def _split_heads(self, projected: Any, size: int) -> Any:
        batch, length = ops.shape(projected)[:2]
        heads = ops.reshape(projected, (batch, length, self.num_heads, size))
        return ops.transpose(heads, (0, 2, 1, 3))  # -> [B, H, T, K]

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        own = ("d_model", "num_heads", "key_size", "value_size")
        return (
            super().get_config()
            | {name: getattr(self, name) for name in own}
            | {"dropout": self.dropout.rate}
        )


def _check_mask(mask: Any, shape: Any) -> None:
    """Refuse a mask that is no mask, or cannot be broadcast to this shape as far as sizes are known yet."""
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if dtype != "bool":
        raise ValueError(
            f"a mask must be boolean, True = may attend, not {dtype}: `mask == 0` makes one of numbers to be "
            "added to scores, or of 1 = hidden; `mask != 0` one of 1 = visible"
        )
    mask_shape = mask.shape
    sizes = zip(reversed(tuple(mask_shape)), reversed(tuple(shape)), strict=False)
    known = [pair for pair in sizes if all(isinstance(size, int) for size in pair)]
    if len(mask_shape) > len(shape) or any(size not in (1, wanted) for size, wanted in known):
        raise ValueError(
            f"a mask of shape {tuple(mask_shape)} does not fit attention weights of shape {tuple(shape)}: "
            "batch, heads, queries, keys"
        )
