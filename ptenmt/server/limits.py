"""What one request may ask for, so that a few cannot take a server from all others."""

from dataclasses import dataclass

from ptenmt.errors import ConfigError

_MOST = 1e12


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is too much.

    Raises:
        ConfigError: One is no number that can be counted to.
    """

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
    uploads: int = 8
    """Documents that are received or translated at a time, of which the larger ones lie on the disk."""
    body_seconds: float = 20.0
    """Until a request's head has arrived, and again until its body has; twice as long for a document."""
    requests: int = 1_000
    """That are answered at a time."""
    pieces: int = 80
    """Of a sentence, and of its translation, of which all attention is told."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value <= _MOST:  # what NaN is not, either
                raise ConfigError(
                    f"the limit of {name.replace('_', ' ')} is {value}",
                    f"give a number above 0, up to {_MOST:,.0f}",
                )

    @property
    def body_bytes(self) -> int:
        """The most of a request that is no document: in JSON, a character takes twelve bytes at most."""
        return 12 * self.characters + 10_000

    @property
    def file_bytes(self) -> int:
        """The most of a document."""
        return int(self.file_megabytes * 1_000_000)
