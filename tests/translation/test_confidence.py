"""Quality estimation: the regression, its file, and the probabilities of words."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from copy_task import TrainedRun

from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, START
from ptenmt.translation import Translator
from ptenmt.translation.confidence import Calibration, ScoredSentence
from ptenmt.translation.scoring import scored_sentences, with_confidence


@pytest.fixture(scope="module")
def fast(copied: TrainedRun) -> Translator:
    """The trained run, which has a calibration since its end."""
    return Translator.load(copied.path, pytest.fail)


def test_features_are_those_of_a_hand_calculation() -> None:
    half, tenth = math.log(0.5), math.log(0.1)
    sentence = ScoredSentence([START, 7, 8, 9, END], [START, 5, 6, END], [half, tenth, 0.0])
    assert sentence.features == pytest.approx([1.6 / 3, 0.1, math.log(4 / 5)])


def test_the_regression_finds_what_made_the_labels() -> None:
    features = np.random.default_rng(0).normal(size=(4000, 3))
    made_of = np.array([1.0, 0.8, -0.5, 0.0])
    labels = 1 / (1 + np.exp(-(made_of[0] + features @ made_of[1:])))  # fractions
    found = Calibration.fit("sum", features.tolist(), labels.tolist())
    assert found.coefficients == pytest.approx(made_of.tolist(), abs=0.01)


def test_equal_labels_are_the_confidence_of_every_sentence() -> None:
    sentences = [ScoredSentence([START, END], [START, 5, END], [-0.1 * row, 0.0]) for row in range(30)]
    for label in (0.25, 1.0):
        found = Calibration.fit("sum", [each.features for each in sentences], [label] * 30)
        assert found.confidence([sentences[3]]) == pytest.approx(label, abs=2e-4)


def test_a_calibration_is_for_its_weights_only(copied: TrainedRun, tmp_path: Path) -> None:
    run, warnings = Run(Path(shutil.copytree(copied.path, tmp_path / "run"))), list[str]()
    checksum = TrainedModel.load(run).info.checksum
    found = Calibration.load(run, checksum, warnings.append)
    assert found is not None, "training has fitted it"
    assert warnings == []
    assert Calibration.load(run, "other", warnings.append) is None
    facts = json.loads(run.calibration_file.read_text())
    for damaged in ("[]", "{", json.dumps(facts | {"more": 1})):
        run.calibration_file.write_text(damaged)
        assert Calibration.load(run, checksum, warnings.append) is None
    assert len(warnings) == 4
    assert all(f"ptenmt evaluate --calibrate --run {run.path}" in warning for warning in warnings)
    run.calibration_file.unlink()
    translator = Translator.load(run, pytest.fail)
    (without,) = with_confidence(translator, translator.translate("bala"))
    assert (without.confidence, without.words) == (None, [])


def test_a_word_has_the_product_of_its_tokens(fast: Translator) -> None:
    (found,) = fast.translate("bala dico galo")
    ((sentence,),) = scored_sentences(fast, [found])
    assert sentence.target == found.ids
    assert math.fsum(sentence.log_probs) == pytest.approx(found.score * (len(found.ids) - 1), abs=0.01)
    (estimated,) = with_confidence(fast, [found])
    assert estimated.words == [
        (word, pytest.approx(math.exp(log_prob), abs=1e-4))
        for word, log_prob in zip(["bala", "dico", "galo"], sentence.log_probs, strict=False)
    ]
    assert estimated.confidence == fast.calibration().confidence([sentence])  # type: ignore[union-attr]


def test_what_the_model_did_not_generate_has_no_probability(fast: Translator) -> None:
    texts = ["bala https://a.b/c dico", "12", "bala dico galo. hime kilo"]
    entity, blank, two = with_confidence(fast, fast.translate(texts))
    assert [word for word, _ in entity.words] == [
        *("bala", "https", ":", "/", "/", "a", ".", "b", "/", "c"),
        "dico",
    ]
    assert [word for word, probability in entity.words if probability is not None] == ["bala", "dico"]
    assert (blank.confidence, blank.words) == (None, [])
    parts = scored_sentences(fast, [two])[0]
    lengths = [len(part.log_probs) for part in parts]
    calibration = fast.calibration()
    assert calibration is not None
    assert two.confidence == pytest.approx(
        np.average([calibration.confidence([part]) for part in parts], weights=lengths), abs=1e-4
    )


def test_a_translation_cut_off_is_scored_with_its_end(fast: Translator) -> None:
    short = replace(fast.config.decoding, max_length=2)
    (found,) = fast.translate("bala dico galo hime kilo", short)
    assert not found.is_complete
    ((sentence,),) = scored_sentences(fast, [found])
    assert sentence.target == [*found.ids, END]
    assert sentence.log_probs[-1] < math.log(0.5)
