import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from copy_task import TrainedRun
from scored_files import sacrebleu_command, write

from ptenmt.config import DecodingConfig
from ptenmt.data.corpus import load_split
from ptenmt.evaluation import (
    Evaluation,
    EvaluationFiles,
    LoadOptions,
    evaluate,
    evaluation as evaluation_module,
)
from ptenmt.runs import Run
from ptenmt.runs.weights import read_info, read_weights, write_weights
from ptenmt.translation import Translator


@pytest.fixture(scope="module")
def evaluation(copied: TrainedRun) -> Evaluation:
    return evaluate(copied.path)


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


def test_scores_are_those_of_the_sacrebleu_command(
    copied: TrainedRun, evaluation: Evaluation, tmp_path: Path
):
    evaluation.write_texts(tmp_path)
    assert [score.value for score in evaluation.scores] == sacrebleu_command(tmp_path, "detokenized")
    pairs = load_split(copied.config.data, copied.config.seed, "test")
    translator = Translator.load(copied.path)
    hypotheses = [translation.text for translation in translator.translate(source for source, _ in pairs)]
    written = {file.name: file.read_text().splitlines() for file in tmp_path.iterdir()}
    assert written == {
        "source.txt": [source for source, _ in pairs],
        "detokenized.hypotheses.txt": hypotheses,
        "detokenized.reference.txt": [target for _, target in pairs],
    }


def test_it_reports_what_was_scored_and_how(copied: TrainedRun, evaluation: Evaluation):
    assert (evaluation.name, evaluation.split, evaluation.pairs_name) == ("run", "test", "test pairs")
    assert (evaluation.num_pairs, evaluation.num_references, evaluation.files) == (30, 1, {})
    assert evaluation.folder == str(copied.path)
    assert evaluation.checkpoint == read_info(copied.path / "weights/best.safetensors").label
    assert evaluation.test_set.fingerprint() == Run(copied.path).data_fingerprint("test")
    search = evaluation.search
    assert (search.num_truncated, search.num_split) == (0, 0)
    assert (search.engine, search.compute_type, search.beam_size) == ("ctranslate2", "int8", 4)
    assert search.length_penalty == copied.config.decoding.length_penalty
    assert [sentence.row for sentence in evaluation.sentences] == list(range(1, 31))
    assert evaluation.num_truncated == 0


def test_the_engine_and_the_beams_are_a_choice(copied: TrainedRun, evaluation: Evaluation):
    reference = evaluate(copied.path, load=LoadOptions(engine="keras", overrides=["decoding.beam_size=1"]))
    search = reference.search
    assert (search.engine, search.compute_type, search.beam_size) == ("keras", "float32", 1)
    assert (reference.loss, reference.accuracy) == (evaluation.loss, evaluation.accuracy)
    assert reference.scores[0].value == pytest.approx(evaluation.scores[0].value, abs=5)


def test_a_concurrent_training_changes_nothing(run: Run, evaluation: Evaluation):
    """While it is translated, the best model gives way to another one: to an earlier checkpoint."""
    best = run.weights_folder / "best.safetensors"
    before, arrays = read_weights(best)

    def replace_the_best(what: str, *_so_far: int) -> None:
        if what == "translating" and read_info(best) == before:
            worse = {name: array / 2 for name, array in arrays.items()}
            write_weights(best, worse, config=run.config(), step=999, score=99.0)
            Translator.load(run)

    found = evaluate(run, on_progress=replace_the_best, load=LoadOptions(on_warning=pytest.fail))
    assert read_info(best).step == 999
    assert (found.checkpoint, found.loss) == (before.label, evaluation.loss)
    assert found.scores == evaluation.scores


def test_the_validation_pairs_score_as_they_did_in_training(copied: TrainedRun):
    evaluation = evaluate(copied.path, "validation", load=LoadOptions(overrides=["decoding.beam_size=1"]))
    best = read_info(copied.path / "weights/best.safetensors").step
    last = next(line["validation"] for line in copied.history if line["step"] == best)
    assert evaluation.num_pairs == 20
    assert evaluation.loss == pytest.approx(last["loss"], rel=1e-5)
    assert evaluation.accuracy == pytest.approx(last["accuracy"])
    assert evaluation.scores[0].value == pytest.approx(last["bleu"])


def test_a_corpus_that_comes_tokenized_is_scored_on_its_tokens_too(
    copied: TrainedRun, run: Run, tmp_path: Path
):
    data = replace(copied.config.data, tokenization="given")
    run.write(replace(copied.config, data=data), {})
    evaluation = evaluate(run)
    assert [score.text for score in evaluation.scores] == ["detokenized"] * 3 + ["tokenized"] * 3
    pairs = load_split(data, copied.config.seed, "test")
    raw = [translation.raw for translation in Translator.load(run).translate(source for source, _ in pairs)]
    assert evaluation.output.in_form("tokenized") == raw
    assert evaluation.test_set.references_by_form["tokenized"] == [[target for _, target in pairs]]
    source = write(tmp_path / "source", ["bala dico ."])
    files = EvaluationFiles(source=source, references=[write(tmp_path / "reference", ["bala dico ."])])
    assert len(evaluate(run, files=files).scores) == 3


def test_cut_translations_and_split_sources_are_counted(
    copied: TrainedRun, run: Run, monkeypatch: pytest.MonkeyPatch
):
    run.write(replace(copied.config, decoding=DecodingConfig(max_length=2)), {})
    pairs = [("bala", "bala"), ("bala dico fute", "x"), (" ".join(["bala"] * 40), "x")]
    monkeypatch.setattr(evaluation_module, "load_split", lambda *_: pairs)
    evaluation = evaluate(run)
    assert (evaluation.search.num_truncated, evaluation.search.num_split) == (2, 1)


def test_pairs_that_were_not_held_out_are_reported(copied: TrainedRun, run: Run, tmp_path: Path) -> None:
    lines = Path(str(copied.config.data.path)).read_text().splitlines(keepends=True)
    (tmp_path / "grown.tsv").write_text("".join([*lines, *(f"novo {n}\tnew {n}\n" for n in range(400))]))
    config = replace(copied.config, data=replace(copied.config.data, path=str(tmp_path / "grown.tsv")))
    run.write(config, {"data": run.facts()["data"]})
    warnings: list[str] = []
    evaluate(run, "test", load=LoadOptions(on_warning=warnings.append))
    (warning,) = warnings
    assert warning.startswith("the test pairs differ from those held out when copy was trained")
    warnings.clear()
    evaluate(copied.path, "test", load=LoadOptions(on_warning=warnings.append))
    assert warnings == []
