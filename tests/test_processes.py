import os
import subprocess
import sys
from collections.abc import Iterator
from math import factorial
from pathlib import Path

import pytest

from ptenmt.errors import DataError
from ptenmt.processes import parallel_map

PROCESS_ID, END = "__import__('os').getpid()", "__import__('os')._exit(3)"
"""To be evaluated."""


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.processes.available_cores", lambda: 2)


def test_results_come_in_order() -> None:
    assert list(parallel_map(factorial, range(40))) == [(number, factorial(number)) for number in range(40)]
    assert list(parallel_map(factorial, [])) == []


def test_the_work_is_done_by_two_other_processes_which_ctrl_c_at_a_terminal_does_not_reach() -> None:
    found = [process for _, process in parallel_map(eval, [PROCESS_ID] * 200)]
    assert found[:4] == [os.getpid()] * 4
    assert len(set(found)) == 3
    groups = {group for _, group in list(parallel_map(eval, ["__import__('os').getpgrp()"] * 20))[5:]}
    assert os.getpgrp() not in groups


def test_they_import_no_tensorflow_and_no_main_module() -> None:
    _, modules = list(parallel_map(eval, ["[*__import__('sys').modules]"] * 6))[-1]
    assert "ptenmt.processes" in modules
    assert not {"tensorflow", "keras", "pytest", "multiprocessing"} & set(modules)


def test_what_a_function_prints_does_not_get_between_the_results(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(parallel_map(print, range(9))) == [(number, None) for number in range(9)]
    assert sorted("".join(capfd.readouterr()).split()) == [*"012345678"]


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


def test_an_error_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match="invalid literal for int"):
        list(parallel_map(int, [*"1234567", "x", "8"]))


def test_a_process_that_ends_is_an_error() -> None:
    with pytest.raises(DataError, match="a process that prepares the corpus ended with code 3"):
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


@pytest.mark.parametrize(("level", "shown"), [("0", ["importing", "listing"]), ("1", []), (None, [])])
def test_tensorflow_is_loaded_without_its_log_lines(level: str | None, shown: list[str], tmp_path: Path):
    (tmp_path / "tensorflow.py").write_text(LOUD, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    environment |= {} if level is None else {"TF_CPP_MIN_LOG_LEVEL": level}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    assert answer.stderr.split() == [*shown, "afterwards"]
