"""Beam search inside a TensorFlow graph: the same search as in ``translation/search.py``, without Python.

There a sentence leaves the batch when it is done; here it stays until all are done, and what is found for it
then does not count. With one beam this is greedy search.

Letters as in ``model/attention.py``; K is the number of beams, t what was generated so far, [START] counted.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from ptenmt.config import DecodingConfig
from ptenmt.model import DecoderState
from ptenmt.tokenizers import END, PAD, START

NextTokens = Callable[[Any, Any, Any], tuple[Any, Any, Any]]
"""``next_tokens(tokens [N], state, count) -> (ids [N, C], log-probabilities [N, C], state)``: feed a token a
row, and tell the ``count`` likeliest to follow, best first, or all if there are fewer."""
_NONE_YET = -np.inf


class Best(NamedTuple):
    """The best translation of each sentence."""

    ids: Any
    """int64 [B, t], [START] first, [END] last if it was reached; then [PAD]."""
    scores: Any
    """float64 [B]: the sum of log-probabilities over the number of tokens ** length penalty."""


class _Beams(NamedTuple):
    ids: Any
    """What the beams generated so far: int64 [B, K, t]."""
    totals: Any
    """The sums of their log-probabilities, float64 [B, K]; -inf for a beam that is none."""
    best: Best
    num_found: Any
    """How many endings each sentence has, int32 [B]."""
    has_best_ended: Any
    """Whether the best beam has ended once, [B]."""
    is_running: Any
    """Which sentences are not done, [B]."""


class _Candidates(NamedTuple):
    """The 2·K likeliest continuations of each sentence, best first; all [B, 2·K]."""

    beams: Any
    tokens: Any
    totals: Any


def likeliest(logits: Any, forbidden: Sequence[int], count: Any) -> tuple[Any, Any]:
    """Rank what may follow.

    Args:
        logits: [B, V].
        forbidden: Ids that may not.
        count: C, how many are wanted; V at most are given.

    Returns:
        Ids [B, C] and their log-probabilities, float32 [B, C], among all that may follow; best first.
    """
    logits = tf.cast(logits, tf.float32)
    size = logits.shape[-1]
    logits = tf.where(np.isin(np.arange(size), forbidden), -np.inf, logits)
    best, ids = tf.math.top_k(logits, tf.minimum(count, size))
    return ids, best - tf.reduce_logsumexp(logits, axis=-1, keepdims=True)


def best_translations(
    next_tokens: NextTokens, state: DecoderState, limits: Any, is_blank: Any, options: DecodingConfig
) -> Best:
    """Search for the best translation of each sentence.

    Args:
        next_tokens: Tells what may follow.
        state: What it is first called with, a row a sentence.
        limits: The most tokens to generate, [END] counted: int [B].
        is_blank: The sentences in which there is nothing to translate: bool [B].
        options: ``beam_size``, ``num_hypotheses`` (which says when a search without length penalty is done)
            and ``length_penalty``.
    """
    size = options.beam_size
    state = tf.nest.map_structure(lambda tensor: tf.repeat(tensor, size, axis=0), state)

    def step(beams: _Beams, state: DecoderState) -> tuple[_Beams, DecoderState]:
        tokens = tf.reshape(beams.ids[:, :, -1], [-1])
        ids, log_probs, state = next_tokens(tokens, state, 2 * size)
        beams, origins = _advanced(beams, _expanded(beams, ids, log_probs), limits, options)
        rows = tf.range(tf.shape(origins)[0])[:, None] * size + origins  # -> [B, K]
        past = tf.nest.map_structure(lambda tensor: tf.gather(tensor, tf.reshape(rows, [-1])), state.past)
        return beams, state._replace(past=past)

    first = _first(is_blank, size)
    beams, _ = tf.while_loop(
        lambda beams, _state: tf.reduce_any(beams.is_running),
        step,
        (first, state),
        shape_invariants=(_shapes(first), _state_shapes(state)),
    )
    return beams.best


def _first(is_blank: Any, size: int) -> _Beams:
    """One beam a sentence that is alive; the others would be its doubles."""
    batch = tf.shape(is_blank)[0]
    start = tf.fill([batch, 1], tf.constant(START, tf.int64))
    alone = tf.constant([[0.0] + [-np.inf] * (size - 1)], tf.float64)
    none = tf.fill([batch], tf.constant(_NONE_YET, tf.float64))
    return _Beams(
        ids=tf.tile(start[:, None], [1, size, 1]),
        totals=tf.tile(alone, [batch, 1]),
        best=Best(start, none),
        num_found=tf.zeros([batch], tf.int32),
        has_best_ended=tf.zeros([batch], tf.bool),
        is_running=tf.logical_not(is_blank),
    )


def _expanded(beams: _Beams, ids: Any, log_probs: Any) -> _Candidates:
    """The likeliest continuations of each sentence, from those of each beam, [B·K, C]."""
    batch, size = tf.shape(beams.totals)[0], beams.totals.shape[1]
    choices = tf.shape(ids)[1]
    log_probs = tf.reshape(tf.cast(log_probs, tf.float64), [batch, size, choices])
    totals = tf.reshape(beams.totals[:, :, None] + log_probs, [batch, size * choices])
    best, places = tf.math.top_k(totals, 2 * size)
    tokens = tf.gather(tf.reshape(ids, [batch, size * choices]), places, batch_dims=1)
    return _Candidates(places // choices, tf.cast(tokens, tf.int64), best)


def _advanced(beams: _Beams, found: _Candidates, limits: Any, options: DecodingConfig) -> tuple[_Beams, Any]:
    """The beams a token longer, and which beam each goes on from, [B, K]."""
    size, length = options.beam_size, tf.shape(beams.ids)[2]
    at_limit = tf.cast(limits, tf.int32) <= length
    ends = tf.equal(found.tokens, END)
    is_ending = (ends[:, :size] | at_limit[:, None]) & tf.math.is_finite(found.totals[:, :size])
    is_ending &= beams.is_running[:, None]
    kept = _kept(ends, is_ending)
    origins, tokens, totals = (tf.gather(part, kept, batch_dims=1) for part in found)
    num_found = beams.num_found + tf.reduce_sum(tf.cast(is_ending, tf.int32), axis=1)
    has_best_ended = beams.has_best_ended | ends[:, 0]
    if options.length_penalty == 0:  # no longer translation can score more than the best beam's
        is_done = at_limit | (has_best_ended & (num_found >= options.num_hypotheses))
    else:
        is_done = at_limit | (num_found >= size)
    ids = tf.gather(beams.ids, origins, batch_dims=1)
    advanced = _Beams(
        ids=tf.concat([ids, tokens[:, :, None]], axis=2),
        totals=totals,
        best=_best(beams, found, is_ending, options),
        num_found=num_found,
        has_best_ended=has_best_ended,
        is_running=beams.is_running & ~is_done,
    )
    return advanced, origins


def _kept(ends: Any, is_ending: Any) -> Any:
    """Which candidates go on as beams, [B, K]: where one of the first K ends, a later one that does not."""
    size = is_ending.shape[1]
    spare = ~ends[:, size:]
    others = size + tf.argsort(tf.cast(~spare, tf.int32), axis=1, stable=True)  # those that go on first
    rank = tf.cumsum(tf.cast(is_ending, tf.int32), axis=1, exclusive=True)
    has_spare = rank < tf.reduce_sum(tf.cast(spare, tf.int32), axis=1, keepdims=True)
    return tf.where(is_ending & has_spare, tf.gather(others, rank, batch_dims=1), tf.range(size)[None])


def _best(beams: _Beams, found: _Candidates, is_ending: Any, options: DecodingConfig) -> Best:
    """The best translations, now that some more have ended; of equal ones the earlier."""
    size, length = options.beam_size, tf.cast(tf.shape(beams.ids)[2], tf.float64)
    scores = found.totals[:, :size] / length**options.length_penalty
    scores = tf.where(is_ending, scores, _NONE_YET)
    place = tf.argmax(scores, axis=1, output_type=tf.int32)[:, None]  # -> [B, 1]
    score = tf.gather(scores, place, batch_dims=1)[:, 0]
    origin, token = tf.gather(found.beams, place, batch_dims=1), tf.gather(found.tokens, place, batch_dims=1)
    ended = tf.concat([tf.gather(beams.ids, origin, batch_dims=1)[:, 0], token], axis=1)  # -> [B, t + 1]
    before = tf.pad(beams.best.ids, [[0, 0], [0, 1]], constant_values=PAD)
    is_better = score > beams.best.scores
    return Best(tf.where(is_better[:, None], ended, before), tf.where(is_better, score, beams.best.scores))


def _shapes(beams: _Beams) -> _Beams:
    """The shapes of the beams in every round: what was generated becomes longer."""
    shapes: _Beams = tf.nest.map_structure(lambda tensor: tensor.shape, beams)
    size = beams.ids.shape[1]
    return shapes._replace(
        ids=tf.TensorShape([None, size, None]),
        best=Best(tf.TensorShape([None, None]), tf.TensorShape([None])),
    )


def _state_shapes(state: DecoderState) -> Any:
    """The state's shapes in every round: the keys and values of what was generated become more."""
    shapes = tf.nest.map_structure(lambda tensor: tensor.shape, state)
    past = [
        tuple(tf.TensorShape([None, tensor.shape[1], None, tensor.shape[3]]) for tensor in caches)
        for caches in state.past
    ]
    return shapes._replace(past=past)
