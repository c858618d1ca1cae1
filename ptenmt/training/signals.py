"""SIGINT and SIGTERM while a training is under way."""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 4.0  # seconds that the start of a training gets to notice that it is to end


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
        self._noticed = threading.Event()
        self._before: dict[int, Any] = {}

    def hand_over(self, stop: Callable[[], None]) -> None:
        """From now on, call ``stop`` instead of raising ``Interrupted``."""
        self._stop = stop

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
        # What a background job was told to ignore, it goes on ignoring.
        self._before = {number: old for number, old in handlers.items() if old is not signal.SIG_IGN}
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        watch = threading.Thread(target=self._watch, args=(ours,), daemon=True)
        watch.start()
        for number in self._before:
            signal.signal(number, self._handle)
        try:
            yield self
        finally:
            self._noticed.set()
            self._restore()
            signal.set_wakeup_fd(wakeup)
            theirs.close()
            watch.join()
            ours.close()

    def _handle(self, number: int, _frame: Any) -> None:
        self.received = number
        self._noticed.set()
        self._restore()
        if self._stop is None:
            raise Interrupted
        self._stop()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _watch(self, ours: socket.socket) -> None:
        """End the process if the main thread does not get to run its handler.

        Python's handlers wait until a library's call returns; this thread hears of the signal at once.
        """
        while numbers := ours.recv(1):
            stops = numbers[0] in self._before and self._stop is None
            if stops and not self._noticed.wait(_PATIENCE):
                with contextlib.suppress(OSError):
                    os.write(2, b"stopped before the first step: nothing to save, run it again\n")
                os._exit(128 + numbers[0])
