import pytest

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers import UNK
from ptenmt.tokenizers.words import WordTokenizer


def test_words_by_falling_frequency_then_first_appearance() -> None:
    tokenizer = WordTokenizer.train(["b a", "c a d", "d !"], vocabulary_size=100)
    assert tokenizer.pieces(range(4, tokenizer.vocabulary_size)) == ["a", "d", "b", "c", "!"]


def test_vocabulary_size_counts_the_special_tokens() -> None:
    tokenizer = WordTokenizer.train(["b a", "c a d", "d !"], vocabulary_size=6)
    assert tokenizer.vocabulary_size == 6
    assert tokenizer.encode(["d a b"]) == [[5, 4, UNK]]
    assert tokenizer.decode([[5, 4, UNK]]) == ["d a [UNK]"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Bem, não?", ["Bem", ",", "não", "?"]),
        ("I don't; it’s", ["I", "don't", ";", "it’s"]),
        ("disse-me «guarda-chuva»...", ["disse-me", "«", "guarda-chuva", "»", ".", ".", "."]),
        ("'quoted' - x-", ["'", "quoted", "'", "-", "x", "-"]),
        ("does n't 3.5", ["does", "n't", "3", ".", "5"]),
        ("[START]", ["[", "START", "]"]),
    ],
)
def test_what_a_word_is(text: str, pieces: list[str]) -> None:
    tokenizer = WordTokenizer.train([text], vocabulary_size=100)
    (ids,) = tokenizer.encode([text])
    assert tokenizer.pieces(ids) == pieces
    assert tokenizer.decode([ids]) == [" ".join(pieces)]


def test_case_is_kept() -> None:
    tokenizer = WordTokenizer.train(["Dogs dogs"], vocabulary_size=100)
    assert tokenizer.encode(["Dogs dogs DOGS"]) == [[4, 5, UNK]]


@pytest.mark.parametrize("texts", [[], ["", "  \n"]])
def test_no_words_is_an_error(texts: list[str]) -> None:
    with pytest.raises(TokenizerError, match="no words"):
        WordTokenizer.train(texts, vocabulary_size=10)
