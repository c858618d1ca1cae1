"""Exporting a trained run."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from copy_task import TrainedRun

from ptenmt import export_model
from ptenmt.errors import CheckpointError, ExportError, OutputError
from ptenmt.export.ctranslate2 import CTRANSLATE2
from ptenmt.export.formats import Format
from ptenmt.export.origin import newest_weights, weights_id
from ptenmt.runs import Run


@pytest.fixture
def run(copied: TrainedRun, tmp_path: Path) -> Run:
    """A copy of the trained run, without its export."""
    copy = Run(Path(shutil.copytree(copied.path, tmp_path / "copy")))
    shutil.rmtree(copy.path / "export", ignore_errors=True)
    return copy


def begun() -> None:
    pytest.fail("TensorFlow is imported")


def test_the_runs_own_export(run: Run):
    (best,) = run.best_models()
    exported = export_model(run)
    assert exported.path == run.export_folder()
    assert exported.weights == run.path / best.name
    found = CTRANSLATE2.read(exported.path)
    assert (exported.num_bytes, exported.quantization) == (found.num_bytes, found.facts.quantization)
    assert found.facts.quantization == "int8"
    assert found.facts.weights == weights_id(run.path / best.name) == newest_weights(run, "best")
    assert 0 < exported.seconds < 10

    latest = export_model(str(run.path), checkpoint="latest", quantization="float32")
    assert latest.path == run.export_folder("latest") != exported.path
    assert CTRANSLATE2.read(latest.path).facts.weights == weights_id(run.path / "ckpt-3")


def test_a_folder_of_ones_own(run: Run, tmp_path: Path):
    assert export_model(run, output=tmp_path / "a" / "b").path == tmp_path / "a" / "b"
    assert export_model(run, output=str(tmp_path / "a" / "b"), quantization="int16").path.exists()
    assert CTRANSLATE2.read(tmp_path / "a" / "b").facts.quantization == "int16"
    (tmp_path / "empty").mkdir()
    export_model(run, output=tmp_path / "empty")
    assert not (run.path / "export").exists()


def test_another_programs_model_is_left_alone(run: Run, tmp_path: Path):
    """It consists of files of the same names."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "model.bin").write_text("precious")
    with pytest.raises(OutputError, match="theirs is not empty and no export") as failure:
        export_model(run, output=theirs)
    assert "--output" in failure.value.hint
    with pytest.raises(OutputError, match="is not empty and no export"):
        export_model(run, output=run.path)
    assert [file.read_text() for file in theirs.iterdir()] == ["precious"]


@pytest.mark.parametrize("form", ["ctranslate2", "savedmodel", "weights"])
def test_what_cannot_be_written_is_told_before_the_work(run: Run, tmp_path: Path, form: Format):
    (tmp_path / "file").write_text("precious")
    for output in (tmp_path / "file", tmp_path / "file" / "below" / "it"):
        with pytest.raises(OutputError, match="is a file, or below one"):
            export_model(run, format=form, output=output, on_tensorflow=begun)
    with pytest.raises(OutputError, match="cannot write /proc/new/export: "):
        export_model(run, format=form, output="/proc/new/export", on_tensorflow=begun)
    assert (tmp_path / "file").read_text() == "precious"
    assert not list(tmp_path.rglob("*.unfinished"))


def test_an_export_in_another_format_is_left_alone(run: Run, tmp_path: Path):
    export_model(run, output=tmp_path / "new")
    with pytest.raises(OutputError, match="new holds an export in the format ctranslate2, not weights"):
        export_model(run, format="weights", output=tmp_path / "new")
    with pytest.raises(OutputError, match="new holds an export in the format ctranslate2, not savedmodel"):
        export_model(run, format="savedmodel", output=tmp_path / "new")
    assert CTRANSLATE2.read(tmp_path / "new")


def test_what_cannot_be_exported_is_told(run: Run, copied: TrainedRun, tmp_path: Path):
    with pytest.raises(ExportError, match="there is no export format onnx"):
        export_model(run, format="onnx", on_tensorflow=begun)  # type: ignore[arg-type]
    config = replace(copied.config, model=replace(copied.config.model, key_size=5))
    run.write(config, {})
    with pytest.raises(ExportError, match="one width for a head's keys and values"):
        export_model(run, output=tmp_path / "new", on_tensorflow=begun)
    run.write(copied.config, {})
    for file in (*run.path.glob("ckpt-*"), *run.path.glob("weights-*")):
        file.unlink()
    with pytest.raises(CheckpointError, match=r"none of the 1 checkpoints"):
        export_model(run, output=tmp_path / "new", on_warning=lambda _damaged: None)
    assert not (tmp_path / "new").exists()


def test_which_weights_are_the_newest(run: Run):
    (best,) = run.best_models()
    assert newest_weights(run, "latest") == weights_id(run.path / "ckpt-3")
    (run.path / "ckpt-3.index").unlink()
    assert newest_weights(run, "latest") == weights_id(run.path / "ckpt-2")
    (run.path / f"{best.name}.index").unlink()
    assert newest_weights(run, "best") == weights_id(run.path / "ckpt-2"), "as translating falls back"
    (run.path / "best.json").write_text("{")
    assert newest_weights(run, "best") is None
