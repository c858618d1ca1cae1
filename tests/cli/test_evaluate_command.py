"""``ptenmt evaluate``."""

import json
import math
import re
from pathlib import Path

import pytest

from ptenmt.errors import OutputError

SIGNATURE = "nrefs:1 bs:1000 seed:12345 case:mixed eff:no tok:13a smooth:exp version:"


@pytest.mark.usefixtures("beside")
def test_the_table_and_json_agree(ptenmt) -> None:
    answer = ptenmt("evaluate", "--run", "tiny")
    report = json.loads(ptenmt("evaluate", "--run", "tiny", "--json").stdout)
    table = answer.stdout

    assert re.match(r"tiny, best \(step \d+\): 6 test pairs\n", table)
    assert (report["name"], report["split"], report["num_pairs"]) == ("tiny", "test", 6)
    assert report["perplexity"] == pytest.approx(math.exp(report["loss"]))
    assert f"{report['loss']:.4f}" in table
    assert f"{report['perplexity']:.2f}" in table
    assert [score["name"] for score in report["scores"]] == ["BLEU", "chrF2++", "TER"]
    for score in report["scores"]:
        assert f" {score['value']:.2f} " in table
        assert score["signature"].replace("|", " ") in table
        assert f" {score['low']:.2f}–{score['high']:.2f} " in table
    assert SIGNATURE in table
    assert re.search(r"(?m)^speed +[\d,]+\.\d +sentences/s: ctranslate2, int8, beam 4", table)
    assert "truncated texts" not in table
    assert answer.stderr == ""


@pytest.mark.usefixtures("beside")
def test_the_details_and_the_texts(ptenmt, tmp_path: Path) -> None:
    table = ptenmt("evaluate", "--details", "--output", str(tmp_path / "texts")).stdout
    assert re.search(r"(?m)^empty translations +0  no text at all$", table)
    assert re.search(r"(?m)^truncated translations +\d+  length limit reached", table)
    assert "\nby source length\n" in table
    assert "\nworst sentences\n" in table
    names = {"source", "detokenized.hypotheses", "detokenized.reference"}
    texts = {file.stem: file.read_text() for file in (tmp_path / "texts").glob("*.txt")}
    assert texts.keys() == names


@pytest.mark.usefixtures("beside")
def test_the_search_can_be_changed(ptenmt) -> None:
    def found(*words: str) -> dict[str, object]:
        search = json.loads(ptenmt("evaluate", *words, "--json").stdout)["search"]
        return {name: search[name] for name in ("beam_size", "length_penalty", "num_truncated")}

    changed = found("--set", "decoding.length_penalty=0.25", "--set", "decoding.max_length=1")
    assert changed == {"beam_size": 4, "length_penalty": 0.25, "num_truncated": 6}
    greedy = found("--split", "validation", "--set", "decoding.beam_size=8", "--beam-size", "1")
    assert greedy["beam_size"] == 1, "the option with a name of its own wins"
    assert greedy["num_truncated"] < 6


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


def test_a_place_that_cannot_be_written_is_refused_before_the_evaluation(
    ptenmt, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptenmt.evaluation.evaluate", None)
    for option, name, message in (
        ("--report", "scores.pdf", "a report is a page in HTML: scores.pdf must end in .html"),
        ("--report", "nowhere/scores.html", "cannot write nowhere/scores.html: there is no folder nowhere"),
        ("--output", "ours.en", "cannot create ours.en: "),
        ("--output", "ours.en/below", "cannot create ours.en/below: "),
        ("--output", ".", ". is not empty"),
    ):
        assert ptenmt(*scored, option, name, code=1).stderr.startswith(f"error: {message}")
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["ours.en", "right.en"]
