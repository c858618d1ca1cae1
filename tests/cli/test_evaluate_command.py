"""``ptenmt evaluate``."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptenmt.runs import Run
from ptenmt.runs.history import History
from ptenmt.runs.weights import best_weights

SIGNATURE = "nrefs:1 bs:1000 seed:12345 case:mixed eff:no tok:13a smooth:exp version:"


@pytest.mark.usefixtures("beside")
def test_the_table_and_json_agree(ptenmt) -> None:
    answer = ptenmt("evaluate", "--run", "tiny")
    report = json.loads(ptenmt("evaluate", "--run", "tiny", "--json").stdout)
    table = answer.stdout

    assert re.match(r"tiny, best \(step \d+\): 6 test pairs\n", table)
    assert report["name"] == "tiny"
    assert report["split"] == "test"
    assert report["num_pairs"] == 6
    assert report["perplexity"] == pytest.approx(math.exp(report["loss"]))
    assert f"{report['loss']:.4f}" in table
    assert f"{report['perplexity']:.2f}" in table
    assert f"{report['accuracy']:.4f}" in table
    assert [score["name"] for score in report["scores"]] == ["BLEU", "chrF2++", "TER"]
    for score in report["scores"]:
        assert f" {score['value']:.2f} " in table
        assert score["signature"].replace("|", " ") in table
        assert f" {score['low']:.2f}–{score['high']:.2f} " in table
    assert SIGNATURE in table
    search = report["search"]
    assert (search["engine"], search["compute_type"], search["beam_size"]) == ("ctranslate2", "int8", 4)
    assert "sentences/s: ctranslate2, int8, beam 4" in table
    assert re.search(r"(?m)^speed +[\d,]+\.\d ", table)
    assert "truncated texts" not in table
    assert answer.stderr == ""


def test_the_validation_pairs(ptenmt, beside: Path) -> None:
    run = Run(beside / "checkpoints/tiny")
    (best,) = best_weights(run.weights_folder)
    validations = History(run.path).validations()
    trained = next(line["validation"] for line in validations if line["step"] == best.step)
    table = ptenmt("evaluate", "--split", "validation", "--beam-size", "1").stdout

    assert ": 6 validation pairs\n" in table
    assert f" {trained['loss']:.4f} " in table
    assert re.search(rf"BLEU +{trained['bleu']:.2f} ", table)


@pytest.mark.usefixtures("beside")
def test_the_reference_engine(ptenmt) -> None:
    table = ptenmt("evaluate", "--engine", "keras", "--beam-size", "1").stdout
    assert "sentences/s: keras, float32, greedy" in table


@pytest.mark.usefixtures("beside")
def test_an_unwritable_folder_is_an_error_before_the_work(ptenmt, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_args: object, **_options: object) -> None:
        raise AssertionError("evaluated although the texts cannot be written")

    monkeypatch.setattr("ptenmt.evaluation.evaluate", work)
    for folder in ("pairs.tsv", "pairs.tsv/below"):
        answer = ptenmt("evaluate", "--output", folder, code=1)
        assert answer.stderr.startswith(f"error: cannot create {folder}: ")


@pytest.mark.usefixtures("beside")
def test_the_details_and_the_texts(ptenmt, tmp_path: Path) -> None:
    table = ptenmt("evaluate", "--details", "--output", str(tmp_path / "texts")).stdout
    assert re.search(r"(?m)^empty translations +0  no text at all$", table)
    assert re.search(r"(?m)^truncated translations +\d+  length limit reached", table)
    assert table.count("\nby source length\n") == 1
    assert re.search(r"(?m)^0–9 +6 +\d+\.\d +\d+\.\d$", table)
    assert table.count("\nworst ") == 6
    names = {"source", "detokenized.hypotheses", "detokenized.reference"}
    texts = {file.stem: file.read_text() for file in (tmp_path / "texts").glob("*.txt")}
    assert texts.keys() == names


@pytest.mark.usefixtures("beside")
def test_the_search_can_be_changed(ptenmt) -> None:
    def found(*words: str) -> dict[str, object]:
        search = json.loads(ptenmt("evaluate", *words, "--json").stdout)["search"]
        return {name: search[name] for name in ("beam_size", "length_penalty", "num_truncated")}

    usual = found()
    changed = found("--set", "decoding.length_penalty=0.25", "--set", "decoding.max_length=1")
    assert changed == {"beam_size": usual["beam_size"], "length_penalty": 0.25, "num_truncated": 6}
    assert usual["num_truncated"] < 6
    greedy = found("--set", "decoding.beam_size=8", "--beam-size", "1")
    assert greedy["beam_size"] == 1, "the option with a name of its own wins"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "model.dropout=0"], "--set model.dropout=0: only the section decoding of a trained model"),
        (
            ["--set", "decoding.num_hypotheses=2"],
            "decoding.num_hypotheses=2: one hypothesis per sentence is scored",
        ),
        (
            ["--comet", "model"],
            "COMET needs unbabel-comet, which cannot be imported: No module named 'comet'",
        ),
        (["--split", "test", "--reference", "pairs.tsv"], "--split and --reference cannot be used together"),
        (["--source", "a", "--source=b"], "--source is given twice"),
        (["--source", "pairs.tsv"], "pairs.tsv: sources cannot be scored without references"),
        (
            ["--hypotheses", "pairs.tsv"],
            "pairs.tsv has 60 lines instead of 6, one for each of the test pairs of checkpoints/tiny",
        ),
    ],
)
@pytest.mark.usefixtures("beside")
def test_what_does_not_go_together_is_refused(ptenmt, words: list[str], message: str) -> None:
    answer = ptenmt("evaluate", *words, code=1)
    assert answer.stderr.startswith(f"error: {message}")
    assert answer.stdout == ""


PROGRAM = """
import sys
from ptenmt.cli.app import app
app(["evaluate", "--hypotheses", "h", "--reference", "r"], standalone_mode=False)
print(sorted({"tensorflow", "keras", "tensorflow_datasets", "ctranslate2"} & set(sys.modules)))
"""


def test_finished_hypotheses_need_no_run_and_no_tensorflow(empty: Path) -> None:
    (empty / "h").write_text("the cat\n")
    (empty / "r").write_text("the cats\n")
    answer = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    title, *_, loaded = answer.stdout.splitlines()
    assert title == "h: 1 pair of r"
    assert "tensorflow" not in loaded
    assert "keras" not in loaded
