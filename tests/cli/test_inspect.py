"""``ptenmt inspect`` and its views."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

VIEWS = {
    "schedule": ["--config", "tiny.yaml"],
    "history": ["--run", "tiny"],
    "tokens": ["o gato come", "--run", "tiny"],
    "attention": ["o gato come", "--run", "tiny"],
    "alignment": ["o gato come", "--run", "tiny"],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.usefixtures("beside")
def test_each_fits_into_the_terminal(ptenmt, view: str) -> None:
    answer = ptenmt("inspect", view, *VIEWS[view], COLUMNS="40", FORCE_COLOR="1", NO_COLOR="1")
    assert max(map(len, answer.lines)) <= 40
    assert "\x1b[" not in answer.stdout
    assert answer.stderr == ""


@pytest.mark.usefixtures("beside")
def test_a_file_of_another_kind_is_refused_before_any_work(ptenmt) -> None:
    for view, words in VIEWS.items():
        answer = ptenmt("inspect", view, *words, "-o", "picture.gif", code=1)
        assert "its name must end in .png, .svg or .pdf\n" in answer.stderr


def test_positions_are_a_picture(ptenmt, tmp_path: Path) -> None:
    picture = tmp_path / "positions.svg"
    small = ("inspect", "positions", "--positions", "7", "--dimensions", "10")
    answer = ptenmt(*small, "--output", str(picture))
    assert (answer.stdout, answer.stderr) == ("", f"drawn: {picture}\n")
    assert picture.read_bytes().startswith(b"<?xml")
    assert ptenmt(*small, "--output", str(picture), "--quiet").stderr == ""
    assert "missing option '--output'" in ptenmt(*small, code=2).stderr


@pytest.mark.usefixtures("beside")
def test_options_reach_the_views(ptenmt) -> None:
    cosine = ["--set", "training.schedule=cosine", "--set", "training.learning_rate=0.5", "--steps", "90"]
    rates = ptenmt("inspect", "schedule", "--config", "tiny.yaml", *cosine).lines
    assert rates[0] == "Learning rate (cosine): 0.5 at step 40, 0 at step 90"
    curves = ptenmt("inspect", "history", "--run", "tiny", "--over", "epochs").stdout.split("\n\n")
    titles = [curve.partition("\n")[0] for curve in curves]
    assert titles[:2] == ["Loss, nats per token", "Token accuracy, share of tokens"]
    assert titles[2:] == ["BLEU", "chrF", "Learning rate", "Speed, tokens/s"]
    assert curves[2].splitlines()[-1].endswith(" at 10")
    tokens = ptenmt("inspect", "tokens", "o gato voa", "--target", "the cat", "--length", "6").lines
    assert [line.split()[2] for line in tokens[2:8]] == ["[START]", "o", "gato", "[UNK]", "[END]", "[PAD]"]
    title, _, *rows = ptenmt("inspect", "alignment", "o gato", "--target", "the cat").lines
    assert title == "Word alignment (decoder, layer 1: mean over the heads)"
    assert [row.split()[0] for row in rows] == ["the", "cat"]
    assert all(row.count("*") == 1 for row in rows)


@pytest.mark.usefixtures("beside")
def test_the_heads_and_blocks_of_attention(ptenmt) -> None:
    def shown(*options: str, code: int = 0) -> str:
        answer = ptenmt("inspect", "attention", "o gato", "--target", "the cat", *options, code=code)
        return answer.stdout or answer.stderr

    assert shown().startswith("Decoder cross-attention, layer 1: source tokens (columns) seen when writing")
    assert "mean over the heads" in shown()
    assert "head 1" not in shown("--head", "2")
    assert {"head 1", "head 2"} <= set(shown("--head", "all").splitlines())
    assert "--head first: there is no such head" in shown("--head", "first", code=1)
    assert "cat" not in shown("--block", "encoder")
    assert "gato" not in shown("--block", "self")


PROGRAM = """
import json, sys
from ptenmt.cli.app import app
for words in json.loads(sys.argv[1]):
    app(["inspect", *words], standalone_mode=False)
print(json.dumps(sorted({"tensorflow", "keras", "matplotlib.pyplot"} & sys.modules.keys())))
"""


def test_neither_tensorflow_nor_a_display_is_needed(beside: Path, tmp_path: Path) -> None:
    commands = [[view, *words] for view, words in VIEWS.items()]
    commands[-1] += ["--output", str(tmp_path / "alignment.png")]
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=False,
        cwd=beside,
        env=environment | {"MPLBACKEND": "TkAgg"},
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "alignment.png").exists()
