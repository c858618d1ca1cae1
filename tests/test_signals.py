"""SIGINT, SIGTERM and SIGHUP, without a training: what each stage of one makes of them."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS, until

from ptenmt import signals
from ptenmt.signals import StopSignals

# Loaded by its path, so that TensorFlow is not. Signals blocked in the main thread go to another one, so
# that nothing wakes the main thread: as in a library's long call.
STUCK = """
import ctypes, runpy, signal, sys
StopSignals = runpy.run_path(sys.argv[1])["StopSignals"]
StopSignals._watch.__globals__["_STARTUP_GRACE_SECONDS"] = float(sys.argv[3])
with StopSignals().installed() as stop:
    if sys.argv[2] == "training":
        stop.on_stop(lambda: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    text = b"ready\\n" + bytes(10_000_000)
    ctypes.CDLL(None).write(1, text, len(text))  # blocks: the pipe is full and nobody reads it
"""


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    assert {number: signal.getsignal(number) for number in before} == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_start_is_interrupted(number: int):
    stop = StopSignals()
    with pytest.raises(KeyboardInterrupt), stop.installed():
        os.kill(os.getpid(), number)
    assert stop.received == number


def test_a_training_is_asked_to_stop_and_then_interrupted():
    asked: list[str] = []
    stop = StopSignals()
    with stop.installed():
        stop.on_stop(lambda: asked.append("stop"))
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked == ["stop"]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert stop.received == signal.SIGTERM


def test_an_interruption_that_a_library_swallows_is_made_up_for():
    asked: list[str] = []
    stop = StopSignals()
    with stop.installed():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        stop.on_stop(lambda: asked.append("stop"))
    assert asked == ["stop"]


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        stop = StopSignals()
        with stop.installed():
            stop.on_stop(pytest.fail)
            os.kill(os.getpid(), signal.SIGINT)
        assert stop.received is None
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def is_pending(process: int) -> bool:
    """Whether a signal has been sent to a process that none of its threads has taken yet."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return re.search(r"^ShdPnd:\t0+$", status, re.MULTILINE) is None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux shows which signals are pending")
@pytest.mark.parametrize(
    ("stage", "sent", "message"),
    [
        ("starting", [signal.SIGTERM], b"stopped before the first step: nothing new to save, run it again\n"),
        ("starting", [signal.SIGINT, signal.SIGINT], b"stopped immediately: run it again to resume"),
        ("training", [signal.SIGTERM, signal.SIGINT], b"stopped immediately: run it again to resume"),
    ],
)
def test_a_library_that_does_not_come_back_holds_nothing_up(stage: str, sent: list[int], message: bytes):
    # The end that follows the first signal must not come before the second.
    grace = PATIENCE_SECONDS if len(sent) > 1 else 0.2
    command = [sys.executable, "-c", STUCK, str(Path(signals.__file__)), stage, str(grace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            for number in sent:
                until(lambda: not is_pending(process.pid))  # two of a kind at once count as one
                process.send_signal(number)
            assert process.wait(PATIENCE_SECONDS) == 128 + sent[0]
            assert process.stderr.read().startswith(message)
        finally:
            process.kill()


IN_CALLBACK = """
import signal, sys, weakref
from ptenmt.signals import end_process_on_interrupt, process_signals
class Module: pass
end_process_on_interrupt()
process_signals.install()
with process_signals.interruptible():
    module = Module()
    reference = weakref.ref(module, lambda _: signal.raise_signal(int(sys.argv[1])))
    del module
    print("went on")
"""
AT_EXIT = """
import os, signal, sys, threading, time
from ptenmt.signals import process_signals
process_signals.install()
def end():
    threading.main_thread().join()
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(600)
threading.Thread(target=end).start()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no signal to send")
@pytest.mark.parametrize(
    ("script", "number", "message"),
    [
        (IN_CALLBACK, signal.SIGINT, "interrupted\n"),
        (IN_CALLBACK, signal.SIGTERM, ""),
        (AT_EXIT, signal.SIGTERM, ""),
    ],
)
def test_a_signal_in_a_callback_or_at_the_end_is_not_lost(script: str, number: int, message: str) -> None:
    command = [sys.executable, "-c", script, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", message)
