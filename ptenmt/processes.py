"""Processes: their cores, C++ libraries without log lines, a function applied by one process per core.

``multiprocessing`` would import the main module of the program in each process: TensorFlow with it, or a
script without a main guard a second time. The processes here import only what the function needs, and end
when this one is killed, unlike loky's.
"""

import importlib.util
import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar, cast

from ptenmt.errors import DataError, PtenmtError, not_installed

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_NUM_OWN_ITEMS = 4
_START = "import sys; sys.path.append({path!r}); from {module} import work; work()"
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


def parallel_map(
    function: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Iterator[tuple[_Item, _Result]]:
    """Apply a function to each item by one process per core; yield items with results, in order.

    The first few items are handled by this process, so that little work starts no others. Items, results and
    the function, which must be of a module of ptenmt, are pickled. A few items per process are read ahead.

    Raises:
        DataError: A process ended before its work was done.
    """
    iterator = iter(items)
    num_processes = available_cores()
    for item in islice(iterator, _NUM_OWN_ITEMS if num_processes > 1 else None):
        yield item, function(item)
    if not (following := list(islice(iterator, 1))):
        return
    iterator = chain(following, iterator)
    with ExitStack() as stack:
        idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in [stack.enter_context(_Worker()) for _ in range(num_processes)]:
            worker.send(function)
            idle.put(worker)

        def apply(item: _Item) -> _Result:
            worker = idle.get()
            try:
                worker.send(item)
                return cast(_Result, worker.receive())
            finally:
                idle.put(worker)

        threads = stack.enter_context(ThreadPoolExecutor(num_processes))
        stack.callback(threads.shutdown, cancel_futures=True)
        yield from _map_ahead(threads, apply, iterator, 2 * num_processes)


def _map_ahead(
    threads: ThreadPoolExecutor,
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    num_ahead: int,
) -> Iterator[tuple[_Item, _Result]]:
    """Apply a function to items in threads; yield items with results, in order."""
    pending: deque[tuple[_Item, Future[_Result]]] = deque()
    for item in items:
        pending.append((item, threads.submit(function, item)))
        if len(pending) > num_ahead:
            first, future = pending.popleft()
            yield first, future.result()
    yield from ((item, future.result()) for item, future in pending)


class _Worker:
    """Another process, which applies the first thing that is sent to all others; it ends with the block."""

    def __enter__(self) -> "_Worker":
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START.format(path=str(Path(__file__).parents[1]), module=__name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C at a terminal does not reach it; the parent ends it
        )
        return self

    def send(self, value: Any) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # to receive will be the error
            pickle.dump(value, self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()

    def receive(self) -> Any:
        assert self._process.stdout is not None
        try:
            result, error = pickle.load(self._process.stdout)  # this program wrote it
        except EOFError as ended:
            raise DataError(
                f"a process that prepares the corpus ended with code {self._process.wait()}",
                "was it killed for lack of memory? the rest of the machine's memory may be in use",
            ) from ended
        if error is not None:
            raise error
        return result

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()


def work() -> None:
    """Serve as one of the processes: read the function, then items, until the input ends."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the results
    function = pickle.load(sys.stdin.buffer)  # the parent wrote it
    while True:
        try:
            item = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer: tuple[Any, Exception | None] = function(item), None
        except Exception as error:  # raised again by the parent
            answer = None, error
        sys.stdout.flush()  # after the last answer the parent ends this process at once
        pickle.dump(answer, results, pickle.HIGHEST_PROTOCOL)
        results.flush()


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
