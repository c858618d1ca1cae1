"""Pieces to words: to which word of a text each piece belongs."""

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np

from ptenmt.tokenizers import Tokenizer

_MARKS = str.maketrans("", "", "▁#")


def words_of(tokenizer: Tokenizer, text: str, ids: Sequence[int]) -> tuple[list[str], list[int]]:
    """Tell to which word of a text each piece belongs.

    Words are what stands between blanks. Where a model has cut a text into other pieces than the tokenizer
    would, their letters are counted; where even these differ, every piece is a word.

    Args:
        tokenizer: Of the text's language.
        text: As the tokenizer sees it.
        ids: Of the text, without [START] and [END]; perhaps of its beginning alone.

    Returns:
        The words, and for each id the number of its word.
    """
    words = text.split()
    encoded = tokenizer.encode(words)
    if list(chain(*encoded))[: len(ids)] == list(ids):
        return words, [number for number, part in enumerate(encoded) for _ in part][: len(ids)]
    pieces = tokenizer.pieces(ids)
    letters = [piece.translate(_MARKS) for piece in pieces]
    if not words or "".join(letters) != "".join(words).translate(_MARKS):
        return pieces, list(range(len(pieces)))
    ends = list(accumulate(len(word.translate(_MARKS)) for word in words))
    begins = [0, *accumulate(map(len, letters))][: len(letters)]
    return words, [min(int(place), len(words) - 1) for place in np.searchsorted(ends, begins, side="right")]


def membership(owners: Sequence[int], num_words: int) -> np.ndarray:
    """Which piece belongs to which word: 1 where it does, float32 [words, pieces]."""
    belongs = np.arange(num_words)[:, None] == np.asarray(owners, dtype=int)[None, :]
    return np.asarray(belongs, dtype="f4")
