"""How fast a training is, and how long it will take."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

_NUM_RECENT_STEPS = 500


class Throughput:
    """Means over the latest steps of this process, without the first, which waits for the compilation.

    Emitting the figures of a step may wait for the device, so it counts as part of the next step.
    """

    def __init__(self) -> None:
        self._num_steps = 0
        self._seconds: deque[float] = deque(maxlen=_NUM_RECENT_STEPS)
        self._epoch_seconds = 0.0
        self._tokens_before = 0.0
        self._last_mark = time.perf_counter()

    def start(self, tokens: float) -> None:
        """Start an epoch, or the rest of one of which so many tokens are done."""
        self._epoch_seconds = 0.0
        self._tokens_before = tokens
        self._last_mark = time.perf_counter()

    def add_step(self) -> None:
        """Count a step, the wait for its data included."""
        now = time.perf_counter()
        seconds, self._last_mark = now - self._last_mark, now
        self._epoch_seconds += seconds
        if self._num_steps:
            self._seconds.append(seconds)
        self._num_steps += 1

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count what happens meanwhile."""
        so_far = time.perf_counter() - self._last_mark
        try:
            yield
        finally:
            self._last_mark = time.perf_counter() - so_far

    def tokens_per_second(self, tokens: float) -> float:
        """Throughput of the epoch so far, of which so many tokens are done now."""
        return (tokens - self._tokens_before) / self._epoch_seconds

    def seconds_left(self, num_steps: int, other_seconds: float) -> float | None:
        """Time for so many more steps, plus ``other_seconds``; None before the second step."""
        if not self._seconds:
            return None
        return num_steps * sum(self._seconds) / len(self._seconds) + other_seconds
