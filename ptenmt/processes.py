"""Processes: the cores that one may use, and a function applied by one process per core.

``multiprocessing`` would import the main module of the program in each process: TensorFlow with it, or a
script without a main guard a second time. The processes here import only what the function needs, and end
when this one is killed, which those of loky do not.
"""

import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

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
    idle: queue.SimpleQueue[Callable[[_Item], _Result]] = queue.SimpleQueue()

    def run(item: _Item) -> _Result:
        apply = idle.get()
        try:
            return apply(item)
        finally:
            idle.put(apply)

    with ExitStack() as stack:
        for _ in range(num_processes):
            idle.put(stack.enter_context(_worker(function)))
        threads = stack.enter_context(ThreadPoolExecutor(num_processes))
        stack.callback(threads.shutdown, cancel_futures=True)
        pending: deque[Future[_Result]] = deque()
        for item in chain(following, iterator):
            pending.append(threads.submit(run, item))
            if len(pending) > 2 * num_processes:
                yield pending.popleft().result()
        yield from (future.result() for future in pending)


@contextmanager
def _worker(function: Callable[[Any], Any]) -> Iterator[Callable[[Any], Any]]:
    """Start another process for the ``with`` block; yields what applies the function to an item there."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _START.format(path=str(Path(__file__).parents[1]), module=__name__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C at a terminal does not reach it; the parent ends it
    )
    assert process.stdin is not None
    assert process.stdout is not None
    requests, answers = process.stdin, process.stdout

    def apply(item: Any) -> Any:
        try:
            pickle.dump(item, requests, pickle.HIGHEST_PROTOCOL)
            requests.flush()
            result, error = pickle.load(answers)  # this program wrote it
        except (BrokenPipeError, EOFError) as ended:
            raise DataError(
                f"a process that prepares the corpus ended with code {process.wait()}",
                "was it killed for lack of memory? the rest of the machine's memory may be in use",
            ) from ended
        if error is not None:
            raise error
        return result

    try:
        with suppress(BrokenPipeError):  # the first item is an error then
            pickle.dump(function, requests, pickle.HIGHEST_PROTOCOL)
        yield apply
    finally:
        process.kill()
        process.communicate()


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
        pickle.dump(answer, results, pickle.HIGHEST_PROTOCOL)
        results.flush()
