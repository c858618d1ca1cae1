"""``ptenmt evaluate --report``."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def scored(empty: Path) -> list[str]:
    """Words that have finished translations scored, with a rival."""
    (empty / "right.en").write_text("the cat sleeps here .\nthe dog barks .\n")
    (empty / "ours.en").write_text("the cat eats here .\nthe dog barks .\n")
    (empty / "theirs.en").write_text("a dog <sings> .\nno .\n")
    return ["evaluate", "--hypotheses", "ours.en", "--reference", "right.en", "--baseline", "theirs.en"]


def test_each_kind_of_report_has_what_the_table_has(ptenmt, scored: list[str]) -> None:
    table = ptenmt(*scored).stdout
    written = {}
    for name in ("report.html", "report.md", "report.json"):
        assert ptenmt(*scored, "--report", name).stdout == table
        written[name] = Path(name).read_text(encoding="utf-8")
    bleu = json.loads(written["report.json"])["scores"][0]["value"]
    assert f" {bleu:.2f} " in table
    assert f">{bleu:.2f}</td>" in written["report.html"]
    assert f"| {bleu:.2f} |" in written["report.md"]
    assert '<mark class="extra">eats</mark>' in written["report.html"]
    assert "&lt;sings&gt;" in written["report.html"]
    assert "Against theirs.en" in written["report.md"]


def test_several_reports_are_all_written_or_none(ptenmt, scored: list[str]) -> None:
    names = ["scores.html", "scores.md", "scores.json"]
    words = [word for name in names for word in ("--report", name)]
    answer = ptenmt(*scored, *words, "--report", "nowhere/scores.md", code=1)
    assert "cannot write nowhere/scores.md" in answer.stderr
    assert not any(Path(name).exists() for name in names)
    ptenmt(*scored, *words)
    assert Path(names[0]).read_text().startswith("<!doctype html>")
    assert Path(names[1]).read_text().startswith("# ours.en")
    assert json.loads(Path(names[2]).read_text())["name"] == "ours.en"


def test_an_unknown_ending_is_told_before_the_work(
    ptenmt, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_args: object, **_options: object) -> None:
        raise AssertionError("evaluated although the report has no kind")

    monkeypatch.setattr("ptenmt.evaluation.evaluate", work)
    answer = ptenmt(*scored, "--report", "scores.pdf", code=1)
    assert answer.stderr == (
        "error: cannot tell from its name which kind of report scores.pdf is to be\n"
        "  end it in .html, .htm, .md, .markdown, .json\n"
    )
    assert not Path("scores.pdf").exists()
