"""Greedy search, and beam search with K beams (the beam width), given a function that scores the next tokens.

Both engines search alike: same length limits, same suppressed tokens, same score. The score of a hypothesis
is the sum of its tokens' log-probabilities, normalized over the tokens that are not suppressed, divided by
length ** length_penalty; [END] counts in both.

Letters here: B sentences, N of them unfinished, K beams, C candidates for the next token, t tokens so far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Hypothesis


class Ranked(NamedTuple):
    """The C most probable next tokens of each row, best first."""

    ids: np.ndarray
    """[B, C]."""
    log_probs: np.ndarray
    """[B, C]; -inf for suppressed tokens."""


NextTokens = Callable[[np.ndarray, Any, int], tuple[Ranked, Any]]
"""``next_tokens(tokens [B], state, count) -> (ranked, state)``: feed one token per row and rank the ``count``
most probable next tokens, or all if there are fewer."""
Select = Callable[[Any, np.ndarray], Any]
"""``select(state, rows [B']) -> state``: the state of those rows, in that order; rows may repeat."""


def greedy_search(
    next_tokens: NextTokens, state: Any, max_lengths: Sequence[int], length_penalty: float = 1.0
) -> list[Hypothesis]:
    """Take the most probable token at each step until every sentence has ended; see ``beam_search``."""
    limits = np.asarray(max_lengths)
    ids: list[list[int]] = [[] for _ in max_lengths]
    totals = np.zeros(len(ids))
    running = np.ones(len(ids), dtype=bool)
    tokens = np.full(len(ids), START, dtype=np.int64)
    for length in range(1, int(limits.max(initial=0)) + 1):
        ranked, state = next_tokens(tokens, state, 1)
        tokens = ranked.ids[:, 0].astype(np.int64)
        totals[running] += ranked.log_probs[running, 0]
        for row in np.flatnonzero(running):
            ids[row].append(int(tokens[row]))
        running &= (tokens != END) & (length < limits)
        if not running.any():
            break
        tokens[~running] = END  # any id: the output for finished sentences is ignored
    return [_hypothesis(row, total, length_penalty) for row, total in zip(ids, totals, strict=True)]


def beam_search(
    next_tokens: NextTokens,
    select: Select,
    state: Any,
    max_lengths: Sequence[int],
    *,
    beam_size: int,
    num_hypotheses: int = 1,
    length_penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """Keep the K most probable prefixes until each sentence has K hypotheses; returns these, best first.

    As in CTranslate2, of the 2·K most probable continuations the first K are examined: those that end are
    hypotheses, and are replaced by later ones that do not end. Without length penalty a sentence is done once
    ``num_hypotheses`` are found and its best beam has ended: no hypothesis that is longer can score higher.

    Args:
        next_tokens: Scores the next tokens of each row.
        select: Picks rows of the state.
        state: A row for each of the B sentences.
        max_lengths: The most tokens to generate for each sentence, [END] counted.
        beam_size: K.
        num_hypotheses: How many to return for each sentence, at most K.
        length_penalty: Exponent of the length normalization, as fairseq's ``--lenpen``, not as GNMT's.
    """
    num = len(max_lengths)
    ended: list[list[Hypothesis]] = [[] for _ in max_lengths]
    totals = np.full((num, beam_size), -np.inf)
    totals[:, 0] = 0.0  # the other beams would duplicate the first
    beams = _Beams(
        sentences=np.arange(num),
        max_lengths=np.asarray(max_lengths),
        ids=np.empty((num, beam_size, 0), np.int64),
        totals=totals,
        has_best_ended=np.zeros(num, bool),
    )
    tokens = np.full(num * beam_size, START, dtype=np.int64)
    state = select(state, np.repeat(np.arange(num), beam_size))
    while len(beams.sentences):
        ranked, state = next_tokens(tokens, state, 2 * beam_size)
        candidates = _expand(beams, ranked)
        kept, is_done = _finish(beams, candidates, ended, num_hypotheses, length_penalty)
        origins = np.take_along_axis(candidates.beams, kept, 1)  # [N, K]
        rows = np.arange(len(beams.sentences))[:, None] * beam_size + origins
        beams = _advance(beams, candidates, kept, ~is_done)
        tokens = beams.ids[:, :, -1].reshape(-1)
        state = select(state, rows[~is_done].reshape(-1))
    return [
        sorted(of_sentence, key=lambda hypothesis: -hypothesis.score)[:num_hypotheses]
        for of_sentence in ended
    ]


@dataclass
class _Beams:
    """The unfinished sentences with K beams each."""

    sentences: np.ndarray
    """[N]: their indices in the batch."""
    max_lengths: np.ndarray
    """[N]: the most tokens of each."""
    ids: np.ndarray
    """[N, K, t]: the tokens generated so far."""
    totals: np.ndarray
    """[N, K]: the sums of their log-probabilities; -inf for an unused beam."""
    has_best_ended: np.ndarray
    """[N]: whether the best beam has ended once."""


@dataclass
class _Candidates:
    """The 2·K most probable continuations of each sentence, best first."""

    beams: np.ndarray
    """[N, 2·K]: the beam that each continues."""
    tokens: np.ndarray
    """[N, 2·K]: the token that it appends."""
    totals: np.ndarray
    """[N, 2·K]: the sum of log-probabilities, that token included."""


def _expand(beams: _Beams, ranked: Ranked) -> _Candidates:
    """The 2·K most probable continuations of each sentence, which are among the 2·K of each of its beams."""
    num, size = beams.totals.shape
    totals = beams.totals[:, :, None] + ranked.log_probs.reshape(num, size, -1)  # [N, K, C]
    totals = totals.reshape(num, -1)  # [N, K·C]
    best = np.argsort(-totals, axis=1, kind="stable")[:, : 2 * size]
    tokens = np.take_along_axis(ranked.ids.reshape(num, -1), best, 1)
    return _Candidates(best // ranked.ids.shape[1], tokens, np.take_along_axis(totals, best, 1))


def _finish(
    beams: _Beams,
    candidates: _Candidates,
    ended: list[list[Hypothesis]],
    num_hypotheses: int,
    length_penalty: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Add ended hypotheses to ``ended``; returns the candidates to keep [N, K], the sentences done [N]."""
    # For example, with K = 2 and candidates (a, [END], b, c): [END] makes a hypothesis, a and b are kept.
    num, size = beams.totals.shape
    length = beams.ids.shape[2] + 1
    kept = np.tile(np.arange(size), (num, 1))
    is_done = beams.max_lengths <= length
    ends = candidates.tokens == END
    for row in np.flatnonzero(ends[:, :size].any(axis=1) | is_done):
        hypotheses = ended[beams.sentences[row]]
        totals = candidates.totals[row]
        others = iter(np.flatnonzero(~ends[row, size:]) + size)
        for place in np.flatnonzero((ends[row, :size] | is_done[row]) & np.isfinite(totals[:size])):
            ids = np.append(beams.ids[row, candidates.beams[row, place]], candidates.tokens[row, place])
            hypotheses.append(_hypothesis(ids.tolist(), totals[place], length_penalty))
            kept[row, place] = next(others, place)
        beams.has_best_ended[row] |= ends[row, 0]
        if length_penalty == 0:
            is_done[row] |= beams.has_best_ended[row] and len(hypotheses) >= num_hypotheses
        else:
            is_done[row] |= len(hypotheses) >= size
    return kept, is_done


def _advance(beams: _Beams, candidates: _Candidates, kept: np.ndarray, is_running: np.ndarray) -> _Beams:
    """The beams of the sentences that are not done, each a token longer."""
    origins = np.take_along_axis(candidates.beams, kept, 1)[is_running]
    tokens = np.take_along_axis(candidates.tokens, kept, 1)[is_running]
    ids = np.take_along_axis(beams.ids[is_running], origins[:, :, None], 1)
    return _Beams(
        beams.sentences[is_running],
        beams.max_lengths[is_running],
        np.concatenate([ids, tokens[:, :, None]], axis=2),
        np.take_along_axis(candidates.totals, kept, 1)[is_running],
        beams.has_best_ended[is_running],
    )


def _hypothesis(ids: list[int], total: float, length_penalty: float) -> Hypothesis:
    return Hypothesis([START, *ids], float(total) / max(len(ids), 1) ** length_penalty)
