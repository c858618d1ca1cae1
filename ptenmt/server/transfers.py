"""Documents that clients upload, and translations kept for download."""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ptenmt.server.refusal import Refusal

DOWNLOAD_SECONDS = 20 * 60
MAX_DOWNLOAD_BYTES = 64_000_000
MAX_WITHOUT_KEY = 2
"""Uploads at a time whose key is not in the header, where keys are required."""


class UploadSlots:
    """Limits the documents that are received or translated at a time.

    Uploads whose key is known only once the form is read have slots of their own, so that clients without a
    key cannot take those of clients that send theirs in the header.

    Args:
        count: The number of slots.
    """

    def __init__(self, count: int) -> None:
        self._free = {True: count, False: min(count, MAX_WITHOUT_KEY)}

    @contextmanager
    def slot(self, *, is_authorized: bool) -> Iterator[None]:
        """Hold a slot.

        Args:
            is_authorized: Whether the request needs no key, or has a valid one in its header.

        Raises:
            Refusal: No slot is free.
        """
        if not self._free[is_authorized]:
            hint = "" if is_authorized else "; send the key as a bearer token"
            raise Refusal(f"too busy: other documents are being received{hint}", 503, retry_after=10)
        self._free[is_authorized] -= 1
        try:
            yield
        finally:
            self._free[is_authorized] += 1


@dataclass(frozen=True)
class Download:
    """A translated document."""

    name: str
    content: bytes
    expires: float
    """By ``time.monotonic``."""


class Downloads:
    """Translated documents in memory, by secret tokens; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._kept: dict[str, Download] = {}

    def add(self, name: str, content: bytes) -> str:
        """Keep a document; returns its token."""
        token = secrets.token_urlsafe(32)
        self._kept[token] = Download(name, content, time.monotonic() + DOWNLOAD_SECONDS)
        self._expire()
        return token

    def find(self, token: str) -> Download | None:
        """The document of a token; None if it is unknown or expired."""
        self._expire()
        return self._kept.get(token)

    def _expire(self) -> None:
        """Drop expired documents, and the oldest while there are too many bytes; the newest stays."""
        now = time.monotonic()
        num_bytes = sum(len(kept.content) for kept in self._kept.values())
        for token, kept in list(self._kept.items()):
            if kept.expires >= now and (num_bytes <= MAX_DOWNLOAD_BYTES or len(self._kept) == 1):
                break
            num_bytes -= len(kept.content)
            del self._kept[token]
