"""Processes: their cores, C++ libraries without log lines, a function applied by one process per core."""

import importlib.util
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ptenmt.errors import DataError, PtenmtError, not_installed

if TYPE_CHECKING:
    from concurrent.futures import Future

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_NUM_OWN_ITEMS = 4
_CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")
_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_KEEP_MEMORY = "TF_CPU_ALLOCATOR_USE_BFC"
"""Makes TensorFlow keep freed memory instead of returning it at every step (decision 0013)."""


def available_cores() -> int:
    """The number of cores this process may use; a container's CPU limit may be below the machine's."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _CPU_LIMIT.read_text().split()
        return max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no limit
        return cores


def parallel_map(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Apply a function to each item by one process per core; yield the results, in order.

    The first few items are handled by this process, so that little work starts no others. Items, results and
    the function are pickled. A few items per process are read ahead. Each process imports the main module: a
    script that trains needs a main guard.

    Raises:
        DataError: A process ended before its work was done.
    """
    iterator = iter(items)
    num_processes = available_cores()
    for item in islice(iterator, _NUM_OWN_ITEMS if num_processes > 1 else None):
        yield function(item)
    if following := list(islice(iterator, 1)):
        yield from _by_processes(function, chain(following, iterator), num_processes)


def _by_processes(
    function: Callable[[_Item], _Result], items: Iterable[_Item], num_processes: int
) -> Iterator[_Result]:
    import multiprocessing  # here: a translation needs none of these modules, which take megabytes
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    pending: deque[Future[_Result]] = deque()
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(
        num_processes, multiprocessing.get_context("spawn"), _begin, (function,)
    ) as pool:
        try:
            for item in items:
                with _without_interrupts():
                    pending.append(pool.submit(_apply, item))
                if len(pending) > 2 * num_processes:
                    yield pending.popleft().result()
            yield from (future.result() for future in pending)
        except BrokenProcessPool as error:
            raise DataError(
                "a process that prepares the corpus ended early",
                "was it killed for lack of memory? does a script of yours lack if __name__ == '__main__'?",
            ) from error
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.kill()  # what it does is of no use any more
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """What is started in the block never gets SIGINT (but on Windows): Ctrl-C is for this process."""
    if sys.platform == "win32":
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


_function: Callable[[Any], Any]
"""In one of the processes: what it applies, sent once for all items."""


def _begin(function: Callable[[Any], Any]) -> None:
    """Prepare one of the processes, which ends if its parent is killed."""
    global _function
    _function = function
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _apply(item: Any) -> Any:
    return _function(item)


def load_tensorflow() -> None:
    """Import TensorFlow, unless it is imported already; raises PtenmtError if it cannot be.

    With TF_CPP_MIN_LOG_LEVEL=0 its log lines are shown.
    """
    if importlib.util.find_spec("tensorflow") is None:
        raise not_installed("TensorFlow")
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault(_KEEP_MEMORY, "true")
    is_verbose = os.environ.setdefault(_LOG_LEVEL, "3") == "0"
    with nullcontext() if is_verbose else silent_stderr():
        try:
            import tensorflow as tf
        except ImportError as error:
            raise PtenmtError(f"cannot load TensorFlow: {error}", "it needs 2 GB of memory") from error
        tf.config.list_physical_devices()  # which writes such lines, too


@contextmanager
def silent_stderr() -> Iterator[None]:
    """Write nothing to stderr. C++ code ignores log levels, so the file descriptor is redirected."""
    if sys.stderr is None:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
