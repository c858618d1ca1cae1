from collections.abc import Sequence

import numpy as np
import pytest
from scripted import ranking

from ptenmt.tokenizers import END, PAD, START, UNK
from ptenmt.translation.search import greedy_search

VOCABULARY_SIZE = 10


class Script:
    """Prefers the scripted tokens, a list a sentence; the state counts the steps and is checked."""

    def __init__(self, *sentences: Sequence[int]) -> None:
        self.sentences = sentences
        self.fed: list[list[int]] = []

    def __call__(self, tokens: np.ndarray, state: int) -> tuple[np.ndarray, int]:
        assert state == len(self.fed)
        self.fed.append(tokens.tolist())
        logits = np.zeros((len(self.sentences), VOCABULARY_SIZE), dtype="float32")
        for row, sentence in enumerate(self.sentences):
            logits[row, sentence[state] if state < len(sentence) else 9] = 5
        return logits, state + 1


def search(script: Script, limits: Sequence[int], suppressed: Sequence[int] = ()) -> list[list[int]]:
    return [hypothesis.ids for hypothesis in greedy_search(ranking(script, suppressed), 0, limits)]


def test_it_takes_the_most_probable_tokens_until_end():
    script = Script([5, 6, 7, END, 8, 8])
    assert search(script, [20]) == [[START, 5, 6, 7, END]]
    assert script.fed == [[START], [5], [6], [7]]


@pytest.mark.parametrize(
    ("limit", "ids", "is_complete"),
    [
        (1, [START, 5], False),
        (3, [START, 5, 6, 7], False),
        (4, [START, 5, 6, 7, END], True),
        (5, [START, 5, 6, 7, END], True),
    ],
)
def test_the_limit_counts_generated_tokens_and_end_is_one(limit: int, ids: list[int], is_complete: bool):
    script = Script([5, 6, 7, END])
    (hypothesis,) = greedy_search(ranking(script), 0, [limit])
    assert hypothesis.ids == ids
    assert hypothesis.is_complete is is_complete
    assert len(script.fed) == len(ids) - 1


def test_sentences_have_limits_of_their_own_and_do_not_disturb_each_other():
    scripts = [[5, END], [4, 5, 6, 7, 8, END], [6, 6, 6, 6], [END], [7, 8, 7]]
    limits = [9, 9, 2, 9, 3]
    together = search(Script(*scripts), limits)
    alone = [search(Script(script), [limit])[0] for script, limit in zip(scripts, limits, strict=True)]
    assert together == alone
    assert together == [
        [START, 5, END],
        [START, 4, 5, 6, 7, 8, END],
        [START, 6, 6],
        [START, END],
        [START, 7, 8, 7],
    ]


def test_padding_is_never_fed_to_a_finished_sentence():
    script = Script([END, PAD, PAD, PAD], [5, 6, 7, END])
    assert search(script, [9, 9]) == [[START, END], [START, 5, 6, 7, END]]
    assert all(PAD not in tokens for tokens in script.fed)


def test_a_forbidden_token_gives_way_to_the_next_best():
    def next_logits(_tokens: np.ndarray, state: int) -> tuple[np.ndarray, int]:
        """[PAD], [UNK] and [START] are always likeliest; after them 8, and [END] from the third step."""
        logits = np.array([[9, 8, 7, 6 if state == 2 else 0, 0, 0, 0, 0, 5, 0]] * 2, dtype="float32")
        return logits, state + 1

    (first, second) = greedy_search(ranking(next_logits, [PAD, UNK, START]), 0, [5, 2])
    assert first.ids == [START, 8, 8, END]
    assert second.ids == [START, 8, 8]
    allowed, _ = greedy_search(ranking(next_logits, [PAD, START]), 0, [2, 1])
    assert allowed.ids == [START, UNK, UNK]


def test_an_empty_batch_asks_nothing():
    script = Script()
    assert search(script, []) == []
    assert script.fed == []
