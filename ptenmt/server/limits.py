"""The limits of requests, so that no client can keep the server from the others; refusals, and API keys.

The key file has a line for each key: its owner's name, its SHA-256, perhaps its numbers of requests a minute
and of characters a day (``-``: the default). The keys themselves are not stored. They are 256 random bits, so
a slow hash would not make them safer.
"""

import hashlib
import ipaddress
import math
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ptenmt.atomic_files import write_text
from ptenmt.errors import ConfigError

CLIENT_GONE = 499
"""The client disconnected before the response; the status that nginx logs."""
_MAX = 1e12
METRICS = "metrics"
"""The owner whose key is for ``/metrics`` alone."""
_MAX_ADDRESSES = 10_000
_LINE = re.compile(r"(\S+) ([0-9a-f]{64})(?: (-|[1-9]\d{0,8}))?(?: (-|[1-9]\d{0,11}))?")
_NAME = re.compile(r"[\w.@-]{1,100}")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one request, and of all in progress: numbers above 0, up to 10¹², or ConfigError."""

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
    files: int = 4
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


class Places:
    """Places in which clients' documents are, of which no client may have more than it leaves to others."""

    def __init__(self, size: int, verb: str) -> None:
        self._size, self._verb = size, verb
        self._clients: list[str] = []

    @contextmanager
    def taken(self, client: str, hint: str = "") -> Iterator[None]:
        """Take a place; refuses, with a hint, if there is none for this client."""
        if self._clients.count(client) >= self._size - len(self._clients):
            raise Refusal(f"too busy: other documents are being {self._verb}{hint}", 503, retry_after=10)
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
class Owner:
    """The owner of a key, or a client without one, and what they may send."""

    name: str = ""
    requests: Quota = field(default_factory=partial(Quota, 60))
    """A minute."""
    characters: Quota = field(default_factory=partial(Quota, 86_400))
    """A day."""


class Keys:
    """The owners of the valid keys. Without a file, no key is required, and each address is an owner.

    Owners for whom the file has no number may send ``per_minute`` requests and ``characters_per_day``, or any
    number if it is None.
    """

    def __init__(
        self, file: Path | None = None, per_minute: int | None = None, characters_per_day: int | None = None
    ) -> None:
        self._file, self._per_minute, self._per_day = file, per_minute, characters_per_day
        self._owners = dict[str, Owner]()  # by the SHA-256 of the key
        self._addresses = dict[str, Owner]()
        self.read()

    def read(self) -> None:
        """Read the key file, also once more; raises ConfigError if it is missing, empty or malformed."""
        if self._file is None:
            return
        if not (owners := _read(self._file)):
            raise ConfigError(
                f"{self._file} has no key", f"add one: ptenmt serve --keys {self._file} --add-key NAME"
            )
        for hashed, owner in owners.items():
            self._complete(owner)
            if known := self._owners.get(hashed):
                for quota, before in (
                    (owner.requests, known.requests),
                    (owner.characters, known.characters),
                ):
                    quota.num_left, quota.time = before.num_left, before.time
        self._owners = owners

    def _complete(self, owner: Owner) -> Owner:
        """The same owner, with the default numbers where the file has none."""
        owner.requests.size = owner.requests.size or self._per_minute
        owner.characters.size = owner.characters.size or self._per_day
        return owner

    @property
    def are_required(self) -> bool:
        """Whether requests need a key."""
        return bool(self._owners)

    def owner(self, key: str, address: str = "") -> Owner | None:
        """The owner of a key; None if it is not valid. If none is required, the owner of an address."""
        if self._owners:
            return self._owners.get(_hash(key))
        network = _network(address)
        owner = self._addresses.pop(network, None) or self._complete(Owner())
        self._addresses[network] = owner  # the last one
        if len(self._addresses) > _MAX_ADDRESSES:
            del self._addresses[next(iter(self._addresses))]
        return owner

    def may_read_metrics(self, key: str) -> bool:
        """Whether a key is for ``/metrics``: the one of that name, or any if there is none."""
        owner = self.owner(key)
        has_own = any(known.name == METRICS for known in self._owners.values())
        return owner is not None and (owner.name == METRICS or not has_own)


def add_key(file: Path, name: str) -> str:
    """Create a key, which cannot be recovered later, and add its hash to a key file, old or new.

    Raises ConfigError for an invalid name, one that has a key, or a malformed file; OutputError of the file.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a key", "use up to 100 letters, digits and . _ @ -"
        )
    owners = _read(file) if file.exists() else {}
    if any(owner.name == name for owner in owners.values()):
        raise ConfigError(
            f"{file} already has a key of {name}",
            f"remove the line of {name}, which revokes that key, or choose another name",
        )
    key = secrets.token_urlsafe(32)
    owners[_hash(key)] = Owner(name)
    lines = (
        f"{owner.name} {hashed} {owner.requests.size or '-'} {owner.characters.size or '-'}"
        for hashed, owner in owners.items()
    )
    write_text(file, "".join(f"{line.removesuffix(' -').removesuffix(' -')}\n" for line in lines))
    return key


def _read(file: Path) -> dict[str, Owner]:
    create = f"ptenmt serve --keys {file} --add-key NAME"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise ConfigError(f"no file {file}", f"create one: {create}") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from error
    owners = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if entry := _LINE.fullmatch(line):
            per_minute, per_day = (int(entry[at]) if entry[at] not in (None, "-") else None for at in (3, 4))
            owners[entry[2]] = Owner(entry[1], Quota(60, per_minute), Quota(86_400, per_day))
        elif line:
            raise ConfigError(
                f"{file}, line {number}: not a name, a SHA-256 and perhaps numbers of requests a minute and "
                "characters a day",
                f"remove the line, and create a key: {create}",
            )
    return owners


def _network(address: str) -> str:
    """What one client may have: an address, of IPv6 the first half."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # a socket of the file system, or a proxy that writes something else
        return address[:100]
    return address if parsed.version == 4 else str(ipaddress.ip_network((parsed, 64), strict=False))


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
