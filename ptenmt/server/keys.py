"""API keys: who may ask.

A file holds a line a key: its owner's name and the key's SHA-256. The keys themselves are nowhere. They are
256 random bits, so that a slow hash would make them no safer.
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
    """The keys that are known.

    Args:
        hashes: The SHA-256 of each, in hexadecimal, by its owner's name. Without any, everybody may ask.
    """

    def __init__(self, hashes: dict[str, str] | None = None) -> None:
        self._hashes = dict(hashes or {})

    @classmethod
    def read(cls, file: Path) -> "Keys":
        """Read a file of keys.

        Raises:
            ConfigError: There is none, it holds no key, or a line is none.
        """
        keys = cls(_read(file))
        if not keys.are_required:
            raise ConfigError(f"{file} holds no key", f"add one: ptenmt serve --keys {file} --add-key NAME")
        return keys

    @property
    def are_required(self) -> bool:
        """Whether only who has a key may ask."""
        return bool(self._hashes)

    def admit(self, key: str) -> bool:
        """Whether who has this key may ask; takes the same time for every key."""
        given = _hash(key)
        admitted = not self._hashes
        for known in self._hashes.values():
            admitted |= hmac.compare_digest(given, known)
        return admitted


def add_key(file: Path, name: str) -> str:
    """Make a key, and add it to a file.

    Args:
        file: Where the keys are kept; it is made if there is none.
        name: Whose it is; whoever has a key keeps it.

    Returns:
        The key, which cannot be had again.

    Raises:
        ConfigError: The name has blanks, strange characters or a key already, or a line of the file is none.
        OutputError: The file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a key", "use up to 100 letters, digits and . _ @ -"
        )
    hashes = _read(file) if file.exists() else {}
    if name in hashes:
        raise ConfigError(
            f"{file} holds a key of {name} already",
            f"remove the line of {name}, which makes that key void, or choose another name",
        )
    key = secrets.token_urlsafe(32)
    lines = (f"{owner} {known}\n" for owner, known in (hashes | {name: _hash(key)}).items())
    write_text(file, "".join(lines))
    return key


def _read(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise ConfigError(
            f"no file {file}", f"make one: ptenmt serve --keys {file} --add-key NAME"
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from error
    hashes = {}
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line.strip())
        if line.strip() and not found:
            raise ConfigError(
                f"{file}, line {number}: not a name and a SHA-256",
                f"remove the line, and make a key: ptenmt serve --keys {file} --add-key NAME",
            )
        if found:
            hashes[found[1]] = found[2]
    return hashes


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
