"""``ptenmt inspect`` and its views."""

import json
import os
import re
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
def test_schedule(ptenmt) -> None:
    def title(*options: str) -> str:
        return ptenmt("inspect", "schedule", "--config", "tiny.yaml", *options).stdout.splitlines()[0]

    assert title() == "Learning rate (transformer): 0.03953 at step 40, 0.01768 at step 200"  # (16·40)^-½
    assert title("--steps", "160") == "Learning rate (transformer): 0.03953 at step 40, 0.01976 at step 160"
    assert "0.02795 at step 80" in title("--set", "training.warmup_steps=80", "--steps", "80")
    cosine = ["--set", "training.schedule=cosine", "--set", "training.learning_rate=0.5"]
    assert title(*cosine, "--steps", "90") == "Learning rate (cosine): 0.5 at step 40, 0 at step 90"


@pytest.mark.usefixtures("beside")
def test_history(ptenmt) -> None:
    text = ptenmt("inspect", "history", "--run", "tiny").stdout
    titles = [block.partition("\n")[0] for block in text.split("\n\n")]
    assert titles[:2] == ["Loss, nats per token", "Token accuracy, share of tokens"]
    assert titles[2:] == ["BLEU", "chrF", "Learning rate", "Speed, tokens/s"]
    bleu = ptenmt("inspect", "history", "--over", "epochs").stdout.split("\n\n")[2].splitlines()
    assert re.fullmatch(r"validation +\S+ at 1 +\S+ at \S+ +\S+ at \S+ +\S+ at 10", bleu[-1])


@pytest.mark.usefixtures("beside")
def test_tokens(ptenmt) -> None:
    text = ptenmt("inspect", "tokens", "o gato voa", "--target", "the cat", "--length", "6", "--run", "tiny")
    blocks = [block.splitlines() for block in text.stdout.split("\n\n")]
    assert [block[0] for block in blocks[:6]] == [
        "Source",
        "Target",
        "Padding mask of the source (1 = hidden)",
        "Padding mask of the target (1 = hidden)",
        "Look-ahead mask (1 = hidden)",
        "Look-ahead and padding mask (1 = hidden)",
    ]
    assert [line.split()[2] for line in blocks[0][2:]] == ["[START]", "o", "gato", "[UNK]", "[END]", "[PAD]"]


@pytest.mark.usefixtures("beside")
def test_attention_in_the_terminal_is_the_mean_over_the_heads_of_the_last_layer(ptenmt) -> None:
    answer = ptenmt("inspect", "attention", "o gato come hoje .")
    assert answer.lines[0] == (
        "Decoder cross-attention, layer 1: source tokens (columns) seen when writing a token (rows)"
    )
    assert "mean over the heads" in answer.stdout
    assert "[END]" in [line.split()[0] for line in answer.lines if line.strip()]
    assert "head 2" in ptenmt("inspect", "attention", "o gato come hoje .", "--head", "2").stdout
    every = ptenmt("inspect", "attention", "o gato come hoje .", "--head", "all").stdout
    assert "head 1" in every
    assert "head 2" in every
    refused = ptenmt("inspect", "attention", "o gato", "--head", "first", code=1).stderr
    assert "--head first: there is no such head" in refused


@pytest.mark.usefixtures("beside")
def test_the_blocks_of_attention_have_their_own_tokens(ptenmt) -> None:
    def labels(*options: str) -> str:
        return ptenmt("inspect", "attention", "o gato", "--target", "the cat", *options).stdout

    assert "cross-attention" in labels()
    assert "cat" not in labels("--block", "encoder")
    assert "gato" not in labels("--block", "self")
    assert "gato" in labels("--block", "encoder")


@pytest.mark.usefixtures("beside")
def test_an_alignment_has_the_weights_of_each_target_word(ptenmt) -> None:
    title, _, *rows = ptenmt("inspect", "alignment", "o gato", "--target", "the cat").lines
    assert title == "Word alignment (decoder, layer 1: mean over the heads)"
    assert [row.split()[0] for row in rows] == ["the", "cat"]
    assert all(row.count("*") == 1 for row in rows)


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
