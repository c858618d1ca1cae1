"""Exporting a trained run."""

import json
import shutil
from pathlib import Path

import pytest

from ptenmt import export_model
from ptenmt.errors import CheckpointError, ExportError, OutputError
from ptenmt.export.packaging import Format
from ptenmt.runs import Run


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptenmt.export.packaging._files", lambda *_arguments: pytest.fail("work has begun"))


def test_the_default_place_is_below_the_run(run: Run):
    exported = export_model(run)
    assert exported.path == run.path / "export" / "ctranslate2"
    assert (exported.weights.file.stem, exported.quantization) == ("best", "int8")
    files = [file for file in exported.path.iterdir() if file.name not in ("SHA256SUMS", "README.md")]
    assert exported.num_bytes >= sum(file.stat().st_size for file in files)
    assert exported.seconds > 0
    assert json.loads((exported.path / "export.json").read_text()) == {
        "format": "ctranslate2",
        "weights": exported.weights.label,
        "checksum": exported.weights.checksum,
        "languages": ["pt", "en"],
        "source_marks": "both",
        "alignment_layer": 1,
        "licence": "",
    }
    assert (exported.path / "tokenizer" / "tokenizer.json").exists()
    cached = (run.ctranslate2_folder / "model.bin").read_bytes()
    assert (exported.path / "model.bin").read_bytes() == cached

    latest = export_model(str(run.path), checkpoint="latest", quantization="float32")
    assert latest.path == run.path / "export" / "ctranslate2-latest"
    assert latest.weights.file.stem == "latest"
    assert latest.num_bytes > exported.num_bytes


def test_a_folder_of_ones_own(run: Run, tmp_path: Path):
    assert export_model(run, output=tmp_path / "a" / "b").path == tmp_path / "a" / "b"
    assert export_model(run, output=str(tmp_path / "a" / "b"), quantization="int16").path.exists()
    assert not list(tmp_path.rglob("*.unfinished"))
    (tmp_path / "empty").mkdir()
    export_model(run, output=tmp_path / "empty")
    assert not (run.path / "export").exists()


def test_another_programs_model_is_left_alone(run: Run, tmp_path: Path):
    """It consists of files of the same names."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "model.bin").write_text("precious")
    with pytest.raises(OutputError, match="theirs is not empty and not an export") as failure:
        export_model(run, output=theirs)
    assert "--output" in failure.value.hint
    with pytest.raises(OutputError, match="is not empty and not an export"):
        export_model(run, output=run.path)
    assert [file.read_text() for file in theirs.iterdir()] == ["precious"]


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("form", ["ctranslate2", "savedmodel", "weights"])
def test_an_unwritable_output_is_an_error_before_the_work(run: Run, tmp_path: Path, form: Format):
    (tmp_path / "file").write_text("precious")
    for output in (tmp_path / "file", tmp_path / "file" / "below" / "it"):
        with pytest.raises(OutputError, match="is a file|is not a folder|Not a directory"):
            export_model(run, format=form, output=output)
    with pytest.raises(OutputError, match="cannot write /proc/new/export: "):
        export_model(run, format=form, output="/proc/new/export")
    assert (tmp_path / "file").read_text() == "precious"
    assert not list(tmp_path.rglob("*.unfinished"))


def test_an_export_in_another_format_is_left_alone(run: Run, tmp_path: Path):
    export_model(run, output=tmp_path / "new")
    with pytest.raises(OutputError, match="new holds an export in the format ctranslate2, not weights"):
        export_model(run, format="weights", output=tmp_path / "new")
    with pytest.raises(OutputError, match="new holds an export in the format ctranslate2, not savedmodel"):
        export_model(run, format="savedmodel", output=tmp_path / "new")
    assert json.loads((tmp_path / "new" / "export.json").read_text())["format"] == "ctranslate2"


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_full_disk_leaves_the_old_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    export_model(run, output=tmp_path / "new")
    before = contents(tmp_path / "new")

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ptenmt.atomic_files.sync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        export_model(run, output=tmp_path / "new", quantization="float32")
    assert contents(tmp_path / "new") == before
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith((".new", "new"))] == ["new"]


def test_unsupported_exports_are_errors(run: Run, tmp_path: Path):
    with pytest.raises(ExportError, match="there is no export format onnx"):
        export_model(run, format="onnx")  # type: ignore[arg-type]
    shutil.rmtree(run.weights_folder)
    with pytest.raises(CheckpointError, match="no weights in"):
        export_model(run, output=tmp_path / "new", on_warning=lambda _damaged: None)
    assert not (tmp_path / "new").exists()
