"""From the pieces that a model reads to the words that people see."""

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptenmt.tokenizers import SPECIAL_PIECES

if TYPE_CHECKING:
    import numpy as np

_WORD = re.compile(r"\s*(?:[\w\u0300-\u036f]+(?:['’-][\w\u0300-\u036f]+)*|[^\w\s])")
_SEARCHED = 16
"""How many letters of the text are passed over to find a piece, which may be spelled otherwise."""


def words_of(text: str) -> list[str]:
    """Words and punctuation marks, each with the white space before it; the last with that behind it too."""
    words = _WORD.findall(text.rstrip())  # behind the last word a search for another would take n² steps
    if not words:
        return [text] if text else []
    return [*words[:-1], text[len("".join(words[:-1])) :]]


def word_weights(
    attention: "np.ndarray", source: tuple[list[str], list[str]], target: tuple[list[str], list[str]]
) -> list[list[float]]:
    """Which words of a text each word of its translation attended to.

    Args:
        attention: [T, S], which piece attended to which.
        source: The words and the S pieces of the text.
        target: The words and the T pieces of the translation.

    Returns:
        A row a target word, a column a source word. A row sums to 1; to 0 if the pieces of the word are not
        known, or attended to no word.
    """
    columns, rows = _words_of_pieces(*source), _words_of_pieces(*target)
    weights = [[0.0] * len(source[0]) for _ in target[0]]
    for row, values in zip(rows, attention.tolist(), strict=True):
        for column, value in zip(columns, values, strict=True):
            if row is not None and column is not None:
                weights[row][column] += value
    return [[round(value / (sum(row) or 1.0), 4) for value in row] for row in weights]


def _words_of_pieces(words: Sequence[str], pieces: Sequence[str]) -> list[int | None]:
    """Which word each piece is of; None if it is of none.

    Tokenizers change letters: they are compared without case, accents and white space.
    """
    folded = [_folded(word) for word in words]
    letters = "".join(folded)
    owners = [number for number, word in enumerate(folded) for _ in word]
    found: list[int | None] = []
    place = 0
    for piece in pieces:
        spelled = "" if piece in SPECIAL_PIECES else _folded(piece.removeprefix("##").replace("▁", " "))
        at = letters.find(spelled, place, place + _SEARCHED + len(spelled)) if spelled else -1
        found.append(None if at < 0 else owners[at])
        place = place if at < 0 else at + len(spelled)
    return found


def _folded(text: str) -> str:
    spelled = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in spelled if not (char.isspace() or unicodedata.combining(char)))
