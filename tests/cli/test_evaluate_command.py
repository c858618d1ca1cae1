"""``ptenmt evaluate``."""

import json
import math
from pathlib import Path

import pytest

from ptenmt.runs import Run

SIGNATURE = "nrefs:1 case:mixed eff:no tok:13a smooth:exp version:"


@pytest.mark.usefixtures("beside")
def test_the_table_and_the_report_agree(ptenmt, tmp_path: Path) -> None:
    answer = ptenmt("evaluate", "--run", "tiny", "--report", str(tmp_path / "scores.json"))
    report = json.loads((tmp_path / "scores.json").read_text())
    table = answer.stdout

    assert table.startswith("tiny: 6 test pairs")
    assert report["run"] == "tiny"
    assert report["split"] == "test"
    assert report["num_pairs"] == 6
    assert report["perplexity"] == pytest.approx(math.exp(report["loss"]))
    assert f"{report['loss']:.4f}" in table
    assert f"{report['perplexity']:.2f}" in table
    assert f"{report['accuracy']:.4f}" in table
    assert [score["name"] for score in report["scores"]] == ["BLEU", "chrF"]
    for score in report["scores"]:
        assert f" {score['value']:.2f} " in table
        assert score["signature"].replace("|", " ") in table
    assert SIGNATURE in table
    assert (report["engine"], report["compute_type"], report["beam_size"]) == ("ctranslate2", "int8", 4)
    assert "sentences a second: ctranslate2, int8, beam 4" in table
    assert answer.stderr == ""


def test_the_validation_pairs(ptenmt, beside: Path) -> None:
    run = Run(beside / "checkpoints/tiny")
    (best,) = run.best_models()
    trained = next(line["validation"] for line in run.history() if line["step"] == best.step)
    table = ptenmt("evaluate", "--split", "validation", "--beam-size", "1").stdout

    assert table.startswith("tiny: 6 validation pairs")
    assert f" {trained['loss']:.4f} " in table
    assert f" {trained['bleu']:.2f} " in table


@pytest.mark.usefixtures("beside")
def test_the_reference_engine(ptenmt) -> None:
    table = ptenmt("evaluate", "--engine", "keras", "--beam-size", "1").stdout
    assert "sentences a second: keras, float32, greedy" in table


@pytest.mark.usefixtures("beside")
def test_a_report_that_cannot_be_written_is_told_before_the_work(
    ptenmt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_args: object, **_options: object) -> None:
        raise AssertionError("evaluated although the report cannot be written")

    monkeypatch.setattr("ptenmt.evaluation.evaluation", work)
    answer = ptenmt("evaluate", "--report", "nowhere/scores.json", code=1)
    assert answer.stderr == "error: cannot write nowhere/scores.json: No such file or directory\n"
    assert answer.stdout == ""


def test_a_failed_evaluation_leaves_the_old_report(ptenmt, copied_run: Path) -> None:
    report = copied_run / "scores.json"
    report.write_text("old")
    config = copied_run / "checkpoints" / "tiny" / "config.yaml"
    config.write_text(config.read_text().replace("pairs.tsv", "gone.tsv"))
    answer = ptenmt("evaluate", "--report", str(report), code=1)

    assert "gone.tsv: No such file or directory" in answer.stderr
    assert report.read_text() == "old"
