"""SIGINT, SIGTERM and SIGHUP in a command."""

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

_TERMINATIONS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class ProcessSignals:
    """Ends the process as a shell expects on SIGINT, SIGTERM and SIGHUP, and at once.

    Libraries may turn a KeyboardInterrupt into an error of their own (Keras does while it traces a layer):
    hence ``is_interrupted``. The exit handler, registered first, runs last: it skips TensorFlow's slow exit.
    """

    def __init__(self) -> None:
        self.is_interrupted = False
        self.exit_code: int | None = None

    def install(self) -> None:
        """Handle SIGTERM and SIGHUP, and prepare the exit."""
        for number in _TERMINATIONS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._terminate)
        atexit.register(self._leave)

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raise KeyboardInterrupt on SIGINT, where the process would end at once (see ``__main__``)."""
        outside = signal.getsignal(signal.SIGINT)
        if outside in (signal.SIG_IGN, signal.default_int_handler):
            yield
            return
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, outside)

    def make_up(self) -> None:
        """Raise the KeyboardInterrupt that a library has swallowed, as TensorFlow does while it is loaded."""
        if self.is_interrupted:
            raise KeyboardInterrupt

    def _interrupt(self, _number: int, _frame: Any) -> None:
        self.is_interrupted = True
        raise KeyboardInterrupt

    def _terminate(self, number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    def _leave(self) -> None:
        if self.exit_code is None:
            return
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(self.exit_code)


process_signals = ProcessSignals()
