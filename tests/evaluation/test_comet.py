"""COMET, with modules that have the functions of unbabel-comet 2 and say how they were called."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.evaluation import EvaluationFiles, evaluate
from ptenmt.evaluation.report import report_page

NAME = "Unbabel/wmt22-comet-da"
SOURCES, REFERENCES = ["um gato", "dois gatos", "o rei"], ["a cat", "two cats", "the king"]


class Model:
    """Scores 0.9 for a translation that is the reference, else 0.5."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def predict(self, samples: list[dict[str, str]], **options: Any) -> SimpleNamespace:
        self.calls.append({"samples": samples, **options})
        scores = [0.9 if sample["mt"] == sample["ref"] else 0.5 for sample in samples]
        return SimpleNamespace(scores=scores, system_score=sum(scores) / len(scores))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """Stand-ins for the modules comet and torch."""
    stub, comet, torch = Model(), ModuleType("comet"), ModuleType("torch")

    def download_model(name: str) -> str:
        if name != NAME:
            raise KeyError(f"Model '{name}' not supported by COMET.")
        return "/cache/checkpoints/model.ckpt"

    def load_from_checkpoint(path: str) -> Model:
        assert path.endswith("model.ckpt")
        return stub

    comet.__dict__.update(download_model=download_model, load_from_checkpoint=load_from_checkpoint)
    torch.__dict__.update(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "comet", comet)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr("ptenmt.evaluation.evaluation.version", lambda _package: "2.2.7")
    return stub


@pytest.fixture
def files(tmp_path: Path) -> EvaluationFiles:
    texts = {"source": SOURCES, "reference": REFERENCES, "good": REFERENCES, "bad": ["a cat", "x", "y"]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return EvaluationFiles(
        source=tmp_path / "source", references=[tmp_path / "reference"], hypotheses=tmp_path / "good"
    )


def test_comet_is_a_score_like_the_others(model: Model, files: EvaluationFiles, tmp_path: Path) -> None:
    evaluation = evaluate(files=files, comet=NAME)
    score = evaluation.scores[-1]
    assert (score.name, score.value) == ("COMET", pytest.approx(90))
    assert f"model:{NAME}|version:2.2.7" in score.signature
    assert "bs:" in score.signature
    (call,) = model.calls
    assert call["samples"][1] == {"src": "dois gatos", "mt": "two cats", "ref": "two cats"}
    assert (call["gpus"], call["progress_bar"]) == (0, False)
    assert "COMET" in report_page(evaluation)
    assert "COMET" not in [one.name for one in evaluate(files=files).scores]
    worse = evaluate(files=replace(files, hypotheses=tmp_path / "bad"), comet=NAME).scores[-1]
    assert worse.value == pytest.approx((90 + 50 + 50) / 3)
    assert worse.low < worse.value < worse.high


def test_a_checkpoint_is_not_downloaded(model: Model, files: EvaluationFiles, tmp_path: Path) -> None:
    checkpoint = tmp_path / "model.ckpt"
    checkpoint.touch()
    assert evaluate(files=files, comet=str(checkpoint)).scores[-1].value == pytest.approx(90)
    assert len(model.calls) == 1


@pytest.mark.usefixtures("model")
def test_what_comet_lacks_is_said(files: EvaluationFiles) -> None:
    with pytest.raises(PtenmtError, match="cannot load the COMET model none: Model 'none' not supported"):
        evaluate(files=files, comet="none")
    only = EvaluationFiles(references=files.references, hypotheses=files.hypotheses)
    with pytest.raises(ConfigError, match="COMET needs the sources"):
        evaluate(files=only, comet=NAME)


def test_without_unbabel_comet_it_says_so(files: EvaluationFiles) -> None:
    if "comet" in sys.modules:
        pytest.skip("it is installed")
    with pytest.raises(PtenmtError, match="COMET needs unbabel-comet"):
        evaluate(files=files, comet=NAME)
