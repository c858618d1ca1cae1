"""The tests run alike, whatever is set in the shell that starts them."""

import os
import subprocess
import sys
from pathlib import Path

ONES = ("FORCE_COLOR", "NO_COLOR", "PTENMT_DEBUG", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
PLACES = ("CURL_CA_BUNDLE", "PYTHONPATH", "XDG_CACHE_HOME")
HOSTILE = dict.fromkeys(ONES, "1") | dict.fromkeys(PLACES, "/nowhere")
HOSTILE |= {"COLUMNS": "20", "OMP_NUM_THREADS": "64", "TF_CONFIG": "{}", "TF_CPP_MIN_LOG_LEVEL": "0"}
HOSTILE |= {"HTTPS_PROXY": "http://127.0.0.1:9", "KERAS_BACKEND": "jax", "LC_ALL": "pt_PT.ISO8859-1"}
HOSTILE |= {"PYTEST_ADDOPTS": "--verbose", "PYTHONIOENCODING": "ascii", "PYTHONWARNINGS": "error"}
SET_LATER = {"KERAS_BACKEND", "TF_CPP_MIN_LOG_LEVEL", "XDG_CACHE_HOME"}
"""By fixtures and by ptenmt."""
FIRST_TEST = "test_of_the_environment_only_what_the_machine_needs_is_left"


def test_of_the_environment_only_what_the_machine_needs_is_left() -> None:
    assert os.environ.keys() & HOSTILE.keys() <= SET_LATER
    assert Path.home().name.startswith("ptenmt-tests-")
    program = "import sys; print(sys.flags.dont_write_bytecode, sys.stdout.write_through)"
    started = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert started.stdout.split() == ["0", "False"]


def test_variables_of_the_shell_do_not_reach_a_test() -> None:
    test = f"{Path(__file__)}::{FIRST_TEST}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--numprocesses=1", "-p", "no:cacheprovider", test],
        cwd=Path(__file__).parents[1],
        env=environment | HOSTILE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout
    assert "1 passed" in answer.stdout


def test_the_way_to_the_package_index_is_kept_for_pip_alone() -> None:
    child = "import clean_environment, os; print(clean_environment.for_pip(), 'HTTPS_PROXY' in os.environ)"
    parent = "import clean_environment, subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    kept = {name: HOSTILE[name] for name in ("CURL_CA_BUNDLE", "HTTPS_PROXY")}
    answer = subprocess.run(
        [sys.executable, "-c", parent, child],  # as pytest-xdist starts its workers
        cwd=Path(__file__).parent,
        env=kept,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == f"{kept} False\n"
