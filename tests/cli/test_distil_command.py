"""``ptenmt distil``: a student, a table, and what is said of both."""

from pathlib import Path

import pytest

from ptenmt.runs import Run
from ptenmt.training import distillation
from ptenmt.training.distillation import Distillation
from ptenmt.training.session import TrainingResult

STUDENT = ["--config", "tiny.yaml", "--run", "student", "--set", "training.epochs=1"]


@pytest.mark.usefixtures("_uncompiled")
def test_a_student_is_trained_and_compared_with_its_teacher(ptenmt, copied_run: Path) -> None:
    warm = ["distil", "--teacher", "tiny", *STUDENT, "--init-from", "tiny", "--threads", "1"]
    answer = ptenmt(*warm)
    assert [line.split() for line in answer.lines[:2]] == [["runs"], ["student", "tiny"]]
    assert "validation pairs: BLEU" in answer.stdout
    facts = Run(copied_run / "checkpoints" / "student").facts()
    assert facts["initialized_from"].startswith(str(copied_run / "checkpoints" / "tiny"))
    assert "distilled_from" in facts

    again = ptenmt(*warm)
    assert "nothing left to do" in again.stderr
    assert "BLEU" in again.stdout, "the same command repeats the comparison"
    other = ["distil", "--teacher", "tiny", *STUDENT, "--set", "model.d_model=8"]
    assert "start over with --fresh" in ptenmt(*other, code=1).stderr


def test_an_interruption_names_the_command_that_resumes(
    ptenmt, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_given: object, **_how: object) -> Distillation:
        raise KeyboardInterrupt

    said = f"stopped; resume with\n  ptenmt distil --teacher tiny {' '.join(STUDENT)}\n"
    monkeypatch.setattr(distillation, "distil", interrupted)
    assert ptenmt("distil", "--teacher", "tiny", *STUDENT, code=130).stderr == said
    training = TrainingResult(run=beside, history=[], stopped_by=15, is_saved=True)
    stopped = Distillation(training=training, folder=beside, teacher=Run(beside))
    monkeypatch.setattr(distillation, "distil", lambda *_given, **_how: stopped)
    assert ptenmt("distil", "--teacher", "tiny", *STUDENT, code=143).stderr == said


@pytest.mark.usefixtures("beside")
def test_next_words_cannot_be_distilled(ptenmt) -> None:
    error = ptenmt("distil", "--teacher", "tiny", "--config", "next-word.yaml", code=1).stderr
    assert error.startswith("error: task=next-word has no translations to learn from")
