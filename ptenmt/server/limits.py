"""The limits of requests, so that no client can keep the server from the others, and refusals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ptenmt.errors import ConfigError

CLIENT_GONE = 499
"""The client disconnected before the response; the status that nginx logs."""
_MAX = 1e12


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one request, and of all in progress; ConfigError unless each is above 0 and up to 10¹²."""

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
    attention_tokens: int = 80
    """Tokens of a sentence, and of its translation, for which attention is computed."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value <= _MAX:  # NaN fails it too
                raise ConfigError(
                    f"the limit of {name.replace('_', ' ')} is {value}",
                    f"give a number above 0, up to {_MAX:,.0f}",
                )

    @property
    def file_bytes(self) -> int:
        """Size of a document."""
        return int(self.file_megabytes * 1_000_000)


class Refusal(Exception):
    """A request is not answered as its client would like.

    ``message`` says what is wrong, for the client, which may try again after ``retry_after`` seconds, unless
    it is None. ``status`` is HTTP's; ``headers`` are added to the response.
    """

    def __init__(
        self,
        message: str,
        status: int = 400,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.status, self.headers = message, status, dict(headers or {})
        if retry_after is not None:
            self.headers["retry-after"] = str(max(1, math.ceil(retry_after)))


def shutting_down() -> Refusal:
    """The refusal of requests while the server stops."""
    return Refusal("the server is shutting down", 503, retry_after=10)
