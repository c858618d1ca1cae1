"""Cutting words into other pieces than the best, for SentencePiece models of both kinds.

SentencePiece can do that too, but what it draws cannot be repeated: its seed is mixed with something that
is another in every process. Here a uniform random number picks the pieces of a word, so that the same
numbers give the same pieces. No piece reaches over a blank, so cutting a sentence is cutting its words.
"""

import math
import random
from array import array
from bisect import bisect
from functools import lru_cache
from typing import Any

from ptenmt.tokenizers.base import SPECIAL_PIECES, UNK

_CUTS_OF_A_WORD = 64
_WORDS_KEPT = 1 << 14
_UNKNOWN_PENALTY = 10.0  # SentencePiece's own, in nats below the rarest piece


class UnigramCuts:
    """Draws from a word's most likely cuts, in proportion to likelihood to the power of alpha.

    "Subword Regularization" (Kudo, 2018), with the 64 best cuts of each word.

    Args:
        processor: A SentencePieceProcessor of a unigram model.
        alpha: Above 0: the lower, the more alike are the chances.
    """

    def __init__(self, processor: Any, alpha: float) -> None:
        self._processor = processor
        self._alpha = alpha
        size = processor.get_piece_size()
        self._scores = [processor.get_score(piece) for piece in range(size)]
        self._scores[UNK] = min(self._scores) - _UNKNOWN_PENALTY
        self._cuts = lru_cache(_WORDS_KEPT)(self._all_cuts)

    def draw(self, word: str, number: float) -> bytes:
        """The ids of a word's pieces, int32, that a number from 0 up to 1 picks."""
        chances, cuts = self._cuts(word)
        return cuts[min(bisect(chances, number * chances[-1]), len(cuts) - 1)]

    def _all_cuts(self, word: str) -> tuple["array[float]", list[bytes]]:
        """The cumulated chances of the cuts, and the cuts."""
        cuts = self._processor.nbest_encode(word, nbest_size=_CUTS_OF_A_WORD)
        scores = [self._alpha * sum(self._scores[piece] for piece in cut) for cut in cuts]
        chances = array("d")
        for score in scores:
            chances.append((chances[-1] if chances else 0.0) + math.exp(score - max(scores)))
        return chances, [array("i", cut).tobytes() for cut in cuts]


class BpeCuts:
    """Merges a word's characters as BPE does, but leaves out merges at random.

    "BPE-Dropout" (Provilkov et al., 2020), with 64 draws for each word, of which one is picked.

    Args:
        processor: A SentencePieceProcessor of a BPE model.
        dropout: The share of merges left out.
    """

    def __init__(self, processor: Any, dropout: float) -> None:
        self._dropout = dropout
        size = processor.get_piece_size()
        self._ids = {processor.id_to_piece(piece): piece for piece in range(len(SPECIAL_PIECES), size)}
        self._scores = {text: processor.get_score(piece) for text, piece in self._ids.items()}
        self._cut = lru_cache(_WORDS_KEPT * 4)(self._merge)

    def draw(self, word: str, number: float) -> bytes:
        """The ids of a word's pieces, int32, that a number from 0 up to 1 picks."""
        return self._cut(word, int(number * _CUTS_OF_A_WORD))

    def _merge(self, word: str, number: int) -> bytes:
        chance = random.Random(f"{number} {word}").random
        pieces = [*f"▁{word}"]
        left_out: set[int] = set()
        while True:
            open_merges = [
                (-self._scores[pieces[place] + pieces[place + 1]], place)
                for place in range(len(pieces) - 1)
                if place not in left_out and pieces[place] + pieces[place + 1] in self._scores
            ]
            if not open_merges:
                break
            _, place = min(open_merges)
            if chance() < self._dropout:
                left_out.add(place)
                continue
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
            # The pairs at the new piece are new ones; those behind it move up.
            left_out = {old - (old > place) for old in left_out if not place - 1 <= old <= place + 1}
        ids = [self._ids.get(piece, UNK) for piece in pieces]
        # SentencePiece makes one [UNK] of several in a row.
        kept = [
            piece for place, piece in enumerate(ids) if not (piece == UNK and place and ids[place - 1] == UNK)
        ]
        return array("i", kept).tobytes()
