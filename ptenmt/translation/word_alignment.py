"""Word alignment: from attention over tokens to words."""

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from ptenmt.data.kept_parts import PLACEHOLDERS
from ptenmt.tokenizers import SPECIAL_PIECES, UNK
from ptenmt.tokenizers.words import word_pattern

if TYPE_CHECKING:
    import numpy as np

_PLACEHOLDERS_AS_MARKS = str.maketrans(dict.fromkeys(PLACEHOLDERS, "*"))
"""For the pattern of words they are digits."""
_SEARCH_WINDOW = 16
"""How many characters to skip at most to find a token: its spelling may differ from the text's."""


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Which source tokens each token of a translation attends to."""

    source: str
    translation: str
    source_tokens: list[str]
    """S tokens, [START] and [END] included."""
    target_tokens: list[str]
    """T tokens in the order of generation; [END] last if it was generated."""
    weights: "np.ndarray"
    """[T, S]; a row sums to 1. The mean over the heads of ``Engine.alignment_layer``."""

    def of_words(self) -> "WordAlignment":
        """Sum the weights of sub-words over words."""
        source_words, target_words = words_of(self.source), words_of(self.translation)
        source, target = (source_words, self.source_tokens), (target_words, self.target_tokens)
        return WordAlignment(
            translation=self.translation,
            source_words=source_words,
            target_words=target_words,
            weights=word_weights(self.weights, source, target),
        )


@dataclass(frozen=True, kw_only=True)
class WordAlignment:
    """Which words of a sentence each word of its translation attends to; joined, words give the texts."""

    translation: str
    source_words: list[str]
    target_words: list[str]
    weights: list[list[float]]
    """A row for each target word, a column for each source word; see ``word_weights``."""


def words_of(text: str) -> list[str]:
    """Split a text into words, punctuation marks and placeholders, which joined give the text.

    White space belongs to the word after it; at the end of the text, to the last word.
    """
    ends = [word.end() for word in word_pattern().finditer(text.translate(_PLACEHOLDERS_AS_MARKS))]
    if not ends:
        return [text] if text else []
    return [text[begin:end] for begin, end in pairwise([0, *ends[:-1], len(text)])]


def word_weights(
    attention: "np.ndarray", source: tuple[list[str], list[str]], target: tuple[list[str], list[str]]
) -> list[list[float]]:
    """Sum the attention [T, S] of tokens over words; ``source`` and ``target`` are words and tokens.

    Returns:
        A row for each target word, a column for each source word. A row sums to 1, or to 0 if its tokens
        cannot be located in the word or attend to no word.
    """
    columns, rows = words_of_tokens(*source), words_of_tokens(*target)
    weights = [[0.0] * len(source[0]) for _ in target[0]]
    for row, values in zip(rows, attention.tolist(), strict=True):
        for column, value in zip(columns, values, strict=True):
            if row is not None and column is not None:
                weights[row][column] += value
    totals = [sum(row) or 1.0 for row in weights]
    return [[round(value / total, 4) for value in row] for row, total in zip(weights, totals, strict=True)]


def words_of_tokens(words: Sequence[str], tokens: Sequence[str]) -> list[int | None]:
    """The index of the word that each token is part of; None for those not found, [START], [END] and [PAD].

    Tokenizers normalize text, so case, accents and white space are ignored.
    """
    folded = [_fold(word) for word in words]
    characters = "".join(folded)
    owners = [number for number, word in enumerate(folded) for _ in word]
    owner_of_token: list[int | None] = []
    place = after_unknown = 0
    for token in tokens:
        if token == SPECIAL_PIECES[UNK]:  # stands for the next word, or for characters of it
            start = max(place, after_unknown)
            owner = owners[start] if start < len(owners) else None
            owner_of_token.append(owner)
            after_unknown = start if owner is None else bisect_right(owners, owner)
            continue
        spelled = "" if token in SPECIAL_PIECES else _fold(token.removeprefix("##").replace("▁", " "))
        end = max(place, after_unknown) + _SEARCH_WINDOW
        at = characters.find(spelled, place, end + len(spelled)) if spelled else -1
        owner_of_token.append(None if at < 0 else owners[at])
        place = place if at < 0 else at + len(spelled)
    return owner_of_token


def matching_words(words: Sequence[str], others: Sequence[str]) -> list[int]:
    """For each word the index of the one at its place among others, some of which differ; -1: none."""
    matches = [-1] * len(words)
    first, second = ([word.strip().casefold() for word in side] for side in (others, words))
    for _, begin, end, start, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if begin < end:
            for at in range(stop - start):
                matches[start + at] = begin + at * (end - begin) // (stop - start)
    return matches


def _fold(text: str) -> str:
    if text.isascii():
        return "".join(text.casefold().split())
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in decomposed if not (char.isspace() or unicodedata.combining(char)))
