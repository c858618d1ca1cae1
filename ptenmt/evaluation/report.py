"""An evaluation as a report: an HTML page, Markdown, or JSON.

``_sections`` says what a report contains; ``templates/`` say how it looks in HTML and in Markdown.
"""

import io
import math
import platform
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from difflib import SequenceMatcher
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
    ErrorAnalysis,
    EvaluatedSentence,
    WordCoverage,
)
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.evaluation.minimal_pairs import MinimalPairResult, MinimalPairResults
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
    "#aec7e8": "var(--two)",
}
"""matplotlib's colours, and those of the page, which has a dark mode."""
_Languages = tuple[str | None, str | None]


# What a report is made of


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A number that the report leads with."""

    name: str
    value: str
    note: str


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """Rows under a header."""

    rows: Sequence[Sequence[str]]
    header: Sequence[str] = ()
    numeric: frozenset[int] = frozenset()
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
class ExampleText:
    """The source, the reference or a translation in an example."""

    label: str
    parts: Sequence[tuple[str, bool]]
    """Consecutive stretches of the text, and whether each differs from the text it is compared with."""
    language: str | None
    is_reference: bool = False


@dataclass(frozen=True, kw_only=True)
class Example:
    """A sentence with its reference and translations."""

    title: str
    texts: Sequence[ExampleText]


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A heading and what is below it."""

    title: str
    text: str = ""
    tiles: Sequence[Tile] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[ReportTable] = ()
    examples: Sequence[Example] = field(default_factory=tuple)
    is_folded: bool = False
    """Whether HTML shows it on request only."""


@dataclass(frozen=True, kw_only=True)
class _RunFiles:
    """What the files of the evaluated run say."""

    run: Run
    config: Config
    facts: dict[str, Any]
    """``run.json``."""
    validations: list[dict[str, Any]]
    curve: list[dict[str, Any]]
    best: dict[str, Any] | None
    """The best validation."""

    @classmethod
    def read(cls, folder: Path) -> "_RunFiles":
        run, history = Run(folder), History(folder)
        config = run.config()
        return cls(
            run=run,
            config=config,
            facts=run.facts(),
            validations=history.validations(),
            curve=history.curve(),
            best=history.best(config.validation.metric),
        )


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
    run = None if evaluation.folder is None else _RunFiles.read(Path(evaluation.folder))
    environment = _environment()
    if form == "json":
        run_facts = None if run is None else {k: v for k, v in asdict(run).items() if k != "run"}
        facts = evaluation.facts() | {"run": run_facts, "environment": environment}
        return json_text(facts, indent=2) + "\n"
    return _render(
        form,
        title=f"{evaluation.name}: {evaluation.num_pairs:,} {evaluation.pairs_name}",
        subtitle=_subtitle(evaluation, run, environment["date"]),
        sections=_sections(evaluation, run, environment),
    )


def _render(form: Literal["html", "markdown"], **context: object) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ptenmt.evaluation"),
        autoescape=form == "html",
        finalize=_escape_markdown if form == "markdown" else None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    template = {"html": "report.html.j2", "markdown": "report.md.j2"}[form]
    return environment.get_template(template).render(context)


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
        sections.append(_comparison(evaluation.comparison))
    sections += [_breakdown(number, each) for number, each in enumerate(analysis.breakdowns)]
    sections += _degenerate_outputs(analysis, evaluation.num_pairs, languages)
    if analysis.words is not None:
        sections.append(_words(analysis.words))
    if evaluation.minimal_pairs is not None:
        sections += _minimal_pairs(evaluation.minimal_pairs)
    sections += _worst_and_best(analysis, languages)
    if run is not None:
        sections.append(_training(run))
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
    def interval(score: Score) -> str:
        return f"{score.low:.1f} – {score.high:.1f}"

    tiles = [
        Tile(name=_score_name(score), value=f"{score.value:.1f}", note=interval(score))
        for score in evaluation.scores[:_NUM_TILES]
    ]
    text = (
        "BLEU and chrF2++: higher is better; TER: lower is better. "
        "The intervals are 95% confidence intervals from bootstrap resampling."
    )
    if evaluation.perplexity is not None:
        note = f"loss {evaluation.loss:.3f}, accuracy {evaluation.accuracy:.1%}"
        tiles.append(Tile(name="perplexity", value=f"{evaluation.perplexity:.2f}", note=note))
    if evaluation.loss is not None:
        text += " Perplexity, loss (nats per token) and accuracy are teacher-forced."
    rows = [(_score_name(score), f"{score.value:.2f}", interval(score)) for score in evaluation.scores]
    signatures = [(_score_name(score), score.signature) for score in evaluation.scores]
    return ReportSection(
        title="Scores",
        text=text,
        tiles=tiles,
        tables=[
            ReportTable(header=("score", "value", "95% interval"), rows=rows, numeric=frozenset({1, 2})),
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
        tables=[ReportTable(header=header, rows=rows, numeric=frozenset({1, 2, 3, 4}))],
    )


def _breakdown(number: int, breakdown: Breakdown) -> ReportSection:
    title = f"By {breakdown.title}"
    filled = [band for band in breakdown.bands if band.scores]
    if not filled:
        return ReportSection(title=title, text=f"Not available: {breakdown.missing or 'no sentences'}.")
    names = [score.name for score in filled[0].scores]
    rows = [(band.name, f"{band.num_pairs:,}", *_band_cells(band, len(names))) for band in breakdown.bands]
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
        tables=[ReportTable(header=header, rows=rows, numeric=frozenset(range(1, len(header))))],
    )


def _band_cells(band: Band, num_scores: int) -> list[str]:
    if not band.scores:
        return [NOTHING] * num_scores
    return [
        f"{score.value:.1f} ± {score.margin:.1f}" if band.has_enough else f"{score.value:.1f}"
        for score in band.scores
    ]


def _degenerate_outputs(
    analysis: ErrorAnalysis, num_pairs: int, languages: _Languages
) -> list[ReportSection]:
    kinds = analysis.degenerate_outputs
    if not kinds:
        return []
    rows = [
        (each.name, f"{each.count:,}", f"{each.count / num_pairs:.1%}", each.definition) for each in kinds
    ]
    header = ("translations", "count", "share", "definition")
    table = ReportTable(header=header, rows=rows, numeric=frozenset({1, 2}))
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
    tables = [ReportTable(header=("source words", "count", "share"), rows=rows, numeric=frozenset({1, 2}))]
    if words.unknown:
        unknown = [(word, f"{count:,}") for word, count in words.unknown.items()]
        tables.append(
            ReportTable(header=("most frequent unknown", "count"), rows=unknown, numeric=frozenset({1}))
        )
    return ReportSection(
        title="Vocabulary coverage",
        text=f"Of {words.num_words:,} source words. {words.num_sentences_with_unknown:,} sentences have an "
        "unknown word.",
        tables=tables,
    )


def _minimal_pairs(results: MinimalPairResults) -> list[ReportSection]:
    rows = [
        (name, f"{num_correct:,} of {num_pairs:,}")
        for name, (num_correct, num_pairs) in results.by_phenomenon.items()
    ]
    text = (
        "Pairs of sentences that differ by one accent or contraction. A pair is correct if both translations "
        f"are: {results.num_correct:,} of {len(results.items):,}."
    )
    num_same = sum(item.has_same_input for item in results.items)
    if num_same:
        text += f" Pairs with the same tokens for this model, which it cannot distinguish: {num_same:,}."
    header = ("source", "translation", "expected word", "verdict")
    every = [row for item in results.items for row in _minimal_pair_rows(item)]
    return [
        ReportSection(
            title="Minimal pairs",
            text=text,
            tables=[ReportTable(header=("phenomenon", "correct"), rows=rows, numeric=frozenset({1}))],
        ),
        ReportSection(
            title="Minimal pairs: all", tables=[ReportTable(header=header, rows=every)], is_folded=True
        ),
    ]


def _minimal_pair_rows(item: MinimalPairResult) -> Iterable[tuple[str, ...]]:
    for number in (0, 1):
        verdict = "correct" if item.is_correct[number] else "wrong"
        expected = [words for words in (item.expected_in_both, item.expected[number]) if words]
        yield (
            item.sources[number],
            item.translations[number],
            " and ".join(" / ".join(words) for words in expected),
            f"{verdict}, same input" if item.has_same_input else verdict,
        )


def _worst_and_best(analysis: ErrorAnalysis, languages: _Languages) -> list[ReportSection]:
    return [
        ReportSection(
            title=title,
            text="Words that differ between translation and reference are highlighted.",
            examples=[_example(sentence, languages) for sentence in sentences],
            is_folded=is_folded,
        )
        for title, sentences, is_folded in (
            ("Worst sentences", analysis.worst, False),
            ("Best sentences", analysis.best, True),
        )
        if sentences
    ]


def _example(sentence: EvaluatedSentence, languages: _Languages, prefix: str = "") -> Example:
    """The translations are compared with the nearest reference, the reference with the translation."""
    source_language, target_language = languages
    reference = nearest_reference(sentence.hypothesis, sentence.references)
    title = f"{prefix}pair {sentence.row:,} · chrF2++ {sentence.score:.1f}"
    translations = [("translation", sentence.hypothesis)]
    if sentence.baseline is not None:
        title += f" · baseline {sentence.baseline_score:.1f}"
        translations.append(("baseline", sentence.baseline))
    texts = []
    if sentence.source is not None:
        source = [(sentence.source, False)] if sentence.source else []
        texts.append(ExampleText(label="source", parts=source, language=source_language))
    texts.append(
        ExampleText(
            label="reference",
            parts=word_differences(reference, sentence.hypothesis),
            language=target_language,
            is_reference=True,
        )
    )
    texts += [
        ExampleText(label=label, parts=word_differences(text, reference), language=target_language)
        for label, text in translations
    ]
    return Example(title=title, texts=texts)


def _training(run: _RunFiles) -> ReportSection:
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
            make_figure=lambda plot=plot: _draw_curve(plot, best_step),  # type: ignore[misc]
            description="; ".join(map(_describe_line, plot.lines)),
        )
        for number, plot in enumerate(history_plots([run.run]))
    ]
    rows = []
    for line in run.validations:
        values = [(line["validation"].get(key), decimals) for key, (_, decimals) in _METRICS.items()]
        cells = [NOTHING if value is None else f"{value:.{decimals}f}" for value, decimals in values]
        rows.append((f"{line['epoch']:,}", f"{line['step']:,}", *cells))
    header = ("epoch", "step", *(name for name, _ in _METRICS.values()))
    table = ReportTable(header=header, rows=rows, numeric=frozenset(range(len(header))))
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


def _environment() -> dict[str, str]:
    """When, where and with which versions the report is made."""
    found = {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found | {"machine": f"{platform.system()} {platform.machine()}"}


# Word differences


def nearest_reference(text: str, references: Sequence[str]) -> str:
    """The reference with the most words in common with a text; of equals, the first."""
    words = word_pattern().findall(text)

    def similarity(reference: str) -> float:
        return SequenceMatcher(None, words, word_pattern().findall(reference), autojunk=False).ratio()

    return max(references, key=similarity)


def word_differences(text: str, other: str) -> list[tuple[str, bool]]:
    """Split a text into stretches that another text has too, in the same order, and others.

    Words and punctuation marks are compared, with their case; white space is not.

    Returns:
        The stretches, which joined are the text, and whether each differs.
    """
    spans = [match.span() for match in word_pattern().finditer(text)]
    words = [text[start:end] for start, end in spans]
    matcher = SequenceMatcher(None, words, word_pattern().findall(other), autojunk=False)
    shared = {block.a + offset for block in matcher.get_matching_blocks() for offset in range(block.size)}
    parts: list[tuple[str, bool]] = []

    def append(part: str, differs: bool) -> None:
        if part and parts and parts[-1][1] == differs:
            parts[-1] = (parts[-1][0] + part, differs)
        elif part:
            parts.append((part, differs))

    end, differed = 0, False
    for number, (start, next_end) in enumerate(spans):
        differs = number not in shared
        append(text[end:start], differs and differed)  # white space between two words that differ
        append(text[start:next_end], differs)
        end, differed = next_end, differs
    append(text[end:], False)
    return parts


# Figures


def _draw_curve(plot: LinePlot, best_step: int | None) -> "Figure":
    figure = draw([plot])
    figure.set_size_inches(_CHART_WIDTH, 0.6 * _CHART_WIDTH)
    (axis,) = figure.axes
    axis.set(title="", ylabel="")  # the caption has them
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
