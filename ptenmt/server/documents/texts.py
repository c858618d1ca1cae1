"""Which texts of a document are translated, and how many there may be."""

from collections.abc import Iterable
from typing import TypeVar

from ptenmt.server.refusal import Refusal

MAX_TEXTS = 20_000
"""Texts of a document; even at one word each they would keep a server busy for minutes."""
_Item = TypeVar("_Item")


def is_prose(text: str) -> bool:
    """Whether a text has something to translate: a letter."""
    return any(map(str.isalpha, text))


def limited(items: Iterable[_Item]) -> list[_Item]:
    """The texts of a document as a list.

    Raises:
        Refusal: There are more than ``MAX_TEXTS``; the rest is not read.
    """
    found: list[_Item] = []
    for item in items:
        if len(found) == MAX_TEXTS:
            raise Refusal(f"the document has more than {MAX_TEXTS:,} texts", 413)
        found.append(item)
    return found


def check_tags(count: int, limit: int) -> None:
    """Refuse a document with too many tags, or characters that could begin one."""
    if count > limit:
        raise Refusal(f"the document has {count:,} tags; {limit:,} are allowed", 413)
