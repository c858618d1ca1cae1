"""Calibration error and rank correlation, by hand, and those of a run."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from copy_task import WORDS, TrainedRun
from sample_evaluation import evaluation

from ptenmt.errors import ConfigError, DataError
from ptenmt.evaluation import EvaluationFiles, LoadOptions, evaluate
from ptenmt.evaluation.report import report_text
from ptenmt.evaluation.systems import Reliability
from ptenmt.evaluation.tables import scores_table
from ptenmt.runs import Run

SAMPLE = Reliability(num_sentences=9, confidence=0.5, chrf=0.6, calibration_error=0.1, rank_correlation=0.25)


def test_the_error_is_the_mean_over_bins_of_equal_size() -> None:
    confidences = np.repeat([0.2, 0.9], 10)  # five bins each
    scores = np.array([0.0, 0.6] * 5 + [1.0, 0.6] * 5)  # means 0.3 and 0.8
    found = Reliability.of_values(confidences, scores)
    assert found.calibration_error == pytest.approx(0.1)
    assert (found.num_sentences, found.confidence, found.chrf) == (
        20,
        pytest.approx(0.55),
        pytest.approx(0.55),
    )


@pytest.mark.parametrize(
    ("confidences", "scores", "correlation"),
    [
        ([0.1, 0.2, 0.9], [0.3, 0.5, 0.6], 1.0),
        ([0.9, 0.2, 0.1], [0.3, 0.5, 0.6], -1.0),
        ([0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3], 0.6),  # 1 - 6 · 4 / (4 · 15)
        ([0.1, 0.1, 0.3], [0.1, 0.2, 0.3], 0.75**0.5),  # ranks 1.5, 1.5, 3
    ],
)
def test_the_correlation_is_that_of_the_ranks(
    confidences: list[float], scores: list[float], correlation: float
) -> None:
    found = Reliability.of_values(np.array(confidences), np.array(scores))
    assert found.rank_correlation == pytest.approx(correlation)


def test_a_run_is_calibrated_again(copied: TrainedRun, tmp_path: Path) -> None:
    run = Run(Path(shutil.copytree(copied.path, tmp_path / "run")))
    fitted = run.calibration_file.read_text()
    run.calibration_file.write_text(fitted.replace('"weights": "', '"weights": "other'))
    warnings: list[str] = []
    load = LoadOptions(on_warning=warnings.append)
    assert evaluate(run, load=load).reliability is None
    assert "fit it again" in warnings[0]
    found = evaluate(run, load=load, with_calibration=True).reliability
    assert found is not None
    assert (found.num_sentences, len(warnings)) == (30, 1)
    assert json.loads(run.calibration_file.read_text()) == json.loads(fitted), "the same pairs and weights"
    assert found.calibration_error < 0.2


def test_a_run_without_pairs_of_its_own_is_calibrated_on_files(copied: TrainedRun, tmp_path: Path) -> None:
    run = Run(Path(shutil.copytree(copied.path, tmp_path / "run")))
    texts = [f"{first} {second}" for first in WORDS for second in WORDS]
    run.calibration_file.unlink()
    config = run.path / "config.yaml"
    section = re.compile(r"^data:\n(?:[ #].*\n|\n)*", re.MULTILINE)
    config.write_text(section.sub("data: {source: imported}\n", config.read_text()))
    with pytest.raises(DataError, match="imported model was trained on are not here") as raised:
        evaluate(run, with_calibration=True)
    assert "--source and --reference" in raised.value.hint
    files = {side: tmp_path / side for side in ("source", "reference")}
    for file in files.values():
        file.write_text("".join(f"{text}\n" for text in texts))
    given = EvaluationFiles(source=files["source"], references=[files["reference"]])
    found = evaluate(run, files=given, with_calibration=True).reliability
    assert found is not None
    assert found.num_sentences == len(texts)
    assert run.calibration_file.exists()


def test_screen_and_reports_have_the_figures() -> None:
    sample = evaluation(reliability=SAMPLE)
    rows = {row[0]: row[1] for row in scores_table(sample).rows}
    assert (rows["confidence"], rows["calibration error"], rows["rank correlation"]) == (
        "0.5000",
        "0.1000",
        "0.250",
    )
    assert "calibration error" in report_text(sample, "html")
    assert json.loads(report_text(sample, "json"))["reliability"]["rank_correlation"] == 0.25
    undefined = replace(SAMPLE, rank_correlation=float("nan"))
    assert json.loads(report_text(evaluation(reliability=undefined), "json"))
    rows = {row[0]: row[1] for row in scores_table(evaluation(reliability=undefined)).rows}
    assert rows["rank correlation"] == "–"


def test_finished_translations_have_no_confidence(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a\n")
    with pytest.raises(ConfigError, match="--calibrate cannot be used with finished translations"):
        evaluate(files=EvaluationFiles(hypotheses=file, references=[file]), with_calibration=True)
