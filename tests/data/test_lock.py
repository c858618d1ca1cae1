"""The lock keeps a second process out, and never outlives its holder."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ptenmt.data import lock
from ptenmt.data.lock import exclusive, holder

HOLD = """
import pathlib, sys, time
from ptenmt.data import lock
from ptenmt.data.lock import exclusive
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

    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        waiter = threading.Thread(target=enter)
        waiter.start()
        assert not entered.wait(0.5)
        holder.kill()
        waiter.join(10)
    assert entered.is_set()
    assert [record.getMessage() for record in caplog.records] == [
        f"waiting for another process that holds {path}"
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the file")
def test_leaves_no_file_behind(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    with exclusive(path):
        assert path.exists()
    assert not path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no open file")
@pytest.mark.parametrize("wait", [True, False])
def test_a_lock_on_a_removed_file_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: bool
) -> None:
    """Between our opening and locking the file, its last holder may remove it: others then lock a new one."""
    path = tmp_path / "file.lock"
    try_lock = lock._try_lock

    def late(descriptor: int) -> bool:
        monkeypatch.setattr(lock, "_try_lock", try_lock)
        path.unlink()
        return try_lock(descriptor)

    monkeypatch.setattr(lock, "_try_lock", late)
    with exclusive(path, wait=wait):
        assert path.exists()


def test_one_who_does_not_want_to_wait_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    with exclusive(path):
        assert holder(path) == str(os.getpid())
        with pytest.raises(BlockingIOError, match="another process holds"), exclusive(path, wait=False):
            pass
    assert holder(path) == "?"
