import os
from collections.abc import Iterator
from math import factorial

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


def test_the_work_is_done_by_two_other_processes() -> None:
    found = [process for _, process in parallel_map(eval, [PROCESS_ID] * 200)]
    assert found[:4] == [os.getpid()] * 4
    assert len(set(found)) == 3


def test_ctrl_c_at_a_terminal_does_not_reach_them() -> None:
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
