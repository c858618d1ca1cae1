"""``train(…, init_from=…)``: fine-tuning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from copy_task import WORDS, TrainedRun, write_pairs
from random_models import write_run
from recorded_events import of

from ptenmt.config import Config, TokenizerConfig, TrainingConfig, ValidationConfig
from ptenmt.config.loading import load_config
from ptenmt.errors import RunError
from ptenmt.runs import History, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.runs.weights import read_info
from ptenmt.tokenizers import build_tokenizers, load_tokenizers
from ptenmt.training.events import Event, Validated, Warned
from ptenmt.training.preparation import load_warm_start
from ptenmt.training.session import train


@pytest.fixture
def other_data(copied: TrainedRun, tmp_path: Path) -> Config:
    """The options of the trained run, with sentences that it has not seen; one step."""
    pairs = write_pairs(tmp_path / "new.tsv", 60, seed=9)
    data = replace(copied.config.data, path=str(pairs))
    return replace(
        copied.config,
        data=data,
        training=TrainingConfig(epochs=1, max_steps=1, warmup_steps=1, log_every_steps=1),
        validation=ValidationConfig(every_epochs=None),
    )


def events_of(config: Config, run: Path, kind: type, **options: Any) -> list[Any]:
    events: list[Event] = []
    train(config, run, on_event=events.append, **options)
    return of(kind, events)


@pytest.mark.usefixtures("_uncompiled")
def test_weights_are_reused(run: Run, other_data: Config, tmp_path: Path):
    tuned = Run(tmp_path / "tuned")
    run.record_output_ids([2, 5])
    train(other_data, tuned.path, init_from=run.path)
    (first,) = History(tuned.path).curve()
    assert first["step"] == 1
    assert first["loss"] < 1  # guessing one of 16 words gives log 16

    for file in run.tokenizer_folder.iterdir():
        assert (tuned.tokenizer_folder / file.name).read_bytes() == file.read_bytes()
    best = str(run.weights_folder / "best.safetensors")
    assert tuned.facts()["initialized_from"] == best

    longer = replace(other_data, training=replace(other_data.training, max_steps=2))
    (warning,) = events_of(longer, tuned.path, Warned, init_from="no such run")
    assert "resumes from its own checkpoint" in warning.message
    assert tuned.facts()["initialized_from"] == best, "a resumed run remembers"
    assert tuned.recorded_ids("inherited_output_ids") == [2, 5], "search may generate what it could"
    assert tuned.recorded_ids("output_ids") is None, "until the training's own are counted"


@pytest.mark.usefixtures("_uncompiled")
def test_the_initial_weights_stay_the_best_if_training_harms_them(copied: TrainedRun, tmp_path: Path):
    options = TrainingConfig(epochs=1, max_steps=1, schedule="constant", learning_rate=0.5, warmup_steps=1)
    harmful = replace(copied.config, training=options, validation=ValidationConfig(metric="loss"))
    start, after = events_of(harmful, tmp_path / "tuned", Validated, init_from=copied.path)
    assert (start.global_step, start.is_best, after.is_best) == (0, True, False)
    assert start.scores.loss < after.scores.loss
    best = read_info(Run(tmp_path / "tuned").weights_folder / "best.safetensors")
    assert best.step == 0
    origin = read_info(Run(copied.path).weights_folder / "best.safetensors")
    assert best.checksum == origin.checksum


@pytest.mark.usefixtures("_uncompiled")
def test_fewer_layers_are_some_of_those_of_the_run(copied: TrainedRun, other_data: Config, tmp_path: Path):
    deep = replace(other_data, model=replace(other_data.model, num_layers=4))
    write_run(tmp_path / "deep", deep, load_tokenizers(copied.path / "tokenizer"))
    sizes = replace(deep.model, encoder_layers=3, decoder_layers=1)
    rate = replace(deep.training, schedule="inverse_sqrt", learning_rate=1e-12)
    thin = replace(deep, model=sizes, training=rate)
    warned = events_of(thin, tmp_path / "thin", Warned, init_from=tmp_path / "deep")
    assert [event.message for event in warned[-2:]] == [
        f"the {stack} starts from {new} of the 4 layers of {tmp_path / 'deep'}"
        for stack, new in (("encoder", 3), ("decoder", 1))
    ]
    before, after = (TrainedModel.load(tmp_path / name).weights for name in ("deep", "thin"))
    same = {"encoder/block1": 1, "encoder/block2": 3, "encoder/block3": 4, "decoder/block1": 1}
    for block, number in same.items():
        stack = block.split("/")[0]
        path = f"transformer/{block}/feed_forward/expand/kernel"
        expected = before[f"transformer/{stack}/block{number}/feed_forward/expand/kernel"]
        np.testing.assert_allclose(after[path], expected, atol=1e-9)
    assert not any("decoder/block2" in path for path in after)


@pytest.mark.usefixtures("_uncompiled")
def test_the_reverse_direction_starts_from_embeddings_of_both_languages(
    copied: TrainedRun, other_data: Config, tmp_path: Path
):
    tokenizer = TokenizerConfig(kind="sentencepiece", vocabulary_size=40, shared=True)
    model = replace(other_data.model, tied_embeddings="all")
    tied = replace(other_data, tokenizer=tokenizer, model=model)
    pairs = [(" ".join(WORDS), " ".join(WORDS))]
    write_run(tmp_path / "forth", tied, build_tokenizers(tokenizer, pairs, tied.data.languages))
    rate = replace(tied.training, schedule="inverse_sqrt", learning_rate=1e-12)
    back = replace(tied, data=replace(tied.data, reverse=True), training=rate)
    train(back, tmp_path / "back", init_from=tmp_path / "forth")
    before, after = (TrainedModel.load(tmp_path / name) for name in ("forth", "back"))
    assert after.config.data.languages == before.config.data.languages[::-1]
    for path, array in before.weights.items():
        np.testing.assert_allclose(after.weights[path], array, atol=1e-9)
    untied = replace(other_data, data=back.data)
    with pytest.raises(RunError, match="run translates pt→en, not en→pt, without shared embeddings"):
        train(untied, tmp_path / "other", init_from=copied.path)


def test_other_sizes_and_tokenizers_are_refused_with_what_mends_it(
    copied: TrainedRun, other_data: Config, tmp_path: Path
):
    config = replace(
        other_data,
        model=replace(other_data.model, decoder_layers=2, d_ff=128),
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=100),
    )
    with pytest.raises(RunError) as failure:
        train(config, tmp_path / "run", init_from=copied.path)
    assert failure.value.message == (
        f"the config's model or tokenizer options differ from those of {copied.path}: "
        "tokenizer.kind: words → sentencepiece; tokenizer.vocabulary_size: 8000 → 100; "
        "model.decoder_layers: 1 → 2; model.d_ff: 64 → 128"
    )
    assert failure.value.hint == (
        "use those of the run: "
        "--set tokenizer.kind=words --set tokenizer.vocabulary_size=8000 "
        "--set model.decoder_layers=1 --set model.d_ff=64"
    )
    assert not (tmp_path / "run").exists()


def test_a_run_does_not_start_from_itself(copied: TrainedRun, run: Run, other_data: Config):
    with pytest.raises(RunError, match="cannot start from its own weights"):
        train(other_data, run.path, init_from=run.path, fresh=True)
    assert History(run.path).validations() == copied.history


def test_the_preset_for_fine_tuning_fits_the_starter(tmp_path: Path):
    origin = load_warm_start("starter", load_config("tune"), Run(tmp_path / "mine"), pytest.fail)
    assert origin.run.is_bundled
