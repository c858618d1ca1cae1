"""``ptenmt export``."""

import re
from pathlib import Path

import pytest

from ptenmt.runs.weights import read_info


def test_it_reports_what_it_has_written(ptenmt, copied_run: Path) -> None:
    best = read_info(copied_run / "checkpoints/tiny/weights" / "best.safetensors")
    answer = ptenmt("export", "--quantization", "float32")
    folder = "checkpoints/tiny/export/ctranslate2"
    message = rf"exported best \(step {best.step}\) as ctranslate2 in float32: {folder}, \d+ kB, \d+\.\d s\n"
    assert re.fullmatch(message, answer.stderr)
    assert answer.stdout == ""
    assert (copied_run / folder / "model.bin").exists()
    assert ptenmt("export", "--format", "ctranslate2", "--checkpoint", "latest", "--quiet").stderr == ""
    assert (copied_run / "checkpoints/tiny/export/ctranslate2-latest/model.bin").exists()


@pytest.mark.parametrize("option", [("--quantization", "int4"), ("--format", "onnx")])
@pytest.mark.usefixtures("beside")
def test_what_there_is_not_is_a_mistyped_command(ptenmt, option: tuple[str, str]) -> None:
    assert option[1] in ptenmt("export", *option, code=2).stderr
