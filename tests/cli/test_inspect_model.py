"""The views of what a trained model does: attention, alignment, probabilities."""

import gzip
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
        (["attention", TEXT, "--layer", "5"], "there is no layer 5: the decoder has one layer, which is 1"),
        (["attention", TEXT, "--head", "3"], "there is no head 3: the model has heads 1 to 2"),
        (["attention", TEXT, "--head", "first"], "--head first: there is no such head"),
        (["attention", ""], "nothing is left of '' for the model to read"),
        (["attention", TEXT, "--target", " "], "nothing is left of ' ' for the model to read"),
        (["attention", TEXT, "-o", "nowhere/a.svg"], "cannot write nowhere/a.svg"),
        (["attention", TEXT, "--run", "nobody"], "no run in checkpoints/nobody"),
        (["alignment"], "nothing to align\n  give a sentence, or a file of sentences with --input FILE"),
        (
            ["alignment", TEXT, "--input", "pairs.tsv"],
            "--input and TEXT cannot be used together\n",
        ),
        (
            ["alignment", "--input", "pairs.tsv", "--target", "a"],
            "--input and --target cannot be used",
        ),
        (["alignment", TEXT, "--target-file", "pairs.tsv"], "--target-file and TEXT cannot be used"),
        (
            ["alignment", "--input", "pairs.tsv", "-o", "a.png"],
            "--input and --output cannot be used together",
        ),
        (["alignment", "--input", "lost.txt"], "cannot read lost.txt"),
        (["alignment", "--input", "/dev/null"], "/dev/null is empty"),
        (["alignment", "--input", "pairs.tsv", "--target-file", "tiny.yaml"], "sentences have"),
        (["probabilities", " "], "nothing is left of ' ' for the model to read"),
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


@pytest.mark.usefixtures("beside")
def test_a_file_is_aligned_line_by_line(ptenmt, tmp_path: Path):
    texts = ["o gato come hoje .", "", "a ave canta aqui ."]
    (tmp_path / "pt").write_text("\n".join(texts) + "\n")
    with gzip.open(tmp_path / "en.gz", "wt") as stream:
        stream.write("the cat eats today .\n\nthe bird sings here .\n")
    files = ["--input", str(tmp_path / "pt"), "--target-file", str(tmp_path / "en.gz")]
    answer = ptenmt("inspect", "alignment", *files)
    assert answer.stderr == "aligned by decoder, layer 1: mean over the heads\n"
    first, empty, last = answer.lines
    assert empty == ""
    for line in (first, last):
        assert sorted(int(pair.split("-")[1]) for pair in line.split()) == list(range(5))
    own = ptenmt("inspect", "alignment", "--input", str(tmp_path / "pt")).lines
    assert len(own) == 3


@pytest.mark.usefixtures("beside")
def test_probabilities_are_a_table(ptenmt):
    answer = ptenmt("inspect", "probabilities", TEXT, "--target", "the cat", "--runners-up", "2")
    assert answer.lines[1].split() == ["token", "probability", "rank", "entropy", "runners-up"]
    assert [line.split()[0] for line in answer.lines[2:]] == ["the", "cat", "[END]"]
    assert all(line.count("%") == 3 for line in answer.lines[2:])
