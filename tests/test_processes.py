import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from math import factorial
from pathlib import Path

import pytest
from waiting import until

from ptenmt.errors import DataError
from ptenmt.processes import parallel_map

SLOW_ID = "__import__('time').sleep(0.05) or __import__('os').getpid()"
END = "__import__('os')._exit(3)"
BLOCKED = "__import__('signal').pthread_sigmask(0, ())"
"""To be evaluated."""


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.processes.available_cores", lambda: 2)


def test_results_come_in_order() -> None:
    assert list(parallel_map(factorial, range(40))) == [factorial(number) for number in range(40)]
    assert list(parallel_map(factorial, [])) == []


def test_the_work_is_done_by_two_other_processes() -> None:
    found = list(parallel_map(eval, [SLOW_ID] * 24))
    assert found[:4] == [os.getpid()] * 4
    assert len(set(found)) == 3


def test_ctrl_c_at_a_terminal_does_not_reach_them() -> None:
    blocked = list(parallel_map(eval, [BLOCKED] * 20))
    assert blocked[:4] == [set()] * 4
    assert blocked[4:] == [{signal.SIGINT}] * 16
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


ORPHANS = """
import os, signal
from ptenmt import processes
processes.available_cores = lambda: 2
results = processes.parallel_map(eval, ["__import__('os').getpid()"] * 20)
print(*{process for _, process in zip(range(12), results)}, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_they_end_with_this_process() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHANS], capture_output=True, text=True, check=False)
    processes = [Path("/proc", number) for number in done.stdout.split()]
    assert len(processes) >= 2, done.stderr
    until(lambda: not any(process.exists() for process in processes))


def test_only_a_few_items_are_read_ahead() -> None:
    num_read = 0

    def items() -> Iterator[int]:
        nonlocal num_read
        for number in range(1_000):
            num_read += 1
            yield number

    results = parallel_map(factorial, items())
    for _ in range(100):
        next(results)
    assert num_read < 110


def test_an_error_is_raised_as_it_is_and_a_process_that_ends_is_one() -> None:
    with pytest.raises(ValueError, match="invalid literal for int"):
        list(parallel_map(int, [*"1234567", "x", "8"]))
    with pytest.raises(DataError, match="a process that prepares the corpus ended early"):
        list(parallel_map(eval, [*"1234", END, *"567"]))


# Log lines that C++ code writes to stderr


LOUD = """
import os
os.write(2, b"importing\\n")
class config:
    list_physical_devices = staticmethod(lambda: os.write(2, b"listing\\n"))
"""
PROGRAM = """
import sys
from ptenmt.processes import load_tensorflow
load_tensorflow()
load_tensorflow()
assert "tensorflow" in sys.modules
print("afterwards", file=sys.stderr)
"""


@pytest.mark.parametrize(("level", "shown"), [("0", ["importing", "listing"]), (None, [])])
def test_tensorflow_is_loaded_without_its_log_lines(level: str | None, shown: list[str], tmp_path: Path):
    (tmp_path / "tensorflow.py").write_text(LOUD, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    environment |= {} if level is None else {"TF_CPP_MIN_LOG_LEVEL": level}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    assert answer.stderr.split() == [*shown, "afterwards"]
