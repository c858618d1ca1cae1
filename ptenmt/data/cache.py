"""A cache on disk for prepared text, trained tokenizers and token ids.

An entry is a folder of files and metadata, named after a checksum of everything it was made from. It is
written whole or not at all, and made again when it is damaged.
"""

import contextlib
import functools
import hashlib
import json
import logging
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs

from ptenmt.atomic_files import folder_written_whole
from ptenmt.errors import OutputError
from ptenmt.locks import exclusive

logger = logging.getLogger(__name__)

Kind = Literal["text", "tokenizer", "tokens"]
"""The content of an entry."""
Build = Callable[[Path], dict[str, Any]]
"""Writes an entry's files to an empty folder; returns its metadata as JSON values."""

_ENTRY_NAME = re.compile(r"(text|tokenizer|tokens)-[0-9a-f]{32}")
_INDEX = "entry.json"
_UNUSED_DAYS = 30
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """The files and metadata of an entry."""

    folder: Path
    facts: dict[str, Any]


@dataclass(frozen=True)
class CorpusCache:
    """A folder of entries that any number of processes may share.

    Entries that were not used for 30 days are removed when another is made.

    Args:
        folder: Created with the first entry.
    """

    folder: Path

    def find(self, kind: Kind, key: Any) -> Entry | None:
        """Return the entry for ``key``, if there is an intact one."""
        folder = self.folder / _name(kind, key)
        facts = _intact_facts(folder)
        if facts is None:
            return None
        with contextlib.suppress(OSError):  # a read-only cache
            os.utime(folder)
        return Entry(folder, facts)

    def entry(self, kind: Kind, key: Any, build: Build) -> Entry:
        """Return the entry for ``key``; build it if there is none.

        Args:
            kind: Its content.
            key: Everything that the entry depends on, as JSON values; the program's own code is added.
            build: Writes the entry.

        Raises:
            OutputError: The folder cannot be written.
        """
        found = self.find(kind, key)
        if found:
            return found
        folder = self.folder / _name(kind, key)
        try:
            with exclusive(self._lock(folder.name)):
                found = self.find(kind, key)  # built by another process while this one waited
                if not found:
                    found = Entry(folder, _written(folder, build))
            self._remove_unused()
        except OSError as error:
            raise OutputError(
                f"cannot write the prepared corpus to {self.folder}: {error.strerror or error}",
                "make room or fix the permissions there, or set data.cache_dir to another folder",
            ) from error
        return found

    def _lock(self, name: str) -> Path:
        return self.folder / f".{name}.lock"

    def _remove_unused(self) -> None:
        """Remove unfinished entries of killed processes, and entries that were not used for long."""
        oldest = time.time() - _UNUSED_DAYS * 24 * 3600
        for path in filter(Path.is_dir, self.folder.iterdir()):
            entry = _ENTRY_NAME.search(path.name)
            if entry and (path.name != entry[0] or path.stat().st_mtime < oldest):
                with contextlib.suppress(OSError), exclusive(self._lock(entry[0]), wait=False):
                    shutil.rmtree(path, ignore_errors=True)


def corpus_cache(cache_dir: str | None) -> CorpusCache:
    """Return the cache of a run; ``data.cache_dir`` None means the user's cache folder."""
    return CorpusCache(
        platformdirs.user_cache_path("ptenmt") / "tokens" if cache_dir is None else Path(cache_dir)
    )


def _written(folder: Path, build: Build) -> dict[str, Any]:
    """Write an entry; return its metadata."""
    if folder.exists():
        logger.warning("%s is damaged and is made again", folder)
    with folder_written_whole(folder) as new:
        facts = build(new)
        files = sorted(file for file in new.rglob("*") if file.is_file())
        index = {"facts": facts, "files": {file.relative_to(new).as_posix(): _state(file) for file in files}}
        (new / _INDEX).write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
    return facts


@functools.cache
def _code() -> str:
    """Checksum of the code that prepares and tokenizes, so that no entry outlives it."""
    checksum = hashlib.sha256()
    package = Path(__file__).parent.parent
    for part in ("data", "tokenizers"):
        for file in sorted((package / part).rglob("*.py")):
            checksum.update(file.read_bytes())
    return checksum.hexdigest()


def _name(kind: Kind, key: Any) -> str:
    text = json.dumps([key, _code()], sort_keys=True)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _intact_facts(folder: Path) -> dict[str, Any] | None:
    try:
        index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        is_intact = all(_state(folder / name) == state for name, state in index["files"].items())
        return dict(index["facts"]) if is_intact else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _state(file: Path) -> list[int]:
    """A file's size and checksum."""
    checksum = 0
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
        return [stream.tell(), checksum]
