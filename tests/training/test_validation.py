"""What training validates with, and the weights that it keeps."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_task import TrainedRun
from random_models import SMALL, made_up_words, random_model
from recorded_events import of
from saved_states import assert_same

from ptenmt.config import (
    Config,
    DecodingConfig,
    OptimizerConfig,
    TrainingConfig,
    ValidationConfig,
)
from ptenmt.data.batches import encode_pairs
from ptenmt.runs import History, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.runs.weights import read_info, read_weights
from ptenmt.training.conversion import prepare_for_translating
from ptenmt.training.events import Event, Scores, Warned
from ptenmt.training.session import train
from ptenmt.training.state import read_checkpoint
from ptenmt.training.translation_task import TranslationValidator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.engine import SearchRequest
from ptenmt.translation.keras_engine import KerasEngine


def cached(run: Run) -> Any:
    return json.loads((run.ctranslate2_folder / "cache.json").read_text())["weights"]


def test_a_training_leaves_its_best_weights_and_their_conversion(copied: TrainedRun):
    run = Run(copied.path)
    best = read_info(run.weights_folder / "best.safetensors")
    scores = History(run.path).best("bleu")
    assert scores is not None
    figures = scores["validation"]
    assert (best.step, best.score, best.loss) == (scores["step"], figures["bleu"], figures["loss"])
    assert {file.name for file in run.weights_folder.iterdir()} == {"best.safetensors", "latest.safetensors"}
    assert cached(run) == best.checksum
    latest, arrays = read_weights(run.weights_folder / "latest.safetensors")
    step, saved = read_checkpoint(run.checkpoints()[0])
    assert latest.step == step
    assert_same(arrays, saved)


def test_weights_that_cannot_be_converted_are_a_warning(run: Run, copied: TrainedRun):
    shutil.rmtree(run.ctranslate2_folder)
    file = run.weights_folder / "best.safetensors"
    (run.weights_folder / "latest.safetensors").unlink()
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    warnings: list[str] = []
    prepare_for_translating(copied.config, run, warnings.append, counts_tokens=False)
    (warning,) = warnings
    assert warning.startswith("cannot prepare the best weights for translating: ")


@pytest.mark.usefixtures("_uncompiled")
def test_moving_averages_are_the_latest_weights_and_ctranslate2_lacks_a_model(quick: Config, tmp_path: Path):
    """Without a validation, so without best weights; with heads that CTranslate2 cannot express."""
    config = replace(
        quick,
        model=replace(quick.model, key_size=4),
        optimizer=OptimizerConfig(ema=0.9),
        training=TrainingConfig(epochs=1, max_steps=2, warmup_steps=2),
        validation=ValidationConfig(every_epochs=None),
    )
    events: list[Event] = []
    run = Run(tmp_path / "run")
    train(config, run.path, on_event=events.append)
    assert [file.name for file in run.weights_folder.iterdir()] == ["latest.safetensors"]
    info, arrays = read_weights(run.weights_folder / "latest.safetensors")
    _, averages = read_checkpoint(run.checkpoints()[0])
    assert_same(arrays, averages)
    assert TrainedModel.load(run).info == info
    (warned,) = of(Warned, events)
    assert warned.message.endswith("the Keras engine will translate, which is slower")
    assert not run.ctranslate2_folder.exists()


@pytest.mark.parametrize(("engine", "value_size"), [(CTranslate2Engine, 8), (KerasEngine, 9)])
def test_a_validation_translates_greedily_up_to_the_limit(
    copied: TrainedRun, monkeypatch: pytest.MonkeyPatch, engine: Any, value_size: int
):
    """With CTranslate2, and with the Keras engine where the widths of a head differ; scores are not used."""
    submitted: list[tuple[DecodingConfig, bool]] = []
    submit = engine.submit

    def recorded(self: Any, request: SearchRequest) -> Any:
        submitted.append((request.options, request.with_scores))
        return submit(self, request)

    monkeypatch.setattr(engine, "submit", recorded)
    size, pair = 30, made_up_words(30, 30)
    pairs = [("s5 and s7", "t8 t9"), ("only s8", "t4"), ("", "t4 t4")]
    encoded, _ = encode_pairs(pair, pairs, SMALL.max_positions)
    model = random_model(replace(SMALL, num_layers=1, key_size=8, value_size=value_size), size, size)
    decoding = DecodingConfig(beam_size=4, num_hypotheses=3, max_length=3, length_penalty=0.2)
    config = replace(copied.config, model=model.config, decoding=decoding)
    validator = TranslationValidator(config, model, pair, pairs, encoded)
    before = model.final.bias.numpy()
    for favourite in (9, 12):
        model.final.bias.assign(before + 100 * np.eye(size)[favourite])
        *_, scores = validator.validate()
        assert isinstance(scores, Scores)
        assert scores.loss > 1
        assert [sample.translation for sample in scores.samples] == [" ".join([f"t{favourite}"] * 3)] * 2
    assert set(submitted) == {(DecodingConfig(beam_size=1, max_length=3, safeguards=False), False)}
