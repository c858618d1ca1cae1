"""Next words from the command line: a text that goes round in circles is learnt in seconds."""

import contextlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from copy_task import uncompiled
from typer.testing import CliRunner

from ptenmt.cli.app import app
from ptenmt.runs import History, Run

Command = Callable[..., Any]

CIRCLE = "One day, the cat met a dog; they walked home together and slept."
WORDS = CIRCLE.lower().translate(str.maketrans("", "", ",;.")).split()
SMALLER = [
    "data.path=book.txt",
    "data.window=6",
    "model.num_layers=1",
    "model.d_model=32",
    "model.d_ff=32",
    "training.learning_rate=0.01",
    "training.epochs=4",
]


def arguments(*overrides: str) -> list[str]:
    return [word for override in (*SMALLER, *overrides) for word in ("--set", override)]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds book.txt, checkpoints/pooled, which knows it, and checkpoints/causal of one step; read only."""
    folder = tmp_path_factory.mktemp("story")
    (folder / "book.txt").write_text("\n".join([CIRCLE] * 40), encoding="utf-8")
    with contextlib.chdir(folder):
        train = ["train", "--config", "next-word.yaml", "--run"]
        with uncompiled():
            one_step = arguments("model.prediction=causal", "training.max_steps=1")
            assert CliRunner().invoke(app, [*train, "causal", *one_step]).exit_code == 0
        result = CliRunner().invoke(app, [*train, "pooled", *arguments()], env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.stderr
        (folder / "pooled.err").write_text(result.stderr, encoding="utf-8")
    return folder


@pytest.fixture
def _there(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(story)


def test_a_training_reports_windows_and_perplexity(story: Path):
    output = (story / "pooled.err").read_text(encoding="utf-8")
    # 520 words have 514 windows of 6 with a word after them: 411 to train on, 103 held out
    assert "411 training windows, 103 validation windows, one vocabulary of 17" in output
    assert f"      input  {' '.join(WORDS[:6])}\n       next  dog\n" in output
    for said in (
        "perplexity 1.0",
        "     actual  ",
        "  predicted  ",
        "\n  ptenmt complete --run pooled TEXT\n",
    ):
        assert said in output
    run = Run(story / "checkpoints" / "pooled")
    assert run.facts()["data"]["train"]["windows"] == 411
    assert History(run.path).validations()[-1]["validation"].keys() == {"loss", "accuracy"}
    assert History(run.path).validations()[-1]["validation"]["accuracy"] == 1
    assert {file.stem for file in run.weights_folder.iterdir()} == {"best", "latest"}
    assert not run.ctranslate2_folder.exists(), "CTranslate2 knows no such model"


@pytest.mark.usefixtures("_there")
def test_next_words_and_going_on(ptenmt: Command):
    run = ["--run", "pooled"]
    answer = ptenmt("complete", "A dog: they WALKED home together", *run, "--top-k", "3", "--words", "15")
    *_, first, _second, _third, text = answer.lines
    assert first.split()[0] == "and"
    assert float(first.split()[1]) > 0.3
    going_on = " ".join([*WORDS[11:], *WORDS])
    assert text == f"A dog: they WALKED home together {going_on}"
    assert "perplexity 1.0" in answer.stderr
    assert len(ptenmt("complete", "the cat", *run).lines) == 2 + 5
    one = ptenmt("complete", "the cat met a dog they", *run, "--words", "1", "-q")
    assert one.lines == ["the cat met a dog they walked"]


@pytest.mark.usefixtures("_there")
def test_words_are_drawn_as_the_decoding_options_say(ptenmt: Command):
    def drawn(seed: int) -> str:
        options = ("top_k=0", "temperature=20", f"seed={seed}")
        words = [word for option in options for word in ("--set", f"decoding.{option}")]
        return ptenmt("complete", "the cat", "--run", "pooled", "--words", "9", *words).stdout

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.usefixtures("_there")
def test_what_is_reported_of_a_run(ptenmt: Command, tmp_path: Path):
    run = tmp_path / "run"
    shutil.copytree("checkpoints/pooled", run)
    assert (
        ": vocabulary of 13 words; perplexity 1.0 on held-out text"
        in ptenmt("complete", "a", "--run", str(run)).stderr
    )
    latest = ptenmt("complete", "a", "--run", str(run), "--checkpoint", "latest").stderr
    assert ": vocabulary of 13 words\n" in latest, "the perplexity is of the best weights"
    history = run / "history.jsonl"
    losses = re.sub(r'"loss": [-.e\d]+', '"loss": 1234.5', history.read_text(encoding="utf-8"))
    history.write_text(losses, encoding="utf-8")
    assert ": vocabulary of 13 words\n" in ptenmt("complete", "a", "--run", str(run)).stderr
    assert "best validation: perplexity  –\n" in ptenmt("info", "--run", str(run)).stdout


@pytest.mark.usefixtures("_there")
def test_bad_input(ptenmt: Command):
    answer = ptenmt("complete", "the Zebra zebra", "--run", "pooled")
    assert "the model has never seen: zebra" in answer.stderr
    assert "there is no word in '?'" in ptenmt("complete", "?", "--run", "pooled", code=1).stderr
    error = ptenmt("translate", "the cat", "--run", "pooled", code=1).stderr
    assert "pooled is a next-word run; this command needs a translation run" in error
    assert "choose another; ptenmt complete is for this one" in error
    for command in (["evaluate"], ["export"], ["inspect", "tokens", "a", "--target", "b"]):
        assert "is a next-word run" in ptenmt(*command, "--run", "pooled", code=1).stderr


@pytest.mark.usefixtures("_there")
def test_a_look_inside(ptenmt: Command, tmp_path: Path):
    look = ("inspect", "attention")
    shown = ptenmt(*look, "On the WAY: they walked home together", "--run", "causal", "--head", "1")
    assert "head 1\nthe       the 1.00\n" in shown.stdout
    unknown = ptenmt(*look, "they met a ZEBRA", "--run", "causal")
    assert "zebra" in unknown.stdout
    assert "[UNK]" not in unknown.stdout
    assert "layer 1: words (columns) seen from each (rows)" in unknown.stdout
    assert "the model has never seen: zebra" in unknown.stderr
    picture = tmp_path / "heads.png"
    ptenmt(*look, "they walked home", "--run", "pooled", "--output", str(picture))
    assert picture.stat().st_size > 10_000
    compared = ptenmt("compare", "pooled", "causal").stdout
    assert "training windows" in compared
    assert "best validation: perplexity" in compared
    for refused in (["--block", "cross"], ["--target", "x"]):
        ptenmt(*look, "they walked", "--run", "pooled", *refused, code=1)


@pytest.mark.usefixtures("beside")
def test_a_translator_completes_nothing(ptenmt: Command):
    error = ptenmt("complete", "o gato", "--run", "tiny", code=1).stderr
    assert "tiny is a translation run; this command needs a next-word run" in error
    assert "ptenmt translate is for this one" in error
    begun = ["train", "--config", "next-word.yaml", "--run", "new", "--init-from", "tiny"]
    error = ptenmt(*begun, code=1).stderr
    assert "tiny is a translation run; this command needs a next-word run" in error
    assert "--set task" not in error


@pytest.mark.usefixtures("_there", "_uncompiled")
def test_a_warm_start_with_more_layers_says_how_many_there_are(ptenmt: Command, tmp_path: Path):
    new = ["train", "--config", "next-word.yaml", "--run", str(tmp_path / "new"), "--init-from", "pooled"]
    error = ptenmt(*new, *arguments("model.num_layers=2"), code=1).stderr
    assert "differ from those of checkpoints/pooled: model.encoder_layers: 1 → 2" in error
    assert "use those of the run: --set model.encoder_layers=1\n" in error
    ptenmt(*new, *arguments("model.num_layers=2", "model.encoder_layers=1", "training.max_steps=1"))


def test_a_text_of_too_few_words_is_refused(ptenmt: Command, empty: Path):
    (empty / "book.txt").write_text(" ".join(WORDS[:7]), encoding="utf-8")
    error = ptenmt("train", "--config", "next-word.yaml", *arguments(), code=1).stderr
    assert "has 7 words, too few for windows of 6: one to train on" in error


@pytest.mark.usefixtures("_uncompiled")
def test_a_dry_run(ptenmt: Command, story: Path, empty: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ptenmt.training.dry_run.MAX_STEPS", 1)
    options = arguments(f"data.path={story / 'book.txt'}")
    facts = ptenmt("train", "--config", "next-word.yaml", "--dry-run", *options).stdout
    assert "411 train, 103 validation" in facts
    assert "32 windows of 6 tokens" in facts
    assert [*empty.iterdir()] == []
