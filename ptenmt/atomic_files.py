"""Writing files and folders whole or not at all, and locks between processes."""

import errno
import hashlib
import json
import logging
import math
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from ptenmt.errors import OutputError

logger = logging.getLogger(__name__)

_SUFFIX = ".unfinished"


@contextmanager
def output_errors(task: str, hint: str = "") -> Iterator[None]:
    """Raise OutputError for an OSError of the ``with`` block: ``cannot`` do the task, and the reason."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot {task}: {error.strerror or error}", hint) from error


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, if they are missing; raises OutputError."""
    with output_errors(f"create {folder}"):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed after the ``with`` block; raises OutputError for any OSError in it."""
    with (
        output_errors(f"write into {tempfile.gettempdir()}"),
        tempfile.TemporaryDirectory(prefix="ptenmt-") as folder,
    ):
        yield Path(folder)


def write_bytes(file: Path, content: bytes) -> None:
    """Write a file whole or not at all: a temporary file beside it, fsync, rename.

    A link is followed. A device or a pipe, such as ``/dev/null``, is written to directly.

    Raises:
        OutputError: It cannot be written; what was there before is unharmed.
    """
    with output_errors(f"write {file}"):
        if file.exists() and not file.is_file():
            file.write_bytes(content)
            return
        temporary = _temporary(file.resolve())
        try:
            with temporary.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(file.resolve())
        finally:
            temporary.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all; see ``write_bytes``."""
    write_bytes(file, text.encode())


def _temporary(path: Path) -> Path:
    """The path beside a file or folder at which it is written first."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{_SUFFIX}")


def remove_unfinished(folder: Path) -> None:
    """Remove the temporary files of killed processes; no other process may be writing into the folder."""
    for path in folder.glob(f".*{_SUFFIX}"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def folder_written_whole(folder: Path) -> Iterator[Path]:
    """Write a folder whole or not at all: yields an empty one beside it; fsync, rename.

    Parents are created, and a link is followed. Replacing a folder takes two renames; for some microseconds
    between them there is none.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = _temporary(folder)
    old = new.with_name(f".old{new.name}")
    try:
        new.mkdir()
        yield new
        for path in (*new.rglob("*"), new):
            sync(path)
        if folder.is_dir():
            folder.rename(old)
        new.rename(folder)
        sync(folder.parent)
    finally:
        if old.exists() and not folder.exists():  # interrupted between the renames
            old.rename(folder)
        for path in (new, old):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def exclusive(path: Path, *, refusal: Callable[[str], Exception] | None = None) -> Iterator[None]:
    """Hold a lock file for the ``with`` block; its folder is created.

    The operating system releases the lock when its holder ends, however it ends. The file is removed
    afterwards, except on Windows. While another process holds it, this one waits, or raises the error that
    ``refusal`` makes of that process' id; OSError if the file cannot be created.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout as error:
        if refusal is not None:
            raise refusal(holder(path)) from error
        if holder(path) == str(os.getppid()):  # which prepares a corpus by processes such as this one
            raise OSError(
                errno.EDEADLK, "a script that uses ptenmt needs if __name__ == '__main__'"
            ) from error
        logger.warning("waiting for process %s, which holds %s", holder(path), path)
        lock.acquire()
    if getattr(lock, "pid", None) is None:  # or it is the soft one of a system without locks
        with suppress(PermissionError):  # Windows locks the content, too
            path.write_text(f"{os.getpid()}\n")
    try:
        yield
    finally:
        with suppress(PermissionError):
            path.unlink(missing_ok=True)
        lock.release()


@contextmanager
def held(path: Path, refusal: Callable[[str], Exception]) -> Iterator[None]:
    """Hold the lock of a file or folder, ``.NAME.lock`` beside it, for the ``with`` block; see ``exclusive``.

    A link is followed. Raises OutputError if the lock cannot be created.
    """
    target = path.resolve()
    with ExitStack() as stack:
        with output_errors(f"write {path}"):
            stack.enter_context(exclusive(target.with_name(f".{target.name}.lock"), refusal=refusal))
        yield


def holder(path: Path) -> str:
    """The process id of a lock file's holder, or ``?``."""
    try:
        return path.read_text(errors="replace").partition("\n")[0] or "?"
    except OSError:  # released just now, or unreadable while it is held
        return "?"


def check_writable(path: Path) -> None:
    """Check early that a file or folder, whose parents need not exist, can be written; raises OutputError."""
    with output_errors(f"write {path}"):
        folder = path.resolve().parent
        while not folder.exists():
            folder = folder.parent
        tempfile.TemporaryDirectory(dir=folder, prefix=f".{path.name}.", suffix=_SUFFIX).cleanup()


def sync(path: Path) -> None:
    """Flush a file or folder to the disk; Windows cannot do that for folders."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON with null for numbers that JSON does not have: NaN and the infinities."""
    return json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)


def file_checksum(file: Path) -> str:
    """The SHA-256 checksum of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def json_checksum(value: Any) -> str:
    """The SHA-256 checksum of a JSON value, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
