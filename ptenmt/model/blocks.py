"""The blocks a Transformer is stacked from (Vaswani et al. 2017, section 3); letters as in attention.py."""

from typing import Any

import keras
from keras import ops

from ptenmt.model.attention import ExplicitMasks, MultiHeadAttention
from ptenmt.model.building import build_once
from ptenmt.model.shapes import check_shape
from ptenmt.model.sublayers import Activation, AddAndNorm, FeedForward, NormPosition

Cache = tuple[Any, Any]  # keys and values [B, H, T, K] of the positions so far


class _Block(ExplicitMasks):
    """What encoder and decoder blocks share: self-attention and a feed-forward layer, each with its norm.

    Args:
        d_model: D.
        num_heads: H.
        d_ff: F.
        key_size: Width of a head's keys; by default D / H.
        value_size: Width of a head's values; by default D / H.
        norm: Where the layer norms stand (see ``AddAndNorm``).
        activation: See ``FeedForward``.
        dropout: Rate after each sub-layer.
        attention_dropout: Rate of the attention weights.
        activation_dropout: Rate inside the feed-forward layer.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        key_size: int | None = None,
        value_size: int | None = None,
        norm: NormPosition = "post",
        activation: Activation = "relu",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        wanted = f"inputs [B, T, d_model={d_model}]"
        self.input_spec = keras.layers.InputSpec(ndim=3, axes={-1: d_model}, name=wanted)
        self._attention_options = {
            "d_model": d_model,
            "num_heads": num_heads,
            "key_size": key_size,
            "value_size": value_size,
            "dropout": attention_dropout,
            "dtype": self.dtype_policy,
        }
        self._residual_options = {"dropout": dropout, "norm": norm, "dtype": self.dtype_policy}
        self.self_attention = MultiHeadAttention(**self._attention_options, name="self_attention")
        self.self_attention_norm = AddAndNorm(**self._residual_options, name="self_attention_norm")
        self.feed_forward = FeedForward(
            d_model,
            d_ff,
            activation=activation,
            dropout=activation_dropout,
            name="feed_forward",
            dtype=self.dtype_policy,
        )
        self.feed_forward_norm = AddAndNorm(**self._residual_options, name="feed_forward_norm")

    def _build_sublayers(self, inputs_shape: Any) -> None:
        build_once(self.self_attention, inputs_shape)
        build_once(self.self_attention_norm, inputs_shape)
        build_once(self.feed_forward, inputs_shape)
        build_once(self.feed_forward_norm, inputs_shape)

    def _attend_to_self(self, inputs: Any, mask: Any, training: bool) -> Any:
        """The first sub-layer: [B, T, D] -> [B, T, D]."""
        read = self.self_attention_norm.before(inputs)
        attended = self.self_attention(read, mask=mask, training=training)
        return self.self_attention_norm(inputs, attended, training=training)

    def _feed_forward(self, inputs: Any, training: bool = False) -> Any:
        """The last sub-layer: [B, T, D] -> [B, T, D]."""
        output = self.feed_forward(self.feed_forward_norm.before(inputs), training=training)
        return self.feed_forward_norm(inputs, output, training=training)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        attention, feed_forward = self.self_attention, self.feed_forward
        own = ("d_model", "num_heads", "key_size", "value_size")
        return (
            super().get_config()
            | {name: getattr(attention, name) for name in own}
            | {"attention_dropout": attention.dropout.rate}
            | {"d_ff": feed_forward.d_ff, "activation": feed_forward.activation}
            | {"activation_dropout": feed_forward.dropout.rate}
            | {"dropout": self.feed_forward_norm.dropout.rate, "norm": self.feed_forward_norm.position}
        )


@keras.saving.register_keras_serializable(package="ptenmt")
class EncoderBlock(_Block):
    """Self-attention over the source, then a feed-forward layer; for the arguments see ``_Block``."""

    def build(self, inputs_shape: Any) -> None:
        """Make the weights of all sub-layers."""
        self._build_sublayers(inputs_shape)

    def call(self, inputs: Any, mask: Any = None, training: bool = False) -> Any:
        """Map [B, S, D] to [B, S, D]; ``mask`` is broadcastable to [B, H, S, S], True = may attend."""
        return self._feed_forward(self._attend_to_self(inputs, mask, training), training)

    def attention(self, inputs: Any, mask: Any = None) -> Any:
        """The weights [B, H, S, S] with which ``call`` attends."""
        check_shape(f"{self.name}: inputs", inputs, ("B", "T", self.self_attention.d_model))
        build_once(self, tuple(inputs.shape))
        read = self.self_attention_norm.before(inputs)
        return self.self_attention.attention_weights(read, read, mask)


@keras.saving.register_keras_serializable(package="ptenmt")
class DecoderBlock(_Block):
    """Masked self-attention, attention to the source, then a feed-forward layer; arguments as ``_Block``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cross_attention = MultiHeadAttention(**self._attention_options, name="cross_attention")
        self.cross_attention_norm = AddAndNorm(**self._residual_options, name="cross_attention_norm")

    def build(self, inputs_shape: Any, memory_shape: Any) -> None:
        """Make the weights of all sub-layers."""
        self._build_sublayers(inputs_shape)
        build_once(self.cross_attention, inputs_shape, memory_shape)
        build_once(self.cross_attention_norm, inputs_shape)

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
        hidden = self._attend_to_self(inputs, self_mask, training)
        read = self.cross_attention_norm.before(hidden)
        attended = self.cross_attention(read, memory, mask=cross_mask, training=training)
        hidden = self.cross_attention_norm(hidden, attended, training=training)
        return self._feed_forward(hidden, training)

    def attention(
        self, inputs: Any, memory: Any, self_mask: Any = None, cross_mask: Any = None
    ) -> tuple[Any, Any]:
        """The weights with which ``call`` attends: to itself [B, H, T, T], to the memory [B, H, T, S]."""
        check_shape(f"{self.name}: inputs", inputs, ("B", "T", self.self_attention.d_model))
        build_once(self, tuple(inputs.shape), tuple(memory.shape))
        read = self.self_attention_norm.before(inputs)
        to_self = self.self_attention.attention_weights(read, read, self_mask)
        hidden = self._attend_to_self(inputs, self_mask, training=False)
        read = self.cross_attention_norm.before(hidden)
        return to_self, self.cross_attention.attention_weights(read, memory, cross_mask)

    def step(self, inputs: Any, past: Cache, memory: Cache, cross_mask: Any = None) -> tuple[Any, Cache]:
        """Do for one new position [B, 1, D] what ``call`` does for all, with the past remembered.

        Args:
            inputs: The new position, [B, 1, D].
            past: Keys and values [B, H, t, K] of the positions before it.
            memory: Keys and values [B, H, S, K] that the cross-attention made of the encoder's memory.
            cross_mask: Broadcastable to [B, H, 1, S].

        Returns:
            The output [B, 1, D], and the past with the new position appended.
        """
        build_once(self, tuple(inputs.shape), tuple(inputs.shape))
        read = self.self_attention_norm.before(inputs)
        new = self.self_attention.keys_and_values(read)
        keys, values = (ops.concatenate(pair, axis=2) for pair in zip(past, new, strict=True))
        hidden = self.self_attention_norm(inputs, self.self_attention.attend(read, keys, values))
        read = self.cross_attention_norm.before(hidden)
        attended = self.cross_attention.attend(read, *memory, cross_mask)
        hidden = self.cross_attention_norm(hidden, attended)
        return self._feed_forward(hidden), (keys, values)
