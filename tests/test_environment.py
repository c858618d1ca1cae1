"""The tests run alike, whatever is set in the shell that starts them."""

import os
import subprocess
import sys
from pathlib import Path

SET_BY_SHELLS = {
    *("COLUMNS", "CURL_CA_BUNDLE", "FORCE_COLOR", "HTTPS_PROXY", "LC_ALL", "NO_COLOR", "OMP_NUM_THREADS"),
    *("PTENMT_DEBUG", "PYTEST_ADDOPTS", "PYTHONIOENCODING", "PYTHONPATH", "PYTHONWARNINGS", "TF_CONFIG"),
}


def test_of_the_environment_only_what_the_machine_needs_is_left() -> None:
    assert os.environ.keys() & SET_BY_SHELLS == set()
    assert Path.home().name.startswith("ptenmt-tests-")
    program = "import sys; print(sys.flags.dont_write_bytecode, sys.stdout.write_through)"
    started = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert started.stdout.split() == ["0", "False"]


def test_the_way_to_the_package_index_is_kept_for_pip_alone() -> None:
    child = "import clean_environment, os; print(clean_environment.for_pip(), 'HTTPS_PROXY' in os.environ)"
    parent = "import clean_environment, subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    kept = {"CURL_CA_BUNDLE": "/nowhere", "HTTPS_PROXY": "http://127.0.0.1:9"}
    answer = subprocess.run(
        [sys.executable, "-c", parent, child],  # as pytest-xdist starts its workers
        cwd=Path(__file__).parent,
        env=kept,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == f"{kept} False\n"
