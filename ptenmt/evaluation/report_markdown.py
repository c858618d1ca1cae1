"""A report as Markdown, for an issue, a model card or a mail: charts become lines of text."""

import math
import re
from collections.abc import Sequence
from functools import singledispatch

from ptenmt.evaluation.differences import Piece, word_differences
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
    points_of,
)

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&$])")
"""What Markdown, or a page that is made of it, would not show as it is."""
_LONGEST_BAR = 30
_SPARK_WIDTH = 40
_SPARKS = "▁▂▃▄▅▆▇█"


def markdown_text(report: Report) -> str:
    """The whole text."""
    blocks = [f"# {_escaped(report.title)}", _escaped(report.subtitle), *map(_section, report.sections)]
    return "\n\n".join(blocks) + "\n"


def _section(section: Section) -> str:
    text = [_escaped(section.text)] if section.text else []
    return "\n\n".join([f"## {_escaped(section.title)}", *text, *map(_shown, section.parts)])


@singledispatch
def _shown(part: Part) -> str:
    raise TypeError(f"a report has no {type(part).__name__}")


@_shown.register
def _figures(part: Figures) -> str:
    return "\n".join(
        f"- **{_escaped(figure.name)} {_escaped(figure.value)}** ({_escaped(figure.note)})"
        for figure in part.figures
    )


@_shown.register
def _table(part: Table) -> str:
    width = len(part.header or part.rows[0])
    rules = ["--:" if column in part.numbers else ":--" for column in range(width)]
    return "\n".join(map(_row, [part.header or [""] * width, rules, *part.rows]))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


@_shown.register
def _bars(part: BarChart) -> str:
    longest = max(bar.value for bar in part.bars) or 1.0
    labels = max(len(bar.label) for bar in part.bars)
    lines = [
        f"{bar.label.rjust(labels)} {'█' * round(bar.value / longest * _LONGEST_BAR)} {bar.shown}"
        for bar in part.bars
    ]
    return "\n".join(["```text", part.title, *lines, "```"])


@_shown.register
def _curves(part: LineChart) -> str:
    width = max(len(line.name) for line in part.plot.lines)
    lines = [f"{line.name.ljust(width)} {_spark(points_of(line))}" for line in part.plot.lines]
    return "\n".join(["```text", part.title, *lines, "```"])


def _spark(points: Sequence[tuple[float, float]]) -> str:
    """The curve in a row of blocks, its ends, its lowest and highest value."""
    values = [y for _, y in points]
    every = math.ceil(len(values) / _SPARK_WIDTH)
    low, high = min(values), max(values)
    steps = (len(_SPARKS) - 1) / ((high - low) or 1.0)
    blocks = "".join(_SPARKS[round((value - low) * steps)] for value in values[::every])
    return f"{blocks} {values[0]:.4g} → {values[-1]:.4g}, {low:.4g} to {high:.4g}"


@_shown.register
def _examples(part: Examples) -> str:
    return "\n\n".join(map(_example, part.examples))


def _example(example: Example) -> str:
    """As in HTML: each translation against the reference, the reference against the first translation."""
    (_, first), *_ = example.translations
    _, reference = word_differences(first, example.reference)
    lines = [f"**{_escaped(example.title)}**", ""]
    if example.source is not None:
        lines.append(f"- source: {_escaped(example.source)}")
    lines.append(f"- reference: {_marked(reference)}")
    for name, text in example.translations:
        lines.append(f"- {name}: {_marked(word_differences(text, example.reference)[0])}")
    return "\n".join(lines)


def _marked(pieces: Sequence[Piece]) -> str:
    """In bold what the other has not; empty texts are said to be so."""
    shown = [_escaped(piece.text) if piece.is_shared else _bold(piece.text) for piece in pieces]
    return "".join(shown).strip() or "_(empty)_"


def _bold(text: str) -> str:
    """In bold, as HTML writes it: asterisks mean nothing between a letter and a comma."""
    words = text.strip()
    return f"{text[: len(text) - len(text.lstrip())]}<b>{_escaped(words)}</b>{text[len(text.rstrip()) :]}"


def _escaped(text: str) -> str:
    """On one line, and shown as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()) if "\n" in text else text)
