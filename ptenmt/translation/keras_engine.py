"""The reference engine: the Keras model itself, decoding with a key–value cache."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.model import DecoderState, Transformer
from ptenmt.translation.search import Hypothesis, greedy_search


class KerasEngine:
    """Translates ids to ids with a Keras Transformer; its two steps are compiled once, for any shape.

    Args:
        model: Built; its weights may go on changing.
        forbidden: Target ids that are never produced.
    """

    def __init__(self, model: Transformer, forbidden: Sequence[int]) -> None:
        self.model = model
        self._forbidden = list(forbidden)
        ids = tf.TensorSpec([None, None], tf.int64)
        self._start = tf.function(model.start, input_signature=[ids])
        self._step = tf.function(
            model.decode_step, input_signature=[tf.TensorSpec([None], tf.int64), _state_spec(model)]
        )
        self._attention = tf.function(model.attention, input_signature=[ids, ids])

    def translate(self, source: np.ndarray, limits: Sequence[int]) -> list[Hypothesis]:
        """Translate a batch greedily.

        Args:
            source: int64 [B, S], padded with 0.
            limits: The most tokens to generate for each sentence, [END] counted.
        """
        state = self._start(tf.constant(source, tf.int64))
        return greedy_search(self._next_logits, state, limits, self._forbidden)

    def attention(self, source: np.ndarray, target: np.ndarray) -> dict[str, np.ndarray]:
        """The attention weights by name (see ``Transformer.attention``) for ids [B, S] and [B, T]."""
        weights = self._attention(tf.constant(source, tf.int64), tf.constant(target, tf.int64))
        return {name: values.numpy() for name, values in weights.items()}

    def _next_logits(self, tokens: np.ndarray, state: DecoderState) -> tuple[np.ndarray, DecoderState]:
        logits, state = self._step(tf.constant(tokens, tf.int64), state)
        return np.array(logits), state


def _state_spec(model: Transformer) -> DecoderState:
    """The state's types, with the batch and both lengths left open, so that one trace serves all."""

    def caches(attention: str) -> list[Any]:
        layers = [getattr(block, attention) for block in model.decoder.blocks]
        return [
            tuple(
                tf.TensorSpec([None, layer.num_heads, None, size], layer.compute_dtype)
                for size in (layer.key_size, layer.value_size)
            )
            for layer in layers
        ]

    mask = tf.TensorSpec([None, 1, 1, None], tf.bool)
    return DecoderState(mask, caches("cross_attention"), caches("self_attention"))
