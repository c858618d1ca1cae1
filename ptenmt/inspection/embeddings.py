"""A model's inputs: token embeddings, by their nearest neighbours, and the positional encoding."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ptenmt.errors import DataError, PtenmtError
from ptenmt.inspection.figures import Bars, HeatMap
from ptenmt.inspection.inspector import Inspector
from ptenmt.model.positions import positional_encoding
from ptenmt.tokenizers import SPECIAL_PIECES, UNK

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

    ``side`` is the language of the words; a next-word model has one vocabulary, its source. Of each word
    there are ``count`` neighbours, without the word's own tokens and special tokens.

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
    results = []
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
        results.append(Neighbours(word=word, pieces=pieces(ids), neighbours=neighbours))
    return results


def neighbour_bars(results: Sequence[Neighbours]) -> list[Bars]:
    """A bar chart per word."""
    return [
        Bars(
            title=result.word
            if result.pieces == [result.word]
            else f"{result.word} ({' '.join(result.pieces)})",
            value_name="cosine",
            names=[piece for piece, _ in result.neighbours],
            values=[cosine for _, cosine in result.neighbours],
        )
        for result in results
    ]


# Positions


def positions_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """The positional encoding: a row per position, from 0, a column per dimension, an even number of them.

    Raises PtenmtError for other numbers.
    """
    return HeatMap(
        title="Positional encoding",
        values=_encoding(num_positions, d_model),
        low=-1.0,
        palette="diverging",
        row_name="position",
        column_name="dimension",
        columns_are_paired=True,
    )


def similarity_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """The cosine similarity between the encodings of any two positions.

    It depends on their distance alone: the sum of cos(distance / 10000^(2i/D)) over all i, times 2/D.
    Arguments and errors are those of ``positions_map``.
    """
    encoding = _encoding(num_positions, d_model)
    values = encoding @ encoding.T / (d_model / 2)  # every row has the norm √(D/2)
    return HeatMap(
        title="Similarity of positions (cosine)",
        values=values,
        low=float(values.min()) if num_positions > 1 else 0.0,
        row_name="position",
        column_name="position",
    )


def _encoding(num_positions: int, d_model: int) -> np.ndarray:
    if num_positions < 1:
        raise PtenmtError(f"cannot draw {num_positions} positions", "give 1 or more")
    if d_model < 2 or d_model % 2:
        raise PtenmtError(f"cannot draw {d_model} dimensions", "give an even number, 2 or more")
    return positional_encoding(num_positions, d_model)
