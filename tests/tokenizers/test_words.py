import unicodedata
from pathlib import Path

import pytest

from ptenmt.config.schema import Punctuation, WordOrder
from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.words import WordTokenizer, word_pattern


@pytest.mark.parametrize(
    ("size", "order", "words"),
    [
        (100, "frequency", ["a", "d", "b", "c", "!"]),
        (6, "frequency", ["a", "d"]),
        (7, "appearance", ["b", "a", "d"]),
    ],
)
def test_the_most_frequent_words_in_order(size: int, order: WordOrder, words: list[str]) -> None:
    """Of words that occur equally often the first; the size counts the special tokens."""
    tokenizer = WordTokenizer.train(["b a", "c a d", "d !"], vocabulary_size=size, order=order)
    assert tokenizer.vocabulary[4:] == words
    assert tokenizer.decode(tokenizer.encode(["d a x"])) == ["d a [UNK]"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Bem, não?", ["Bem", ",", "não", "?"]),
        ("I don't; it’s", ["I", "don't", ";", "it’s"]),
        ("disse-me «guarda-chuva»...", ["disse-me", "«", "guarda-chuva", "»", ".", ".", "."]),
        ("'quoted' - x-", ["'", "quoted", "'", "-", "x", "-"]),
        ("does n't 3.5", ["does", "n't", "3", ".", "5"]),
        ("[START]", ["[", "START", "]"]),
        ("हिन्दी, में।", ["हिन्दी", ",", "में", "।"]),
        ("q\u0303-q\u0303 !\u0303", ["q\u0303-q\u0303", "!\u0303"]),
    ],
)
def test_what_a_word_is(text: str, pieces: list[str]) -> None:
    tokenizer = WordTokenizer.train([text], vocabulary_size=100)
    (ids,) = tokenizer.encode([text])
    assert tokenizer.pieces(ids) == pieces
    assert tokenizer.decode([ids]) == [" ".join(pieces)]


@pytest.mark.parametrize("texts", [[], ["", "  \n"]])
def test_no_words_is_an_error(texts: list[str]) -> None:
    with pytest.raises(TokenizerError, match="no words"):
        WordTokenizer.train(texts, vocabulary_size=10)


QUOTED = "I'm “here”, you know: rock-'n'-roll costs $5 — don’t…"


@pytest.mark.parametrize(
    ("punctuation", "words"),
    [
        ("deleted", ["Im", "here", "you", "know", "rocknroll", "costs", "5", "dont"]),
        ("space", ["I'm", "“here”", "you", "know", "rock", "'n'", "roll", "costs", "5", "—", "don’t…"]),
    ],
)
def test_what_becomes_of_punctuation(punctuation: Punctuation, words: list[str]) -> None:
    tokenizer = WordTokenizer.train([QUOTED], vocabulary_size=100, punctuation=punctuation)
    assert tokenizer.vocabulary[4:] == words
    assert tokenizer.split(QUOTED) == words
    assert tokenizer.decode(tokenizer.encode(["you, know!"])) == ["you know"]


@pytest.mark.parametrize("punctuation", ["kept", "deleted", "space"])
def test_punctuation_is_remembered(tmp_path: Path, punctuation: Punctuation) -> None:
    tokenizer = WordTokenizer.train([QUOTED], vocabulary_size=100, punctuation=punctuation)
    (loaded,) = WordTokenizer.load(tmp_path, [tokenizer.save(tmp_path, "source")])
    assert loaded.split(QUOTED) == tokenizer.split(QUOTED)
    assert loaded.checksum == tokenizer.checksum
    other = WordTokenizer(tokenizer.pieces(range(tokenizer.vocabulary_size)), "kept")
    assert (other.checksum == tokenizer.checksum) == (punctuation == "kept")


def test_every_combining_mark_belongs_to_the_character_before_it() -> None:
    marks = "".join(sign for sign in map(chr, range(0x110000)) if unicodedata.category(sign)[0] == "M")
    assert word_pattern().findall(f"a{marks} b") == [f"a{marks}", "b"]
