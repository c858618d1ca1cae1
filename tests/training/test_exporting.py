"""What a training exports, and what it validates with."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from copy_task import TrainedRun
from random_models import SMALL, made_up_words, random_model
from told import of

from ptenmt.checkpoints import load_weights
from ptenmt.config import (
    CheckpointConfig,
    Config,
    DecodingConfig,
    OptimizerConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.data.encoding import encode_pairs
from ptenmt.events import Event, Scores, TrainingStarted, Validated, Warned
from ptenmt.export.ctranslate2 import CTRANSLATE2, make_export
from ptenmt.export.origin import newest_weights, weights_id
from ptenmt.export.weights import WEIGHTS, arrays_of
from ptenmt.runs import Run
from ptenmt.tokenizers import load_tokenizers
from ptenmt.training import train
from ptenmt.training.exporting import Exporter
from ptenmt.training.validation import Validator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.keras_engine import KerasEngine


@pytest.fixture
def run(copied: TrainedRun, tmp_path: Path) -> Run:
    """A copy of the trained run, without its export."""
    copy = Run(Path(shutil.copytree(copied.path, tmp_path / "copy")))
    shutil.rmtree(copy.path / "export")
    return copy


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def exporter(run: Run, copied: TrainedRun, warnings: list[str]) -> Exporter:
    return Exporter(run, copied.config, load_tokenizers(run.tokenizer_folder), warnings.append)


def validated(copied: TrainedRun, *, is_best: bool) -> Validated:
    return replace(of(Validated, copied.events)[0], is_best=is_best)


def test_a_training_leaves_an_export_of_its_best_weights(copied: TrainedRun):
    run = Run(copied.path)
    (best,) = run.best_models()
    origin = weights_id(run.path / best.name)
    facts = CTRANSLATE2.read(run.export_folder()).facts
    assert (facts.weights, facts.quantization) == (origin, "int8")
    exact = WEIGHTS.read(run.export_folder("best", "weights"))
    assert (exact.facts.weights, exact.facts.model) == (origin, copied.config.model)
    read = load_weights(run, pytest.fail)[1]
    assert {path: array.tolist() for path, array in arrays_of(exact).items()} == {
        path: array.tolist() for path, array in read.items()
    }
    assert {path.name for path in (run.path / "export").iterdir()} == {"ctranslate2", "weights"}


def test_each_new_best_is_exported_once(
    exporter: Exporter, run: Run, copied: TrainedRun, warnings: list[str]
):
    exporter.add(validated(copied, is_best=False))
    assert not run.export_folder().exists()
    exporter.add(validated(copied, is_best=True))
    assert CTRANSLATE2.read(run.export_folder()).facts.weights == newest_weights(run, "best")
    written = run.export_folder().stat().st_mtime_ns
    exporter.renew()
    Exporter(run, copied.config, load_tokenizers(run.tokenizer_folder), pytest.fail).renew()
    assert run.export_folder().stat().st_mtime_ns == written
    (run.path / "best.json").unlink()
    exporter.renew()
    assert CTRANSLATE2.read(run.export_folder()).facts.weights == weights_id(run.path / "ckpt-3")
    assert warnings == []


def test_what_a_killed_training_left_is_removed(exporter: Exporter, run: Run, copied: TrainedRun):
    (run.path / "export" / ".ctranslate2.abc.unfinished").mkdir(parents=True)
    (started,) = of(TrainingStarted, copied.events)
    exporter.add(started)
    assert list((run.path / "export").iterdir()) == []


def test_a_failure_is_told_and_made_up_for(
    exporter: Exporter, run: Run, copied: TrainedRun, warnings: list[str]
):
    (run.path / "export").write_text("in the way")
    exporter.add(validated(copied, is_best=True))
    (warning,) = warnings
    assert warning.startswith(f"no new export: {run.export_folder()} is a file")
    (run.path / "export").unlink()
    exporter.renew()
    assert len(warnings) == 1
    assert CTRANSLATE2.read(run.export_folder())


def test_a_model_that_cannot_be_exported_is_told_once(run: Run, copied: TrainedRun, warnings: list[str]):
    config = replace(copied.config, model=replace(copied.config.model, key_size=4))
    exporter = Exporter(run, config, load_tokenizers(run.tokenizer_folder), warnings.append)
    (started,) = of(TrainingStarted, copied.events)
    for event in (started, validated(copied, is_best=True), validated(copied, is_best=True)):
        exporter.add(event)
    exporter.renew()
    (warning,) = warnings
    assert warning.endswith("the Keras engine will translate, which is slower")
    assert [path.name for path in (run.path / "export").iterdir()] == ["weights"]


def test_moving_averages_are_exported_and_a_training_outlives_a_full_disk(
    quick: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = replace(
        quick,
        optimizer=OptimizerConfig(ema=0.9),
        training=TrainingConfig(epochs=1, warmup_steps=5),
        validation=ValidationConfig(every_epochs=None),
        checkpoint=CheckpointConfig(keep_best=0),
    )
    run = Run(tmp_path / "run")
    events: list[Event] = []
    with monkeypatch.context() as patch:
        patch.setattr("ptenmt.export.folders.folder_written_whole", full)
        train(config, run.path, on_event=events.append)
    (warning,) = of(Warned, events)
    assert "no new export: cannot write" in warning.message
    assert "No space left on device" in warning.message
    assert len(run.checkpoints()) == 1

    train(config, run.path)  # nothing is left to do but that
    reader = tf.train.load_checkpoint(str(run.checkpoints()[0]))
    names = [name for name in reader.get_variable_to_shape_map() if name.startswith("averages/")]
    averages = {
        name.removeprefix("averages/").split("/")[0].replace(".S", "/"): reader.get_tensor(name)
        for name in names
    }
    expected = make_export(config.model, averages, load_tokenizers(run.tokenizer_folder), "")
    assert CTRANSLATE2.read(run.export_folder()).files == expected.files


def full(*_anything: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("engine", "value_size"), [(CTranslate2Engine, 8), (KerasEngine, 9)])
def test_a_validation_translates_greedily_up_to_the_limit(
    copied: TrainedRun, monkeypatch: pytest.MonkeyPatch, engine: Any, value_size: int
):
    """With CTranslate2, and with the Keras engine where the widths of a head differ; nobody reads scores."""
    submitted: list[tuple[DecodingConfig, bool]] = []
    submit = engine.submit

    def recorded(self: Any, sources: Any, limit: int, options: DecodingConfig, **others: Any) -> Any:
        submitted.append((options, others["with_scores"]))
        return submit(self, sources, limit, options, **others)

    monkeypatch.setattr(engine, "submit", recorded)
    size, pair = 30, made_up_words(30, 30)
    pairs = [("s5 s6 s7", "t8 t9"), ("s8", "t4"), ("", "t4 t4")]
    encoded, _ = encode_pairs(pair, pairs, SMALL.max_positions)
    model = random_model(replace(SMALL, num_layers=1, key_size=8, value_size=value_size), size, size)
    decoding = DecodingConfig(beam_size=4, num_hypotheses=3, max_length=3, length_penalty=0.2)
    config = replace(copied.config, model=model.config, decoding=decoding)
    validator = Validator(config, model, pair, pairs, encoded)
    before = model.final.bias.numpy()
    for favourite in (9, 12):
        model.final.bias.assign(before + 100 * np.eye(size)[favourite])
        *_, scores = validator.validate()
        assert isinstance(scores, Scores)
        assert scores.loss > 1
        assert [sample.translation for sample in scores.samples] == [" ".join([f"t{favourite}"] * 3)] * 2
    assert set(submitted) == {(DecodingConfig(beam_size=1, max_length=3), False)}
