"""Documents on their way: how many there may be, so that they do not fill the disk."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ptenmt.server.refusal import Refusal

UNCHECKED_BYTES = 100_000
"""Of a form with a document, which lie in memory until its key has to be known."""
MOST_UNKNOWN = 2
"""Documents that go on being received without a key, as some clients send it last."""


class Uploads:
    """All that are received or translated.

    Args:
        room: How many there may be whose keys are known.
        check_key: Raises a Refusal of a key that is not known.
    """

    def __init__(self, room: int, check_key: Callable[[str], None]) -> None:
        self.room, self.check_key = room, check_key
        self.known: set[Upload] = set()
        self.unknown: set[Upload] = set()

    @contextmanager
    def one(self) -> Iterator["Upload"]:
        """One more, until it is translated or refused."""
        upload = Upload(self)
        try:
            yield upload
        finally:
            self.known.discard(upload)
            self.unknown.discard(upload)


class Upload:
    """A document, which takes a place among the others once its key is known.

    Args:
        uploads: The others.
    """

    def __init__(self, uploads: Uploads) -> None:
        self._all = uploads
        self._num_bytes = 0

    def admit(self, key: str) -> None:
        """Take a place.

        Raises:
            Refusal: The key is not known, or there is no place.
        """
        self._all.check_key(key)
        if self not in self._all.known and len(self._all.known) >= self._all.room:
            raise Refusal("too busy: other documents are on their way", 503, retry_after=10)
        self._all.unknown.discard(self)
        self._all.known.add(self)

    def receive(self, num_bytes: int, key: str) -> None:
        """Take a part of the form.

        Args:
            num_bytes: That it has.
            key: Which the form has told so far; empty if none.

        Raises:
            Refusal: So much has come that it would not be kept without a place, and there is none.
        """
        self._num_bytes += num_bytes
        if self._num_bytes <= UNCHECKED_BYTES or self in self._all.known:
            return
        if key:
            self.admit(key)
        elif self not in self._all.unknown and len(self._all.unknown) >= MOST_UNKNOWN:
            raise Refusal(
                "a valid api_key is needed ahead of so large a document: "
                "put it before the file, or send it as a bearer token",
                403,
            )
        else:
            self._all.unknown.add(self)
