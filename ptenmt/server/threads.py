"""Threads for long work beside the loop."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any


@dataclass(frozen=True)
class _Job:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    outcome: "asyncio.Future[Any]"

    def do(self) -> None:
        """Do the work, unless nobody waits for it any more."""
        if self.outcome.cancelled():
            return
        try:
            result, error = self.work(), None
        except Exception as failure:  # whatever it is, who waits has to know
            result, error = None, failure
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(self._deliver, result, error)

    def _deliver(self, result: Any, error: Exception | None) -> None:
        if self.outcome.done():
            return
        if error is None:
            self.outcome.set_result(result)
        else:
            self.outcome.set_exception(error)


class DaemonThreads:
    """Threads that the end of the process does not wait for, as it would for those of ``asyncio.to_thread``.

    Args:
        count: How many. Work that nobody waits for any more keeps its thread until it is done.
    """

    def __init__(self, count: int) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._count = count
        for _ in range(count):
            threading.Thread(target=self._run, daemon=True).start()

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives, once a thread is free for it."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Any] = loop.create_future()
        self._jobs.put(_Job(lambda: work(*arguments), loop, outcome))
        return await outcome

    def close(self) -> None:
        """Let each thread end when it has nothing more to do; nobody waits for that."""
        for _ in range(self._count):
            self._jobs.put(None)

    def _run(self) -> None:
        """What a thread does all its life."""
        while job := self._jobs.get():
            job.do()
