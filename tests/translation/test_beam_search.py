"""Beam search over a language model that is a table: what follows depends on what was said so far."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from scripted import ranking

from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.search import beam_search, greedy_search

VOCABULARY_SIZE = 6  # [PAD], [UNK], [START], [END] and two words
SUPPRESSED = [0, 1, 2]
ALLOWED = [END, 4, 5]


class Table:
    """Random logits for every beginning of every sentence; the state is the beginnings themselves."""

    def __init__(self, seed: int, end: float = 0.0) -> None:
        self._seed = seed
        self._end = end

    def logits(self, beginning: tuple[int, ...]) -> np.ndarray:
        logits = np.random.default_rng([self._seed, *beginning]).normal(scale=2.0, size=VOCABULARY_SIZE)
        logits[END] += self._end
        return logits.astype("float32")

    def __call__(
        self, tokens: np.ndarray, state: list[tuple[int, ...]]
    ) -> tuple[np.ndarray, list[tuple[int, ...]]]:
        state = [(*said, int(token)) for said, token in zip(state, tokens, strict=True)]
        return np.stack([self.logits(said) for said in state]), state

    def log_prob(self, sentence: int, ids: tuple[int, ...]) -> float:
        """Of generating these ids, over the allowed tokens."""
        total, said = 0.0, (sentence, START)
        for token in ids:
            logits = self.logits(said)[ALLOWED].astype("float64")
            total += logits[ALLOWED.index(token)] - np.log(np.exp(logits).sum())
            said = (*said, token)
        return total


def select(state: list[tuple[int, ...]], rows: np.ndarray) -> list[tuple[int, ...]]:
    return [state[row] for row in rows]


def beams(table: Table, limits: list[int], **options: float) -> list[list[Hypothesis]]:
    state = [(sentence,) for sentence in range(len(limits))]
    return beam_search(ranking(table, SUPPRESSED), select, state, limits, **options)  # type: ignore[arg-type]


def all_endings(limit: int) -> Iterator[tuple[int, ...]]:
    """Every hypothesis: ended within the limit, or cut by it."""
    for length in range(1, limit + 1):
        for words in product((4, 5), repeat=length - 1):
            yield (*words, END)
    yield from product((4, 5), repeat=limit)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.0])
def test_with_beams_for_every_beginning_it_finds_the_best_of_all(length_penalty: float):
    limit = 4
    for seed in range(20):
        table = Table(seed)
        expected = max(
            all_endings(limit), key=lambda ids: table.log_prob(0, ids) / len(ids) ** length_penalty
        )
        ((best, *_),) = beams(table, [limit], beam_size=64, length_penalty=length_penalty)
        assert best.ids == [START, *expected]
        assert best.score == pytest.approx(table.log_prob(0, expected) / len(expected) ** length_penalty)


def test_one_beam_is_greedy_search():
    limits = [1, 3, 8, 8, 8, 20]
    for seed in range(20):
        table = Table(seed)
        greedy = greedy_search(ranking(table, SUPPRESSED), [(sentence,) for sentence in range(6)], limits)
        found = [best for (best,) in beams(table, limits, beam_size=1)]
        assert [each.ids for each in found] == [each.ids for each in greedy]
        assert [each.score for each in found] == pytest.approx([each.score for each in greedy], rel=1e-5)


def test_scores_are_log_probabilities_in_order():
    for seed in range(20):
        table = Table(seed)
        for row, found in enumerate(beams(table, [6, 9], beam_size=4, num_hypotheses=4, length_penalty=0.7)):
            assert len({tuple(each.ids) for each in found}) == len(found)
            scores = [each.score for each in found]
            assert scores == sorted(scores, reverse=True)
            for each in found:
                ids = tuple(each.ids[1:])
                assert each.score == pytest.approx(table.log_prob(row, ids) / len(ids) ** 0.7, rel=1e-4)


def test_sentences_do_not_disturb_each_other():
    table, limits = Table(1, end=-1.0), [2, 9, 5, 1, 14]
    together = beams(table, limits, beam_size=3, num_hypotheses=3)
    for row, limit in enumerate(limits):
        alone = beam_search(
            ranking(table, SUPPRESSED), select, [(row,)], [limit], beam_size=3, num_hypotheses=3
        )
        assert [each.ids for each in alone[0]] == [each.ids for each in together[row]]


def test_what_is_not_ended_is_cut_at_the_limit():
    found = beams(Table(2, end=-50.0), [3, 5], beam_size=2, num_hypotheses=2)
    assert [[len(each.ids) for each in hypotheses] for hypotheses in found] == [[4, 4], [6, 6]]
    assert not any(each.is_complete for hypotheses in found for each in hypotheses)


def test_a_larger_length_penalty_favours_long_ones():
    lengths = [
        sum(
            len(beams(Table(seed), [12], beam_size=4, length_penalty=penalty)[0][0].ids) for seed in range(20)
        )
        for penalty in (0.0, 1.0, 2.0)
    ]
    assert lengths[0] < lengths[1] < lengths[2]


def test_nothing_to_search_is_nothing_found():
    assert beams(Table(0), [], beam_size=4) == []
