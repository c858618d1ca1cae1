"""Searching for a translation, given what scores the next token.

Both engines search alike: the same limits, the same forbidden tokens, the same score. A hypothesis' score is
the sum of its tokens' log-probabilities, [END] included and taken over the allowed tokens, divided by
length ** length_penalty, where [END] counts as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Found, Hypothesis


class Ranked(NamedTuple):
    """What may follow in each row: its C likeliest tokens, best first."""

    ids: np.ndarray
    """[B, C]."""
    log_probs: np.ndarray
    """[B, C], of all that may follow; -inf for a token that may not."""


NextTokens = Callable[[np.ndarray, Any, int], tuple[Ranked, Any]]
"""``next_tokens(tokens [B], state, count) -> (ranked, state)``: feed a token a row, and tell the ``count``
likeliest to follow, or all if there are fewer."""
Select = Callable[[Any, np.ndarray], Any]
"""``select(state, rows [B']) -> state``: the state of those rows, in that order; a row may come twice."""


def greedy_search(
    next_tokens: NextTokens, state: Any, limits: Sequence[int], length_penalty: float = 1.0
) -> list[Hypothesis]:
    """Take the likeliest token at each step until every sentence has ended.

    Args:
        next_tokens: Tells what may follow in each sentence.
        state: What it is first called with.
        limits: The most tokens to generate for each of the B sentences, [END] counted.
        length_penalty: The exponent by which a hypothesis' length divides its score.
    """
    remaining = np.asarray(limits)
    rows = [[START] for _ in limits]
    totals = np.zeros(len(rows))
    running = np.ones(len(rows), dtype=bool)
    tokens = np.full(len(rows), START, dtype=np.int64)
    for length in range(1, int(remaining.max(initial=0)) + 1):
        ranked, state = next_tokens(tokens, state, 1)
        tokens = ranked.ids[:, 0].astype(np.int64)
        totals[running] += ranked.log_probs[running, 0]
        for row in np.flatnonzero(running):
            rows[row].append(int(tokens[row]))
        running &= (tokens != END) & (length < remaining)
        if not running.any():
            break
        tokens[~running] = END  # whatever is fed to a finished sentence, nobody reads the answer
    return [
        Hypothesis(ids, float(total) / max(len(ids) - 1, 1) ** length_penalty)
        for ids, total in zip(rows, totals, strict=True)
    ]


@dataclass
class _Beams:
    """The sentences that are still searched for, N of them, with K beams each."""

    sentences: np.ndarray
    """Their numbers in the batch, [N]."""
    limits: np.ndarray
    """The most tokens that each may have, [N]."""
    ids: np.ndarray
    """What the beams generated so far, [N, K, t]."""
    totals: np.ndarray
    """The sums of their tokens' log-probabilities, [N, K]; -inf for a beam that is none yet."""
    has_best_ended: np.ndarray
    """Whether the best beam has ended once, [N]."""


@dataclass
class _Candidates:
    """What may follow the beams: for each sentence the 2·K likeliest of all, best first."""

    beams: np.ndarray
    """The beam that each goes on from, [N, 2·K]."""
    tokens: np.ndarray
    """The token that it adds, [N, 2·K]."""
    totals: np.ndarray
    """The sum of log-probabilities with it, [N, 2·K]."""


def beam_search(
    next_tokens: NextTokens,
    select: Select,
    state: Any,
    limits: Sequence[int],
    *,
    beam_size: int,
    num_hypotheses: int = 1,
    length_penalty: float = 1.0,
) -> list[Found]:
    """Follow the likeliest beginnings until each sentence has as many endings as it has beams.

    CTranslate2's search: of the 2·K likeliest continuations the K first are looked at; what ends among them
    is a hypothesis, and a later one that does not end takes its place. Without a length penalty a sentence is
    done once its best beam has ended, since no longer one can score more.

    Args:
        next_tokens: Tells what may follow in each row.
        select: Picks rows of the state.
        state: Of the B sentences, a row each.
        limits: The most tokens to generate for each of the B sentences, [END] counted.
        beam_size: K, how many beginnings are kept.
        num_hypotheses: How many are returned a sentence, K at most.
        length_penalty: The exponent by which a hypothesis' length divides its score.

    Returns:
        The hypotheses of each sentence, best first.
    """
    found: list[list[tuple[float, np.ndarray]]] = [[] for _ in limits]
    beams = _first_beams(np.asarray(limits), beam_size)
    tokens = np.full(len(limits) * beam_size, START, dtype=np.int64)
    state = select(state, np.repeat(np.arange(len(limits)), beam_size))
    while len(beams.sentences):
        ranked, state = next_tokens(tokens, state, 2 * beam_size)
        candidates = _expand(beams, ranked)
        kept, is_done = _finish(beams, candidates, found, num_hypotheses, length_penalty)
        rows = np.arange(len(beams.sentences))[:, None] * beam_size + np.take_along_axis(
            candidates.beams, kept, 1
        )
        beams = _advance(beams, candidates, kept, ~is_done)
        tokens = beams.ids[:, :, -1].reshape(-1)
        state = select(state, rows[~is_done].reshape(-1))
    return [_ranked(each, num_hypotheses, length_penalty) for each in found]


def _first_beams(limits: np.ndarray, beam_size: int) -> _Beams:
    """One beam a sentence that is alive; the others would be its doubles."""
    totals = np.full((len(limits), beam_size), -np.inf)
    totals[:, 0] = 0.0
    ids = np.empty((len(limits), beam_size, 0), np.int64)
    return _Beams(np.arange(len(limits)), limits, ids, totals, np.zeros(len(limits), bool))


def _expand(beams: _Beams, ranked: Ranked) -> _Candidates:
    """The 2·K likeliest continuations of each sentence, which are among the 2·K likeliest of each beam."""
    num, size = beams.totals.shape
    totals = (beams.totals[:, :, None] + ranked.log_probs.reshape(num, size, -1)).reshape(
        num, -1
    )  # -> [N, K·C]
    best = np.argsort(-totals, axis=1, kind="stable")[:, : 2 * size]
    tokens = np.take_along_axis(ranked.ids.reshape(num, -1), best, 1)
    return _Candidates(best // ranked.ids.shape[1], tokens, np.take_along_axis(totals, best, 1))


def _finish(
    beams: _Beams,
    candidates: _Candidates,
    found: list[list[tuple[float, np.ndarray]]],
    num_hypotheses: int,
    length_penalty: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Note the hypotheses that end here.

    Returns:
        Which candidates go on as beams, [N, K], and which sentences are done, [N].
    """
    num, size = beams.totals.shape
    length = beams.ids.shape[2] + 1
    kept = np.tile(np.arange(size), (num, 1))
    is_done = beams.limits <= length
    ends = candidates.tokens == END
    for row in np.flatnonzero(ends[:, :size].any(axis=1) | is_done):
        hypotheses = found[beams.sentences[row]]
        others = iter(np.flatnonzero(~ends[row, size:]) + size)
        for place in np.flatnonzero(
            (ends[row, :size] | is_done[row]) & np.isfinite(candidates.totals[row, :size])
        ):
            beam, token = candidates.beams[row, place], candidates.tokens[row, place]
            hypotheses.append((candidates.totals[row, place], np.append(beams.ids[row, beam], token)))
            kept[row, place] = next(others, place)
        beams.has_best_ended[row] |= ends[row, 0]
        if length_penalty == 0:
            is_done[row] |= beams.has_best_ended[row] and len(hypotheses) >= num_hypotheses
        else:
            is_done[row] |= len(hypotheses) >= size
    return kept, is_done


def _advance(beams: _Beams, candidates: _Candidates, kept: np.ndarray, goes_on: np.ndarray) -> _Beams:
    """The beams of the sentences that go on, each a token longer."""
    origins = np.take_along_axis(candidates.beams, kept, 1)[goes_on]
    tokens = np.take_along_axis(candidates.tokens, kept, 1)[goes_on]
    ids = np.take_along_axis(beams.ids[goes_on], origins[:, :, None], 1)
    return _Beams(
        beams.sentences[goes_on],
        beams.limits[goes_on],
        np.concatenate([ids, tokens[:, :, None]], axis=2),
        np.take_along_axis(candidates.totals, kept, 1)[goes_on],
        beams.has_best_ended[goes_on],
    )


def _ranked(found: list[tuple[float, np.ndarray]], num_hypotheses: int, length_penalty: float) -> Found:
    hypotheses = [
        Hypothesis([START, *ids.tolist()], float(total) / len(ids) ** length_penalty) for total, ids in found
    ]
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)[:num_hypotheses]
