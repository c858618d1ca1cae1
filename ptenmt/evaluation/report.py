"""The report of an evaluation: one HTML page that needs no other file and no network.

``_sections`` defines the content, ``templates/`` the layout.
"""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from importlib.metadata import version
from pathlib import Path

from ptenmt.atomic_files import check_writable, write_text
from ptenmt.config.loading import flat_options, show_value
from ptenmt.errors import OutputError
from ptenmt.evaluation.errors import EvaluatedSentence
from ptenmt.evaluation.evaluation import Evaluation
from ptenmt.evaluation.tables import evaluation_tables, scores_table
from ptenmt.inspection.figures import Table
from ptenmt.runs import Run, versions
from ptenmt.tokenizers.words import word_pattern

Languages = tuple[str | None, str | None]
ExampleText = tuple[str, Sequence[tuple[str, bool]], str | None]
"""A label; consecutive stretches of the text, and whether each is highlighted; its language, if known."""


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A heading and its content."""

    title: str
    text: str = ""
    table: Table | None = None
    examples: Sequence[tuple[str, Sequence[ExampleText]]] = ()
    """Sentences: a title, and source, reference and translations."""
    is_folded: bool = False
    """Whether it is shown on request only."""

    @classmethod
    def of_table(cls, table: Table, *, is_folded: bool = False) -> "ReportSection":
        """A section with the title, note and rows of a table."""
        title = table.title[0].upper() + table.title[1:]
        return cls(title=title, text=table.note, table=table, is_folded=is_folded)


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
    templates = Environment(
        loader=PackageLoader("ptenmt.evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("report.html.j2").render(
        title=scores_table(evaluation).title,
        subtitle=_subtitle(evaluation, _languages(run), date),
        sections=list(_sections(evaluation, run, date)),
    )


def _languages(run: Run | None) -> Languages:
    return (None, None) if run is None else run.config().data.languages


def _subtitle(evaluation: Evaluation, languages: Languages, date: str) -> str:
    source, target = languages
    parts = [] if source is None else [f"{source} → {target}"]
    if evaluation.num_references > 1:
        parts.append(f"{evaluation.num_references} references")
    parts.append("hypotheses from a file" if evaluation.search is None else evaluation.search.description)
    return " · ".join([*parts, date])


def _sections(evaluation: Evaluation, run: Run | None, date: str) -> Iterator[ReportSection]:
    analysis, languages = evaluation.error_analysis, _languages(run)
    scores, *others = evaluation_tables(evaluation, with_details=True)
    yield ReportSection.of_table(replace(scores, title="Scores"))
    yield from map(ReportSection.of_table, others)
    degenerate = [
        _example(sentence, languages, f"{kind.name}: ")
        for kind in analysis.degenerate_outputs
        for sentence in kind.examples
    ]
    if degenerate:
        yield ReportSection(title="Degenerate outputs", examples=degenerate, is_folded=True)
    text = "Words that differ between translation and reference are highlighted."
    worst = [_example(sentence, languages) for sentence in analysis.worst]
    yield ReportSection(title="Worst sentences", text=text, examples=worst)
    yield ReportSection.of_table(_setup(evaluation, run, date))
    if run is not None:
        rows = [(name, show_value(value)) for name, value in flat_options(run.config()).items()]
        table = Table(title="Config", header=("option", "value"), rows=rows)
        yield ReportSection.of_table(table, is_folded=True)


def _example(
    sentence: EvaluatedSentence, languages: Languages, prefix: str = ""
) -> tuple[str, list[ExampleText]]:
    """The translations are compared with the nearest reference, the reference with the translation."""
    source_language, target_language = languages
    reference = nearest_reference(sentence.hypothesis, sentence.references)
    title = f"{prefix}pair {sentence.row:,} · chrF2++ {sentence.score:.1f}"
    pairs = {"reference": (reference, sentence.hypothesis), "translation": (sentence.hypothesis, reference)}
    texts: list[ExampleText] = [
        (label, word_differences(text, other), target_language) for label, (text, other) in pairs.items()
    ]
    if sentence.source is not None:
        texts.insert(0, ("source", word_differences(sentence.source, sentence.source), source_language))
    return title, texts


def _setup(evaluation: Evaluation, run: Run | None, date: str) -> Table:
    """What was scored with what, as far as a reader needs it to score it again."""
    rows: list[tuple[str, str]] = []
    if run is not None:
        record = run.record({"data", "parameters"})
        rows = [
            ("run", str(run.path)),
            ("parameters", f"{record.parameters:,}"),
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
    rows.append(("fingerprint of the pairs", evaluation.test_set.fingerprint()))
    rows += [(f"signature of {score.name}, {score.text}", score.signature) for score in evaluation.scores]
    libraries = {**versions(), "sacrebleu": version("sacrebleu"), "numpy": version("numpy")}
    rows.append(("report", f"{date}, {_joined(libraries)}, {platform.system()} {platform.machine()}"))
    return Table(title="Setup", rows=rows)


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
