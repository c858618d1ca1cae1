"""Processes: an exclusive lock between them, and the cores that one may use."""

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

logger = logging.getLogger(__name__)

_CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")


@contextlib.contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file for the ``with`` block.

    Args:
        path: The lock file; its folder is created. The operating system releases the lock when its holder
            ends, however it ends. The file is removed afterwards, except on Windows.
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


def available_cores() -> int:
    """Return the number of cores this process may use; a container's CPU limit may be below the machine's."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _CPU_LIMIT.read_text().split()
        return max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no limit
        return cores
