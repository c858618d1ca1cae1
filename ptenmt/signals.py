"""SIGINT, SIGTERM and SIGHUP: in a command, during a training, and in the server."""

import atexit
import contextlib
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = [  # Windows has no SIGHUP
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_STARTUP_GRACE_SECONDS = 3.0  # from the first signal to the end of a process whose training has not started
_SECOND_SIGNAL_GRACE_SECONDS = 1.0
_SHOW_CURSOR = b"\x1b[?25h"
_TERMINATIONS = _SIGNALS[1:]
_STDERR = 2


def end_process_on_interrupt() -> None:
    """End the process at once on SIGINT, unless it is ignored: for the time when modules are imported.

    Nothing is left to clean up then, and a KeyboardInterrupt would show as a traceback.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, process_signals.interrupt)


def _interrupt_process(number: int) -> None:
    try:
        os.write(_STDERR, b"interrupted\n")
        sys.stdout.flush()
    finally:
        os._exit(128 + number)


class ProcessSignals:
    """Ends the process as a shell expects on SIGINT, SIGTERM and SIGHUP, and at once.

    Libraries may turn a KeyboardInterrupt into an error of their own (Keras does while it traces a layer):
    hence ``is_interrupted``. The exit handler, registered first, runs last: it skips TensorFlow's slow exit.
    """

    def __init__(self) -> None:
        self.is_interrupted = False
        self.exit_code: int | None = None
        self._is_running = False

    def install(self) -> None:
        """Handle SIGTERM and SIGHUP, and prepare the exit."""
        for number in _TERMINATIONS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._terminate)
        sys.unraisablehook = self._end_or_report
        atexit.register(self._leave)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raise KeyboardInterrupt on SIGINT, instead of ending the process at once."""
        before, self._is_running = self._is_running, True
        try:
            yield
        finally:
            self._is_running = before

    def interrupt(self, number: int, _frame: Any) -> None:
        """Handle SIGINT: interrupt a command, which cleans up, or end the process."""
        if not self._is_running:
            _interrupt_process(number)
        self.is_interrupted = True
        raise KeyboardInterrupt

    def _end_or_report(self, lost: Any) -> None:
        """End the process on a signal that arrives in a callback or after the command, where it is lost."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            _interrupt_process(signal.SIGINT)
        if issubclass(lost.exc_type, SystemExit):
            self._leave()
        sys.__unraisablehook__(lost)

    def make_up(self) -> None:
        """Raise the KeyboardInterrupt that a library has swallowed, as TensorFlow does while it is loaded."""
        if self.is_interrupted:
            raise KeyboardInterrupt

    def lose_messages(self) -> None:
        """Handle a stderr that nobody reads any more like a closed terminal: a training saves and ends."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)
        signal.raise_signal(_TERMINATIONS[-1])

    def _terminate(self, number: int, _frame: Any) -> None:
        self.exit_code = 128 + number
        raise SystemExit(self.exit_code)

    def _leave(self) -> None:
        if self.exit_code is None:
            return
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(self.exit_code)


process_signals = ProcessSignals()


class StopSignals:
    """Handles SIGINT, SIGTERM, SIGHUP: the first finishes the step and saves, the second exits immediately.

    Before ``on_stop`` is called there is nothing to save: KeyboardInterrupt is raised in the main thread, and
    if that is in a library call that does not return, the process exits.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.on_signal: Callable[[], None] | None = None
        """What to call once there is a step to finish."""
        self._before: dict[int, Any] = {}

    def on_stop(self, stop: Callable[[], None]) -> None:
        """From now on, call ``stop`` instead of raising KeyboardInterrupt."""
        self.on_signal = stop
        if self.received is not None:  # but a library has caught the exception
            stop()

    @contextmanager
    def installed(self) -> Iterator["StopSignals"]:
        """Install the handlers for the block (main thread only)."""
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

    def reinstall(self) -> None:
        """Reinstall the handlers after a library has replaced them, as TensorFlow's clusters do."""
        if self.received is None and threading.current_thread() is threading.main_thread():
            for number in self._before:
                signal.signal(number, self._handle)

    def _handle(self, number: int, _frame: Any) -> None:
        self.received = number
        self._restore()
        if number not in (signal.SIGINT, signal.SIGTERM):
            _leave_terminal()
        if self.on_signal is None:
            raise KeyboardInterrupt
        self.on_signal()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _watch(self, ours: socket.socket) -> None:
        """End the process if the main thread does not end the training in time.

        Python's handlers wait until a library call returns; this thread is notified immediately.
        """
        received: list[int] = []
        while True:
            try:
                numbers = ours.recv(1)
            except TimeoutError:
                _end_process(received)
            if not numbers:
                return
            if numbers[0] in self._before:
                received.append(numbers[0])
            if len(received) > 1:
                ours.settimeout(_SECOND_SIGNAL_GRACE_SECONDS)
            elif received and self.on_signal is None:
                ours.settimeout(_STARTUP_GRACE_SECONDS)


def _leave_terminal() -> None:
    """Write to nowhere instead of the terminal, which SIGHUP says is gone: writing there is an error."""
    for stream in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISCHR(os.fstat(stream).st_mode):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream)
                os.close(nowhere)


def _end_process(received: list[int]) -> None:
    reason = b"stopped before the first step: nothing new to save, run it again\n"
    if len(received) > 1:
        reason = b"stopped immediately: run it again to resume from the last checkpoint\n"
    with contextlib.suppress(OSError):
        os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + reason)
    os._exit(128 + received[0])


def handle_server_signals(stop: Callable[[], None], reload: Callable[[], None]) -> None:
    """On SIGTERM and SIGINT call ``stop``; on SIGHUP ``reload``, or ``stop`` if the terminal was closed."""
    has_terminal = os.isatty(_STDERR)

    def hang_up(_number: int, _frame: Any) -> None:
        terminal_was_closed = has_terminal and not os.isatty(_STDERR)
        (stop if terminal_was_closed else reload)()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop())
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, hang_up)
