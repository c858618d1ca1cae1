"""A lock between processes, which the system releases when its holder ends, however it ends."""

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file for the ``with`` block.

    Args:
        path: The lock file; its folder is created. It is removed afterwards, except on Windows.
        wait: Whether to wait while another process holds it.

    Raises:
        BlockingIOError: Another process holds it, and ``wait`` is False.
        OSError: The file cannot be created.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout as error:
        if not wait:
            raise BlockingIOError(f"process {holder(path)} holds {path}") from error
        logger.warning("waiting for process %s, which holds %s", holder(path), path)
        lock.acquire()
    with contextlib.suppress(PermissionError):  # Windows locks the content, too
        if type(lock) is FileLock:  # or it is a SoftFileLock by now, which writes the process id itself
            path.write_text(f"{os.getpid()}\n")
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            path.unlink(missing_ok=True)
        lock.release()


def holder(path: Path) -> str:
    """Return the process id of a lock file's holder, or ``?``."""
    try:
        return path.read_text(errors="replace").partition("\n")[0] or "?"
    except OSError:  # released just now, or unreadable while it is held
        return "?"
