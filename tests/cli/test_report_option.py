"""``ptenmt evaluate --report``."""

from pathlib import Path

import pytest

from ptenmt.errors import OutputError


@pytest.fixture
def scored(empty: Path) -> list[str]:
    """Arguments to score finished translations."""
    (empty / "right.en").write_text("the cat sleeps here .\nthe dog barks .\n")
    (empty / "ours.en").write_text("the cat eats here .\nthe dog barks .\n")
    return ["evaluate", "--hypotheses", "ours.en", "--reference", "right.en"]


def test_scores_are_printed_before_a_report_is_written(
    ptenmt, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> None:
        raise OutputError("cannot write scores.html: No space left on device")

    monkeypatch.setattr("ptenmt.cli.evaluate.write_report", full)
    answer = ptenmt(*scored, "--report", "scores.html", code=1)
    assert answer.stderr.startswith("error: cannot write scores.html")
    assert "BLEU" in answer.stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scores.pdf", "a report is a page in HTML: scores.pdf must end in .html"),
        ("nowhere/scores.html", "cannot write nowhere/scores.html: there is no folder nowhere"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_the_evaluation(
    ptenmt, scored: list[str], monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    def work(*_args: object, **_options: object) -> None:
        raise AssertionError("evaluated although the report cannot be written")

    monkeypatch.setattr("ptenmt.evaluation.evaluate", work)
    answer = ptenmt(*scored, "--report", name, code=1)
    assert answer.stderr.startswith(f"error: {message}\n")
    assert answer.stdout == ""
    assert not Path(name).exists()
