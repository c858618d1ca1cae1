"""The report of an evaluation: one HTML page that needs no other file and no network."""

import platform
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from ptenmt.atomic_files import check_writable, write_text
from ptenmt.config.loading import flat_options, show_value
from ptenmt.errors import OutputError
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.evaluation.score_tables import evaluation_tables
from ptenmt.inspection.figures import Table
from ptenmt.runs import Run, versions


def check_report_file(file: Path) -> None:
    """Raise OutputError if no report can be written to a file, to know it before a long evaluation."""
    if file.suffix.lower() != ".html":
        raise OutputError(
            f"a report is a page in HTML: {file} must end in .html", "--json writes the figures for programs"
        )
    if not file.parent.is_dir():
        raise OutputError(f"cannot write {file}: there is no folder {file.parent}")
    if file.is_file() or not file.exists():
        check_writable(file)


def write_report(evaluation: Evaluation, file: Path) -> None:
    """Write a report, whole or not at all; OutputError, RunError."""
    write_text(file, report_page(evaluation))


def report_page(evaluation: Evaluation) -> str:
    """Format an evaluation and the facts of its run as a page; RunError if the run is damaged."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    run = None if evaluation.folder is None else Run(Path(evaluation.folder))
    date = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    scores, *others = evaluation_tables(evaluation, with_details=True)
    tables = [replace(scores, title="scores"), *others, _setup(evaluation, run, date)]
    parts = [] if run is None else [" → ".join(run.config().data.languages)]
    if evaluation.num_references > 1:
        parts.append(f"{evaluation.num_references} references")
    parts.append("hypotheses from a file" if evaluation.search is None else evaluation.search.description)
    if run is not None:
        rows = [(name, show_value(value)) for name, value in flat_options(run.config()).items()]
        tables.append(Table(title="config", header=("option", "value"), rows=rows))
    templates = Environment(
        loader=PackageLoader("ptenmt.evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("report.html.j2").render(
        title=scores.title, subtitle=" · ".join([*parts, date]), tables=tables
    )


def _setup(evaluation: Evaluation, run: Run | None, date: str) -> Table:
    """What was scored with what, as far as a reader needs it to score it again."""
    rows = [] if run is None else [("run", str(run.path))]
    if evaluation.checkpoint is not None:
        rows.append(("weights", evaluation.checkpoint))
    if evaluation.search is not None:
        search = evaluation.search
        rows.append(("search", f"{search.description}, length penalty {search.length_penalty:g}"))
    rows += [(role, ", ".join(files)) for role, files in evaluation.files.items()]
    rows.append(("fingerprint of the pairs", evaluation.test_set.fingerprint()))
    rows += [(f"signature of {score.name}, {score.text}", score.signature) for score in evaluation.scores]
    libraries = {**versions(), "sacrebleu": version("sacrebleu"), "numpy": version("numpy")}
    shown = ", ".join(f"{name} {number}" for name, number in libraries.items())
    rows.append(("report", f"{date}, {shown}, {platform.system()} {platform.machine()}"))
    return Table(title="setup", rows=rows)
