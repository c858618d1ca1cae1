"""Processes: the cores that one may use, and a function applied by one process per core.

``multiprocessing`` would import the main module of the program in each process: TensorFlow with it, or a
script without a main guard a second time. The processes here import only what the function needs.
"""

import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ptenmt.errors import DataError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_NUM_OWN_ITEMS = 4
_START = "import sys; sys.path.append({path!r}); from {module} import work; work()"
_CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")


def available_cores() -> int:
    """The number of cores this process may use; a container's CPU limit may be below the machine's."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _CPU_LIMIT.read_text().split()
        return max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no limit
        return cores


def parallel_map(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Apply a function to each item by one process per core; yield the results in order.

    The first few items are handled by this process, so that little work starts no others. Items, function and
    results are pickled. A few items per process are read ahead.

    Args:
        function: Of a module of ptenmt, or an object whose class is.
        items: What it is applied to.

    Raises:
        DataError: A process ended before its work was done.
    """
    iterator = iter(items)
    yield from map(function, islice(iterator, _NUM_OWN_ITEMS))
    num_processes = available_cores()
    following = list(islice(iterator, 1))
    if num_processes == 1 or not following:
        yield from map(function, chain(following, iterator))
        return
    idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()

    def run(item: _Item) -> _Result:
        worker = idle.get()
        try:
            result: _Result = worker(item)
            return result
        finally:
            idle.put(worker)

    with ExitStack() as stack:
        for _ in range(num_processes):
            idle.put(stack.enter_context(_Worker(function)))
        threads = stack.enter_context(ThreadPoolExecutor(num_processes))
        stack.callback(threads.shutdown, cancel_futures=True)
        pending: deque[Future[_Result]] = deque()
        for item in chain(following, iterator):
            pending.append(threads.submit(run, item))
            if len(pending) > 2 * num_processes:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class _Worker:
    """Another process that applies a function to one item after the other."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        code = _START.format(path=str(Path(__file__).parents[1]), module=__name__)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C at a terminal does not reach it; the parent ends it
        )
        self._send(function)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def __call__(self, item: Any) -> Any:
        self._send(item)
        assert self._process.stdout is not None
        try:
            result, error = pickle.load(self._process.stdout)  # this program wrote it
        except EOFError as ended:
            raise self._ended() from ended
        if error is not None:
            raise error
        return result

    def _send(self, value: Any) -> None:
        assert self._process.stdin is not None
        try:
            pickle.dump(value, self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except BrokenPipeError as ended:
            raise self._ended() from ended

    def _ended(self) -> DataError:
        return DataError(
            f"a process that prepares the corpus ended with code {self._process.wait()}",
            "was it killed for lack of memory? the rest of the machine's memory may be in use",
        )


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
        answer: tuple[Any, Exception | None]
        try:
            answer = function(item), None
        except Exception as error:  # raised again by the parent
            answer = None, error
        pickle.dump(answer, results, pickle.HIGHEST_PROTOCOL)
        results.flush()
