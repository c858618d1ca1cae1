"""A cache on disk for prepared text, learned tokenizers and token ids.

An entry is a folder of files and of facts, named after a checksum of all that it was made from. It is there
whole or not at all, and what is damaged is made anew.
"""

import atexit
import contextlib
import functools
import hashlib
import json
import logging
import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs

from ptenmt.atomic_files import sync
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

    Entries that nobody used for 30 days are removed when another is made.

    Args:
        folder: Made when the first entry is.
    """

    folder: Path

    def find(self, kind: Kind, key: Any) -> Entry | None:
        """Return the entry for ``key``, if there is an intact one."""
        folder = self.folder / _name(kind, key)
        facts = _intact_facts(folder)
        if facts is None:
            return None
        with contextlib.suppress(OSError):  # of a cache that may be read only
            os.utime(folder / _INDEX)
        return Entry(folder, facts)

    def entry(self, kind: Kind, key: Any, build: Build) -> Entry:
        """Return the entry for ``key``; build it if there is none.

        Args:
            kind: What it holds.
            key: All that the entry depends on, as JSON takes it; the program's own code is added.
            build: Makes it.

        Raises:
            OutputError: The folder cannot be written.
        """
        found = self.find(kind, key)
        if found:
            return found
        name = _name(kind, key)
        try:
            with exclusive(self._lock(name)):
                found = self.find(kind, key)  # made by another process while this one waited
                if not found:
                    self._make(name, build)
            self._tidy()
        except OSError as error:
            raise OutputError(
                f"cannot write the prepared corpus to {self.folder}: {error.strerror or error}",
                "make room or mend the permissions there, or set data.cache_dir to another folder",
            ) from error
        found = found or self.find(kind, key)
        assert found is not None
        return found

    def _lock(self, name: str) -> Path:
        return self.folder / f".{name}.lock"

    def _make(self, name: str, build: Build) -> None:
        folder, new = self.folder / name, self.folder / f".{name}.new"
        shutil.rmtree(new, ignore_errors=True)
        if folder.exists():
            logger.warning("%s is damaged and made anew", folder)
            shutil.rmtree(folder)
        try:
            new.mkdir()
            facts = build(new)
            files = {file.relative_to(new).as_posix(): _state(file) for file in _files(new)}
            index = {"facts": facts, "files": files}
            (new / _INDEX).write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
            for path in (*_files(new), new):
                sync(path)
            new.rename(folder)
            sync(self.folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _tidy(self) -> None:
        """Remove unfinished entries of killed processes, and entries that have not been used for long."""
        for path in self.folder.iterdir():
            name = path.name.removeprefix(".").removesuffix(".new")
            if not _ENTRY_NAME.fullmatch(name) or not (path.name != name or _is_old(path)):
                continue
            with contextlib.suppress(OSError), exclusive(self._lock(name), wait=False):
                shutil.rmtree(path, ignore_errors=True)


def corpus_cache(cache_dir: str | None) -> CorpusCache:
    """The cache of a run.

    Args:
        cache_dir: The option ``data.cache_dir``; None is the user's cache folder, or where that cannot be
            written a temporary one that ends with the process.
    """
    return CorpusCache(_default_folder() if cache_dir is None else Path(cache_dir))


def _default_folder() -> Path:
    folder = platformdirs.user_cache_path("ptenmt") / "tokens"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
        reason = "it is read-only"
    except OSError as error:
        reason = str(error.strerror or error)
    return _temporary_folder(folder, reason)


@functools.cache
def _temporary_folder(instead_of: Path, reason: str) -> Path:
    logger.warning(
        "cannot keep the prepared corpus in %s: %s; set data.cache_dir, or every training prepares it again",
        instead_of,
        reason,
    )
    folder = Path(tempfile.mkdtemp(prefix="ptenmt-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


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
        files = {name: tuple(state) for name, state in index["files"].items()}
        is_intact = all(
            (folder / name).stat().st_size == state[0] and _state(folder / name) == state
            for name, state in files.items()
        )
        return dict(index["facts"]) if is_intact else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _state(file: Path) -> tuple[int, int]:
    """A file's size and checksum."""
    checksum = 0
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
        return stream.tell(), checksum


def _is_old(folder: Path) -> bool:
    index = folder / _INDEX
    return index.exists() and time.time() - index.stat().st_mtime > _UNUSED_DAYS * 24 * 3600


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
