"""The views of what a trained model does: attention, alignment."""

from collections.abc import Sequence
from pathlib import Path

import pytest

TEXT = "o gato come hoje ."


@pytest.mark.usefixtures("beside")
def test_attention_in_the_terminal_is_the_mean_over_the_heads_of_the_last_layer(ptenmt):
    answer = ptenmt("inspect", "attention", TEXT)
    assert answer.lines[0] == (
        "Decoder cross-attention, layer 1: source tokens (columns) seen when writing a token (rows)"
    )
    assert "mean over the heads" in answer.stdout
    assert answer.stderr == ""
    rows = [line.split()[0] for line in answer.lines if line.strip()]
    assert "[END]" in rows
    one = ptenmt("inspect", "attention", TEXT, "--head", "2").stdout
    assert "head 2" in one
    every = ptenmt("inspect", "attention", TEXT, "--head", "all").stdout
    assert "head 1" in every
    assert "head 2" in every


@pytest.mark.usefixtures("beside")
def test_the_blocks_of_attention_have_their_own_tokens(ptenmt):
    def labels(*options: str) -> str:
        return ptenmt("inspect", "attention", "o gato", "--target", "the cat", *options).stdout

    assert "cross-attention" in labels()
    assert "cat" not in labels("--block", "encoder")
    assert "gato" not in labels("--block", "self")
    assert "gato" in labels("--block", "encoder")


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["attention", TEXT, "--head", "first"], "--head first: there is no such head"),
        (["attention", TEXT, "-o", "nowhere/a.svg"], "cannot write nowhere/a.svg"),
    ],
)
def test_errors(ptenmt, words: Sequence[str], message: str):
    answer = ptenmt("inspect", *words, code=1)
    assert message in answer.stderr
    assert answer.stdout == ""
    assert not list(Path().glob("a.*"))


@pytest.mark.usefixtures("beside")
def test_an_alignment_has_the_weights_of_each_target_word(ptenmt):
    title, _, *rows = ptenmt("inspect", "alignment", "o gato", "--target", "the cat").lines
    assert title == "Word alignment (decoder, layer 1: mean over the heads)"
    assert [row.split()[0] for row in rows] == ["the", "cat"]
    assert all(row.count("*") == 1 for row in rows)
