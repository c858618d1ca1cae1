"""What a machine or a command line lacks is said in a line, never by a traceback."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ptenmt.runs import STARTER

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="/dev/full is a thing of Linux")


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize(
    ("name", "reason"),
    [("/", "/ cannot be a run"), ("a" * 300, "File name too long"), (STARTER, "starter is the name of")],
)
def test_names_that_no_run_can_have(ptenmt, name: str, reason: str) -> None:
    assert reason in ptenmt("train", "--config", "demo.yaml", "--run", name, code=1).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "--run", STARTER, "--output", "{}"],
        ["train", "--config", "{}.yaml"],
        ["evaluate", "--run", STARTER, "--source", "file", "--reference", "file", "--report", "{}.md"],
        ["import", "{}", "--run", "new"],
        ["translate", "--run", STARTER, "{}.html", "--output-dir", "en"],
        ["translate", "--run", STARTER, "--input", "{}"],
        ["translate", "--run", STARTER, "--glossary", "{}", "a"],
    ],
    ids=" ".join,
)
def test_a_path_that_cannot_be_used(ptenmt, empty: Path, arguments: list[str]) -> None:
    (empty / "file").touch()
    for place in ("a" * 300, "file/inside", "/proc/forbidden"):
        assert place in ptenmt(*(argument.format(place) for argument in arguments), code=1).stderr
    assert [path.name for path in empty.iterdir()] == ["file"]


@needs_full
@pytest.mark.parametrize(
    ("arguments", "what"),
    [(["--help"], ""), (["info", "--run", STARTER], " standard output")],
)
def test_standard_output_on_a_full_disk(arguments: list[str], what: str) -> None:
    with FULL.open("w") as full:
        command = [sys.executable, "-m", "ptenmt", *arguments]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, f"error: cannot write{what}: No space left on device\n")


@pytest.mark.skipif(sys.platform != "linux", reason="others do not limit the address space")
def test_too_little_memory_for_tensorflow(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))

    command = [sys.executable, "-m", "ptenmt", "train", "--config", "demo.yaml"]
    ended = subprocess.run(
        command, preexec_fn=limit, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: cannot load TensorFlow: ")
    assert ended.stderr.count("\n") == 2
