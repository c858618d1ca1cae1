"""What works on a stream gives what the same thing on a list gives."""

import random
from functools import partial
from hashlib import blake2b

import pytest

from ptenmt.data import corpus
from ptenmt.data.corpus import split_off
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import in_chunks


def few_sentences(count: int, different: int, seed: int) -> list[SentencePair]:
    """Pairs of which many share a side, or both, in other capitals too."""
    numbers = random.Random(seed)
    words = [f"{case}{number}" for number in range(different) for case in "aA"]
    return [(numbers.choice(words), numbers.choice(words[: different // 2])) for _ in range(count)]


def split_off_in_memory(pairs: list[SentencePair], sizes: dict[str, int], seed: int) -> dict[str, object]:
    """As the documentation of ``split_off`` has it, with all pairs in a dictionary."""

    def rank(key: SentencePair) -> bytes:
        return blake2b(f"{seed}\t{key[0]}\t{key[1]}".encode(), digest_size=8).digest()

    unique = {(source.casefold(), target.casefold()): (source, target) for source, target in pairs}
    ranked = [unique[key] for key in sorted(unique, key=rank)]
    tenth = len(ranked) // 10
    drawn: dict[str, object] = {}
    for split, size in sizes.items():
        chosen = drawn[split] = ranked[: max(1, min(size, tenth))]
        sides = [{pair[side].casefold() for pair in chosen} for side in (0, 1)]
        ranked = [
            pair
            for pair in ranked
            if pair[0].casefold() not in sides[0] and pair[1].casefold() not in sides[1]
        ]
    return drawn


@pytest.mark.parametrize("seed", range(6))
def test_pairs_are_split_off_as_from_a_list(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "_SPARE_CANDIDATES", 0)  # so that second passes are needed
    for count, different in ((3, 2), (200, 6), (2_000, 60), (3_000, 1_000)):
        pairs = few_sentences(count, different, seed)
        for sizes in ({"validation": 5, "test": 40}, {"test": 12}, {"validation": 3_000, "test": 1}):
            assert split_off(partial(in_chunks, pairs), sizes, seed) == split_off_in_memory(
                pairs, sizes, seed
            )
    assert split_off(list, {}, seed) == {}


def test_splits_share_no_sentence_in_another_punctuation() -> None:
    pairs = [(f"Frase {number}{sign}", f"{number}{sign}") for number in range(30) for sign in ("", ".", " !")]
    drawn = split_off(partial(in_chunks, pairs), {"validation": 9, "test": 9}, seed=1)
    numbers = [{target.rstrip(".! ") for _, target in drawn[split]} for split in ("validation", "test")]
    assert numbers[0].isdisjoint(numbers[1])
