"""What the filters removed from the training files, as an HTML page, Markdown or JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from ptenmt.atomic_files import json_text, write_text
from ptenmt.config import DataConfig
from ptenmt.config.loading import show_value
from ptenmt.data.filters import FilterReport, Removed
from ptenmt.evaluation.report import ExampleText, ReportSection, render, report_format
from ptenmt.evaluation.tables import files_table, filters_table
from ptenmt.inspection.figures import Table


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
    sections = [ReportSection(title="Training files", tiles=tiles, tables=[files_table(reports)])]
    if total.affected:
        sections.append(ReportSection(title="Removed by filter", tables=[filters_table(reports)]))
    sections += [_examples(name, reports, data) for name in total.affected]
    options = [(name, show_value(value)) for name, value in asdict(data.filters).items()]
    table = Table(title="Options", header=("option", "value"), rows=options)
    sections.append(ReportSection(title="Options of data.filters", tables=[table], is_folded=True))
    page = render(
        form,
        title=f"Training data: {total.num_left:,} of {total.num_read:,} pairs",
        subtitle=f"{data.source_language} → {data.target_language} · {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        sections=sections,
    )
    write_text(file, page)


def _examples(name: str, reports: Sequence[FilterReport], data: DataConfig) -> ReportSection:
    languages = (data.source_language, data.target_language)
    examples: list[tuple[str, list[ExampleText]]] = []
    for report in reports:
        removed = report.affected.get(name, Removed())
        for number, pair in enumerate(removed.examples, start=1):
            texts = zip(("source", "target"), pair, languages, strict=True)
            title = f"{report.name} · {number} of {removed.count:,}"
            examples.append((title, [(label, [(text, False)], language) for label, text, language in texts]))
    return ReportSection(title=f"{name[0].upper()}{name[1:]}", examples=examples, is_folded=True)
