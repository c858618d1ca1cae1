"""Files and folders are written whole or not at all."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ptenmt.atomic_files import (
    check_writable,
    exclusive,
    folder_written_whole,
    holder,
    remove_unfinished,
    write_bytes,
)
from ptenmt.errors import OutputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a file from before."""
    with folder_written_whole(tmp_path / "new" / "folder") as new:
        (new / "file").write_text("before")
    return tmp_path / "new" / "folder"


def test_a_folder_is_replaced_as_a_whole(folder: Path) -> None:
    with folder_written_whole(folder) as new:
        assert list(new.iterdir()) == []
        (new / "other").write_text("after")
        assert (folder / "file").read_text() == "before"
    assert [file.name for file in folder.iterdir()] == ["other"]
    assert [file.name for file in folder.parent.iterdir()] == ["folder"]
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777


def test_what_was_there_stays_if_the_work_ends_early_or_the_last_rename_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(error: BaseException | None = None) -> None:
        with folder_written_whole(folder) as new:
            (new / "other").write_text("half")
            if error is not None:
                raise error

    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name.endswith(".unfinished") and not self.name.startswith(".old"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    with pytest.raises(KeyboardInterrupt):
        write(KeyboardInterrupt())
    assert [file.name for file in folder.parent.iterdir()] == ["folder"]
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output error"):
        write()
    assert (folder / "file").read_text() == "before"
    assert [file.name for file in folder.parent.iterdir()] == ["folder"]


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(NotADirectoryError), folder_written_whole(tmp_path / "file") as new:
        (new / "other").write_text("after")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["precious"]


def test_a_link_to_a_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    with folder_written_whole(tmp_path / "link") as new:
        (new / "other").write_text("after")
    assert (tmp_path / "link").is_symlink()
    assert (folder / "other").read_text() == "after"


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".folder.abc.unfinished").mkdir()
    (tmp_path / ".file.abc.unfinished").touch()
    write_bytes(tmp_path / "file", b"whole")
    remove_unfinished(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "file")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="cannot write /proc/new/file"):
        check_writable(Path("/proc/new/file"))


# The lock keeps a second process out, and never outlives its holder


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


def test_without_waiting_a_held_lock_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.lock"
    with exclusive(path):
        assert holder(path) == str(os.getpid())
        with (
            pytest.raises(BlockingIOError, match=f"^{os.getpid()}$"),
            exclusive(path, refusal=BlockingIOError),
        ):
            pass
    assert holder(path) == "?"


def test_a_process_does_not_wait_for_a_lock_of_its_parent(tmp_path: Path) -> None:
    program = "import sys, pathlib; from ptenmt.atomic_files import exclusive\n"
    program += "with exclusive(pathlib.Path(sys.argv[1])): print('held')"
    with exclusive(tmp_path / "file.lock"):
        child = [sys.executable, "-c", program, str(tmp_path / "file.lock")]
        done = subprocess.run(child, capture_output=True, text=True, check=False, timeout=60)
    assert "a script that uses ptenmt needs if __name__ == '__main__'" in done.stderr
    assert not done.stdout
