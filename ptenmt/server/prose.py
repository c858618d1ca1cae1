"""What of a document is text, and how much of it there may be."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ptenmt.server.refusal import Refusal

MOST_TEXTS = 20_000
"""Pieces that a document's text is in; with one word each they would keep a server busy for minutes."""
_Piece = TypeVar("_Piece")


def is_prose(text: str) -> bool:
    """Whether there is something to translate: a letter."""
    return any(map(str.isalpha, text))


def gathered(pieces: Iterable[_Piece]) -> list[_Piece]:
    """All pieces of a document's text.

    Raises:
        Refusal: There are too many, which is told before the rest is looked at.
    """
    found: list[_Piece] = []
    for piece in pieces:
        if len(found) == MOST_TEXTS:
            raise Refusal(f"the text is in more than {MOST_TEXTS:,} pieces", 413)
        found.append(piece)
    return found


def check_tags(count: int, most: int) -> None:
    """Refuse a document with too many tags, or what may be some."""
    if count > most:
        raise Refusal(f"the document has {count:,} tags; {most:,} are allowed", 413)


def replaced(source: str, places: Iterable[tuple[int, int]], texts: Sequence[str]) -> str:
    """A text with other texts in some places, which begin and end there and are in order."""
    parts, behind = [], 0
    for (begin, end), text in zip(places, texts, strict=True):
        parts += [source[behind:begin], text]
        behind = end
    return "".join([*parts, source[behind:]])
