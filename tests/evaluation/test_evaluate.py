import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from copy_task import TrainedRun

from ptenmt.config import DecodingConfig
from ptenmt.corpus.pairs import load_split
from ptenmt.errors import CheckpointError, ConfigError, RunError
from ptenmt.evaluation import Evaluation, evaluate
from ptenmt.evaluation import evaluation as evaluation_module
from ptenmt.evaluation.evaluation import encode_pairs, score_translations
from ptenmt.runs import Run
from ptenmt.translation import Translator


@pytest.fixture(scope="module")
def progress() -> list[tuple[str, int, int]]:
    return []


@pytest.fixture(scope="module")
def evaluation(copied: TrainedRun, progress: list[tuple[str, int, int]]) -> Evaluation:
    return evaluate(copied.path, on_progress=lambda *so_far: progress.append(so_far))


def test_loss_and_accuracy_are_those_a_hand_computes(
    copied: TrainedRun, translator: Translator, evaluation: Evaluation
):
    """Sentence by sentence, without padding, from the probabilities of the right tokens."""
    losses, correct = [], []
    for source_text, target_text in load_split(copied.config.data, copied.config.seed, "test"):
        source = [2, *translator.tokenizers.source.encode([source_text])[0], 3]
        target = [2, *translator.tokenizers.target.encode([target_text])[0], 3]
        logits = np.array(translator.engine.model((np.array([source]), np.array([target[:-1]]))))[0]
        for row, label in zip(logits.astype("float64"), target[1:], strict=True):
            losses.append(math.log(np.exp(row - row[label]).sum()))
            correct.append(row.argmax() == label)
    assert evaluation.loss == pytest.approx(np.mean(losses), rel=1e-3)
    assert evaluation.accuracy == pytest.approx(np.mean(correct))
    assert evaluation.perplexity == pytest.approx(math.exp(np.mean(losses)), rel=1e-3)
    assert evaluation.accuracy > 0.7


def test_scores_are_those_of_the_translations(copied: TrainedRun, evaluation: Evaluation):
    pairs = load_split(copied.config.data, copied.config.seed, "test")
    translator = Translator.load(copied.path)
    hypotheses = [translation.text for translation in translator.translate(source for source, _ in pairs)]
    references = [[target for _, target in pairs]]
    bleu, chrf = evaluation.scores
    assert bleu.value == pytest.approx(sacrebleu.corpus_bleu(hypotheses, references).score)
    assert chrf.value == pytest.approx(sacrebleu.corpus_chrf(hypotheses, references).score)
    assert (evaluation.run, evaluation.split, evaluation.num_pairs) == ("run", "test", 30)
    assert (evaluation.num_cut, evaluation.num_split) == (0, 0)
    assert (evaluation.engine, evaluation.compute_type, evaluation.beam_size) == ("ctranslate2", "int8", 4)


def test_the_engine_and_the_beams_are_a_choice(copied: TrainedRun, evaluation: Evaluation):
    reference = evaluate(copied.path, engine="keras", beam_size=1)
    assert (reference.engine, reference.compute_type, reference.beam_size) == ("keras", "float32", 1)
    assert (reference.loss, reference.accuracy) == (evaluation.loss, evaluation.accuracy)
    assert reference.scores[0].value == pytest.approx(evaluation.scores[0].value, abs=5)
    with pytest.raises(ConfigError, match="decoding.beam_size=0 must be 1 or more"):
        evaluate(copied.path, beam_size=0)


def test_progress_reaches_its_end(evaluation: Evaluation, progress: list[tuple[str, int, int]]):
    assert evaluation.num_pairs == 30
    assert ("scoring references", 2, 2) in progress
    assert progress[-1] == ("translating", 30, 30)
    assert [done for what, done, _ in progress if what == "scoring references"] == [1, 2]


def test_facts_are_json(evaluation: Evaluation):
    facts = json.loads(json.dumps(evaluation.facts()))
    assert facts["loss"] == evaluation.loss
    assert facts["perplexity"] == evaluation.perplexity
    assert facts["scores"][0]["signature"] == evaluation.scores[0].signature


def test_the_validation_pairs_score_as_they_did_in_training(copied: TrainedRun):
    evaluation = evaluate(copied.path, "validation", beam_size=1)
    best = Run(copied.path).best_models()[0].step
    last = next(line["validation"] for line in copied.history if line["step"] == best)
    assert evaluation.num_pairs == 20
    assert evaluation.loss == pytest.approx(last["loss"], rel=1e-5)
    assert evaluation.accuracy == pytest.approx(last["accuracy"])
    assert [score.value for score in evaluation.scores] == [
        pytest.approx(last["bleu"]),
        pytest.approx(last["chrf"]),
    ]


def test_a_corpus_that_comes_tokenised_is_scored_on_its_tokens_too(translator: Translator):
    tokenised = Translator(
        translator.engine,
        translator.tokenizers,
        replace(translator.config, data=replace(translator.config.data, tokenization="given")),
    )
    pairs = [("bala dico", "bala is n't dico ."), ("fute", "fute !")]
    translations = [
        replace(translation, raw=raw, text=text)
        for translation, raw, text in zip(
            translator.translate(["bala dico", "fute"]),
            ["bala is n't dico .", "fute !"],
            ["bala isn't dico.", "fute!"],
            strict=True,
        )
    ]
    scores = score_translations(translations, pairs, tokenised)
    assert [(score.name, score.text) for score in scores] == [
        ("BLEU", "detokenised"),
        ("chrF", "detokenised"),
        ("BLEU", "tokenised"),
        ("chrF", "tokenised"),
    ]
    assert [round(score.value, 6) for score in scores] == [100] * 4


def test_cut_translations_and_split_sources_are_counted(
    copied: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = Run(Path(shutil.copytree(copied.path, tmp_path / "copy")))
    run.write(replace(copied.config, decoding=DecodingConfig(max_length=2)), {})
    pairs = [("bala", "bala"), ("bala dico fute", "x"), (" ".join(["bala"] * 40), "x")]
    monkeypatch.setattr(evaluation_module, "load_split", lambda *_: pairs)
    evaluation = evaluate(run)
    assert (evaluation.num_cut, evaluation.num_split) == (2, 1)


def test_pairs_are_framed_and_cut_to_the_positions(translator: Translator):
    pairs = [("bala", "bala"), ("bala " * 9, "dico"), ("dico", "bala " * 9)]
    encoded, cut = encode_pairs(translator.tokenizers, pairs, 8)
    assert cut == 2
    assert encoded.source.lengths.tolist() == [3, 8, 3]
    assert encoded.target.lengths.tolist() == [3, 3, 8]
    for ids in (encoded.source[1], encoded.target[2]):
        assert (ids[0], ids[-1]) == (2, 3)


def test_a_run_without_checkpoint_says_how_to_get_one(copied: TrainedRun, tmp_path):
    with pytest.raises(RunError, match="no run in"):
        evaluate(tmp_path / "nowhere")
    untrained = Run(tmp_path / "untrained")
    untrained.write(copied.config, {})
    (untrained.path / "tokenizer").symlink_to(copied.path / "tokenizer")
    with pytest.raises(CheckpointError, match="no checkpoint in") as failure:
        evaluate(untrained)
    assert "ptenmt train" in failure.value.hint


def test_pairs_that_were_not_set_aside_are_told(copied: TrainedRun, tmp_path: Path) -> None:
    shutil.copytree(copied.path, tmp_path / "copy")
    lines = Path(str(copied.config.data.path)).read_text().splitlines(keepends=True)
    (tmp_path / "grown.tsv").write_text("".join([*lines, *(f"novo {n}\tnew {n}\n" for n in range(400))]))
    config = replace(copied.config, data=replace(copied.config.data, path=str(tmp_path / "grown.tsv")))
    run = Run(tmp_path / "copy")
    run.write(config, {"data": run.facts()["data"]})
    warnings: list[str] = []
    evaluate(run, "test", on_warning=warnings.append)
    (warning,) = warnings
    assert warning.startswith("the test pairs are not those that were set aside when copy was trained")
    warnings.clear()
    evaluate(copied.path, "test", on_warning=warnings.append)
    assert warnings == []
