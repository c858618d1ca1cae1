"""From pieces to words."""

import numpy as np
import pytest

from ptenmt.translation.word_alignment import word_weights, words_of, words_of_tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  ", ["  "]),
        ("Ela não tem tempo.", ["Ela", " não", " tem", " tempo", "."]),
        (" She doesn't  know… \n", [" She", " doesn't", "  know", "… \n"]),
        ("queixou-se às 10:30!", ["queixou-se", " às", " 10", ":", "30", "!"]),
    ],
)
def test_words_make_up_the_text(text: str, words: list[str]) -> None:
    assert words_of(text) == words
    assert "".join(words) == text


def test_white_space_takes_no_long_search() -> None:
    blank = " " * 1_000_000  # a second try at each of them would take days
    assert words_of(f"Olá{blank}") == [f"Olá{blank}"]
    assert words_of(blank) == [blank]


@pytest.mark.parametrize(
    ("text", "pieces", "words"),
    [
        ("Não sei.", ["[START]", "nao", "se", "##i", ".", "[END]"], [None, 0, 1, 1, 2, None]),
        ("Não sei.", ["▁N", "ão", "▁sei", ".", "[END]"], [0, 0, 1, 2, None]),
        ('He said "no"', ["he", "said", "``", "no", "''", "[END]"], [0, 1, None, 3, None, None]),
        ("isn't it", ["is", "n", "'", "t", "it"], [0, 0, 0, 0, 1]),
        ("a ß", ["a", "[UNK]", "x"], [0, 1, None]),
        ("does extraordinary xyz it", ["do", "##es", "[UNK]", "[UNK]", "it"], [0, 0, 1, 2, 3]),
        ("abßcd it", ["▁ab", "[UNK]", "cd", "▁it", "[UNK]"], [0, 0, 0, 1, None]),
    ],
)
def test_every_token_has_its_word(text: str, pieces: list[str], words: list[int | None]) -> None:
    assert words_of_tokens(words_of(text), pieces) == words


def test_weights_of_pieces_become_weights_of_words() -> None:
    attention = np.array([[0.1, 0.2, 0.6, 0.1], [0.0, 0.0, 0.5, 0.5], [0.9, 0.05, 0.05, 0.0]])
    source = (["tem", "po"], ["te", "m", "po", "[END]"])
    target = (["time", ".", "!"], ["ti", "me", "[END]"])
    weights = word_weights(attention, source, target)
    # "time" has two pieces: 0.1 + 0.2 + 0 + 0 to "tem", 0.6 + 0.5 to "po".
    assert weights == [[round(0.3 / 1.4, 4), round(1.1 / 1.4, 4)], [0.0, 0.0], [0.0, 0.0]]
