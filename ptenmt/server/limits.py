"""What one request may ask for, so that a few cannot take a server from all others."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is too much."""

    characters: int = 5_000
    """Of all texts of a request together."""
    sentences: int = 256
    """That a request's texts are cut into."""
    seconds: float = 30.0
    """Until a request is answered."""
    queue: int = 512
    """Sentences that wait for a thread, of all requests together."""
    file_megabytes: float = 10.0
    """Of a document."""
    file_characters: int = 200_000
    """Of a document's text."""
    file_seconds: float = 300.0
    """Until a document is translated."""
    files: int = 2
    """Documents that are translated at a time."""
    body_seconds: float = 20.0
    """Until a request's head has arrived, and again until its body has; twice as long for a document."""
    requests: int = 1_000
    """That are answered at a time."""
    pieces: int = 80
    """Of a sentence, and of its translation, of which all attention is told."""

    @property
    def body_bytes(self) -> int:
        """The most of a request that is no document: in JSON, a character takes twelve bytes at most."""
        return 12 * self.characters + 10_000

    @property
    def file_bytes(self) -> int:
        """The most of a document."""
        return int(self.file_megabytes * 1_000_000)
