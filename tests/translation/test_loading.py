"""Which engine translates with a run, and what becomes of a missing, outdated or damaged export."""

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from copy_task import TrainedRun

from ptenmt import export_model
from ptenmt.errors import CheckpointError, ExportError, PtenmtError
from ptenmt.export.ctranslate2 import CTRANSLATE2
from ptenmt.export.origin import newest_weights
from ptenmt.runs import Run
from ptenmt.tokenizers import load_tokenizers
from ptenmt.translation import Translator
from ptenmt.translation.loading import Loader

SENTENCES = ["bala", "hime kilo galo", "nado nado pira", "dico fute", "rota mico lume bala"]


@pytest.fixture
def run(copied: TrainedRun, tmp_path: Path) -> Run:
    """A copy of the trained run, with its export."""
    return Run(Path(shutil.copytree(copied.path, tmp_path / "copy")))


@pytest.fixture
def _without_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "tensorflow" else find_spec(name, *rest),
    )


def texts(translator: Translator) -> list[str]:
    return [translation.text for translation in translator.translate(SENTENCES)]


def spoil(run: Run) -> None:
    model = run.export_folder() / "model.bin"
    model.write_bytes(model.read_bytes()[:-10])


def test_both_engines_translate_alike(copied: TrainedRun):
    fast = Translator.load(copied.path, pytest.fail)
    assert (fast.engine.name, fast.engine.compute_type) == ("ctranslate2", "int8")
    reference = Translator.load(copied.path, pytest.fail, engine="keras")
    assert (reference.engine.name, reference.engine.compute_type) == ("keras", "float32")
    assert texts(fast) == texts(reference)


@pytest.mark.parametrize("missing", [True, False])
def test_an_export_is_made_where_it_is_missing_or_outdated(run: Run, missing: bool):
    if missing:
        shutil.rmtree(run.path / "export")
    else:
        export_model(run, checkpoint="latest", output=run.export_folder(), quantization="float32")
        assert CTRANSLATE2.read(run.export_folder()).facts.weights != newest_weights(run, "best")
    translator = Translator.load(run, pytest.fail)
    facts = CTRANSLATE2.read(run.export_folder()).facts
    assert facts.weights == newest_weights(run, "best")
    assert facts.quantization == ("int8" if missing else "float32"), "what was chosen stays"
    assert len(texts(translator)) == len(SENTENCES)
    before = (run.export_folder() / "model.bin").stat().st_mtime_ns
    Translator.load(run, pytest.fail)
    assert (run.export_folder() / "model.bin").stat().st_mtime_ns == before


def test_one_that_somebody_made_in_another_quantization_stays(run: Run):
    export_model(run, quantization="float32")
    assert Translator.load(run, pytest.fail).engine.compute_type == "float32"


def test_a_damaged_one_is_made_anew_in_its_own_quantization(run: Run):
    export_model(run, quantization="int16")
    spoil(run)
    Translator.load(run, lambda _told: None)
    assert CTRANSLATE2.read(run.export_folder()).facts.quantization == "int16"
    (run.export_folder() / "export.json").write_text("{}")
    Translator.load(run, lambda _told: None)
    assert CTRANSLATE2.read(run.export_folder()).facts.quantization == "int8", "nobody can know"


def test_a_damaged_one_is_made_anew_and_that_is_said(run: Run):
    whole = (run.export_folder() / "model.bin").read_bytes()
    spoil(run)
    warnings: list[str] = []
    Translator.load(run, warnings.append)
    assert warnings == [
        f"the export in {run.export_folder()} is damaged: model.bin is not what was written: it is made anew"
    ]
    assert (run.export_folder() / "model.bin").read_bytes() == whole


@pytest.mark.usefixtures("_without_tensorflow")
def test_without_tensorflow_a_whole_export_suffices(run: Run):
    for file in (*run.path.glob("ckpt-*"), *run.path.glob("weights-*")):
        file.unlink()
    assert texts(Translator.load(run, pytest.fail))
    with pytest.raises(PtenmtError, match="TensorFlow, which reads checkpoints, is not installed") as failure:
        Translator.load(run, engine="keras")
    assert "pip install" in failure.value.hint


@pytest.mark.usefixtures("_without_tensorflow")
@pytest.mark.parametrize("what", ["damaged", "missing"])
def test_without_tensorflow_none_can_be_made(run: Run, what: str):
    if what == "damaged":
        spoil(run)
    else:
        shutil.rmtree(run.path / "export")
    with pytest.raises(ExportError, match=r"and none can be made: TensorFlow.*not installed") as failure:
        Translator.load(run, lambda _told: None)
    assert "export" in failure.value.message
    assert "pip install" in failure.value.hint


@pytest.mark.usefixtures("_without_tensorflow")
def test_without_tensorflow_an_outdated_one_translates_and_that_is_said(run: Run):
    (best,) = run.best_models()
    index = run.path / f"{best.name}.index"
    index.write_bytes(index.read_bytes() + b"newer")
    warnings: list[str] = []
    assert texts(Translator.load(run, warnings.append))
    (warning,) = warnings
    assert f"is older than {best.name}, and cannot be made anew: TensorFlow" in warning


def test_what_is_loaded_later_is_of_the_same_weights(run: Run):
    """Or it is told that they are gone, where a training has replaced them."""

    def loaded() -> Loader:
        loader = Loader(run, run.config(), load_tokenizers(run.tokenizer_folder), "latest", pytest.fail)
        loader.engine("ctranslate2")
        return loader

    loaded()  # makes the export
    first, settled = loaded(), loaded()
    settled.settle()
    assert first.origin == settled.origin == newest_weights(run, "latest") != newest_weights(run, "best")
    for file in run.path.glob("ckpt-3.*"):
        file.unlink()
    loaded()
    second = loaded()
    assert second.origin == newest_weights(run, "latest") != first.origin
    with pytest.raises(CheckpointError, match="ckpt-3 cannot be read") as failure:
        _ = first.model
    assert failure.value.hint == "if a training has just replaced it, try again"
    settled.engine("ctranslate2")
    assert settled.weights().facts.weights == settled.origin == first.origin
    assert CTRANSLATE2.read(run.export_folder("latest")).facts.weights == second.origin, "the newest stay"
    index = run.path / "ckpt-2.index"
    index.write_bytes(index.read_bytes() + b"newer")
    with pytest.raises(CheckpointError, match="ckpt-2 is not what was loaded before"):
        second.weights()


def test_weights_that_are_damaged_leave_the_export_at_work(run: Run):
    for file in (*run.path.glob("ckpt-*.index"), *run.path.glob("weights-*.index")):
        file.write_bytes(b"spoilt")
    warnings: list[str] = []
    assert texts(Translator.load(run, warnings.append))
    assert "cannot be made anew: none of the 3 checkpoints" in warnings[-1]


def test_a_run_that_cannot_be_written_is_exported_all_the_same(run: Run):
    shutil.rmtree(run.path / "export")
    (run.path / "export").write_text("in the way")
    warnings: list[str] = []
    assert texts(Translator.load(run, warnings.append))
    (warning,) = warnings
    assert warning.startswith(f"{run.export_folder()} is a file, or below one")
    assert warning.endswith("the export is made anew each time")
    assert (run.path / "export").read_text() == "in the way"


def test_what_this_processor_cannot_compute_in_is_replaced_and_that_is_said(run: Run):
    export_model(run, quantization="float16")
    warnings: list[str] = []
    translator = Translator.load(run, warnings.append)
    assert translator.engine.compute_type == "float32"
    assert warnings == ["cpu cannot compute in float16, as the export has it: float32 is used"]
    assert texts(translator) == texts(Translator.load(run, pytest.fail, engine="keras"))


@pytest.fixture
def two_widths(run: Run, copied: TrainedRun, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that says its keys are narrower than its values; its weights are a model's of one width."""
    model = replace(copied.config.model, key_size=4)
    run.write(replace(copied.config, model=model), {})
    monkeypatch.setattr("ptenmt.checkpoints.assign_weights", lambda *_anything: None)
    return run


def test_the_keras_engine_translates_what_ctranslate2_cannot_express(two_widths: Run):
    warnings: list[str] = []
    assert Translator.load(two_widths, warnings.append).engine.name == "keras"
    (warning,) = warnings
    assert warning.endswith(
        "(model.key_size=4, model.value_size=8): the Keras engine translates, which is slower"
    )
    with pytest.raises(ExportError, match="one width for a head") as failure:
        Translator.load(two_widths, engine="ctranslate2")
    assert failure.value.hint == "translate with the engine keras"


def test_a_device_that_is_none_is_refused(copied: TrainedRun):
    with pytest.raises(PtenmtError, match="CTranslate2 cannot compute on device tpu"):
        Translator.load(copied.path, device="tpu")


@pytest.mark.parametrize("engine", ["ctranslate2", "keras"])
def test_tensorflow_is_announced_before_it_is_loaded(run: Run, engine: str):
    called: list[str] = []
    Translator.load(run, pytest.fail, engine=engine, on_tensorflow=lambda: called.append("soon"))
    assert called == (["soon"] if engine == "keras" else [])
