"""``ptenmt export``."""

import re
from pathlib import Path

import pytest

from ptenmt.runs.weights import best_weights


def test_it_reports_what_it_has_written(ptenmt, copied_run: Path) -> None:
    (best,) = best_weights(copied_run / "checkpoints/tiny/weights")
    answer = ptenmt("export", "--quantization", "float32")
    folder = "checkpoints/tiny/export/ctranslate2"
    message = rf"exported best \(step {best.step}\) as ctranslate2 in float32: {folder}, \d+ kB, \d+\.\d s\n"
    assert re.fullmatch(message, answer.stderr)
    assert answer.stdout == ""
    assert (copied_run / folder / "model.bin").exists()
    assert ptenmt("export", "--format", "ctranslate2", "--checkpoint", "latest", "--quiet").stderr == ""
    assert (copied_run / "checkpoints/tiny/export/ctranslate2-latest/model.bin").exists()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("pairs.tsv", "pairs.tsv is not a folder"),
        ("checkpoints", "checkpoints is not empty and not an export"),
        ("pairs.tsv/new", "cannot write pairs.tsv/new: Not a directory"),
    ],
)
@pytest.mark.parametrize("form", ["ctranslate2", "savedmodel"])
@pytest.mark.usefixtures("beside")
def test_other_files_at_the_output_are_kept_and_an_error_before_the_work(
    ptenmt, form: str, output: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptenmt.export.packaging._files", lambda *_arguments: pytest.fail("work has begun"))
    answer = ptenmt("export", "--format", form, "--output", output, code=1)
    assert answer.stderr.startswith(f"error: {message}\n")
    assert Path("pairs.tsv").is_file()


@pytest.mark.parametrize("option", [("--quantization", "int4"), ("--format", "onnx")])
@pytest.mark.usefixtures("beside")
def test_what_there_is_not_is_a_mistyped_command(ptenmt, option: tuple[str, str]) -> None:
    assert option[1] in ptenmt("export", *option, code=2).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "argos"), "tokenizer.kind=words, tokenizer.shared=false"),
        (("--format", "weights", "--quantization", "int8"), "the format weights is in float32, not in int8"),
    ],
)
@pytest.mark.usefixtures("beside")
def test_what_does_not_go_together(ptenmt, words: tuple[str, ...], message: str) -> None:
    assert message in ptenmt("export", *words, code=1).stderr
