"""Exporting a trained run."""

import json
import shutil
from pathlib import Path

import pytest

from ptenmt import export_model
from ptenmt.errors import CheckpointError, ExportError, OutputError
from ptenmt.runs import Run


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


def test_an_output_that_exists_is_refused(run: Run, tmp_path: Path):
    assert export_model(run, output=str(tmp_path / "a" / "b")).path == tmp_path / "a" / "b"
    assert not list(tmp_path.rglob("*.unfinished"))
    before = contents(tmp_path)
    with pytest.raises(OutputError, match="b exists") as failure:
        export_model(run, output=tmp_path / "a" / "b")
    assert "--output" in failure.value.hint
    assert contents(tmp_path) == before
    assert not (run.path / "export").exists()


def test_an_unwritable_output_is_an_error_before_the_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ptenmt.export.packaging._files", None)
    (tmp_path / "file").write_text("precious")
    for output in (tmp_path / "file", tmp_path / "file" / "below" / "it"):
        with pytest.raises(OutputError, match="exists|is a file|Not a directory"):
            export_model(run, output=output)
    with pytest.raises(OutputError, match="cannot write /proc/new/export: "):
        export_model(run, output="/proc/new/export")
    assert (tmp_path / "file").read_text() == "precious"
    assert not list(tmp_path.rglob("*.unfinished"))


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_unsupported_exports_are_errors(run: Run, tmp_path: Path):
    with pytest.raises(ExportError, match="there is no export format onnx"):
        export_model(run, format="onnx")  # type: ignore[arg-type]
    with pytest.raises(ExportError, match="the format weights is in float32, not in int16"):
        export_model(run, format="weights", quantization="int16", output=tmp_path / "new")
    shutil.rmtree(run.weights_folder)
    with pytest.raises(CheckpointError, match="no weights in"):
        export_model(run, output=tmp_path / "new", on_warning=lambda _damaged: None)
    assert not (tmp_path / "new").exists()
