"""The lock keeps a second process out, and never outlives its holder."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ptenmt.atomic_files import exclusive, holder

HOLD = """
import pathlib, sys, time
from ptenmt.atomic_files import exclusive
with exclusive(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_waits_for_a_killed_holder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "new" / "file.lock"
    entered = threading.Event()

    def enter() -> None:
        with exclusive(path):
            entered.set()

    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"held"
        waiter = threading.Thread(target=enter)
        waiter.start()
        assert not entered.wait(0.5)
        other.kill()
        waiter.join(120)
    assert entered.is_set()
    assert [record.getMessage() for record in caplog.records] == [
        f"waiting for process {other.pid}, which holds {path}"
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the file")
def test_leaves_no_file_behind(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    with exclusive(path):
        assert path.exists()
    assert not path.exists()


def test_without_waiting_a_held_lock_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    with exclusive(path):
        assert holder(path) == str(os.getpid())
        with (
            pytest.raises(BlockingIOError, match=f"process {os.getpid()} holds"),
            exclusive(path, wait=False),
        ):
            pass
    assert holder(path) == "?"
