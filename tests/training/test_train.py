import json
import math
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from copy_task import TrainedRun, copy_config
from recorded_events import begin, ends_of_epochs, of

from ptenmt.config import Config, TokenizerConfig, TrainingConfig
from ptenmt.errors import DataError
from ptenmt.runs import Run
from ptenmt.training.events import CorpusReady, StepDone, TrainingStarted, Validated, Warned


def test_the_model_learns_to_copy(copied: TrainedRun):
    first, *_, last = copied.history
    assert first["train"]["loss"] == pytest.approx(math.log(16), abs=0.5)  # 16 words, guessed
    assert last["train"]["loss"] < 0.5
    assert last["validation"]["loss"] < 0.3
    assert last["validation"]["bleu"] > 80
    assert last["validation"]["chrf"] > 80


def test_events_come_in_order(copied: TrainedRun):
    events = (type(event).__name__ for event in copied.events)
    names = [name for name, _ in groupby(events)]
    epoch = ["StepDone", "ValidationStep", "Validated"]
    expected = ["CorpusReady", "TrainingStarted"]
    for number in range(1, 15):
        expected += [*epoch, "CheckpointSaved"] if number in (6, 12, 14) else epoch
    assert names == expected


def test_events_and_the_run_tell_about_the_corpus_and_the_model(copied: TrainedRun):
    corpus, started = copied.events[:2]
    assert isinstance(corpus, CorpusReady)
    assert (corpus.train, corpus.validation, corpus.num_truncated) == (450, 20, 0)
    assert corpus.vocabulary_sizes == (16, 16)
    assert len(corpus.samples) == 3
    assert all(source == target for source, target in corpus.samples)
    assert isinstance(started, TrainingStarted)
    assert (started.epochs, started.steps_per_epoch) == (14, 29)
    assert (started.epoch, started.step_in_epoch, started.resumed_from) == (0, 0, None)
    # word tables 2·16·32; attention 4·(32·32+32) thrice; feed-forward 32·64+64+64·32+32 twice;
    # five norms of 2·32; the last layer 32·16+16
    assert started.parameters == 1024 + 3 * 4224 + 2 * 4192 + 5 * 64 + 528
    run = Run(copied.path)
    facts = run.facts()
    assert run.config() == copied.config
    assert (facts["parameters"], facts["vocabulary_sizes"]) == (started.parameters, [16, 16])
    assert facts["data"]["train"]["pairs"] == 450


def test_events_of_steps_tell_rates_and_times(copied: TrainedRun):
    steps, ends = of(StepDone, copied.events), ends_of_epochs(copied.events)
    assert [(end.epoch, end.step_in_epoch) for end in ends] == [(epoch, 29) for epoch in range(1, 15)]
    for end in ends:
        n = 29 * end.epoch
        assert end.learning_rate == pytest.approx(32**-0.5 * min(n**-0.5, n * 150**-1.5), rel=1e-5)
        assert end.tokens_per_second > 0
    assert steps[0].seconds_left is None
    assert steps[1].seconds_left > 0
    assert steps[-1].seconds_left == 0


def test_the_history_has_the_events(copied: TrainedRun):
    lines = [json.loads(line) for line in (copied.path / "history.jsonl").read_text().splitlines()]
    assert [line for line in lines if "validation" in line] == copied.history
    curve = [line for line in lines if "validation" not in line]
    figures = {"step", "tokens", "loss", "accuracy", "learning_rate", "gradient_norm"}
    assert all(line.keys() == figures | {"seconds", "peak_memory", "skipped_steps"} for line in curve)
    assert [line["step"] for line in curve] == list(range(50, 14 * 29 + 1, 50))
    assert curve[0]["loss"] > curve[-1]["loss"]
    events = zip(ends_of_epochs(copied.events), of(Validated, copied.events), strict=True)
    for line, (epoch, validated) in zip(copied.history, events, strict=True):
        line = dict(line)
        seconds, memory = line.pop("seconds"), line.pop("peak_memory")
        assert seconds.keys() == {"data", "step", "validation", "saving"}
        assert memory > 2**28
        assert line == {
            "epoch": epoch.epoch,
            "step": 29 * epoch.epoch,
            "learning_rate": epoch.learning_rate,
            "train": {"loss": epoch.loss, "accuracy": epoch.accuracy},
            "validation": {
                "loss": validated.scores.loss,
                "accuracy": validated.scores.accuracy,
                "bleu": validated.scores.bleu,
                "chrf": validated.scores.chrf,
            },
            "skipped_steps": 0,
        }


def test_too_few_steps_for_the_warmup_are_a_warning(quick: Config, tmp_path: Path):
    slow = replace(quick, training=replace(quick.training, warmup_steps=1_000))
    (warning,) = of(Warned, begin(slow, tmp_path / "slow"))
    assert "training.warmup_steps=1,000" in warning.message
    fast = replace(quick, training=replace(quick.training, warmup_steps=5))
    assert of(Warned, begin(fast, tmp_path / "fast")) == []


def test_another_end_of_a_cosine_is_a_warning(run: Run):
    options = TrainingConfig(epochs=14, schedule="cosine", learning_rate=0.001, warmup_steps=1)
    cosine = replace(run.config(), training=options)
    run.write(cosine, run.facts())
    longer = replace(cosine, training=replace(options, epochs=20))
    (warning,) = of(Warned, begin(longer, run.path))
    assert "the training now has 580 steps in all, not 406" in warning.message


def test_a_missing_file_is_known_before_the_tokenizer_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ptenmt.data.corpus.published_tokenizer", pytest.fail)
    config = copy_config(tmp_path / "nowhere.tsv", tokenizer=TokenizerConfig(kind="wordpiece"))
    with pytest.raises(DataError, match=r"cannot read .*nowhere\.tsv"):
        begin(config, tmp_path / "run")
