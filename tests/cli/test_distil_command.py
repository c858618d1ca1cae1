"""``ptenmt distil``: a student, a table, and what is said of both."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ptenmt.training import distillation
from ptenmt.training.distillation import Distillation, MeasuredRun
from ptenmt.training.session import TrainingResult

STUDENT = [
    "--config",
    "tiny.yaml",
    "--run",
    "student",
    "--set",
    "training.epochs=1",
    "--set",
    "model.d_model=8",
]


def test_a_student_is_trained_and_compared_with_its_teacher(ptenmt, copied_run: Path) -> None:
    answer = ptenmt("distil", "--teacher", "tiny", *STUDENT, "--keep", "0.9")
    title, header, student, teacher = answer.lines
    assert title == "validation pairs"
    assert header.split()[:6] == ["run", "search", "BLEU", "student's", "sentences/s", "student's"]
    assert student.startswith("student  ctranslate2, int8, greedy")
    assert student.endswith(" kB")
    assert teacher.startswith("tiny     ctranslate2, int8, beam 4")
    assert teacher.split()[-3:-1] != ["–", "–"]
    assert " ×  " in teacher
    assert "training pairs" in answer.stderr
    assert (copied_run / "checkpoints" / "student" / "weights" / "best.safetensors").exists()
    assert "BLEU" in ptenmt("evaluate", "--run", "student", "--split", "validation").stdout

    again = ptenmt("distil", "--teacher", "tiny", *STUDENT, "--keep", "0.9")
    assert "nothing left to do" in again.stderr
    assert [line.split()[:5] for line in again.lines] == [line.split()[:5] for line in answer.lines]


def result(folder: Path, *teachers: float, stopped_by: int | None = None) -> Distillation:
    """As if the student had reached 20 BLEU."""
    measured = MeasuredRun(name="s", search="greedy", bleu=20, sentences_per_second=10, num_bytes=5_100_000)
    training = TrainingResult(run=folder, history=[], stopped_by=stopped_by, is_saved=True)
    others = [
        replace(measured, name=f"t{number}", bleu=bleu, sentences_per_second=2.5, num_bytes=None)
        for number, bleu in enumerate(teachers)
    ]
    student = measured if stopped_by is None else None
    return Distillation(training=training, folder=folder, student=student, teachers=others)


def test_a_teacher_that_is_worse_than_its_student_is_named(
    ptenmt, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distillation, "distil", lambda *_given, **_how: result(beside, 25, 18.5, 0))
    answer = ptenmt("distil", "--teacher", "tiny", *STUDENT)
    assert [line.split() for line in answer.lines[2:]] == [
        ["s", "greedy", "20.00", "–", "10", "–", "5.1", "MB"],
        ["t0", "greedy", "25.00", "80.0%", "2", "4.0", "×", "–"],
        ["t1", "greedy", "18.50", "108.1%", "2", "4.0", "×", "–"],
        ["t2", "greedy", "0.00", "–", "2", "4.0", "×", "–"],
    ]
    assert answer.stderr.splitlines() == [
        f"distilled pairs: {beside}",
        "warning: the teacher t1 scores 18.50 BLEU, less than its student",
        "warning: the teacher t2 scores 0.00 BLEU, less than its student",
    ]


def test_an_interruption_names_the_command_that_resumes(
    ptenmt, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_given: object, **_how: object) -> Distillation:
        raise KeyboardInterrupt

    said = f"stopped; resume with\n  ptenmt distil --teacher tiny {' '.join(STUDENT)}\n"
    monkeypatch.setattr(distillation, "distil", interrupted)
    assert ptenmt("distil", "--teacher", "tiny", *STUDENT, code=130).stderr == said
    monkeypatch.setattr(distillation, "distil", lambda *_given, **_how: result(beside, stopped_by=15))
    assert ptenmt("distil", "--teacher", "tiny", *STUDENT, code=143).stderr == said


def test_what_cannot_be_distilled_is_one_line(ptenmt, copied_run: Path) -> None:
    for options, message in (
        (["--teacher", "nowhere", *STUDENT], "no run in checkpoints/nowhere"),
        (
            ["--teacher", "tiny", "--config", "next-word.yaml"],
            "task=next-word has no translations to learn from",
        ),
        (["--teacher", "tiny", *STUDENT, "--keep", "2"], "keep=2.0 must be above 0 and at most 1"),
        (["--teacher", "tiny", *STUDENT, "--run", "tiny"], "checkpoints/tiny cannot be its own teacher"),
    ):
        assert ptenmt("distil", *options, code=1).stderr.startswith(f"error: {message}")
    assert "missing option '--teacher'" in ptenmt("distil", *STUDENT, code=2).stderr
    shutil.copytree(copied_run / "checkpoints" / "tiny", copied_run / "checkpoints" / "words")
    config = copied_run / "checkpoints" / "words" / "config.yaml"
    text = config.read_text().replace("task: translation", "task: next-word")
    config.write_text(text.replace("metric: bleu", "metric: loss"))
    told = ptenmt("distil", "--teacher", "words", *STUDENT, code=1).stderr
    assert told.startswith(
        "error: checkpoints/words is a next-word run; this command needs a translation run"
    )
