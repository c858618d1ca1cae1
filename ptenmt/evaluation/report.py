"""An evaluation as tables, for the terminal, and as a report.

A report is one HTML page that needs no other file and no network.
"""

import platform
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from ptenmt.atomic_files import check_writable, write_text
from ptenmt.config.loading import flat_options, show_value
from ptenmt.errors import OutputError
from ptenmt.evaluation.error_analysis import Band, EvaluatedSentence, NoiseScores
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.inspection.figures import Table
from ptenmt.runs import NOTHING, Run, versions


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


def evaluation_tables(evaluation: Evaluation, *, with_details: bool) -> list[Table]:
    """The scores and the error analysis; with details, by source length and of the worst sentences, too."""
    tables = [scores_table(evaluation), failures_table(evaluation)]
    if evaluation.robustness is not None:
        tables.append(robustness_table(evaluation.robustness))
    if with_details:
        analysis = evaluation.error_analysis
        tables += [length_table(analysis.by_length), worst_table(analysis.worst)]
    return [table for table in tables if table.rows]


def worst_table(sentences: Sequence[EvaluatedSentence]) -> Table:
    """The sentences with the lowest scores."""
    rows = [
        (
            f"{sentence.row:,}",
            f"{sentence.score:.1f}",
            sentence.source or NOTHING,
            " | ".join(sentence.references),
            sentence.hypothesis or NOTHING,
        )
        for sentence in sentences
    ]
    header = ("sentence", "chrF2++", "source", "reference", "translation")
    return Table(title="worst sentences", header=header, rows=rows, numbers={0, 1})


def scores_table(evaluation: Evaluation) -> Table:
    """The scores, and how they were computed."""
    rows, perplexity = [], evaluation.perplexity
    if evaluation.loss is not None:
        rows += [
            ("loss", f"{evaluation.loss:.4f}", "", "nats per token, teacher-forced"),
            ("perplexity", NOTHING if perplexity is None else f"{perplexity:.2f}", "", "exp(loss)"),
            ("token accuracy", f"{evaluation.accuracy:.4f}", "", "teacher-forced"),
        ]
    for score in evaluation.scores:
        how = f"{score.text}: {score.signature.replace('|', ' ')}"
        rows.append((score.name, f"{score.value:.2f}", f"{score.low:.2f}–{score.high:.2f}", how))
    if evaluation.search is not None:
        how = f"sentences/s: {evaluation.search.description}"
        rows.append(("speed", f"{evaluation.sentences_per_second:,.1f}", "", how))
    weights = "" if evaluation.checkpoint is None else f", {evaluation.checkpoint}"
    title = f"{evaluation.name}{weights}: {evaluation.num_pairs:,} {evaluation.pairs_name}"
    note = (
        "BLEU and chrF2++: higher is better; TER: lower is better. "
        "The intervals are 95% confidence intervals from bootstrap resampling."
    )
    return Table(title=title, header=("score", "value", "95%", "how"), rows=rows, numbers={1}, note=note)


def failures_table(evaluation: Evaluation) -> Table:
    """Everything that the error analysis counts."""
    search = evaluation.search
    rows = [
        (f"{kind.name} translations", f"{kind.count:,}", kind.definition)
        for kind in evaluation.error_analysis.degenerate_outputs
    ]
    if search is not None:
        rows.append(("truncated translations", f"{search.num_truncated:,}", "length limit reached"))
        if search.num_split:
            rows.append(("split sources", f"{search.num_split:,}", "longer than model.max_positions"))
    if evaluation.num_truncated:
        definition = "longer than model.max_positions: truncated for loss and accuracy"
        rows.append(("truncated texts", f"{evaluation.num_truncated:,}", definition))
    return Table(title="error analysis", rows=rows, numbers={1})


def robustness_table(robustness: Sequence[NoiseScores]) -> Table:
    """The scores under each noise, and how far they are from those without."""
    clean, *others = robustness
    rows = [(clean.noise, f"{clean.num_changed:,}", f"{clean.bleu:.2f}", "", f"{clean.chrf:.2f}", "")]
    rows += [
        (
            scores.noise,
            f"{scores.num_changed:,}",
            f"{scores.bleu:.2f}",
            f"{scores.bleu - clean.bleu:+.2f}",
            f"{scores.chrf:.2f}",
            f"{scores.chrf - clean.chrf:+.2f}",
        )
        for scores in others
    ]
    header = ("noise", "changed", "BLEU", "difference", "chrF", "difference")
    note = (
        "The noises are options of data.augment. The references have the same, except for typos. "
        "Differences are from the first row."
    )
    return Table(title="robustness", header=header, rows=rows, numbers=range(1, 6), note=note)


def length_table(bands: Sequence[Band]) -> Table:
    """The scores of sentences by the length of their sources."""
    names = list(bands[0].scores) if bands else []
    rows = [
        (band.name, f"{band.num_pairs:,}", *(f"{value:.1f}" for value in band.scores.values()))
        for band in bands
    ]
    header = ("words in the source", "sentences", *names)
    return Table(title="by source length", header=header, rows=rows, numbers=range(1, len(header)))
