"""Interleaved measurement: processes take turns, so that noise on the machine affects all of them equally.

The benchmark starts each program as an ``InterleavedProcess``; the program counts its work with ``Turns``. A
line with a number of seconds requests a turn, a line of JSON returns its results. Only the standard library
is used, because one program runs in an environment without ptenmt.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self


class Turn(NamedTuple):
    """Work of one process in one turn."""

    tokens: int
    """Real target tokens: labels that are not padding."""
    operations: float
    """Floating-point operations, if the process counts them."""
    seconds: float
    peak_memory: int
    """Peak resident memory of the process so far, in bytes."""


class Turns:
    """In a measured program: counts work during a turn and waits between turns.

    Other output of the process goes to standard error.
    """

    def __init__(self) -> None:
        self._answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        self._wait()

    def mark(self) -> None:
        """Start the time of the work that is counted next."""
        self._marked = time.perf_counter()

    def count(self, tokens: int, operations: float = 0.0) -> None:
        """Add the work since the last mark or count; waits between turns, exits after the last."""
        self._seconds += time.perf_counter() - self._marked
        self._tokens += tokens
        self._operations += operations
        if self._seconds >= self._requested:
            turn = Turn(self._tokens, self._operations, self._seconds, _peak_memory())
            print(json.dumps(turn), file=self._answers, flush=True)
            self._wait()
        self.mark()

    def _wait(self) -> None:
        line = sys.stdin.readline()
        if not line:
            raise SystemExit
        self._requested = float(line)
        self._tokens, self._operations, self._seconds = 0, 0.0, 0.0
        self.mark()


class InterleavedProcess:
    """In the benchmark: a process that takes turns. A context manager, which ends the process.

    Args:
        command: The command line of the program.
        log: The file for its standard error.
        environment: Environment variables added to those of this process.
    """

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self._log = log
        # The benchmark compares CPU speed; only some of the programs would use a GPU.
        processor = {"CUDA_VISIBLE_DEVICES": "-1"}
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | processor | environment,
            )

    def turn(self, seconds: float) -> Turn:
        """Let it work until a step ends after ``seconds``, and return the results."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(seconds, file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise SystemExit(f"{' '.join(self._process.args)} failed:\n{self._log.read_text()[-3000:]}")
        return Turn(*json.loads(answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _peak_memory() -> int:
    """Peak resident memory of this process, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would include the parent's memory at the fork
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
