"""Nearest neighbours among the token embeddings of a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ptenmt.errors import DataError
from ptenmt.inspection.figures import Bars, draw
from ptenmt.inspection.inspector import Inspector
from ptenmt.tokenizers import SPECIAL_PIECES, UNK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Side = Literal["source", "target"]


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The vocabulary's nearest neighbours of a word."""

    word: str
    pieces: list[str]
    """The tokens of the word; of several, the mean of their embeddings is compared."""
    neighbours: list[tuple[str, float]]
    """Tokens and the cosine between their embedding and the word's, largest first."""


def nearest_neighbours(
    inspector: Inspector, words: Sequence[str], *, side: Side = "source", count: int = 10
) -> list[Neighbours]:
    """Find the tokens whose embeddings are most similar to those of words, by cosine.

    Args:
        inspector: Of the run.
        words: At least one.
        side: The language of the words; a next-word model has one vocabulary, its source.
        count: How many neighbours of each.

    Returns:
        One per word; neither the word's own tokens nor special tokens are among its neighbours.

    Raises:
        DataError: A word is empty or not in the vocabulary.
    """
    is_next_word = inspector.config.task == "next-word"
    if is_next_word and side == "target":
        raise DataError("a next-word model has one vocabulary, its source", "leave out --side")
    if is_next_word:
        table = inspector.next_word.embeddings()
    else:
        table = inspector.model.embeddings("encoder" if side == "source" else "decoder")
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)  # [V, D]
    pieces = inspector.tokenizers.source.pieces if side == "source" else inspector.tokenizers.target.pieces
    found = []
    for word in words:
        ids = inspector.word_ids(word, side)
        if not ids:
            raise DataError("a word is empty", "give words such as casa")
        if UNK in ids:
            other = "target" if side == "source" else "source"
            hint = "check the spelling" + ("" if is_next_word else f", or try --side {other}")
            raise DataError(f"the {side} vocabulary does not contain {word!r}", hint)
        own = table[ids].mean(axis=0)
        cosines = table @ own / max(float(np.linalg.norm(own)), 1e-12)
        cosines[[*range(len(SPECIAL_PIECES)), *ids]] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:count]
        best = best[np.isfinite(cosines[best])]
        neighbours = list(zip(pieces(best.tolist()), map(float, cosines[best]), strict=True))
        found.append(Neighbours(word=word, pieces=pieces(ids), neighbours=neighbours))
    return found


def neighbour_bars(found: Sequence[Neighbours]) -> list[Bars]:
    """The panels of ``embeddings_figure``."""
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
    """Draw a bar chart per word; arguments and errors as ``nearest_neighbours``."""
    return draw(neighbour_bars(nearest_neighbours(inspector, words, side=side, count=count)), columns=2)
