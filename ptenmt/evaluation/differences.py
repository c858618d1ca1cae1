"""Where a translation and its reference have different words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Piece:
    """A stretch of a text."""

    text: str
    is_shared: bool
    """Whether the other text has these words too, in this order."""


def word_differences(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Cut two texts where they begin and cease to have the same words; joined, the pieces are the texts.

    Words and punctuation marks count, upper and lower case too; white space does not.
    """
    spans = [[match.span() for match in _WORD.finditer(text)] for text in (one, other)]
    words = [
        [text[start:end] for start, end in found] for text, found in zip((one, other), spans, strict=True)
    ]
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    shared: tuple[set[int], set[int]] = (set(), set())
    for block in matcher.get_matching_blocks():
        shared[0].update(range(block.a, block.a + block.size))
        shared[1].update(range(block.b, block.b + block.size))
    return _pieces(one, spans[0], shared[0]), _pieces(other, spans[1], shared[1])


def nearest_reference(text: str, references: Sequence[str]) -> str:
    """The reference that shares most words with a text; of equals, the first."""
    words = _WORD.findall(text)
    return max(
        references,
        key=lambda reference: SequenceMatcher(None, words, _WORD.findall(reference), autojunk=False).ratio(),
    )


def _pieces(text: str, spans: Sequence[tuple[int, int]], shared: set[int]) -> list[Piece]:
    """The text in pieces; white space between two that differ belongs to them, any other is shared."""
    pieces: list[Piece] = []
    position, was_shared = 0, True
    for number, (start, end) in enumerate(spans):
        is_shared = number in shared
        between = text[position:start]
        _append(pieces, between, is_shared or was_shared)
        _append(pieces, text[start:end], is_shared)
        position, was_shared = end, is_shared
    _append(pieces, text[position:], True)
    return pieces


def _append(pieces: list[Piece], text: str, is_shared: bool) -> None:
    """Add a text, to the piece before if that is of the same kind."""
    if not text:
        return
    if pieces and pieces[-1].is_shared == is_shared:
        text = pieces.pop().text + text
    pieces.append(Piece(text, is_shared))
