"""The reference engine: the Keras model itself, decoding with a KV cache (keys and values)."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import tensorflow as tf

from ptenmt.config import DecodingConfig
from ptenmt.data.store import RaggedIds
from ptenmt.errors import ConfigError
from ptenmt.model.ctranslate2_model import default_alignment_layer
from ptenmt.model.numpy_transformer import NumpyTransformer
from ptenmt.model.transformer import DecoderState, Transformer
from ptenmt.translation.engine import Hypothesis, PendingHypotheses, SearchRequest, with_attention
from ptenmt.translation.search import Ranked, beam_search, greedy_search

_HINT = "leave it out, or use the engine ctranslate2 if it can express the model"


class KerasEngine:
    """Translates token ids with a Keras Transformer; its steps are compiled once for all shapes.

    The model is built, and its weights may still change; ``suppressed`` target ids are never generated.
    ``alignment_layer``: whose cross-attention to return; by default ``default_alignment_layer``.
    """

    name = identity = "keras"
    # A decoding step costs about the same for one sentence and for many.
    batch_sentences, batch_tokens = 128, 8192
    max_pending_batches = 0

    def __init__(
        self, model: Transformer, suppressed: Sequence[int], alignment_layer: int | None = None
    ) -> None:
        self.model = model
        self.alignment_layer = alignment_layer or default_alignment_layer(model.config.num_decoder_layers)
        self.compute_type = model.compute_dtype
        self._suppressed = list(suppressed)
        ids = tf.TensorSpec([None, None], tf.int64)
        state, rows = _state_spec(model), tf.TensorSpec([None], tf.int64)
        self._start = tf.function(model.start, input_signature=[ids])
        self._step = tf.function(self._rank_next, input_signature=[rows, state, tf.TensorSpec([], tf.int32)])
        self._gather = tf.function(_gather, input_signature=[state, rows])

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        """Return a function that translates a batch."""
        if any(request.target_prefixes) or request.next_token_alternatives:
            raise ConfigError("the Keras engine does not support target prefixes", _HINT)
        for name in ("repetition_penalty", "no_repeat_ngram"):
            value = getattr(request.options, name)
            if value != getattr(DecodingConfig(), name):
                raise ConfigError(f"the Keras engine does not support decoding.{name} ({value})", _HINT)
        return partial(self._translate, request)

    def _translate(self, request: SearchRequest) -> list[list[Hypothesis]]:
        options, max_lengths = request.options, [request.max_length] * len(request.sources)
        state = self._start(tf.constant(RaggedIds(request.sources).padded(), tf.int64))
        hypotheses: list[list[Hypothesis]]
        if options.beam_size == 1:
            best = greedy_search(self._next_tokens, state, max_lengths, options.length_penalty)
            hypotheses = [[hypothesis] for hypothesis in best]
        else:
            hypotheses = beam_search(
                self._next_tokens,
                self._select,
                state,
                max_lengths,
                beam_size=options.beam_size,
                num_hypotheses=options.num_hypotheses,
                length_penalty=options.length_penalty,
            )
        return with_attention(self, request.sources, hypotheses) if request.with_attention else hypotheses

    def attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[np.ndarray]:
        """The attention with which the decoder is fed targets; see ``Engine``. NumPy computes it."""
        weights = {weight.path: weight.numpy() for weight in self.model.trainable_variables}
        model = NumpyTransformer(self.model.config, weights)
        matrices: list[np.ndarray] = []
        for first in range(0, len(sources), self.batch_sentences):
            rows = slice(first, first + self.batch_sentences)
            source, fed = RaggedIds(sources[rows]), RaggedIds(ids[:-1] for ids in targets[rows])
            attention = model.attention(source.padded(), fed.padded())
            cross = attention[f"decoder_layer{self.alignment_layer}_block2"]  # [B, H, T, S]
            matrices += [
                matrix[:length, :width]
                for matrix, length, width in zip(cross.mean(axis=1), fed.lengths, source.lengths, strict=True)
            ]
        return matrices

    def seeded(self, seed: int) -> Self:  # noqa: ARG002 — it has none
        """Not supported: this engine does not sample."""
        raise ConfigError("the Keras engine does not sample (decoding.top_k)", _HINT)

    def _next_tokens(
        self, tokens: np.ndarray, state: DecoderState, count: int
    ) -> tuple[Ranked, DecoderState]:
        ids, log_probs, state = self._step(tf.constant(tokens, tf.int64), state, tf.constant(count))
        return Ranked(ids.numpy(), log_probs.numpy()), state

    def _rank_next(self, tokens: Any, state: DecoderState, count: Any) -> tuple[Any, Any, DecoderState]:
        """One decoding step, compiled: the C most probable ids [B, C], their log-probabilities, the state."""
        logits, state = self.model.decode_step(tokens, state)
        logits = tf.cast(logits, tf.float32)  # [B, V]
        vocabulary_size = logits.shape[-1]
        logits = tf.where(np.isin(np.arange(vocabulary_size), self._suppressed), -np.inf, logits)
        best, ids = tf.math.top_k(logits, tf.minimum(count, vocabulary_size))
        return ids, best - tf.reduce_logsumexp(logits, axis=-1, keepdims=True), state

    def _select(self, state: DecoderState, rows: np.ndarray) -> DecoderState:
        selected: DecoderState = self._gather(state, tf.constant(rows, tf.int64))
        return selected


def _gather(state: Any, rows: Any) -> Any:
    return tf.nest.map_structure(lambda tensor: tf.gather(tensor, rows), state)


def _state_spec(model: Transformer) -> DecoderState:
    """The state's types with open batch size and lengths, so that one trace serves all shapes."""

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
