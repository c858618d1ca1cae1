"""An evaluation as a report: an HTML page, Markdown, or JSON.

``_sections`` defines the content, ``templates/`` the layout in HTML and in Markdown.
"""

import io
import math
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from ptenmt.atomic_files import check_writable, json_text, write_text
from ptenmt.config import Config
from ptenmt.config.loading import flat_options, show_value
from ptenmt.errors import OutputError
from ptenmt.evaluation.error_analysis import MIN_PAIRS, Breakdown, EvaluatedSentence
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.evaluation.minimal_pairs import MinimalPairResults
from ptenmt.evaluation.scores import SIGNIFICANCE_LEVEL
from ptenmt.evaluation.tables import (
    breakdown_table,
    checks_table,
    comparison_table,
    failures_table,
    minimal_pairs_table,
    robustness_table,
    scores_table,
)
from ptenmt.history import NOTHING, History
from ptenmt.inspection.curves import history_plots
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.figures import Line, LinePlot, Table
from ptenmt.runs import Run, versions
from ptenmt.tokenizers.words import word_pattern

ReportFormat = Literal["html", "markdown", "json"]
_FORMATS: dict[str, ReportFormat] = {".html": "html", ".md": "markdown", ".json": "json"}
_NUM_TILES = 3
_CHART_WIDTH = 4.8  # inches; on a phone the letters then have about 9 pixels
_METRICS = {"loss": ("loss", 3), "accuracy": ("accuracy", 3), "bleu": ("BLEU", 1), "chrf": ("chrF", 1)}
"""Of a validation, by key: name and decimals."""
_MARKDOWN_SYNTAX = re.compile(r"([\\`*_\[\]<>|#~&$])")
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
    """A figure; it is only drawn for HTML."""

    title: str
    name: str
    """Unique in the report, of letters, digits and hyphens."""
    make_figure: Callable[[], Figure]
    description: str
    """What the figure shows, in words."""

    @property
    def svg(self) -> Markup:
        """The figure as inline SVG in the page's colours."""
        return _inline_svg(self.make_figure(), self.name)


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
    """Whether HTML shows it on request only."""


@dataclass(frozen=True, kw_only=True)
class _RunFiles:
    """The content of the evaluated run's files."""

    config: Config
    facts: dict[str, Any]
    """``run.json``."""
    validations: list[dict[str, Any]]
    curve: list[dict[str, Any]]
    best: dict[str, Any] | None
    """The best validation."""


# Files and formats


def report_format(file: Path) -> ReportFormat:
    """The format of a file's extension.

    Raises:
        OutputError: The extension is unknown.
    """
    extension = file.suffix.lower()
    if extension not in _FORMATS:
        raise OutputError(
            f"unknown report format: {file}", f"use one of the extensions {', '.join(_FORMATS)}"
        )
    return _FORMATS[extension]


def check_report_file(file: Path) -> None:
    """Raise OutputError if no report can be written to a file, to know it before a long evaluation."""
    report_format(file)
    if not file.parent.is_dir():
        raise OutputError(f"cannot write {file}: there is no folder {file.parent}")
    if file.is_file() or not file.exists():
        check_writable(file)


def write_report(evaluation: Evaluation, file: Path) -> None:
    """Write a report atomically, in the format of the file's extension.

    Raises:
        OutputError: It cannot be written; an existing file is unchanged.
        RunError: The evaluated run is damaged.
    """
    write_text(file, report_text(evaluation, report_format(file)))


def report_text(evaluation: Evaluation, form: ReportFormat) -> str:
    """Format an evaluation and the content of its run's files.

    Args:
        evaluation: What was found.
        form: ``html``: one page that needs no other file and no network; ``markdown``; or ``json``.

    Raises:
        RunError: The evaluated run is damaged.
    """
    files = None
    if evaluation.folder is not None:
        run = Run(Path(evaluation.folder))
        config, history = run.config(), History(run.path)
        files = _RunFiles(
            config=config,
            facts=run.facts({"data", "parameters"}),
            validations=history.validations(),
            curve=history.curve(),
            best=history.best(config.validation.metric),
        )
    environment = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **versions(),
        "sacrebleu": version("sacrebleu"),
        "numpy": version("numpy"),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    if form == "json":
        run_facts = None if files is None else asdict(files)
        facts = evaluation.facts() | {"run": run_facts, "environment": environment}
        return json_text(facts, indent=2) + "\n"
    return render(
        form,
        title=scores_table(evaluation).title,
        subtitle=_subtitle(evaluation, files, environment["date"]),
        sections=_sections(evaluation, files, environment),
    )


def render(form: Literal["html", "markdown"], **content: Any) -> str:
    """Fill a template: the title and subtitle of a page and its sections."""
    templates = Environment(
        loader=PackageLoader("ptenmt.evaluation"),
        autoescape=form == "html",
        finalize=_escape_markdown if form == "markdown" else None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = templates.get_template({"html": "report.html.j2", "markdown": "report.md.j2"}[form])
    return template.render(**content)


def _escape_markdown(value: object) -> str:
    """A value on one line, without any syntax of Markdown or HTML."""
    text = str(value)
    return _MARKDOWN_SYNTAX.sub(r"\\\1", " ".join(text.split()) if "\n" in text else text)


# The sections


def _sections(
    evaluation: Evaluation, run: _RunFiles | None, environment: dict[str, str]
) -> list[ReportSection]:
    analysis, languages = evaluation.error_analysis, _languages(run)
    sections = [_scores(evaluation)]
    if evaluation.comparison is not None:
        table = comparison_table(evaluation.comparison)
        text = f"A difference is significant where p is below {SIGNIFICANCE_LEVEL}."
        sections.append(ReportSection(title=_heading(table), text=text, tables=[table]))
    failures = failures_table(evaluation)
    if failures.rows:
        sections.append(ReportSection(title=_heading(failures), tables=[failures]))
    sections += _tried(evaluation)
    examples = [
        _example(sentence, languages, f"{kind.name}: ")
        for kind in analysis.degenerate_outputs
        for sentence in kind.examples
    ]
    if examples:
        sections.append(ReportSection(title="Degenerate outputs", examples=examples, is_folded=True))
    sections += map(_breakdown, analysis.breakdowns)
    if evaluation.minimal_pairs is not None:
        sections += _minimal_pairs(evaluation.minimal_pairs)
    for title, sentences in {"Worst sentences": analysis.worst, "Best sentences": analysis.best}.items():
        if sentences:
            text = "Words that differ between translation and reference are highlighted."
            examples = [_example(sentence, languages) for sentence in sentences]
            is_folded = sentences is analysis.best
            sections.append(ReportSection(title=title, text=text, examples=examples, is_folded=is_folded))
    if run is not None:
        sections.append(_training(run, Run(Path(str(evaluation.folder)))))
    sections.append(_setup(evaluation, run, environment))
    if run is not None:
        rows = [(name, show_value(value)) for name, value in flat_options(run.config).items()]
        table = Table(title="Config", header=("option", "value"), rows=rows)
        sections.append(ReportSection(title=table.title, tables=[table], is_folded=True))
    return sections


def _heading(table: Table) -> str:
    return table.title[0].upper() + table.title[1:]


def _subtitle(evaluation: Evaluation, run: _RunFiles | None, date: str) -> str:
    source, target = _languages(run)
    parts = [] if source is None else [f"{source} → {target}"]
    if evaluation.num_references > 1:
        parts.append(f"{evaluation.num_references} references")
    parts.append("hypotheses from a file" if evaluation.search is None else evaluation.search.description)
    return " · ".join([*parts, date])


def _languages(run: _RunFiles | None) -> _Languages:
    return (None, None) if run is None else run.config.data.languages


def _scores(evaluation: Evaluation) -> ReportSection:
    tiles = [
        (score.name, f"{score.value:.1f}", f"{score.low:.1f} – {score.high:.1f}")
        for score in evaluation.scores[:_NUM_TILES]
    ]
    if evaluation.loss is not None:
        value = NOTHING if evaluation.perplexity is None else f"{evaluation.perplexity:.2f}"
        note = f"loss {evaluation.loss:.3f}, accuracy {evaluation.accuracy:.1%}"
        tiles.append(("perplexity", value, note))
    text = (
        "BLEU and chrF2++: higher is better; TER: lower is better. "
        "The intervals are 95% confidence intervals from bootstrap resampling."
    )
    return ReportSection(title="Scores", text=text, tiles=tiles, tables=[scores_table(evaluation)])


def _tried(evaluation: Evaluation) -> Iterator[ReportSection]:
    """Robustness and reliability checks."""
    if evaluation.robustness is not None:
        table = robustness_table(evaluation.robustness)
        text = "The references have the same noise, except for typos. Differences are from the first row."
        yield ReportSection(title=_heading(table), text=text, tables=[table])
    if evaluation.checks is not None:
        table = checks_table(evaluation.checks)
        yield ReportSection(title=_heading(table), tables=[table])
        if wrong := [(check.name, *pair) for check in evaluation.checks for pair in check.examples]:
            failed = Table(title="Checks: examples", header=("check", "source", "translation"), rows=wrong)
            yield ReportSection(title=failed.title, tables=[failed], is_folded=True)


def _breakdown(breakdown: Breakdown) -> ReportSection:
    table, text = breakdown_table(breakdown), ""
    if any(band.scores and not band.has_enough for band in breakdown.bands):
        text = f"Groups of fewer than {MIN_PAIRS} sentences have no interval."
    return ReportSection(title=_heading(table), text=text, tables=[table])


def _minimal_pairs(results: MinimalPairResults) -> list[ReportSection]:
    summary = minimal_pairs_table(results)
    text = (
        "Pairs of sentences that differ by one accent or contraction. A pair is correct if both translations "
        f"are: {results.num_correct:,} of {len(results.items):,}."
    )
    rows = []
    for item in results.items:
        for number, (source, translation) in enumerate(zip(item.sources, item.translations, strict=True)):
            expected = [
                " / ".join(words) for words in (item.expected_in_both, item.expected[number]) if words
            ]
            verdict = "correct" if item.is_correct[number] else "wrong"
            verdict += ", same input" if item.has_same_input else ""
            rows.append((source, translation, " and ".join(expected), verdict))
    header = ("source", "translation", "expected word", "verdict")
    every = Table(title="Minimal pairs: all", header=header, rows=rows)
    return [
        ReportSection(title=_heading(summary), text=text, tables=[summary]),
        ReportSection(title=every.title, tables=[every], is_folded=True),
    ]


def _example(
    sentence: EvaluatedSentence, languages: _Languages, prefix: str = ""
) -> tuple[str, list[ExampleText]]:
    """The translations are compared with the nearest reference, the reference with the translation."""
    source_language, target_language = languages
    reference = nearest_reference(sentence.hypothesis, sentence.references)
    title = f"{prefix}pair {sentence.row:,} · chrF2++ {sentence.score:.1f}"
    compared = {
        "reference": (reference, sentence.hypothesis),
        "translation": (sentence.hypothesis, reference),
    }
    if sentence.baseline is not None:
        title += f" · baseline {sentence.baseline_score:.1f}"
        compared["baseline"] = sentence.baseline, reference
    texts: list[ExampleText] = [
        (label, word_differences(text, other), target_language) for label, (text, other) in compared.items()
    ]
    if sentence.source is not None:
        texts.insert(0, ("source", word_differences(sentence.source, sentence.source), source_language))
    return title, texts


def _training(files: _RunFiles, run: Run) -> ReportSection:
    if not files.validations and not files.curve:
        return ReportSection(title="Training", text="This run has no training history.")
    text, best_step = "Curves over the training steps.", None
    if files.best is not None:
        best_step = files.best["step"]
        text += f" The dashed line marks the best validation, step {best_step:,}."
    charts = [
        Chart(
            title=f"{plot.title} ({plot.y_name})" if plot.y_name else plot.title,
            name=f"curve-{number}",
            make_figure=partial(_draw_curve, plot, best_step),
            description="; ".join(map(_describe_line, plot.lines)),
        )
        for number, plot in enumerate(history_plots([run]))
    ]
    rows = []
    for line in files.validations:
        values = [(line["validation"].get(key), decimals) for key, (_, decimals) in _METRICS.items()]
        cells = [NOTHING if value is None else f"{value:.{decimals}f}" for value, decimals in values]
        rows.append((f"{line['epoch']:,}", f"{line['step']:,}", *cells))
    header = ("epoch", "step", *(name for name, _ in _METRICS.values()))
    table = Table(title="Validations", header=header, rows=rows, numbers=range(len(header)))
    return ReportSection(title="Training", text=text, charts=charts, tables=[table] if rows else [])


def _describe_line(line: Line) -> str:
    values = [float(value) for value in line.y if math.isfinite(value)]
    return (
        f"{line.name} {values[0]:.4g} → {values[-1]:.4g}, lowest {min(values):.4g}, highest {max(values):.4g}"
    )


def _setup(evaluation: Evaluation, run: _RunFiles | None, environment: dict[str, str]) -> ReportSection:
    rows: list[tuple[str, str]] = []
    if run is not None:
        trained = run.facts.get("trained")
        rows = [
            ("run", str(evaluation.folder)),
            ("parameters", f"{run.facts['parameters']:,}"),
            (
                "trained",
                f"{trained[:16].replace('T', ' ')} UTC" if trained else "interrupted or still running",
            ),
            ("trained with", _joined(run.facts.get("versions", {}))),
        ]
        rows += [
            (f"fingerprint of the run's {split} pairs", f"{part['fingerprint']} ({part['pairs']:,})")
            for split, part in run.facts["data"].items()
        ]
    if evaluation.checkpoint is not None:
        rows.append(("weights", evaluation.checkpoint))
    if evaluation.search is not None:
        search = evaluation.search
        rows.append(("search", f"{search.description}, length penalty {search.length_penalty:g}"))
    rows += [(role, ", ".join(files)) for role, files in evaluation.files.items()]
    rows.append(("fingerprint of the pairs", evaluation.fingerprint))
    rows += [(f"signature of {score.name}, {score.text}", score.signature) for score in evaluation.scores]
    rows.append(("report", _joined(environment)))
    return ReportSection(title="Setup", tables=[Table(title="Setup", rows=rows)])


def _joined(facts: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


# Word differences


def nearest_reference(text: str, references: Sequence[str]) -> str:
    """The reference with the most words in common with a text; of equals, the first."""
    return max(references, key=lambda reference: _word_matcher(text, reference).ratio())


def word_differences(text: str, other: str) -> list[tuple[str, bool]]:
    """Split a text into stretches that another text has too, in the same order, and others.

    Words and punctuation marks are compared, with their case; white space is not.

    Returns:
        The stretches, which joined are the text, and whether each differs.
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


# Figures


def _draw_curve(plot: LinePlot, best_step: int | None) -> Figure:
    figure = draw([replace(plot, title="", y_name="")])  # the caption has them
    figure.set_size_inches(_CHART_WIDTH, 0.6 * _CHART_WIDTH)
    (axis,) = figure.axes
    low, high = axis.get_xlim()
    if best_step is not None and low <= best_step <= high:
        axis.axvline(best_step, color="#888888", linestyle="--", linewidth=1)
    return figure


def _inline_svg(figure: Figure, name: str) -> Markup:
    """A figure as an SVG element: its text is text, black is the page's text colour, ids are unique."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>|\s*<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, replacement in _SVG_COLOURS.items():
        svg = svg.replace(colour, replacement)
    return Markup(svg)
