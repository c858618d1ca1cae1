"""``ptenmt translate``: what it refuses, before it does anything."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ptenmt.runs.trained_model import TrainedModel


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["olá", "--input", "pairs.tsv"], "TEXT and --input cannot be used together\n  give one of them"),
        (["olá", "--resume"], "--resume needs an --output file\n"),
        (["olá", "-o", "a" * 248], f"cannot write {'a' * 248}: File name too long"),
        (["olá", "-o", "/dev/null"], "--output /dev/null is not a regular file\n"),
        (["--input", "checkpoints"], "cannot read checkpoints: Is a directory"),
        (["olá", "--output", "nowhere/out.txt"], "cannot write nowhere/out.txt: No such file or directory"),
        (["olá", "--output", "checkpoints"], "cannot write checkpoints: Is a directory"),
        (["--input", "pairs.tsv", "--output", "./pairs.tsv"], "--output pairs.tsv is the input itself"),
        (["olá", "--run", "tny"], "no run in checkpoints/tny\n  did you mean tiny?"),
        (
            ["olá", "--set", "model.dropout=0"],
            "--set model.dropout=0: only the section decoding of a trained model",
        ),
        (
            ["olá", "--engine", "keras", "--prefix", "the"],
            "the Keras engine does not support target prefixes",
        ),
    ],
)
def test_errors(ptenmt, beside: Path, arguments: list[str], message: str) -> None:
    before = (beside / "pairs.tsv").read_bytes()
    names = sorted(path.name for path in beside.iterdir())
    answer = ptenmt("translate", *arguments, code=1)
    assert answer.stderr.startswith(f"error: {message}")
    assert answer.stdout == ""
    assert (beside / "pairs.tsv").read_bytes() == before
    assert sorted(path.name for path in beside.iterdir()) == names


@pytest.mark.usefixtures("beside")
def test_a_missing_input_is_an_error_before_the_model_is_loaded(
    ptenmt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainedModel, "load", None)
    assert "cannot read nowhere.txt" in ptenmt("translate", "--input", "nowhere.txt", code=1).stderr


@pytest.mark.parametrize(
    ("closed", "message"),
    [
        ("olá >&-", "error: cannot write standard output: it is closed\n"),
        ("<&-", "error: cannot read standard input: it is closed\n  give a file\n"),
    ],
)
def test_closed_streams_are_errors(beside: Path, closed: str, message: str) -> None:
    answer = subprocess.run(
        f"{shlex.quote(sys.executable)} -m ptenmt translate {closed}",
        shell=True,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=beside,
    )
    assert (answer.returncode, answer.stderr) == (1, message)


def test_a_text_that_looks_like_an_option_needs_dashes(ptenmt) -> None:
    message = ptenmt("translate", "-5 graus", code=2).stderr
    assert message == "error: no such option: -5\n  write -- before a text that starts with -\n"
