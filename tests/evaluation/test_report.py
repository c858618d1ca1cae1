import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from copy_task import TrainedRun
from scored_files import write

from ptenmt.errors import OutputError
from ptenmt.evaluation import Evaluation, EvaluationFiles, LoadOptions, evaluate
from ptenmt.evaluation.error_analysis import ErrorAnalysis
from ptenmt.evaluation.report import check_report_file, report_page

HARD = "<script>alert('x')</script> | `a` *b* [c](http://d.e) & \\ _f_ ${g}"
VOID = {"meta", "link", "br", "img"}


class Page(HTMLParser):
    """Reads a page as strictly as XML: what is opened must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self) -> str:
        return " ".join(" ".join(data for tag, data in self.texts if tag != "style").split())


@pytest.fixture(scope="module")
def found(copied: TrainedRun, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Of a text that is hard to escape, with two references."""
    folder = tmp_path_factory.mktemp("texts")
    source = write(folder / "source", ["bala dico", HARD])
    references = [write(folder / "one", ["bala", "galo"]), write(folder / "two", ["", HARD])]
    files = EvaluationFiles(source=source, references=references)
    return evaluate(copied.path, files=files, load=LoadOptions(on_warning=lambda _foreign: None))


@pytest.fixture(scope="module")
def page(found: Evaluation) -> Page:
    return Page(report_page(found))


def test_the_page_tells_it(found: Evaluation, page: Page) -> None:
    bleu, worst = found.scores[0], found.error_analysis.worst[0]
    facts = [
        f"run, {found.checkpoint}: 2 pairs of {found.files['reference'][0]}",
        "pt → en · 2 references",
        f"{found.loss:.4f}",
        f"{bleu.value:.2f} {bleu.low:.2f}–{bleu.high:.2f} detokenized: {bleu.signature.replace('|', ' ')}",
        bleu.signature,
        f"{found.sentences_per_second:,.1f}",
        "empty translations",
        f"{worst.row} {worst.score:.1f} {HARD} galo | {HARD} {worst.hypothesis}",
        found.test_set.fingerprint(),
        "model.d_model 32",
    ]
    assert [fact for fact in facts if fact not in page.text()] == []
    assert [text for tag, text in page.texts if tag == "h2"] == [
        *("Scores", "Error analysis", "By source length", "Worst sentences", "Setup", "Config")
    ]


def test_the_page_asks_for_nothing_and_runs_nothing(page: Page) -> None:
    assert "script" not in {tag for tag, _ in page.tags}
    targets = [attributes[key] for _, attributes in page.tags for key in ("src", "href") if key in attributes]
    assert targets
    assert all(str(target).startswith(("#", "data:")) for target in targets)
    style = next(text for tag, text in page.texts if tag == "style")
    assert not re.search(r"@import|url\(|http", style)
    policies = [attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_the_same_figures_are_facts(found: Evaluation) -> None:
    facts = json.loads(json.dumps(found.facts()))
    assert facts["error_analysis"]["worst"][0]["source"] == HARD
    assert facts["scores"][0]["low"] == found.scores[0].low
    assert facts["sentences_per_second"] == pytest.approx(2 / found.search.seconds)
    assert not facts.keys() & {"test_set", "output"}


def test_what_there_is_not_is_left_out(found: Evaluation) -> None:
    nothing = ErrorAnalysis(by_length=[], worst=[], degenerate_outputs=[])
    bare = replace(found, error_analysis=nothing, num_truncated=None, folder=None, search=None)
    page = Page(report_page(bare))
    assert [text for tag, text in page.texts if tag == "h2"] == ["Scores", "Setup"]
    assert "hypotheses from a file" in page.text()


def test_another_ending_is_an_error() -> None:
    with pytest.raises(OutputError, match="a report is a page in HTML"):
        check_report_file(Path("report.json"))
