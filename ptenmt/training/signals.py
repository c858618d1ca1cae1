"""SIGINT and SIGTERM while a training is under way."""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 3.0  # seconds that the start of a training gets to end
_LAST_PATIENCE = 1.0  # the same, from the second signal on
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupted(KeyboardInterrupt):
    """A signal came before there was anything to finish or to save."""


class StopSignals:
    """What the first SIGINT or SIGTERM does; a second one interrupts at once.

    While the training starts, there is nothing to save: ``Interrupted`` is raised in the main thread, and if
    that sits in a library that does not come back, the process ends. From ``hand_over`` on, the signal asks
    the training to finish its step, save and end.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._stop: Callable[[], None] | None = None
        self._before: dict[int, Any] = {}

    def hand_over(self, stop: Callable[[], None]) -> None:
        """From now on, call ``stop`` instead of raising ``Interrupted``."""
        self._stop = stop
        if self.received is not None:  # and a library has swallowed the exception
            stop()

    @property
    def is_handed_over(self) -> bool:
        """Whether there is a training to finish its step."""
        return self._stop is not None

    @contextmanager
    def heeded(self) -> Iterator["StopSignals"]:
        """Heed the signals meanwhile; outside of the main thread, leave them alone."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        # A signal that a background job ignores stays ignored. None: not Python's handler.
        self._before = {number: old for number, old in handlers.items() if old not in (signal.SIG_IGN, None)}
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        watch = threading.Thread(target=self._watch, args=(ours,), daemon=True)
        watch.start()
        try:
            for number in self._before:
                signal.signal(number, self._handle)
            yield self
        finally:
            self._restore()
            signal.set_wakeup_fd(wakeup)
            theirs.close()
            watch.join()
            ours.close()

    def renew(self) -> None:
        """Heed the signals again after a library took them for itself, as TensorFlow's clusters do."""
        if self.received is None and threading.current_thread() is threading.main_thread():
            for number in self._before:
                signal.signal(number, self._handle)

    def _handle(self, number: int, _frame: Any) -> None:
        self.received = number
        self._restore()
        if self._stop is None:
            raise Interrupted
        self._stop()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _watch(self, ours: socket.socket) -> None:
        """End the process if the main thread does not end the training in time.

        Python's handlers wait until a library's call returns; this thread hears of the signal at once.
        """
        received: list[int] = []
        deadline: float | None = None
        while True:
            ours.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
            try:
                numbers = ours.recv(1)
            except TimeoutError:
                _end_process(received)
            if not numbers:
                return
            if numbers[0] not in self._before:
                continue
            received.append(numbers[0])
            if len(received) > 1:
                deadline = time.monotonic() + _LAST_PATIENCE
            elif self._stop is None:
                deadline = time.monotonic() + _PATIENCE


def _end_process(received: list[int]) -> None:
    """Say why, and leave at once."""
    reason = b"stopped before the first step: nothing to save, run it again\n"
    if len(received) > 1:
        reason = b"stopped at once: run it again to resume from the last checkpoint\n"
    with contextlib.suppress(OSError):
        os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + reason)
    os._exit(128 + received[0])
