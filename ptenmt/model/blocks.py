"""The blocks a Transformer is stacked from (Vaswani et al. 2017, section 3); letters as in attention.py."""

from typing import Any

import keras
import numpy as np
from keras import ops

from ptenmt.model.attention import MultiHeadAttention

LAYER_NORM_EPSILON = 1e-6

Cache = tuple[Any, Any]  # keys and values [B, H, T, K] of the positions so far


def positional_encoding(num_positions: int, d_model: int) -> np.ndarray:
    """Sines and cosines of falling frequency (section 3.5), interleaved.

    ``PE[p, 2i] = sin(p / 10000^(2i/D))`` and ``PE[p, 2i+1] = cos(p / 10000^(2i/D))``.

    Args:
        num_positions: How many positions, counted from 0.
        d_model: D, even.

    Returns:
        float32 [num_positions, D].
    """
    positions = np.arange(num_positions)[:, None]  # -> [P, 1]
    angles = positions / 10000.0 ** (np.arange(0, d_model, 2) / d_model)  # -> [P, D/2]
    interleaved = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # -> [P, D/2, 2]
    return interleaved.reshape(num_positions, d_model).astype("float32")


class PositionalEmbedding(keras.layers.Layer):
    """Token embeddings, scaled by √D, plus the positional encoding, then dropout (sections 3.4, 3.5).

    Args:
        vocabulary_size: V.
        d_model: D.
        max_positions: The longest sequence.
        dropout: Rate.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(
        self, vocabulary_size: int, d_model: int, *, max_positions: int, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.d_model = d_model
        self.max_positions = max_positions
        self.embedding = keras.layers.Embedding(
            vocabulary_size, d_model, name="tokens", dtype=self.dtype_policy
        )
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.positions = positional_encoding(max_positions, d_model)

    def call(self, ids: Any, first_position: Any = 0, training: bool = False) -> Any:
        """Embed token ids [B, T], the first of which stands at ``first_position`` -> [B, T, D].

        Raises:
            ValueError: The sequence is longer than ``max_positions``.
        """
        length = ids.shape[1]
        if length is not None and length > self.max_positions:
            raise ValueError(f"{length} tokens are more than max_positions={self.max_positions}")
        tokens = self.embedding(ids)
        tokens = tokens * ops.cast(self.d_model**0.5, tokens.dtype)
        indices = first_position + ops.arange(ops.shape(ids)[1])
        positions = ops.take(ops.convert_to_tensor(self.positions, dtype=tokens.dtype), indices, axis=0)
        return self.dropout(tokens + positions, training=training)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        own = ("vocabulary_size", "d_model", "max_positions")
        values = {name: getattr(self, name) for name in own}
        return super().get_config() | values | {"dropout": self.dropout.rate}


class FeedForward(keras.layers.Layer):
    """Two dense layers with a ReLU between them, at every position alike (section 3.3).

    Args:
        d_model: D, width of the output.
        d_ff: F, width in between.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(self, d_model: int, d_ff: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.d_model = d_model
        self.d_ff = d_ff
        self.expand = keras.layers.Dense(d_ff, activation="relu", name="expand", dtype=self.dtype_policy)
        self.contract = keras.layers.Dense(d_model, name="contract", dtype=self.dtype_policy)

    def call(self, inputs: Any) -> Any:
        """Map [B, T, D] to [B, T, D]."""
        return self.contract(self.expand(inputs))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        return super().get_config() | {"d_model": self.d_model, "d_ff": self.d_ff}


class AddAndNorm(keras.layers.Layer):
    """The residual around a sub-layer: ``LayerNorm(x + Dropout(sublayer(x)))`` (sections 3.1, 5.4).

    Args:
        dropout: Rate.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(self, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.norm = keras.layers.LayerNormalization(
            epsilon=LAYER_NORM_EPSILON, name="norm", dtype=self.dtype_policy
        )

    def call(self, inputs: Any, sublayer_output: Any, training: bool = False) -> Any:
        """Join a sub-layer's input and output, both [B, T, D]."""
        return self.norm(inputs + self.dropout(sublayer_output, training=training))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        return super().get_config() | {"dropout": self.dropout.rate}


class _Block(keras.layers.Layer):
    """What encoder and decoder blocks share: self-attention and a feed-forward layer, each with its norm.

    Args:
        d_model: D.
        num_heads: H.
        d_ff: F.
        dropout: Rate.
        key_size: Width of a head's keys; by default D / H.
        value_size: Width of a head's values; by default D / H.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        key_size: int | None = None,
        value_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.self_attention = MultiHeadAttention(
            d_model,
            num_heads,
            key_size=key_size,
            value_size=value_size,
            name="self_attention",
            dtype=self.dtype_policy,
        )
        self.self_attention_norm = AddAndNorm(dropout, name="self_attention_norm", dtype=self.dtype_policy)
        self.feed_forward = FeedForward(d_model, d_ff, name="feed_forward", dtype=self.dtype_policy)
        self.feed_forward_norm = AddAndNorm(dropout, name="feed_forward_norm", dtype=self.dtype_policy)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        attention = self.self_attention
        own = ("d_model", "num_heads", "key_size", "value_size")
        return (
            super().get_config()
            | {name: getattr(attention, name) for name in own}
            | {"d_ff": self.feed_forward.d_ff, "dropout": self.feed_forward_norm.dropout.rate}
        )


class EncoderBlock(_Block):
    """Self-attention over the source, then a feed-forward layer; for the arguments see ``_Block``."""

    def call(self, inputs: Any, mask: Any = None, training: bool = False) -> Any:
        """Map [B, S, D] to [B, S, D]; ``mask`` is broadcastable to [B, H, S, S], True = may attend."""
        attended = self.self_attention(inputs, inputs, mask)
        hidden = self.self_attention_norm(inputs, attended, training=training)
        return self.feed_forward_norm(hidden, self.feed_forward(hidden), training=training)


class DecoderBlock(_Block):
    """Masked self-attention, attention to the source, then a feed-forward layer; arguments as ``_Block``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sizes = self.self_attention
        self.cross_attention = MultiHeadAttention(
            sizes.d_model,
            sizes.num_heads,
            key_size=sizes.key_size,
            value_size=sizes.value_size,
            name="cross_attention",
            dtype=self.dtype_policy,
        )
        self.cross_attention_norm = AddAndNorm(
            self.self_attention_norm.dropout.rate, name="cross_attention_norm", dtype=self.dtype_policy
        )

    def call(
        self, inputs: Any, memory: Any, self_mask: Any = None, cross_mask: Any = None, training: bool = False
    ) -> Any:
        """Map targets [B, T, D] and the encoder's memory [B, S, D] to [B, T, D].

        Args:
            inputs: [B, T, D].
            memory: [B, S, D].
            self_mask: Broadcastable to [B, H, T, T], True = may attend: causal, and no padding.
            cross_mask: Broadcastable to [B, H, T, S]: the padding of the *source*.
            training: Whether dropout is on.
        """
        attended = self.self_attention(inputs, inputs, self_mask)
        hidden = self.self_attention_norm(inputs, attended, training=training)
        attended = self.cross_attention(hidden, memory, cross_mask)
        hidden = self.cross_attention_norm(hidden, attended, training=training)
        return self.feed_forward_norm(hidden, self.feed_forward(hidden), training=training)

    def step(self, inputs: Any, past: Cache, memory: Cache, cross_mask: Any) -> tuple[Any, Cache]:
        """Do for one new position [B, 1, D] what ``call`` does for all, with the past remembered.

        Args:
            inputs: The new position, [B, 1, D].
            past: Keys and values [B, H, t, K] of the positions before it.
            memory: Keys and values [B, H, S, K] that the cross-attention made of the encoder's memory.
            cross_mask: Broadcastable to [B, H, 1, S].

        Returns:
            The output [B, 1, D], and the past with the new position appended.
        """
        new = self.self_attention.keys_and_values(inputs)
        keys, values = (ops.concatenate(pair, axis=2) for pair in zip(past, new, strict=True))
        hidden = self.self_attention_norm(inputs, self.self_attention.attend(inputs, keys, values))
        attended = self.cross_attention.attend(hidden, *memory, cross_mask)
        hidden = self.cross_attention_norm(hidden, attended)
        return self.feed_forward_norm(hidden, self.feed_forward(hidden)), (keys, values)
