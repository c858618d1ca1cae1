"""An evaluation as a report: an HTML page, Markdown, or JSON.

``_sections`` says what a report contains; ``templates/`` say how it looks in HTML and in Markdown.
"""

import io
import math
import platform
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ptenmt.atomic_files import NOTHING, check_writable, json_text, write_text
from ptenmt.config import Config
from ptenmt.config.loading import flat_options, show_value
from ptenmt.errors import OutputError
from ptenmt.evaluation.error_analysis import (
    MIN_PAIRS,
    Band,
    Breakdown,
    DegenerateOutputs,
    EvaluatedSentence,
    WordCoverage,
)
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.evaluation.minimal_pairs import MinimalPairResults
from ptenmt.evaluation.scores import SIGNIFICANCE_LEVEL, BaselineComparison, Score
from ptenmt.history import History
from ptenmt.inspection.curves import history_plots
from ptenmt.inspection.figures import Line, LinePlot, draw
from ptenmt.runs import Run
from ptenmt.tokenizers.words import word_pattern

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

ReportFormat = Literal["html", "markdown", "json"]
_FORMATS: dict[str, ReportFormat] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
}
_PACKAGES = ("ptenmt", "sacrebleu", "ctranslate2", "keras", "tensorflow", "numpy")
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


# What a report is made of

ExampleText = tuple[str, Sequence[tuple[str, bool]], str | None]
"""A label; consecutive stretches of the text, and whether each is highlighted; its language, if known."""


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """Rows under a header."""

    rows: Sequence[Sequence[str]]
    header: Sequence[str] = ()
    numeric: Sequence[int] = ()
    """The right-aligned columns."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A figure; it is only drawn for HTML."""

    title: str
    name: str
    """Unique in the report, of letters, digits and hyphens."""
    make_figure: Callable[[], "Figure"]
    description: str = ""
    """What it shows, where no table says it."""

    @property
    def svg(self) -> "Markup":
        """The figure as inline SVG in the page's colours."""
        return _inline_svg(self.make_figure(), self.name)


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A heading and what is below it."""

    title: str
    text: str = ""
    tiles: Sequence[tuple[str, str, str]] = ()
    """Numbers that the report leads with: name, value, note."""
    charts: Sequence[Chart] = ()
    tables: Sequence[ReportTable] = ()
    examples: Sequence[tuple[str, Sequence[ExampleText]]] = ()
    """Sentences: a title, and source, reference and translations."""
    is_folded: bool = False
    """Whether HTML shows it on request only."""


@dataclass(frozen=True, kw_only=True)
class _RunFiles:
    """What the files of the evaluated run say."""

    config: Config
    facts: dict[str, Any]
    """``run.json``."""
    validations: list[dict[str, Any]]
    curve: list[dict[str, Any]]
    best: dict[str, Any] | None
    """The best validation."""


# Files and formats


def report_format(file: Path) -> ReportFormat:
    """The format that a file's extension stands for.

    Raises:
        OutputError: It stands for none.
    """
    extension = file.suffix.lower()
    if extension not in _FORMATS:
        raise OutputError(
            f"unknown report format: {file}", f"use one of the extensions {', '.join(_FORMATS)}"
        )
    return _FORMATS[extension]


def check_report_file(file: Path) -> None:
    """Check, before a long evaluation, that a report can be written to a file.

    Raises:
        OutputError: Its extension is unknown, or its folder is missing or not writable.
    """
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
    """Format an evaluation, and what the files of its run say.

    Args:
        evaluation: What was found.
        form: ``html``: one page that needs no other file and no network; ``markdown``; or ``json``.

    Raises:
        RunError: The evaluated run is damaged.
    """
    run = None
    if evaluation.folder is not None:
        folder = Path(evaluation.folder)
        config, history = Run(folder).config(), History(folder)
        run = _RunFiles(
            config=config,
            facts=Run(folder).facts(),
            validations=history.validations(),
            curve=history.curve(),
            best=history.best(config.validation.metric),
        )
    environment = _environment()
    if form == "json":
        run_facts = None if run is None else asdict(run)
        facts = evaluation.facts() | {"run": run_facts, "environment": environment}
        return json_text(facts, indent=2) + "\n"
    from jinja2 import Environment, PackageLoader, StrictUndefined

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
    return template.render(
        title=f"{evaluation.name}: {evaluation.num_pairs:,} {evaluation.pairs_name}",
        subtitle=_subtitle(evaluation, run, environment["date"]),
        sections=_sections(evaluation, run, environment),
    )


def _escape_markdown(value: object) -> str:
    """A value on one line, without any syntax of Markdown or HTML."""
    text = str(value)
    return _MARKDOWN_SYNTAX.sub(r"\\\1", " ".join(text.split()) if "\n" in text else text)


def _environment() -> dict[str, str]:
    """When, where and with which versions the report is made."""
    found = {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found | {"machine": f"{platform.system()} {platform.machine()}"}


# The sections


def _sections(
    evaluation: Evaluation, run: _RunFiles | None, environment: dict[str, str]
) -> list[ReportSection]:
    analysis, languages = evaluation.error_analysis, _languages(run)
    sections = [_scores(evaluation)]
    if evaluation.comparison is not None:
        sections.append(_comparison(evaluation.comparison))
    sections += [_breakdown(number, each) for number, each in enumerate(analysis.breakdowns)]
    if analysis.degenerate_outputs:
        sections += _degenerate_outputs(analysis.degenerate_outputs, evaluation.num_pairs, languages)
    if analysis.words is not None:
        sections.append(_words(analysis.words))
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
        table = ReportTable(header=("option", "value"), rows=rows)
        sections.append(ReportSection(title="Config", tables=[table], is_folded=True))
    return sections


def _subtitle(evaluation: Evaluation, run: _RunFiles | None, date: str) -> str:
    source, target = _languages(run)
    parts = [] if source is None else [f"{source} → {target}"]
    if evaluation.num_references > 1:
        parts.append(f"{evaluation.num_references} references")
    parts.append("hypotheses from a file" if evaluation.search is None else evaluation.search.description)
    return " · ".join([*parts, date])


def _languages(run: _RunFiles | None) -> _Languages:
    return (None, None) if run is None else (run.config.data.source_language, run.config.data.target_language)


def _scores(evaluation: Evaluation) -> ReportSection:
    text = (
        "BLEU and chrF2++: higher is better; TER: lower is better. "
        "The intervals are 95% confidence intervals from bootstrap resampling."
    )
    rows = [
        (_score_name(score), f"{score.value:.2f}", f"{score.low:.1f} – {score.high:.1f}")
        for score in evaluation.scores
    ]
    tiles = [
        (name, f"{score.value:.1f}", interval)
        for score, (name, _, interval) in zip(evaluation.scores[:_NUM_TILES], rows, strict=False)
    ]
    if evaluation.loss is not None:
        text += " Perplexity, loss (nats per token) and accuracy are teacher-forced."
        value = NOTHING if evaluation.perplexity is None else f"{evaluation.perplexity:.2f}"
        note = f"loss {evaluation.loss:.3f}, accuracy {evaluation.accuracy:.1%}"
        tiles.append(("perplexity", value, note))
    signatures = [(_score_name(score), score.signature) for score in evaluation.scores]
    return ReportSection(
        title="Scores",
        text=text,
        tiles=tiles,
        tables=[
            ReportTable(header=("score", "value", "95% interval"), rows=rows, numeric=(1, 2)),
            ReportTable(header=("score", "sacreBLEU signature"), rows=signatures),
        ],
    )


def _score_name(score: Score) -> str:
    return score.name if score.text == "detokenised" else f"{score.name} (tokens)"


def _comparison(comparison: BaselineComparison) -> ReportSection:
    rows = [
        (
            _score_name(each.score),
            f"{each.score.value:.2f}",
            f"{each.baseline.value:.2f}",
            f"{each.score.value - each.baseline.value:+.2f}",
            each.formatted_p(),
            each.verdict,
        )
        for each in comparison.differences
    ]
    header = ("score", "value", comparison.name, "difference", "p", "verdict")
    return ReportSection(
        title=f"Against {comparison.name}",
        text="p is that of sacreBLEU's paired bootstrap test; differences are significant below "
        f"{SIGNIFICANCE_LEVEL}.",
        tables=[ReportTable(header=header, rows=rows, numeric=(1, 2, 3, 4))],
    )


def _breakdown(number: int, breakdown: Breakdown) -> ReportSection:
    title = f"By {breakdown.title}"
    filled = [band for band in breakdown.bands if band.scores]
    if not filled:
        return ReportSection(title=title, text=f"Not available: {breakdown.missing or 'no sentences'}.")
    names = [score.name for score in filled[0].scores]
    rows = []
    for band in breakdown.bands:
        margins = [f" ± {score.margin:.1f}" if band.has_enough else "" for score in band.scores]
        cells = [f"{score.value:.1f}{margin}" for score, margin in zip(band.scores, margins, strict=True)]
        rows.append((band.name, f"{band.num_pairs:,}", *(cells or [NOTHING] * len(names))))
    header = (breakdown.title, "sentences", *names)
    large = [band for band in filled if band.has_enough]
    chart_title = f"{names[0]} by {breakdown.title}"
    chart = Chart(title=chart_title, name=f"bands-{number}", make_figure=lambda: _draw_bands(large))
    text = f"Grouped by {breakdown.unit}."
    if len(large) < len(filled):
        text += f" Groups of fewer than {MIN_PAIRS} sentences have no interval."
    return ReportSection(
        title=title,
        text=text,
        charts=[chart] if large else [],
        tables=[ReportTable(header=header, rows=rows, numeric=range(1, len(header)))],
    )


def _degenerate_outputs(
    kinds: Sequence[DegenerateOutputs], num_pairs: int, languages: _Languages
) -> list[ReportSection]:
    rows = [
        (each.name, f"{each.count:,}", f"{each.count / num_pairs:.1%}", each.definition) for each in kinds
    ]
    header = ("translations", "count", "share", "definition")
    table = ReportTable(header=header, rows=rows, numeric=(1, 2))
    sections = [ReportSection(title="Obvious failures", tables=[table])]
    examples = [
        _example(sentence, languages, f"{each.name}: ") for each in kinds for sentence in each.examples
    ]
    if examples:
        sections.append(ReportSection(title="Obvious failures: examples", examples=examples, is_folded=True))
    return sections


def _words(words: WordCoverage) -> ReportSection:
    counts = {
        "split into sub-words": words.num_split,
        "unknown, at least in part": words.num_unknown,
        "not in the training data": words.num_unseen,
    }
    rows = [
        (name, f"{count:,}", f"{count / max(words.num_words, 1):.1%}")
        for name, count in counts.items()
        if count is not None
    ]
    tables = [ReportTable(header=("source words", "count", "share"), rows=rows, numeric=(1, 2))]
    if words.unknown:
        unknown = [(word, f"{count:,}") for word, count in words.unknown.items()]
        tables.append(ReportTable(header=("most frequent unknown", "count"), rows=unknown, numeric=(1,)))
    return ReportSection(
        title="Vocabulary coverage",
        text=f"Of {words.num_words:,} source words. {words.num_sentences_with_unknown:,} sentences have an "
        "unknown word.",
        tables=tables,
    )


def _minimal_pairs(results: MinimalPairResults) -> list[ReportSection]:
    text = (
        "Pairs of sentences that differ by one accent or contraction. A pair is correct if both translations "
        f"are: {results.num_correct:,} of {len(results.items):,}."
    )
    num_same = sum(item.has_same_input for item in results.items)
    if num_same:
        text += f" Pairs with the same tokens for this model, which it cannot distinguish: {num_same:,}."
    rows = [
        (name, f"{num_correct:,} of {num_pairs:,}")
        for name, (num_correct, num_pairs) in results.by_phenomenon.items()
    ]
    table = ReportTable(header=("phenomenon", "correct"), rows=rows, numeric=(1,))
    details = []
    for item in results.items:
        for number, (source, translation) in enumerate(zip(item.sources, item.translations, strict=True)):
            expected = [
                " / ".join(words) for words in (item.expected_in_both, item.expected[number]) if words
            ]
            verdict = "correct" if item.is_correct[number] else "wrong"
            verdict += ", same input" if item.has_same_input else ""
            details.append((source, translation, " and ".join(expected), verdict))
    header = ("source", "translation", "expected word", "verdict")
    every = ReportTable(header=header, rows=details)
    return [
        ReportSection(title="Minimal pairs", text=text, tables=[table]),
        ReportSection(title="Minimal pairs: all", tables=[every], is_folded=True),
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


def _training(run: _RunFiles, folder: Run) -> ReportSection:
    if not run.validations and not run.curve:
        return ReportSection(title="Training", text="This run has no training history.")
    text, best_step = "Curves over the training steps.", None
    if run.best is not None:
        best_step = run.best["step"]
        text += f" The dashed line marks the best validation, step {best_step:,}."
    charts = [
        Chart(
            title=f"{plot.title} ({plot.y_name})" if plot.y_name else plot.title,
            name=f"curve-{number}",
            make_figure=partial(_draw_curve, plot, best_step),
            description="; ".join(map(_describe_line, plot.lines)),
        )
        for number, plot in enumerate(history_plots([folder]))
    ]
    rows = []
    for line in run.validations:
        values = [(line["validation"].get(key), decimals) for key, (_, decimals) in _METRICS.items()]
        cells = [NOTHING if value is None else f"{value:.{decimals}f}" for value, decimals in values]
        rows.append((f"{line['epoch']:,}", f"{line['step']:,}", *cells))
    header = ("epoch", "step", *(name for name, _ in _METRICS.values()))
    table = ReportTable(header=header, rows=rows, numeric=range(len(header)))
    return ReportSection(title="Training", text=text, charts=charts, tables=[table] if rows else [])


def _describe_line(line: Line) -> str:
    values = [float(value) for value in line.y if math.isfinite(value)]
    return (
        f"{line.name} {values[0]:.4g} → {values[-1]:.4g}, lowest {min(values):.4g}, highest {max(values):.4g}"
    )


def _setup(evaluation: Evaluation, run: _RunFiles | None, environment: dict[str, str]) -> ReportSection:
    rows: list[tuple[str, str]] = []
    if run is not None:
        trained, versions = run.facts.get("trained"), run.facts.get("versions", {})
        rows.append(("run", str(evaluation.folder)))
        if evaluation.checkpoint is not None:
            rows.append(("weights", evaluation.checkpoint))
        rows += [
            ("parameters", f"{run.facts['parameters']:,}" if "parameters" in run.facts else "unknown"),
            (
                "trained",
                f"{trained[:16].replace('T', ' ')} UTC" if trained else "interrupted or still running",
            ),
            ("trained with", ", ".join(f"{name} {version}" for name, version in versions.items())),
        ]
    if evaluation.search is not None:
        search = evaluation.search
        rows += [
            ("search", f"{search.description}, length penalty {search.length_penalty:g}"),
            ("speed", f"{evaluation.sentences_per_second:,.0f} sentences/s"),
            ("truncated translations", f"{search.num_truncated:,} (length limit reached)"),
            ("split sources", f"{search.num_split:,} (longer than model.max_positions)"),
        ]
    if evaluation.num_truncated is not None:
        name = "texts longer than model.max_positions"
        rows.append((name, f"{evaluation.num_truncated:,} (truncated for loss and accuracy)"))
    rows += [(role, ", ".join(files)) for role, files in evaluation.files.items()]
    rows += [
        ("pairs", f"{evaluation.num_pairs:,} {evaluation.pairs_name}"),
        ("fingerprint of the pairs", evaluation.fingerprint),
    ]
    if run is not None:
        rows += [
            (f"fingerprint of the run's {split} pairs", f"{part['fingerprint']} ({part['pairs']:,})")
            for split, part in run.facts.get("data", {}).items()
        ]
    rows.append(("report", ", ".join(f"{name} {version}" for name, version in environment.items())))
    return ReportSection(title="Setup", tables=[ReportTable(rows=rows)])


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


def _draw_curve(plot: LinePlot, best_step: int | None) -> "Figure":
    figure = draw([replace(plot, title="", y_name="")])  # the caption has them
    figure.set_size_inches(_CHART_WIDTH, 0.6 * _CHART_WIDTH)
    (axis,) = figure.axes
    low, high = axis.get_xlim()
    if best_step is not None and low <= best_step <= high:
        axis.axvline(best_step, color="#888888", linestyle="--", linewidth=1)
    return figure


def _draw_bands(bands: Sequence[Band]) -> "Figure":
    """Bars of the first score with confidence intervals."""
    from matplotlib.figure import Figure

    scores = [band.scores[0] for band in bands]
    values, rows = [score.value for score in scores], range(len(bands))
    errors = [
        [max(score.value - score.low, 0.0) for score in scores],
        [max(score.high - score.value, 0.0) for score in scores],
    ]
    figure = Figure(figsize=(_CHART_WIDTH, 0.8 + 0.35 * len(bands)), layout="constrained")
    axis = figure.subplots()
    axis.barh(rows, values, xerr=errors, height=0.6, color="C0", ecolor="#000000", capsize=3)
    axis.set_yticks(rows, [band.name for band in bands])
    axis.invert_yaxis()
    axis.set_xlim(left=0)
    axis.set_xlabel(scores[0].name)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _inline_svg(figure: "Figure", name: str) -> "Markup":
    """A figure as an SVG element: its text is text, black is the page's text colour, ids are unique."""
    import matplotlib as mpl
    from markupsafe import Markup

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
