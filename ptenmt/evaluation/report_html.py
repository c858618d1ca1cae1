"""A report as one HTML page that needs nothing else: no script, no font, no network."""

from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path

from ptenmt.evaluation.differences import Piece, word_differences
from ptenmt.evaluation.report_charts import bar_chart, line_chart
from ptenmt.evaluation.report_parts import (
    BarChart,
    Example,
    Examples,
    Figures,
    LineChart,
    Part,
    Report,
    Section,
    Table,
)
from ptenmt.markup import Markup, element

_STYLE = Path(__file__).with_name("report.css")
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
"""
"""The policy forbids every request; without an icon of its own a browser would ask for one."""


def html_page(report: Report) -> str:
    """The whole page."""
    sections = list(enumerate(report.sections))
    links = [element("a", section.title, href=f"#s{number}") for number, section in sections]
    page = element(
        "body",
        element("header", element("h1", report.title), element("p", report.subtitle)),
        element("nav", *_lines(links), aria_label="Sections"),
        element("main", *_lines([_section(section, f"s{number}") for number, section in sections])),
    )
    style = element("style", Markup(_STYLE.read_text(encoding="utf-8")))
    return f"{_HEAD}{element('title', report.title)}\n{style}\n</head>\n{page}\n</html>\n"


def _lines(parts: Sequence[Markup]) -> list[Markup]:
    """Each on a line of its own, so that the page's source can be read."""
    return [Markup(f"\n{part}") for part in parts]


def _section(section: Section, name: str) -> Markup:
    text = [element("p", section.text)] if section.text else []
    parts = [*text, *_arranged(section.parts)]
    if section.is_folded:
        folded = element("details", element("summary", element("h2", section.title)), *_lines(parts))
        return element("section", folded, id=name)
    return element("section", element("h2", section.title), *_lines(parts), id=name)


def _arranged(parts: Sequence[Part]) -> list[Markup]:
    """Charts beside each other where there is room, what follows them beside or below."""
    charts = [_shown(part) for part in parts if isinstance(part, BarChart | LineChart)]
    others = [_shown(part) for part in parts if not isinstance(part, BarChart | LineChart)]
    if len(charts) == 1:
        return [element("div", *charts, *others, class_="side")]
    return [*([element("div", *charts, class_="charts")] if charts else []), *others]


@singledispatch
def _shown(part: Part) -> Markup:
    raise TypeError(f"a report has no {type(part).__name__}")


@_shown.register
def _figures(part: Figures) -> Markup:
    return element(
        "div",
        *(
            element(
                "div",
                element("div", figure.name, class_="name"),
                element("div", figure.value, class_="number"),
                element("div", figure.note, class_="note"),
                class_="figure",
            )
            for figure in part.figures
        ),
        class_="figures",
    )


@_shown.register
def _table(part: Table) -> Markup:
    head = [element("thead", _row("th", part.header, part.numbers))] if part.header else []
    body = element("tbody", *_lines([_row("td", row, part.numbers) for row in part.rows]))
    return element("div", element("table", *head, body), class_="table", tabindex=0)


def _row(name: str, cells: Sequence[str], numbers: frozenset[int]) -> Markup:
    return element(
        "tr",
        *(
            element(name, cell, class_="number" if column in numbers else None)
            for column, cell in enumerate(cells)
        ),
    )


@_shown.register
def _bars(part: BarChart) -> Markup:
    return bar_chart(part)


@_shown.register
def _curves(part: LineChart) -> Markup:
    return line_chart(part)


@_shown.register
def _examples(part: Examples) -> Markup:
    return element("div", *_lines([_example(each, part.languages) for each in part.examples]))


def _example(example: Example, languages: tuple[str | None, str | None]) -> Markup:
    """Each translation has the words marked that the reference has not; the reference, those of the first."""
    source_language, target_language = languages
    (_, first), *_ = example.translations
    rows = [] if example.source is None else [_text("source", [example.source], source_language)]
    _, reference = word_differences(first, example.reference)
    rows.append(_text("reference", _marked(reference, "missing"), target_language))
    for name, text in example.translations:
        pieces, _ = word_differences(text, example.reference)
        rows.append(_text(name, _marked(pieces, "extra"), target_language))
    return element("article", element("h3", example.title), element("dl", *_lines(rows)), class_="example")


def _text(name: str, contents: Sequence[str], language: str | None) -> Markup:
    text = contents if any(contents) else [element("i", "(empty)")]
    return Markup(element("dt", name) + element("dd", *text, lang=language, dir="auto"))


def _marked(pieces: Sequence[Piece], kind: str) -> list[str]:
    return [piece.text if piece.is_shared else element("mark", piece.text, class_=kind) for piece in pieces]
