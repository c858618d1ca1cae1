"""Which engine translates with a run, and from which files."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from copy_task import TrainedRun, change_latest_weights

from ptenmt.config import ModelConfig
from ptenmt.errors import CheckpointError, ExportError, PtenmtError
from ptenmt.model.ctranslate2_model import CTranslate2Model
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.runs.weights import read_info, read_weights, write_weights
from ptenmt.translation import Translator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

SENTENCES = ["bala", "hime kilo galo", "nado nado pira", "dico fute", "rota mico lume bala"]


def texts(translator: Translator) -> list[str]:
    return [translation.text for translation in translator.translate(SENTENCES)]


def converted(run: Run) -> CTranslate2Model:
    return ctranslate2_model(TrainedModel.load(run, on_warning=pytest.fail))


def cached_checksum(run: Run) -> str:
    facts = json.loads((run.ctranslate2_folder / "cache.json").read_text())
    return str(facts["weights"])


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-10] ^= 1
    file.write_bytes(content)


def test_both_engines_translate_alike(copied: TrainedRun) -> None:
    fast = Translator.load(copied.path, pytest.fail)
    assert (fast.engine.name, fast.engine.compute_type) == ("ctranslate2", "int8")
    reference = Translator.load(copied.path, pytest.fail, engine="keras")
    assert (reference.engine.name, reference.engine.compute_type) == ("keras", "float32")
    assert texts(fast) == texts(reference)


@pytest.mark.parametrize("how", ["missing", "damaged", "truncated", "without facts", "of other weights"])
def test_the_cache_is_made_again(run: Run, how: str) -> None:
    folder = run.ctranslate2_folder
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}
    if how == "missing":
        shutil.rmtree(folder)
    elif how == "damaged":
        damage(folder / "model.bin")
    elif how == "truncated":
        (folder / "model.bin").write_bytes(whole["model.bin"][:100])
    elif how == "without facts":
        (folder / "cache.json").write_text("[]")
    else:
        best = run.weights_folder / "best.safetensors"
        info, arrays = read_weights(best)
        arrays["transformer/final/bias"] += 0.5
        write_weights(best, arrays, config=run.config(), step=info.step + 1, score=99.0)
    assert len(texts(Translator.load(run, pytest.fail))) == len(SENTENCES)
    assert cached_checksum(run) == read_info(run.weights_folder / "best.safetensors").checksum
    if how != "of other weights":
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == whole
    before = (folder / "model.bin").stat().st_mtime_ns
    Translator.load(run, pytest.fail)
    assert (folder / "model.bin").stat().st_mtime_ns == before, "once"


def test_a_whole_cache_needs_no_arrays(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.runs.trained_model.read_weights", pytest.fail)
    assert texts(Translator.load(run, pytest.fail))


def test_a_run_that_cannot_be_written_is_converted_in_memory(run: Run) -> None:
    expected = converted(run).folder
    assert expected is not None
    files = {name: (expected / name).read_bytes() for name in ("model.bin", "config.json")}
    shutil.rmtree(run.ctranslate2_folder)
    run.ctranslate2_folder.write_text("in the way")
    assert files.items() <= converted(run).files.items()
    assert run.ctranslate2_folder.read_text() == "in the way"


def test_a_model_that_a_training_replaces_is_not_read(run: Run, tmp_path: Path) -> None:
    converted(run)
    model = converted(run)
    assert model.folder is not None
    shutil.copytree(model.folder, tmp_path / "new")
    shutil.rmtree(model.folder)
    (tmp_path / "new").rename(model.folder)
    tokenizers = TrainedModel.load(run).tokenizers
    with pytest.raises(ExportError, match="was replaced by a training"):
        CTranslate2Engine(model, tokenizers, with_unknown=False)


def test_the_latest_weights_are_converted_in_memory(run: Run) -> None:
    change_latest_weights(run)
    before = cached_checksum(run)
    trained = TrainedModel.load(run, checkpoint="latest", on_warning=pytest.fail)
    assert ctranslate2_model(trained).weights == trained.info.checksum != before
    assert texts(Translator.load(run, pytest.fail, checkpoint="latest"))
    assert cached_checksum(run) == before


@pytest.mark.usefixtures("_without_tensorflow")
def test_without_tensorflow_only_the_keras_engine_is_missing(run: Run) -> None:
    shutil.rmtree(run.ctranslate2_folder)
    shutil.rmtree(run.state_folder)
    assert texts(Translator.load(run, pytest.fail))
    with pytest.raises(PtenmtError, match="needs TensorFlow, which is not installed") as failure:
        Translator.load(run, engine="keras")
    assert failure.value.hint == "install all of ptenmt: in its clone, pip install '.[documents]'"


@pytest.fixture
def two_widths(run: Run, copied: TrainedRun, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that says its keys are narrower than its values; its weights are a model's of one width."""
    model = replace(copied.config.model, key_size=4)
    run.write(replace(copied.config, model=model), {})
    monkeypatch.setattr("ptenmt.runs.trained_model.assign_weights", lambda *_anything: None)
    monkeypatch.setattr("ptenmt.runs.trained_model.model_fingerprint", lambda _config: fingerprint)
    fingerprint = read_info(run.weights_folder / "best.safetensors").model
    return run


def test_the_keras_engine_translates_what_ctranslate2_cannot_express(two_widths: Run) -> None:
    warnings: list[str] = []
    assert Translator.load(two_widths, warnings.append).engine.name == "keras"
    (warning,) = warnings
    assert warning.endswith(
        "(model.key_size=4, model.value_size=8): the Keras engine translates, which is slower"
    )
    with pytest.raises(ExportError, match="one size for a head") as failure:
        Translator.load(two_widths, engine="ctranslate2")
    assert failure.value.hint == "translate with the engine keras"


def test_an_unknown_device_is_refused(copied: TrainedRun) -> None:
    with pytest.raises(PtenmtError, match="CTranslate2 cannot compute on device tpu"):
        Translator.load(copied.path, device="tpu")


def test_weights_of_another_model_are_refused(run: Run, copied: TrainedRun) -> None:
    run.write(replace(copied.config, model=ModelConfig(num_heads=2)), {})
    with pytest.raises(CheckpointError, match=r"best\.safetensors does not fit .*config\.yaml"):
        _ = TrainedModel.load(run).weights
