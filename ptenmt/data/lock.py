"""One process at a time: a lock that the system lets go when its process ends, however it ends."""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            # Some network file systems have no locks; there we carry on alone.
            logger.debug("no lock on this file system: %s", error)
        return True


@contextlib.contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock file ``path`` for the ``with`` block.

    Args:
        path: The lock file. It and its folder are made; the file is removed afterwards (Windows keeps it).
            While it is held, the holder's process id stands in it.
        wait: Whether to wait while another process holds it.

    Raises:
        BlockingIOError: Another process holds it, and ``wait`` is False.
        OSError: The file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _acquire(path, wait)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            path.unlink(missing_ok=True)
        os.close(descriptor)


def holder(path: Path) -> str:
    """The process id of who holds a lock file, or ``?``."""
    try:
        return path.read_text(errors="replace") or "?"
    except OSError:  # let go just now, or not to be read while it is held
        return "?"


def _acquire(path: Path, wait: bool) -> int:
    waiting = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        is_ours = _try_lock(descriptor)
        if is_ours and _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)
        if is_ours:  # of a file that its last holder has just removed
            continue
        if not wait:
            raise BlockingIOError(f"another process holds {path}")
        if not waiting:
            logger.warning("waiting for another process that holds %s", path)
            waiting = True
        time.sleep(_POLL_SECONDS)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether ``path`` is the file we locked: its last holder may have removed it in between."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
