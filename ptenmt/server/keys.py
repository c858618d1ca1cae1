"""API keys.

The key file has a line for each key: its owner's name and its SHA-256. The keys themselves are not stored.
They are 256 random bits, so a slow hash would not make them safer.
"""

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from ptenmt.atomic_files import write_text
from ptenmt.errors import ConfigError

_LINE = re.compile(r"(\S+) ([0-9a-f]{64})")
_NAME = re.compile(r"[\w.@-]{1,100}")


class Keys:
    """The valid keys: the SHA-256 of each in hexadecimal, by owner. Without a file, no key is required."""

    def __init__(self, file: Path | None = None) -> None:
        self._file, self._hashes = file, dict[str, str]()
        self.read()

    def read(self) -> None:
        """Read the key file, also once more; raises ConfigError if it is missing, empty or malformed."""
        if self._file is None:
            return
        if not (hashes := _read(self._file)):
            raise ConfigError(
                f"{self._file} has no key", f"add one: ptenmt serve --keys {self._file} --add-key NAME"
            )
        self._hashes = hashes

    @property
    def are_required(self) -> bool:
        """Whether requests need a key."""
        return bool(self._hashes)

    def admit(self, key: str) -> bool:
        """Whether a key is valid, or none is required; takes the same time for every key."""
        given = _hash(key)
        matches = [hmac.compare_digest(given, known) for known in self._hashes.values()]
        return any(matches) or not matches


def add_key(file: Path, name: str) -> str:
    """Create a key, which cannot be recovered later, and add its hash to a key file, old or new.

    Raises:
        ConfigError: The name is invalid or has a key already, or the file is malformed.
        OutputError: The file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a key", "use up to 100 letters, digits and . _ @ -"
        )
    hashes = _read(file) if file.exists() else {}
    if name in hashes:
        raise ConfigError(
            f"{file} already has a key of {name}",
            f"remove the line of {name}, which revokes that key, or choose another name",
        )
    key = secrets.token_urlsafe(32)
    hashes[name] = _hash(key)
    write_text(file, "".join(f"{owner} {known}\n" for owner, known in hashes.items()))
    return key


def _read(file: Path) -> dict[str, str]:
    """The hash of each key by owner."""
    create = f"ptenmt serve --keys {file} --add-key NAME"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise ConfigError(f"no file {file}", f"create one: {create}") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from error
    hashes = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if found := _LINE.fullmatch(line):
            hashes[found[1]] = found[2]
        elif line:
            raise ConfigError(
                f"{file}, line {number}: not a name and a SHA-256",
                f"remove the line, and create a key: {create}",
            )
    return hashes


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
