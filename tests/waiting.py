"""Waits of tests, and times: none that a slow machine may exceed."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE_SECONDS = 300
"""The most that is waited for what should take a moment."""


def until(is_true: Callable[[], Any]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def assert_about_linear(work: Callable[[int], object], size: int) -> None:
    """Check that work takes less than ten times as long as a quarter of it, or next to nothing."""
    seconds = []
    for part in (size // 4, size):
        started = time.process_time()
        work(part)
        seconds.append(time.process_time() - started)
    assert seconds[1] < 10 * seconds[0] + 1
