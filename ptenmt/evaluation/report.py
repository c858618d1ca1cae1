"""Evaluations, and what the filters removed from the data, as an HTML page, or their figures as JSON.

``_sections`` defines the content, ``templates/`` the layout.
"""

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from ptenmt.atomic_files import check_writable, json_text, write_text
from ptenmt.config import DataConfig
from ptenmt.config.loading import flat_options, show_value
from ptenmt.data.filters import FilterReport, Removed
from ptenmt.errors import OutputError
from ptenmt.evaluation import tables
from ptenmt.evaluation.error_analysis import EvaluatedSentence
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.inspection.curves import history_plots
from ptenmt.inspection.figures import Line, LinePlot, Table
from ptenmt.runs import Run, versions
from ptenmt.runs.history import NOTHING, History, metric_name, metric_value
from ptenmt.tokenizers.words import word_pattern

ReportFormat = Literal["html", "json"]
_FORMS: dict[str, ReportFormat] = {".html": "html", ".json": "json"}
_NUM_TILES = 3
_METRICS = ("loss", "accuracy", "bleu", "chrf")
_SVG_COLOURS = {
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#1f77b4": "var(--one)",
}
"""matplotlib's colours, and those of the page, which has a dark mode."""
_Languages = tuple[str | None, str | None]
ExampleText = tuple[str, Sequence[tuple[str, bool]], str | None]
"""A label; consecutive stretches of the text, and whether each is highlighted; its language, if known."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A plot."""

    plot: LinePlot
    name: str
    """Unique in the report, of letters, digits and hyphens."""
    marked_step: int | None

    @property
    def title(self) -> str:
        """The plot's title and unit."""
        return f"{self.plot.title} ({self.plot.y_name})" if self.plot.y_name else self.plot.title

    @property
    def description(self) -> str:
        """What the figure shows, in words."""
        return "; ".join(map(_describe_line, self.plot.lines))

    @property
    def svg(self) -> str:
        """The figure as inline SVG in the page's colours."""
        from ptenmt.inspection.drawing import inline_svg  # loads matplotlib

        plot = replace(self.plot, title="", y_name="")  # the caption has them
        svg = inline_svg(plot, self.name, self.marked_step)
        for colour, replacement in _SVG_COLOURS.items():
            svg = svg.replace(colour, replacement)
        return svg


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A heading and its content."""

    title: str
    text: str = ""
    tiles: Sequence[tuple[str, str, str]] = ()
    """Numbers that the report leads with: name, value, note."""
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    """Without their titles."""
    examples: Sequence[tuple[str, Sequence[ExampleText]]] = ()
    """Sentences: a title, and source, reference and translations."""
    is_folded: bool = False
    """Whether it is shown on request only."""

    @classmethod
    def of_table(cls, table: Table, **more: Any) -> "ReportSection":
        """A section with the title, note and rows of a table."""
        title = table.title[0].upper() + table.title[1:]
        return cls(**{"title": title, "text": table.note, "tables": [table]} | more)


# Files and formats


def report_format(file: Path) -> ReportFormat:
    """The format of a file's extension; OutputError if it is unknown."""
    extension = file.suffix.lower()
    if extension not in _FORMS:
        raise OutputError(f"unknown report format: {file}", f"use one of the extensions {', '.join(_FORMS)}")
    return _FORMS[extension]


def check_report_file(file: Path) -> None:
    """Raise OutputError if no report can be written to a file, to know it before a long evaluation."""
    report_format(file)
    if not file.parent.is_dir():
        raise OutputError(f"cannot write {file}: there is no folder {file.parent}")
    if file.is_file() or not file.exists():
        check_writable(file)


def write_report(evaluation: Evaluation, file: Path) -> None:
    """Write a report, whole or not at all, in the format of the file's extension; OutputError, RunError."""
    write_text(file, report_text(evaluation, report_format(file)))


def report_text(evaluation: Evaluation, form: ReportFormat) -> str:
    """Format an evaluation and the content of its run's files; RunError if they are damaged.

    HTML is one page that needs no other file and no network.
    """
    run = None if evaluation.folder is None else Run(Path(evaluation.folder))
    environment = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **versions(),
        "sacrebleu": version("sacrebleu"),
        "numpy": version("numpy"),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    if form == "json":
        facts = {"run": None if run is None else _run_facts(run), "environment": environment}
        return json_text(evaluation.facts() | facts, indent=2) + "\n"
    return render(
        title=tables.scores_table(evaluation).title,
        subtitle=_subtitle(evaluation, run, environment["date"]),
        sections=list(_sections(evaluation, run, environment)),
    )


def _run_facts(run: Run) -> dict[str, Any]:
    config, history = run.config(), History(run.path)
    return {
        "config": asdict(config),
        "facts": run.facts(),
        "validations": history.validations(),
        "curve": history.curve(),
        "best": history.best(config.validation.metric),
    }


def render(**content: Any) -> str:
    """Fill the template: the title and subtitle of a page and its sections."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("ptenmt.evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("report.html.j2").render(**content)


# The sections


def _sections(evaluation: Evaluation, run: Run | None, made_with: dict[str, str]) -> Iterator[ReportSection]:
    analysis, languages = evaluation.error_analysis, _languages(run)
    scores, *others = tables.evaluation_tables(evaluation, with_details=True)
    yield ReportSection.of_table(scores, title="Scores", tiles=_tiles(evaluation))
    yield from map(ReportSection.of_table, others)
    degenerate = [
        _example(sentence, languages, f"{kind.name}: ")
        for kind in analysis.degenerate_outputs
        for sentence in kind.examples
    ]
    if degenerate:
        yield ReportSection(title="Degenerate outputs", examples=degenerate, is_folded=True)
    for title, sentences in {"Worst sentences": analysis.worst, "Best sentences": analysis.best}.items():
        if sentences:
            text = "Words that differ between translation and reference are highlighted."
            examples = [_example(sentence, languages) for sentence in sentences]
            is_folded = sentences is analysis.best
            yield ReportSection(title=title, text=text, examples=examples, is_folded=is_folded)
    if run is not None:
        yield _training(run)
    yield ReportSection.of_table(_setup(evaluation, run, made_with))
    if run is not None:
        rows = [(name, show_value(value)) for name, value in flat_options(run.config()).items()]
        table = Table(title="Config", header=("option", "value"), rows=rows)
        yield ReportSection.of_table(table, is_folded=True)


def _subtitle(evaluation: Evaluation, run: Run | None, date: str) -> str:
    source, target = _languages(run)
    parts = [] if source is None else [f"{source} → {target}"]
    if evaluation.num_references > 1:
        parts.append(f"{evaluation.num_references} references")
    parts.append("hypotheses from a file" if evaluation.search is None else evaluation.search.description)
    return " · ".join([*parts, date])


def _languages(run: Run | None) -> _Languages:
    return (None, None) if run is None else run.config().data.languages


def _tiles(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    tiles = [
        (score.name, f"{score.value:.1f}", f"{score.low:.1f} – {score.high:.1f}")
        for score in evaluation.scores[:_NUM_TILES]
    ]
    if evaluation.loss is not None:
        value = NOTHING if evaluation.perplexity is None else f"{evaluation.perplexity:.2f}"
        note = f"loss {evaluation.loss:.3f}, accuracy {evaluation.accuracy:.1%}"
        tiles.append(("perplexity", value, note))
    return tiles


def _example(
    sentence: EvaluatedSentence, languages: _Languages, prefix: str = ""
) -> tuple[str, list[ExampleText]]:
    """The translations are compared with the nearest reference, the reference with the translation."""
    source_language, target_language = languages
    reference = nearest_reference(sentence.hypothesis, sentence.references)
    title = f"{prefix}pair {sentence.row:,} · chrF2++ {sentence.score:.1f}"
    pairs = {"reference": (reference, sentence.hypothesis), "translation": (sentence.hypothesis, reference)}
    if sentence.baseline is not None:
        title += f" · baseline {sentence.baseline_score:.1f}"
        pairs["baseline"] = sentence.baseline, reference
    texts: list[ExampleText] = [
        (label, word_differences(text, other), target_language) for label, (text, other) in pairs.items()
    ]
    if sentence.source is not None:
        texts.insert(0, ("source", word_differences(sentence.source, sentence.source), source_language))
    return title, texts


def _training(run: Run) -> ReportSection:
    history = History(run.path)
    if history.last() is None:
        return ReportSection(title="Training", text="This run has no training history.")
    text, best_step = "Curves over the training steps.", None
    if (best := history.best(run.config().validation.metric)) is not None:
        best_step = best["step"]
        text += f" The dashed line marks the best validation, step {best_step:,}."
    charts = [
        Chart(plot=plot, name=f"curve-{number}", marked_step=best_step)
        for number, plot in enumerate(history_plots([run]))
    ]
    rows = []
    for line in history.validations():
        values = (metric_value(metric, line["validation"].get(metric)) for metric in _METRICS)
        rows.append((f"{line['epoch']:,}", f"{line['step']:,}", *values))
    header = ("epoch", "step", *map(metric_name, _METRICS))
    table = Table(title="Training", header=header, rows=rows, numbers=range(len(header)))
    return ReportSection(title="Training", text=text, charts=charts, tables=[table] if rows else [])


def _describe_line(line: Line) -> str:
    y = [float(value) for value in line.y if math.isfinite(value)]
    return f"{line.name} {y[0]:.4g} → {y[-1]:.4g}, lowest {min(y):.4g}, highest {max(y):.4g}"


def _setup(evaluation: Evaluation, run: Run | None, environment: dict[str, str]) -> Table:
    rows: list[tuple[str, str]] = []
    if run is not None:
        record = run.record({"data", "parameters"})
        trained = record.trained
        date = f"{trained[:16].replace('T', ' ')} UTC" if trained else "interrupted or still running"
        rows = [
            ("run", str(evaluation.folder)),
            ("parameters", f"{record.parameters:,}"),
            ("trained", date),
            ("trained with", _joined(record.versions)),
        ]
        rows += [
            (f"fingerprint of the run's {split} pairs", f"{part.fingerprint} ({part.size:,})")
            for split, part in record.data.items()
        ]
    if evaluation.checkpoint is not None:
        rows.append(("weights", evaluation.checkpoint))
    if evaluation.search is not None:
        search = evaluation.search
        rows.append(("search", f"{search.description}, length penalty {search.length_penalty:g}"))
    rows += [(role, ", ".join(files)) for role, files in evaluation.files.items()]
    rows.append(("fingerprint of the pairs", evaluation.fingerprint))
    rows += [(f"signature of {score.name}, {score.text}", score.signature) for score in evaluation.scores]
    return Table(title="Setup", rows=[*rows, ("report", _joined(environment))])


def _joined(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


# Word differences


def nearest_reference(text: str, references: Sequence[str]) -> str:
    """The reference with the most words in common with a text; of equals, the first."""
    return max(references, key=lambda reference: _word_matcher(text, reference).ratio())


def word_differences(text: str, other: str) -> list[tuple[str, bool]]:
    """Split a text into stretches, each with whether it differs from another text.

    Words and punctuation marks are compared, in order and with their case; white space is not.
    """
    spans = [match.span() for match in word_pattern().finditer(text)]
    parts, end = [], 0
    for change, first, last, _, _ in _word_matcher(text, other).get_opcodes():
        if change in ("delete", "replace"):
            start, stop = spans[first][0], spans[last - 1][1]
            parts += [(text[end:start], False), (text[start:stop], True)]
            end = stop
    parts.append((text[end:], False))
    return [(part, differs) for part, differs in parts if part]


def _word_matcher(text: str, other: str) -> "SequenceMatcher[str]":
    find = word_pattern().findall
    return SequenceMatcher(None, find(text), find(other), autojunk=False)


# Filtered data


def write_data_report(reports: Sequence[FilterReport], data: DataConfig, file: Path) -> None:
    """Write what the filters removed, with examples for each file, in the format of the file's extension.

    Raises OutputError if the file cannot be written, or its extension is unknown.
    """
    form = report_format(file)
    if form == "json":
        write_text(file, json_text([asdict(report) for report in reports], indent=2) + "\n")
        return
    total = FilterReport.total(reports)
    tiles = [
        (name, f"{count:,}", f"{count / max(total.num_read, 1):.1%}")
        for name, count in (("pairs read", total.num_read), ("pairs left", total.num_left))
    ]
    sections = [ReportSection.of_table(tables.files_table(reports), tiles=tiles)]
    if total.affected:
        sections.append(ReportSection.of_table(tables.filters_table(reports)))
    sections += [_removed_examples(name, reports, data) for name in total.affected]
    options = [(name, show_value(value)) for name, value in asdict(data.filters).items()]
    table = Table(title="Options of data.filters", header=("option", "value"), rows=options)
    sections.append(ReportSection.of_table(table, is_folded=True))
    direction = f"{data.source_language} → {data.target_language}"
    if data.reverse:
        direction += ", trained in reverse"
    page = render(
        title=f"Training data: {total.num_left:,} of {total.num_read:,} pairs",
        subtitle=f"{direction} · {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        sections=sections,
    )
    write_text(file, page)


def _removed_examples(name: str, reports: Sequence[FilterReport], data: DataConfig) -> ReportSection:
    languages = (data.source_language, data.target_language)
    examples: list[tuple[str, list[ExampleText]]] = []
    for report in reports:
        removed = report.affected.get(name, Removed())
        for number, pair in enumerate(removed.examples, start=1):
            texts = zip(("source", "target"), pair, languages, strict=True)
            title = f"{report.name} · {number} of {removed.count:,}"
            examples.append((title, [(label, [(text, False)], language) for label, text, language in texts]))
    return ReportSection(title=f"{name[0].upper()}{name[1:]}", examples=examples, is_folded=True)
