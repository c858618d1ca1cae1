"""Scoring files of one's own: finished translations, and sources for a run."""

from pathlib import Path

import pytest
from copy_task import TrainedRun
from scored_files import HYPOTHESES, OTHERS, REFERENCES, sacrebleu_command, write

from ptenmt.errors import ConfigError, DataError, RunError
from ptenmt.evaluation import EvaluationFiles, LoadOptions, evaluate
from ptenmt.translation import Translator


def test_finished_hypotheses_are_scored_without_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # no run here
    files = {name: write(tmp_path / name, lines) for name, lines in (("h", HYPOTHESES), ("r", REFERENCES))}
    evaluation = evaluate(files=EvaluationFiles(hypotheses=files["h"], references=[files["r"]]))
    evaluation.write_texts(tmp_path)
    assert [score.value for score in evaluation.scores] == sacrebleu_command(tmp_path, "detokenized")
    assert (tmp_path / "detokenized.hypotheses.txt").read_text() == files["h"].read_text()
    assert (tmp_path / "detokenized.reference.txt").read_text() == files["r"].read_text()
    assert not (tmp_path / "source.txt").exists()
    assert (evaluation.name, evaluation.pairs_name) == (str(files["h"]), f"pairs of {files['r']}")
    assert (evaluation.folder, evaluation.split, evaluation.loss, evaluation.perplexity) == (None,) * 4
    assert evaluation.search is None
    assert evaluation.files == {"hypotheses": [str(files["h"])], "reference": [str(files["r"])]}


def test_several_references_need_only_one_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    hypotheses, one = write(tmp_path / "h", HYPOTHESES), write(tmp_path / "one", REFERENCES)
    other, same = write(tmp_path / "other", OTHERS), write(tmp_path / "same", HYPOTHESES)
    both = evaluate(files=EvaluationFiles(hypotheses=hypotheses, references=[one, other]))
    assert both.num_references == 2
    assert both.sentences[0].references == [REFERENCES[0], OTHERS[0]]
    assert both.sentences[1].references == [REFERENCES[1]]
    assert (
        both.scores[0].value
        > evaluate(files=EvaluationFiles(hypotheses=hypotheses, references=[one])).scores[0].value
    )
    right = evaluate(files=EvaluationFiles(hypotheses=hypotheses, references=[one, same]))
    assert [round(score.value, 6) for score in right.scores[:2]] == [100, 100]
    right.write_texts(tmp_path)
    assert [score.value for score in right.scores] == sacrebleu_command(tmp_path, "detokenized", references=2)


def test_files_that_do_not_match_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    hypotheses, reference = write(tmp_path / "h", HYPOTHESES), write(tmp_path / "r", REFERENCES)
    short, hole = write(tmp_path / "short", HYPOTHESES[:3]), write(tmp_path / "hole", OTHERS)
    blank = write(tmp_path / "blank", [" ", ""])

    def refused(error: type[Exception], message: str, load: LoadOptions | None = None, **files) -> None:
        with pytest.raises(error, match=message):
            evaluate(files=EvaluationFiles(**files), load=load)

    refused(
        DataError,
        "short has 3 lines instead of 4, one for each of the pairs of",
        hypotheses=short,
        references=[reference],
    )
    refused(
        DataError, "r has 4 lines, but .*short has 3", hypotheses=hypotheses, references=[reference, short]
    )
    refused(DataError, "line 2 of .*hole is empty", hypotheses=hypotheses, references=[hole])
    refused(DataError, "blank is empty", hypotheses=hypotheses, references=[blank])
    refused(DataError, "cannot read .*gone", hypotheses=tmp_path / "gone", references=[reference])
    refused(ConfigError, "sources cannot be scored without references", source=reference)
    refused(ConfigError, "references cannot be scored without translations", references=[reference])
    finished = {"hypotheses": hypotheses, "references": [reference]}
    for names, load in {
        "--engine": LoadOptions(engine="keras"),
        "--checkpoint": LoadOptions(checkpoint="latest"),
        "decoding options": LoadOptions(overrides=["decoding.beam_size=2"]),
        "--checkpoint or --engine": LoadOptions(checkpoint="latest", engine="keras"),
    }.items():
        message = f"^{names} cannot be used with finished translations"
        refused(ConfigError, message, load, **finished)
    with pytest.raises(ConfigError, match="--robustness cannot be used with finished translations"):
        evaluate(files=EvaluationFiles(**finished), with_robustness=True)
    with pytest.raises(RunError, match="no run in checkpoints/gone"):
        evaluate("gone", files=EvaluationFiles(hypotheses=hypotheses))


def test_files_of_ones_own_are_translated(copied: TrainedRun, tmp_path: Path):
    source = write(tmp_path / "source", ["bala dico", "", "galo hime jaro"])
    reference = write(tmp_path / "reference", ["bala dico", "kilo", "galo hime jaro lume"])
    evaluation = evaluate(copied.path, files=EvaluationFiles(source=source, references=[reference]))
    expected = [
        translation.text
        for translation in Translator.load(copied.path).translate(["bala dico", "", "galo hime jaro"])
    ]
    assert [sentence.hypothesis for sentence in evaluation.sentences] == expected
    assert [sentence.source for sentence in evaluation.sentences] == ["bala dico", "", "galo hime jaro"]
    assert evaluation.split is None
    assert evaluation.error_analysis.degenerate_outputs[0].count == 1
