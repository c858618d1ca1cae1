"""Scores under noise: on screen, in reports, and as the same texts score alone."""

from pathlib import Path

import pytest
from copy_task import TrainedRun

from ptenmt.evaluation import Evaluation, EvaluationFiles, LoadOptions, evaluate
from ptenmt.evaluation.error_analysis import noisy_pairs


@pytest.fixture(scope="module")
def found(copied: TrainedRun) -> Evaluation:
    load = LoadOptions(overrides=["decoding.beam_size=1"])
    return evaluate(copied.path, "validation", load=load, with_robustness=True)


def test_every_noise_is_scored_against_clean_text(found: Evaluation) -> None:
    scores = {each.noise: each for each in found.robustness or []}
    assert list(scores) == [
        *("no noise", "typos", "drop_end_punctuation", "upper_case", "title_case", "lower_case", "symbols")
    ]
    clean = scores["no noise"]
    assert clean.bleu == pytest.approx(found.scores[0].value)
    assert clean.num_changed == 0
    # The corpus has no capitals and no full stops, and the vocabulary only its own words.
    assert scores["lower_case"].bleu == scores["drop_end_punctuation"].bleu == clean.bleu
    assert scores["lower_case"].num_changed == 0
    for name in ("typos", "upper_case", "title_case"):
        assert scores[name].num_changed == found.num_pairs
    # Capitals are translated in lower case, but for the first, which the vocabulary lacks, and given back.
    assert scores["upper_case"].chrf > clean.chrf - 40
    assert scores["typos"].chrf < clean.chrf - 5


def test_the_scores_are_those_of_the_noisy_texts_alone(
    copied: TrainedRun, found: Evaluation, tmp_path: Path
) -> None:
    pairs = [(str(sentence.source), sentence.references[0]) for sentence in found.sentences]
    noisy = noisy_pairs("typos", pairs)
    source, reference = tmp_path / "source", tmp_path / "reference"
    source.write_text("".join(f"{text}\n" for text, _ in noisy), encoding="utf-8")
    reference.write_text("".join(f"{text}\n" for _, text in noisy), encoding="utf-8")
    alone = evaluate(
        copied.path,
        files=EvaluationFiles(source=source, references=[reference]),
        load=LoadOptions(overrides=["decoding.beam_size=1"]),
    )
    typos = next(each for each in found.robustness or [] if each.noise == "typos")
    assert typos.bleu == pytest.approx(alone.scores[0].value)
