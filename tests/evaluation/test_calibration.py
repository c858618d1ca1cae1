"""Calibrating the confidences of a run."""

import json
import re
import shutil
from pathlib import Path

import pytest
from copy_task import WORDS, TrainedRun

from ptenmt.errors import ConfigError, DataError
from ptenmt.evaluation import EvaluationFiles, LoadOptions, evaluate
from ptenmt.runs import Run


def test_a_run_is_calibrated_again(copied: TrainedRun, tmp_path: Path) -> None:
    run = Run(Path(shutil.copytree(copied.path, tmp_path / "run")))
    fitted = run.calibration_file.read_text()
    run.calibration_file.write_text(fitted.replace('"weights": "', '"weights": "other'))
    load = LoadOptions(on_warning=pytest.fail)
    evaluate(run, load=load, with_calibration=True)
    assert json.loads(run.calibration_file.read_text()) == json.loads(fitted), "the same pairs and weights"


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
    evaluate(run, files=given, with_calibration=True)
    assert run.calibration_file.exists()


def test_finished_translations_have_no_confidence(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a\n")
    with pytest.raises(ConfigError, match="--calibrate cannot be used with finished translations"):
        evaluate(files=EvaluationFiles(hypotheses=file, references=[file]), with_calibration=True)
