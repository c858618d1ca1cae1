"""Which words a model takes for similar."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ptenmt.errors import DataError
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.inspector import Inspector
from ptenmt.inspection.pictures import Bars
from ptenmt.inspection.typed import read_typed
from ptenmt.tokenizers import SPECIAL_PIECES, UNK, Tokenizer
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.encoding import Encoding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Side = Literal["source", "target"]
_Vocabulary = tuple[Tokenizer, Callable[[str], list[int]], np.ndarray]
"""What makes pieces of a word and shows them, what encodes it, and the embeddings [V, D]."""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The pieces of a vocabulary whose embeddings are most like a word's."""

    word: str
    pieces: list[str]
    """What the tokenizer makes of the word; of several, the mean of their embeddings is compared."""
    neighbours: list[tuple[str, float]]
    """Pieces and the cosine between their embedding and the word's, largest first."""


def nearest(
    inspector: Inspector, words: Sequence[str], *, side: Side = "source", count: int = 10
) -> list[Neighbours]:
    """Look for the neighbours of words, by the cosine of the angle between embeddings.

    Args:
        inspector: Of the run.
        words: At least one.
        side: Whether they are words of the source language or of the target language; a next-word model
            knows one, its source.
        count: How many neighbours each.

    Returns:
        As many as there are words; neither the word's own pieces nor special tokens are among its neighbours.

    Raises:
        DataError: A word is empty, or is none that the tokenizer knows.
    """
    is_of_one = inspector.config.task == "next-word"
    tokenizer, encode, table = _of_one(inspector, side) if is_of_one else _of_two(inspector, side)
    ids = [_known(word, encode(word), side, is_of_one) for word in words]
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    return [_nearest(word, own, table, tokenizer, count) for word, own in zip(words, ids, strict=True)]


def neighbour_bars(found: Sequence[Neighbours]) -> list[Bars]:
    """The neighbours of each word as bars."""
    return [
        Bars(
            title=each.word if each.pieces == [each.word] else f"{each.word} ({' '.join(each.pieces)})",
            value_name="cosine",
            names=[piece for piece, _ in each.neighbours],
            values=[cosine for _, cosine in each.neighbours],
        )
        for each in found
    ]


def embeddings_figure(
    inspector: Inspector, words: Sequence[str], *, side: Side = "source", count: int = 10
) -> "Figure":
    """Draw what ``nearest`` finds; arguments and errors as there."""
    return draw(neighbour_bars(nearest(inspector, words, side=side, count=count)), columns=2)


def _of_two(inspector: Inspector, side: Side) -> _Vocabulary:
    encoding = Encoding(inspector.tokenizers, inspector.config)
    if side == "source":
        table = inspector.model.embeddings("encoder")
        return inspector.tokenizers.source, lambda word: encoding.source(word)[1:-1], table
    return inspector.tokenizers.target, encoding.prefix, inspector.model.embeddings("decoder")


def _of_one(inspector: Inspector, side: Side) -> _Vocabulary:
    """That of a next-word model."""
    if side == "target":
        raise DataError("a next-word model has one vocabulary, its source", "leave out --side")
    tokenizer = inspector.tokenizers.source
    assert isinstance(tokenizer, WordTokenizer), "a next-word model reads words"

    def encode(word: str) -> list[int]:
        return read_typed(word, tokenizer, inspector.config).ids

    return tokenizer, encode, inspector.next_word.embeddings()


def _known(word: str, ids: list[int], side: Side, is_of_one: bool) -> list[int]:
    """The ids of a word, if it has any but [UNK].

    Raises:
        DataError: It has not.
    """
    if not ids:
        raise DataError("a word is empty", "give words such as casa")
    if UNK in ids and is_of_one:
        raise DataError(f"the vocabulary does not know {word!r}", "is it misspelt?")
    if UNK in ids:
        other = "target" if side == "source" else "source"
        raise DataError(
            f"the {side} vocabulary does not know {word!r}", f"is it one of --side {other}, or misspelt?"
        )
    return ids


def _nearest(word: str, ids: list[int], table: np.ndarray, tokenizer: Tokenizer, count: int) -> Neighbours:
    """Compare with a table of embeddings [V, D], each of length 1."""
    own = table[ids].mean(axis=0)
    cosines = table @ own / max(float(np.linalg.norm(own)), 1e-12)
    cosines[[*range(len(SPECIAL_PIECES)), *ids]] = -np.inf
    best = np.argsort(-cosines, kind="stable")[:count]
    best = best[np.isfinite(cosines[best])]
    neighbours = list(zip(tokenizer.pieces(best.tolist()), map(float, cosines[best]), strict=True))
    return Neighbours(word=word, pieces=tokenizer.pieces(ids), neighbours=neighbours)
