"""An evaluation as a report that can be passed on: a page, a text, or facts for programs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from ptenmt.atomic_files import json_text, written_whole
from ptenmt.errors import OutputError
from ptenmt.evaluation.report_contents import report_of
from ptenmt.evaluation.report_html import html_page
from ptenmt.evaluation.report_markdown import markdown_text
from ptenmt.evaluation.report_run import RunFacts, run_facts, surroundings
from ptenmt.evaluation.results import Evaluation

ReportFormat = Literal["html", "markdown", "json"]
_FORMATS: dict[str, ReportFormat] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
}
"""By the endings of files."""


def report_format(file: Path) -> ReportFormat:
    """Which report a file is to be.

    Raises:
        OutputError: Its ending says none.
    """
    ending = file.suffix.lower()
    if ending not in _FORMATS:
        raise OutputError(
            f"cannot tell from its name which kind of report {file} is to be",
            f"end it in {', '.join(_FORMATS)}",
        )
    return _FORMATS[ending]


@contextmanager
def opened_report(file: Path) -> Iterator[Callable[[Evaluation], None]]:
    """Write a report, whole or not at all; that it cannot be written is told before there is any.

    Args:
        file: Its ending says which kind of report it is to be.

    Yields:
        What writes the report into it.

    Raises:
        OutputError: The ending says none, or the file cannot be written; what stood there before is unharmed.
    """
    form = report_format(file)
    with written_whole(file) as stream:

        def write(evaluation: Evaluation) -> None:
            stream.write(report_text(evaluation, form))

        yield write


def report_text(evaluation: Evaluation, form: ReportFormat) -> str:
    """Write an evaluation up; what is known of its run is part of it.

    Args:
        evaluation: What was found.
        form: ``html``: one page that needs no other file and no network; ``markdown``: the same as text;
            ``json``: the same as facts.

    Raises:
        RunError: The run has been damaged meanwhile.
    """
    run = None if evaluation.folder is None else run_facts(Path(evaluation.folder))
    if form == "json":
        return json_text(_facts(evaluation, run), indent=2) + "\n"
    report = report_of(evaluation, run)
    return html_page(report) if form == "html" else markdown_text(report)


def _facts(evaluation: Evaluation, run: RunFacts | None) -> dict[str, Any]:
    """What the other reports show, by name."""
    return evaluation.facts() | {
        "run": None if run is None else run.facts(),
        "surroundings": surroundings(),
    }
