"""The limits of requests, so that no client can keep the server from the others; refusals, and API keys.

The key file has a line for each key: its owner's name and its SHA-256. The keys themselves are not stored.
They are 256 random bits, so a slow hash would not make them safer.
"""

import hashlib
import ipaddress
import math
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException

from ptenmt.atomic_files import write_text
from ptenmt.errors import ConfigError, did_you_mean

CLIENT_GONE = 499
"""The client disconnected before the response; the status that nginx logs."""
_MAX_CLIENTS = 10_000
_LINE = re.compile(r"(\S+) ([0-9a-f]{64})")
_NAME = re.compile(r"[\w.@-]{1,100}")


_Count = Annotated[int, Field(gt=0, le=10**12)]
_Amount = Annotated[float, Field(gt=0, le=10**12)]


class Limits(BaseModel):
    """Limits of one request, of all in progress, and of each client; see ``parse``."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    characters: _Count = 5_000
    """Characters of a request's texts together."""
    sentences: _Count = 256
    """Texts of a request, and sentences that they are split into."""
    seconds: _Amount = 30.0
    """Time to answer a request."""
    queue: _Count = 512
    """Sentences of all requests that wait to be translated."""
    file_megabytes: _Amount = 10.0
    """Size of a document."""
    file_characters: _Count = 200_000
    """Characters of a document's texts."""
    file_seconds: _Amount = 300.0
    """Time to translate a document."""
    files: _Count = 8
    """Documents received and translated at a time."""
    body_seconds: _Amount = 20.0
    """Time to receive a request's body; twice as long for a document."""
    connections: _Count = 2_000
    """Connections, and requests in progress."""
    attention_tokens: _Count = 80
    """Tokens of a sentence, and of its translation, for which attention is computed."""
    requests_per_minute: _Count | None = None
    """Of each key, or of each address where no key is required."""
    characters_per_day: _Count | None = None
    """Likewise."""

    @classmethod
    def parse(cls, given: Iterable[str]) -> "Limits":
        """The limits given as ``NAME=NUMBER``, the others by default; raises ConfigError."""
        numbers = {}
        for text in given:
            name, sign, number = text.partition("=")
            if not sign:
                raise ConfigError(f"--limit {text} has no number", f"write --limit {text}=NUMBER")
            numbers[name] = number
        for name in numbers.keys() - cls.model_fields.keys():
            raise ConfigError(
                f"--limit {name}: there is no limit {name!r}{did_you_mean(name, cls.model_fields)}",
                f"the limits are {', '.join(cls.model_fields)}",
            )
        try:
            return cls.model_validate(numbers)
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigError(f"--limit {first['loc'][0]}={first['input']}: {first['msg']}") from error


class Refusal(HTTPException):
    """A request is not answered as its client would like; it may try again after so many seconds, if any."""

    def __init__(self, message: str, status: int = 400, retry_after: float | None = None) -> None:
        headers = {} if retry_after is None else {"retry-after": str(max(1, math.ceil(retry_after)))}
        super().__init__(status, message, headers)


def shutting_down() -> Refusal:
    """The refusal of requests while the server stops."""
    return Refusal("the server is shutting down", 503, retry_after=10)


class Places:
    """Places in which clients' documents are, of which no client may have more than it leaves to others."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._clients: list[str] = []

    @contextmanager
    def taken(self, client: str) -> Iterator[None]:
        """Take a place; refuses if there is none for this client."""
        if self._clients.count(client) >= self._size - len(self._clients):
            raise Refusal("too busy: other documents are being translated", 503, retry_after=10)
        self._clients.append(client)
        try:
            yield
        finally:
            self._clients.remove(client)


@dataclass
class Quota:
    """A token bucket: ``size`` units in ``seconds``, or any number if it is None.

    The unused ones of so many seconds may be spent at once.
    """

    seconds: float
    size: int | None = None
    num_left: float = math.inf
    time: float = field(default_factory=time.monotonic)

    def spend(self, num: int) -> float:
        """Spend some; returns 0, or if there are too few the seconds until there are enough."""
        if self.size is None:
            return 0.0
        now, rate = time.monotonic(), self.size / self.seconds
        self.num_left = min(self.size, self.num_left + rate * (now - self.time))
        self.time = now
        if self.num_left < num:
            return (num - self.num_left) / rate
        self.num_left -= num
        return 0.0


@dataclass
class Client:
    """Who sends requests, and how many more they may send: the owner of a key, or without keys an address."""

    name: str
    requests: Quota
    """A minute."""
    characters: Quota
    """A day."""


class Keys:
    """The valid keys and their owners. Without a file, no key is required, and each address is a client."""

    def __init__(self, file: Path | None = None, limits: Limits | None = None) -> None:
        self._file, self._limits = file, limits or Limits()
        self._owners = dict[str, str]()  # by the SHA-256 of the key
        self._client = lru_cache(_MAX_CLIENTS)(self._new_client)
        self.read()

    def read(self) -> None:
        """Read the key file, also once more; raises ConfigError if it is missing, empty or malformed."""
        if self._file is None:
            return
        create = f"create a key: ptenmt serve --keys {self._file} --add-key NAME"
        try:
            owners = _owners(self._file)
        except OSError as error:
            raise ConfigError(f"cannot read {self._file}: {error.strerror}", create) from error
        if not owners:
            raise ConfigError(f"{self._file} has no key", create)
        self._owners = owners

    @property
    def are_required(self) -> bool:
        """Whether requests need a key."""
        return bool(self._owners)

    def client(self, key: str, address: str = "") -> Client | None:
        """The owner of a key; None if it is not valid. If none is required, the client at an address."""
        name = self._owners.get(_hash(key)) if self._owners else _network(address)
        return None if name is None else self._client(name)

    def _new_client(self, name: str) -> Client:
        minute, day = self._limits.requests_per_minute, self._limits.characters_per_day
        return Client(name, Quota(60, minute), Quota(86_400, day))


def _owners(file: Path) -> dict[str, str]:
    """The names of a key file by the hashes of their keys; ConfigError if a line is something else."""
    owners = {}
    for number, line in enumerate(
        map(str.strip, file.read_text(encoding="utf-8", errors="replace").splitlines()), 1
    ):
        if entry := _LINE.fullmatch(line):
            owners[entry[2]] = entry[1]
        elif line:
            raise ConfigError(
                f"{file}, line {number}: not a name and a SHA-256",
                "remove what else is there; numbers of requests and characters are --limit NAME=NUMBER",
            )
    return owners


def add_key(file: Path, name: str) -> str:
    """Create a key, which cannot be recovered later, and add its hash to a key file, old or new.

    Raises ConfigError for an invalid name or one that has a key, or another file; OutputError of the file.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a key", "use up to 100 letters, digits and . _ @ -"
        )
    owners = _owners(file) if file.exists() else {}
    if name in owners.values():
        raise ConfigError(f"{name} has a key already", f"choose another name, or remove its line from {file}")
    key = secrets.token_urlsafe(32)
    owners[_hash(key)] = name
    write_text(file, "".join(f"{owner} {hashed}\n" for hashed, owner in owners.items()))
    return key


def _network(address: str) -> str:
    """What one client may have: an address, of IPv6 the first half."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # a proxy that writes something else
        return address[:100]
    return address if parsed.version == 4 else str(ipaddress.ip_network((parsed, 64), strict=False))


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
