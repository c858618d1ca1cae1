"""``ptenmt evaluate --report``."""

import json
from pathlib import Path

import pytest

from ptenmt.errors import OutputError


@pytest.fixture
def scored(empty: Path) -> list[str]:
    """Arguments to score finished translations against a baseline."""
    (empty / "right.en").write_text("the cat sleeps here .\nthe dog barks .\n")
    (empty / "ours.en").write_text("the cat eats here .\nthe dog barks .\n")
    (empty / "theirs.en").write_text("a dog <sings> .\nno .\n")
    return ["evaluate", "--hypotheses", "ours.en", "--reference", "right.en", "--baseline", "theirs.en"]


def test_each_kind_of_report_has_what_the_table_has(ptenmt, scored: list[str]) -> None:
    table = ptenmt(*scored).stdout
    written = {}
    for name in ("report.html", "report.json"):
        assert ptenmt(*scored, "--report", name).stdout == table
        written[name] = Path(name).read_text(encoding="utf-8")
    bleu = json.loads(written["report.json"])["scores"][0]["value"]
    assert f" {bleu:.2f} " in table
    assert f">{bleu:.2f}</td>" in written["report.html"]
    assert '<mark class="extra">eats</mark>' in written["report.html"]
    assert "&lt;sings&gt;" in written["report.html"]
    assert "Against theirs.en" in written["report.html"]


def test_reports_that_cannot_be_written_are_refused_before_the_evaluation(ptenmt, scored: list[str]) -> None:
    names = ["scores.html", "scores.json"]
    words = [word for name in names for word in ("--report", name)]
    answer = ptenmt(*scored, *words, "--report", "nowhere/scores.html", code=1)
    assert "cannot write nowhere/scores.html" in answer.stderr
    assert answer.stdout == ""
    assert not any(Path(name).exists() for name in names)
    ptenmt(*scored, *words)
    assert Path(names[0]).read_text().startswith("<!doctype html>")
    assert json.loads(Path(names[1]).read_text())["name"] == "ours.en"


def test_scores_are_printed_before_a_report_is_written(
    ptenmt, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object) -> None:
        raise OutputError("cannot write scores.html: No space left on device")

    monkeypatch.setattr("ptenmt.cli.evaluate.write_report", full)
    answer = ptenmt(*scored, "--report", "scores.html", code=1)
    assert answer.stderr.startswith("error: cannot write scores.html")
    assert "BLEU" in answer.stdout


def test_an_unknown_extension_is_refused_before_the_evaluation(
    ptenmt, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_args: object, **_options: object) -> None:
        raise AssertionError("evaluated although the report has no kind")

    monkeypatch.setattr("ptenmt.evaluation.evaluate", work)
    answer = ptenmt(*scored, "--report", "scores.pdf", code=1)
    assert answer.stderr == (
        "error: unknown report format: scores.pdf\n  use one of the extensions .html, .json\n"
    )
    assert not Path("scores.pdf").exists()


def test_the_scores_survive_a_report_that_cannot_be_written(
    ptenmt, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_evaluation: object, file: Path) -> None:
        raise OutputError(f"cannot write {file}: No space left on device")

    table = ptenmt(*scored).stdout
    monkeypatch.setattr("ptenmt.cli.evaluate.write_report", fail)
    answer = ptenmt(*scored, "--report", "scores.html", code=1)
    assert answer.stdout == table
    assert answer.stderr == "error: cannot write scores.html: No space left on device\n"


def test_copies_are_not_counted_without_sources(ptenmt, scored: list[str]) -> None:
    table = ptenmt(*scored).stdout
    assert "empty translations" in table
    assert "copied translations" not in table
