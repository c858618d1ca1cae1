"""The limits of a request, which keep a few clients from taking the server from all others."""

from dataclasses import dataclass

from ptenmt.errors import ConfigError

_MAX = 1e12


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The maxima of one request, and of all requests in progress.

    Raises:
        ConfigError: One is not a number above 0 and up to 10¹².
    """

    characters: int = 5_000
    """Characters of a request's texts together."""
    sentences: int = 256
    """Texts of a request, and sentences that they are split into."""
    seconds: float = 30.0
    """Time to answer a request."""
    queue: int = 512
    """Sentences of all requests that wait to be translated."""
    file_megabytes: float = 10.0
    """Size of a document."""
    file_characters: int = 200_000
    """Characters of a document's texts."""
    file_seconds: float = 300.0
    """Time to translate a document."""
    files: int = 2
    """Documents translated at a time."""
    uploads: int = 8
    """Documents received or translated at a time; those over a megabyte lie on the disk."""
    body_seconds: float = 20.0
    """Time to receive a request's body; twice as long for a document."""
    requests: int = 1_000
    """Requests in progress."""
    pieces: int = 80
    """Tokens of a sentence, and of its translation, for which attention is computed."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value <= _MAX:  # NaN fails it too
                raise ConfigError(
                    f"the limit of {name.replace('_', ' ')} is {value}",
                    f"give a number above 0, up to {_MAX:,.0f}",
                )

    @property
    def body_bytes(self) -> int:
        """Size of a request that is not a document: in JSON, a character takes at most twelve bytes."""
        return 12 * self.characters + 10_000

    @property
    def file_bytes(self) -> int:
        """Size of a document."""
        return int(self.file_megabytes * 1_000_000)
