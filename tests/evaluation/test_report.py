import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from copy_task import TrainedRun
from sample_evaluation import HARD, evaluation

from ptenmt.errors import OutputError
from ptenmt.evaluation.error_analysis import ErrorAnalysis
from ptenmt.evaluation.report import check_report_file, report_page

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
def page() -> Page:
    return Page(report_page(evaluation()))


FACTS = [
    "answers.txt: 1,800 pairs of a.en",
    "31.42",
    "30.25–32.75",  # mean and margin, 31.5 ± 1.25
    "tokenized: nrefs:1 case:mixed",
    "nrefs:1|case:mixed|tok:13a",
    "33.30",
    "1,500",
    "empty translations",
    "15.7",
    "1,234 43.2",
    "a dog barks | the cat sleeps here",
    "600.0",
    "b.en",
]


def test_the_page_tells_it(page: Page) -> None:
    assert [fact for fact in FACTS if fact not in page.text()] == []


def test_the_page_asks_for_nothing_and_runs_nothing(page: Page) -> None:
    assert "script" not in {tag for tag, _ in page.tags}
    targets = [attributes[key] for _, attributes in page.tags for key in ("src", "href") if key in attributes]
    assert targets
    assert all(str(target).startswith(("#", "data:")) for target in targets)
    style = next(text for tag, text in page.texts if tag == "style")
    assert not re.search(r"@import|url\(|http", style)
    policies = [attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_texts_stay_texts(page: Page) -> None:
    assert HARD in page.text()


def test_the_same_figures_are_facts() -> None:
    facts = evaluation().facts()
    assert facts["error_analysis"]["worst"][1]["source"] == HARD
    assert (facts["scores"][0]["low"], facts["scores"][0]["high"]) == (30.25, 32.75)
    assert facts["sentences_per_second"] == 600
    assert not facts.keys() & {"test_set", "output"}


def test_what_there_is_not_is_left_out() -> None:
    nothing = ErrorAnalysis(by_length=[], worst=[], degenerate_outputs=[])
    bare = evaluation(
        error_analysis=nothing,
        search=None,
        files={},
        pairs_name="test pairs",
    )
    page = Page(report_page(bare))
    titles = [text for tag, text in page.texts if tag == "h2"]
    assert titles == ["Scores", "Setup"]
    assert "hypotheses from a file" in page.text()


@pytest.mark.parametrize("name", ["report", "report.json", ".html"])
def test_another_ending_is_an_error(name: str) -> None:
    with pytest.raises(OutputError, match="a report is a page in HTML"):
        check_report_file(Path(name))


def of_run(folder: Path) -> dict[str, object]:
    return {"folder": str(folder), "checkpoint": "weights-3", "split": "test", "loss": 2.0, "accuracy": 0.5}


def test_a_run_shows_its_options(copied: TrainedRun) -> None:
    page = Page(report_page(evaluation(**of_run(copied.path))))
    assert "model.d_model 32" in page.text()
    assert "7.39" in page.text()  # the perplexity, exp(2)
    assert "pt → en" in page.text()
