"""The bundled demo corpus: the bytes that were published, and what the README's example needs of them."""

import gzip
import hashlib
import re
from collections import Counter

import pytest

from ptenmt.data.readers import DEMO_FILE, demo_pairs

SPLITS = ("train", "validation", "test")
TRAIN = demo_pairs("train")
ALL = [pair for split in SPLITS for pair in demo_pairs(split)]
SHA256 = "52c549c1c0b07885b791858ae0aa62c325ce73938b994f69d580573089b7872a"
# Sentences that `make demo` translates: the model has to do it without having seen them.
UNSEEN = (
    ("este modelo parece funcionar bem", "this model seems to work well"),
    ("este é um problema que temos que resolver", "this is a problem that we have to solve"),
)


def tokens(sentence: str) -> list[str]:
    return re.findall(r"[\w'-]+", sentence.lower())


def plain(sentence: str) -> str:
    return " ".join(sentence.lower().rstrip("?!. ").split())


def test_the_corpus_is_the_published_one() -> None:
    assert hashlib.sha256(gzip.decompress(DEMO_FILE.read_bytes())).hexdigest() == SHA256


@pytest.mark.parametrize("side", [0, 1])
def test_no_sentence_comes_twice_in_or_across_the_splits(side: int) -> None:
    counts = Counter(plain(pair[side]) for pair in ALL)

    assert [sentence for sentence, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("side", [0, 1])
def test_readme_sentences_are_unseen_but_their_words_are_frequent(side: int) -> None:
    counts = Counter(word for pair in TRAIN for word in tokens(pair[side]))
    corpus = [plain(pair[side]) for pair in ALL]

    for unseen in UNSEEN:
        assert not any(unseen[side] in sentence for sentence in corpus)
        assert {word: counts[word] for word in tokens(unseen[side]) if counts[word] < 25} == {}
