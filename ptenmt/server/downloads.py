"""Translated documents until they are fetched: in memory, for a while, and not too many."""

import secrets
import time
from dataclasses import dataclass

SECONDS = 20 * 60
MOST_BYTES = 64_000_000


@dataclass(frozen=True)
class Download:
    """A translated document."""

    name: str
    content: bytes
    until: float
    """When it is forgotten, by ``time.monotonic``."""


class Downloads:
    """Documents by a token that nobody can guess; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._kept: dict[str, Download] = {}

    def keep(self, name: str, content: bytes) -> str:
        """Keep a document; gives its token."""
        token = secrets.token_urlsafe(32)
        self._kept[token] = Download(name, content, time.monotonic() + SECONDS)
        self.forget()
        return token

    def find(self, token: str) -> Download | None:
        """The document of a token, if it is still there."""
        self.forget()
        return self._kept.get(token)

    def forget(self) -> None:
        """Forget what is too old, and the oldest while there is too much; the newest stays."""
        now = time.monotonic()
        total = sum(len(kept.content) for kept in self._kept.values())
        for token, kept in list(self._kept.items()):
            if kept.until >= now and (total <= MOST_BYTES or len(self._kept) == 1):
                break
            total -= len(kept.content)
            del self._kept[token]
