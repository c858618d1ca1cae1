"""``ptenmt export``."""

import re
from pathlib import Path

import pytest

from ptenmt.export.ctranslate2 import CTRANSLATE2
from ptenmt.runs import Run


def test_it_says_what_it_has_written(ptenmt, copied_run: Path) -> None:
    run = Run(Path("checkpoints/tiny"))
    (best,) = run.best_models()
    answer = ptenmt("export", "--quantization", "float32")
    told = rf"exported {best.name} in float32: checkpoints/tiny/export/ctranslate2, \d+ kB, \d+\.\d s\n"
    assert re.fullmatch(told, answer.stderr)
    assert answer.stdout == ""
    assert CTRANSLATE2.read(copied_run / run.export_folder()).facts.quantization == "float32"
    assert ptenmt("export", "--format", "ctranslate2", "--checkpoint", "latest", "--quiet").stderr == ""
    assert CTRANSLATE2.read(run.export_folder("latest")).facts.weights.startswith("ckpt-1:")


@pytest.mark.usefixtures("beside")
def test_another_folder(ptenmt, tmp_path: Path) -> None:
    assert f": {tmp_path / 'new'}, " in ptenmt("export", "--output", str(tmp_path / "new")).stderr
    assert CTRANSLATE2.read(tmp_path / "new")


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("pairs.tsv", "pairs.tsv is a file, or below one"),
        ("checkpoints", "checkpoints is not empty and no export"),
        ("pairs.tsv/new", "pairs.tsv/new is a file, or below one"),
    ],
)
@pytest.mark.usefixtures("beside")
def test_what_stands_there_is_not_harmed(ptenmt, output: str, told: str) -> None:
    answer = ptenmt("export", "--output", output, code=1)
    assert answer.stderr.startswith(f"error: {told}\n")
    assert Path("pairs.tsv").is_file()


@pytest.mark.parametrize("option", [("--quantization", "int4"), ("--format", "onnx")])
@pytest.mark.usefixtures("beside")
def test_what_there_is_not_is_a_mistyped_command(ptenmt, option: tuple[str, str]) -> None:
    assert option[1] in ptenmt("export", *option, code=2).stderr
