"""The reference engine: the Keras model itself, decoding with a key–value cache."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import tensorflow as tf

from ptenmt.config import DecodingConfig
from ptenmt.data.batches import RaggedIds
from ptenmt.errors import ConfigError
from ptenmt.export.limits import why_not_ctranslate2
from ptenmt.model import DecoderState, Transformer
from ptenmt.tokenizers import PAD
from ptenmt.translation.engine import Found
from ptenmt.translation.search import Ranked, beam_search, greedy_search


class KerasEngine:
    """Translates ids to ids with a Keras Transformer; its steps are compiled once, for any shape.

    Args:
        model: Built; its weights may go on changing.
        forbidden: Target ids that are never produced.
    """

    name = identity = "keras"
    batch_sentences, batch_tokens = 128, 8192  # a step costs much the same for one sentence and for many
    queue = 0

    def __init__(self, model: Transformer, forbidden: Sequence[int]) -> None:
        self.model = model
        self.compute_type = model.compute_dtype
        self._forbidden = list(forbidden)
        ids = tf.TensorSpec([None, None], tf.int64)
        state, rows = _state_spec(model), tf.TensorSpec([None], tf.int64)
        self._start = tf.function(model.start, input_signature=[ids])
        self._step = tf.function(self._ranked, input_signature=[rows, state, tf.TensorSpec([], tf.int32)])
        self._pick = tf.function(_pick, input_signature=[state, rows])
        self._pick_past = tf.function(_pick_past, input_signature=[state, rows])
        self._attention = tf.function(model.attention, input_signature=[ids, ids])

    def submit(
        self,
        sources: Sequence[Sequence[int]],
        limit: int,
        options: DecodingConfig,
        *,
        prefixes: Sequence[Sequence[int]] = (),
        branches: int = 0,
        with_attention: bool = False,
        with_scores: bool = True,  # noqa: ARG002 — it has them anyway
    ) -> Callable[[], list[Found]]:
        """What translates a batch when it is called; see ``Engine.submit``."""
        self._check(options, has_prefix=any(prefixes) or branches > 0)

        def translate() -> list[Found]:
            padded = RaggedIds(sources).padded(np.arange(len(sources)))
            found = self._search(padded, [limit] * len(sources), options)
            return self._with_attention(padded, found) if with_attention else found

        return translate

    def seeded(self, seed: int) -> Self:
        """Refused: this engine draws no tokens."""
        raise ConfigError(f"the Keras engine draws no tokens (decoding.seed={seed})", self._what_helps)

    def attention(self, source: np.ndarray, target: np.ndarray) -> dict[str, np.ndarray]:
        """The attention weights by name (see ``Transformer.attention``) for ids [B, S] and [B, T]."""
        weights = self._attention(tf.constant(source, tf.int64), tf.constant(target, tf.int64))
        return {name: values.numpy() for name, values in weights.items()}

    def _check(self, options: DecodingConfig, *, has_prefix: bool) -> None:
        """Refuse what this engine has not."""
        if has_prefix:
            raise ConfigError("the Keras engine does not complete a given beginning", self._what_helps)
        for name in ("coverage_penalty", "repetition_penalty", "no_repeat_ngram"):
            value = getattr(options, name)
            if value != getattr(DecodingConfig(), name):
                raise ConfigError(f"the Keras engine has no decoding.{name} ({value})", self._what_helps)

    @property
    def _what_helps(self) -> str:
        """To do where something is refused that the other engine has."""
        if why_not_ctranslate2(self.model.config):
            return "leave it out: CTranslate2, which can do that, cannot express this model"
        return "use the engine ctranslate2"

    def _search(self, padded: np.ndarray, limits: list[int], options: DecodingConfig) -> list[Found]:
        state = self._start(tf.constant(padded, tf.int64))
        penalty = options.length_penalty
        if options.beam_size == 1:
            found = greedy_search(self._next_tokens, state, limits, penalty)
            return [[hypothesis] for hypothesis in found]
        return beam_search(
            self._next_tokens,
            self._select,
            state,
            limits,
            beam_size=options.beam_size,
            num_hypotheses=options.num_hypotheses,
            length_penalty=penalty,
        )

    def _with_attention(self, padded: np.ndarray, found: list[Found]) -> list[Found]:
        """The hypotheses with what their tokens attended to, the best ones of all sentences first."""
        name = f"decoder_layer{len(self.model.decoder.blocks)}_block2"
        told: list[Found] = [[] for _ in found]
        for place in range(max(map(len, found), default=0)):
            rows = [row for row, hypotheses in enumerate(found) if place < len(hypotheses)]
            fed = RaggedIds(found[row][place].ids[:-1] for row in rows)
            weights = self.attention(padded[rows], fed.padded(np.arange(len(rows))))[name].mean(axis=1)
            for row, matrix, length in zip(rows, weights, fed.lengths, strict=True):
                num_source = int((padded[row] != PAD).sum())
                told[row].append(replace(found[row][place], attention=matrix[:length, :num_source]))
        return told

    def _next_tokens(
        self, tokens: np.ndarray, state: DecoderState, count: int
    ) -> tuple[Ranked, DecoderState]:
        ids, log_probs, state = self._step(tf.constant(tokens, tf.int64), state, tf.constant(count))
        return Ranked(ids.numpy(), log_probs.numpy()), state

    def _ranked(self, tokens: Any, state: DecoderState, count: Any) -> tuple[Any, Any, DecoderState]:
        """The likeliest next tokens of each row, among those that may be produced; compiled."""
        logits, state = self.model.decode_step(tokens, state)
        logits = tf.cast(logits, tf.float32)
        size = logits.shape[-1]
        logits = tf.where(np.isin(np.arange(size), self._forbidden), -np.inf, logits)
        best, ids = tf.math.top_k(logits, tf.minimum(count, size))  # [B, C]
        return ids, best - tf.reduce_logsumexp(logits, axis=-1, keepdims=True), state

    def _select(self, state: DecoderState, rows: np.ndarray) -> DecoderState:
        """The state of some rows; as long as no sentence is done, a sentence's beams change places only."""
        pick = self._pick_past if len(rows) == state.source_mask.shape[0] else self._pick
        picked: DecoderState = pick(state, tf.constant(rows, tf.int64))
        return picked


def _pick(state: Any, rows: Any) -> Any:
    return tf.nest.map_structure(lambda tensor: tf.gather(tensor, rows), state)


def _pick_past(state: DecoderState, rows: Any) -> DecoderState:
    return state._replace(past=_pick(state.past, rows))


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
