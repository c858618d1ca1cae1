"""Marked parts of a text, such as bold words and links, on its translation: moved by word alignment."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate, pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

from ptenmt.data.placeholders import entity_pattern
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation.postprocessing import Alternative, TranslatedSegment
from ptenmt.translation.word_alignment import Alignment


class Span(NamedTuple):
    """A marked part of a text; in a list it stands after the one around it."""

    begin: int
    end: int
    """Characters; if equal, the span is a point, such as an image."""
    number: int
    """Its index in the list of the source. In a translation a span over several sentences may be in parts."""
    parent: int = -1
    """The number of the span around this one, if there is one."""


class MarkedSegment(NamedTuple):
    """A segment, or a line break, of a text with spans."""

    source: int
    target: int
    """The characters at which it and its translation begin."""
    typed: str
    text: str
    cuts: list[int]
    """Where spans begin and end inside, counted from its beginning."""
    to_align: TranslatedSegment | None
    """The segment, if its words have to be aligned."""


Words = list[tuple[int, int]]
"""Where words, marks and entities begin and end in a text."""


class LinkedWords(NamedTuple):
    """The words of a segment and of its translation, by their places in the whole texts."""

    source: Words
    target: Words
    links: list[int | None]
    """For each word of the translation the index of the source word that it is aligned to, if any."""
    weights: list[list[float]]
    """For each word of the translation how much it is aligned to each source word, where that is known."""


def marked_segments(source: str, translation: Alternative, spans: Sequence[Span]) -> list[MarkedSegment]:
    """The segments and line breaks of a text and of one of its translations, in order."""
    edges = sorted({edge for span in spans for edge in (span.begin, span.end)})
    found: list[MarkedSegment] = []
    at = to = 0
    for translated in (*translation.segments, None):
        space = translated.segment.before if translated else source[at:]
        breaks = [place for place, sign in enumerate(space) if sign == "\n"]
        found += [MarkedSegment(at + place, to + place, "\n", "\n", [], None) for place in breaks]
        at, to = at + len(space), to + len(space)
        if translated:
            typed, text = translated.segment.typed, translated.text
            cuts = [
                edge - at for edge in edges[bisect_right(edges, at) : bisect_left(edges, at + len(typed))]
            ]
            to_align = translated if cuts and not translated.segment.is_blank else None
            found.append(MarkedSegment(at, to, typed, text, cuts, to_align))
            at, to = at + len(typed), to + len(text)
    return found


def linked_words(segment: MarkedSegment, alignment: Alignment | None) -> Iterator[LinkedWords]:
    """Link the words of a segment; numbers, entities and marks to their like.

    Args:
        segment: One without spans that begin or end inside is taken as a single word; of one that is not
            translated each word is linked to itself, apart from the others.
        alignment: Of the segment, if its words have to be aligned; its texts may differ in entities, terms
            and capitals. None if there is none: words are linked in order.
    """
    source, target, cuts = segment.typed, segment.text, segment.cuts
    words, translated = ([(0, len(text))] if text else [] for text in (source, target))
    if cuts:
        # A word with a cut inside, as in H2O, is several, also where it stands in the translation.
        inner = {
            source[begin:end]: [
                cut - begin for cut in cuts[bisect_right(cuts, begin) : bisect_left(cuts, end)]
            ]
            for begin, end in _words(source)
        }
        words, translated = _divided(source, inner), _divided(target, inner)
    columns = [(segment.source + begin, segment.source + end) for begin, end in words]
    rows = [(segment.target + begin, segment.target + end) for begin, end in translated]
    if segment.to_align:
        names, others = (
            [source[slice(*word)] for word in words],
            [target[slice(*word)] for word in translated],
        )
        weights = _weights(names, others, alignment)
        yield LinkedWords(columns, rows, _links(names, others, weights), weights)
    else:
        for column, row in zip(columns, rows, strict=False):
            yield LinkedWords([column], [row], [0], [[1.0]])


def _weights(source: list[str], target: list[str], alignment: Alignment | None) -> list[list[float]]:
    """How much each word of a translation (row) belongs to each of the source (column)."""
    if alignment is None:
        rows = [int(row * len(source) / len(target)) for row in range(len(target))]
        return [[float(nearest == at) for at in range(len(source))] for nearest in rows]
    found = alignment.of_words()
    columns, rows = _matches(source, found.source_words), _matches(target, found.target_words)
    return [[found.weights[row][at] if row >= 0 <= at else 0.0 for at in columns] for row in rows]


def _links(source: list[str], target: list[str], weights: list[list[float]]) -> list[int | None]:
    """For each word of a translation its like in the source, if it has no letters, or the nearest one."""
    links: list[int | None] = [None] * len(target)
    for row, word in enumerate(target):
        if not (word[0].isalpha() and any(weights[row])):
            place = row * len(source) / len(target)
            same = [
                (weights[row][at], -abs(at - place), at) for at, each in enumerate(source) if each == word
            ]
            links[row] = max(same)[-1] if same else None
    free = [at for at in range(len(source)) if at not in links]
    for row, word in enumerate(target):
        best = max(free, key=weights[row].__getitem__, default=None)
        if links[row] is None and word[0].isalnum() and best is not None and weights[row][best]:
            links[row] = best
    return links


def _matches(words: Sequence[str], others: Sequence[str]) -> list[int]:
    """For each word the one at its place among others, some of which differ; -1: there is none."""
    found = [-1] * len(words)
    first, second = ([word.strip().casefold() for word in each] for each in (others, words))
    for _, begin, end, start, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if begin < end:
            found[start:stop] = [begin + at * (end - begin) // (stop - start) for at in range(stop - start)]
    return found


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(f"{entity_pattern().pattern}|{word_pattern().pattern}")


def _words(text: str) -> Words:
    return [word.span() for word in _pattern().finditer(text)]


def _divided(text: str, cuts: Mapping[str, list[int]]) -> Words:
    """The words of a text, some of them divided at characters."""
    return [
        part
        for begin, end in _words(text)
        for part in pairwise([begin, *(begin + cut for cut in cuts.get(text[begin:end], ())), end])
    ]


def move_spans(spans: Sequence[Span], source: str, segments: Sequence[LinkedWords]) -> list[Span]:
    """Move the spans of a text to its translation.

    In each segment a span stands at consecutive words, those linked to its own as far as possible, inside the
    span around it and beside its siblings. Points, and spans for which there is no word, stand between words.
    """
    mover = _Mover(spans, source, segments)
    (found,) = mover.place(-1, range(len(mover.columns)), [range(len(mover.rows))])
    return [spans[index]._replace(begin=begin, end=end) for begin, end, index, _ in found]


class _Mover:
    """Moves spans. The words of the text are numbered as columns, those of the translation as rows."""

    def __init__(self, spans: Sequence[Span], text: str, segments: Sequence[LinkedWords]) -> None:
        self._text = text
        self._children: dict[int, list[Span]] = defaultdict(list)
        latest = {-1: -1}  # several spans of a translation may have the same number
        for index, (begin, end, number, parent) in enumerate(spans):
            self._children[latest[parent]].append(Span(begin, end, index, latest[parent]))
            latest[number] = index
        self.columns = [word for segment in segments for word in segment.source]
        self.rows = [word for segment in segments for word in segment.target]
        self._begins, self._ends = [begin for begin, _ in self.columns], [end for _, end in self.columns]
        self._first_columns = [0, *accumulate(len(segment.source) for segment in segments)]
        self._first_rows = [0, *accumulate(len(segment.target) for segment in segments)]
        self._links = [
            None if link is None else first + link
            for segment, first in zip(segments, self._first_columns, strict=False)
            for link in segment.links
        ]
        self._weights = [of_word for segment in segments for of_word in segment.weights]

    def place(self, parent: int, columns: range, region: Sequence[range]) -> list[list[Span]]:
        """The spans inside a span, for each range of rows at which that stands."""
        children, start, own = self._children[parent], columns.start, dict[int, range]()
        for child in children:  # a word that two share belongs to the first
            first = max(start, bisect_right(self._ends, child.begin))
            stop = bisect_left(self._begins, child.end) if child.begin < child.end else 0
            own[child.number] = range(first, start := max(first, stop))
        pieces = self._pieces(children, own, columns, region)
        inside = {gap for ranges in pieces.values() for rows in ranges for gap in rows[1:]}
        points: dict[int, tuple[int, int]] = {}
        found: list[list[tuple[int, int, int, list[Span]]]] = [[] for _ in region]
        for child in children:
            ranges = pieces.get(child.number, [])
            inner = self.place(child.number, own[child.number], ranges) if ranges else []
            for rows, spans in zip(ranges, inner, strict=True):
                where = next(place for place, each in enumerate(region) if rows.start in each)
                begin, end = self.rows[rows.start][0], self.rows[rows.stop - 1][1]
                found[where].append(
                    (begin, end, child.number, [child._replace(begin=begin, end=end), *spans])
                )
            if not ranges:
                if child.begin not in points:
                    points[child.begin] = self._point(child.begin, region, inside)
                where, at = points[child.begin]
                found[where].append((at, at, child.number, self._as_points(child, at)))
        return [[span for *_, spans in sorted(each) for span in spans] for each in found]

    def _pieces(
        self, children: Sequence[Span], own: Mapping[int, range], columns: range, region: Sequence[range]
    ) -> dict[int, list[range]]:
        """The rows of each span that has any, in every segment; those sure of theirs choose first."""
        wishes = []
        for child in children:
            mine = own[child.number]
            last = bisect_right(self._first_columns, mine.stop - 1) if mine else 0
            for segment in range(bisect_right(self._first_columns, mine.start) - 1, last):
                outer = _common(columns, *self._first_columns[segment : segment + 2])
                is_whole = _common(mine, outer.start, outer.stop) == outer
                rows = [
                    row for each in region for row in _common(each, *self._first_rows[segment : segment + 2])
                ]
                gains = {row: 1 if is_whole or self._links[row] in mine else -1 for row in rows}
                wishes.append((1 not in gains.values(), len(mine), child, segment, gains))
        pieces: dict[int, list[range]] = {child.number: [] for child in children}
        taken: set[int] = set()
        for *_, child, segment, gains in sorted(wishes, key=itemgetter(0, 1)):
            free = {row: gain for row, gain in gains.items() if row not in taken}
            if 1 not in free.values():  # a span that needs a word gets the one that is nearest to its own
                is_placed = pieces[child.number] or not any(
                    map(str.isalpha, self._text[child.begin : child.end])
                )
                first = self._first_columns[segment]
                wanted = slice(max(0, own[child.number].start - first), own[child.number].stop - first)
                near = [(max(self._weights[row][wanted], default=0.0), row) for row in free]
                free = {} if is_placed or not near else {max(near)[1]: 1}
            if free:
                pieces[child.number].append(_best_run(free))
                taken.update(pieces[child.number][-1])
        return {number: _merged(ranges) for number, ranges in pieces.items() if ranges}

    def _point(self, position: int, region: Sequence[range], inside: set[int]) -> tuple[int, int]:
        """Where a point stands: in which range of a region, and at which character of the translation.

        Of the words in its segment as many as possible are on the side of it of those they are linked to.
        """
        follows = position > 0 and not self._text[position - 1].isspace()
        first = bisect_right(self._ends, position)
        segment = bisect_right(self._first_columns, max(0, min(first, len(self.columns)) - follows)) - 1
        start, end = self._first_rows[min(segment, len(self._first_rows) - 2) :][:2]
        votes = (0 if link is None else 1 if link < first else -1 for link in self._links[start:end])
        totals = dict(enumerate(accumulate(votes, initial=0), start))
        edges = {edge: -abs(edge - start) for rows in region for edge in (rows.start, rows.stop)}
        free = {
            gap: total
            for gap, total in totals.items()
            if gap not in inside and any(rows.start <= gap <= rows.stop for rows in region)
        } or edges
        gap = max(sorted(free, reverse=follows), key=free.__getitem__)
        where = next(place for place, rows in enumerate(region) if rows.start <= gap <= rows.stop)
        rows = region[where]
        if not rows:
            return where, 0
        if gap == rows.start or not (follows or gap == rows.stop):
            return where, self.rows[gap][0]
        return where, self.rows[gap - 1][1]

    def _as_points(self, span: Span, at: int) -> list[Span]:
        """A span without words, and those inside."""
        inner = [point for child in self._children[span.number] for point in self._as_points(child, at)]
        return [span._replace(begin=at, end=at), *inner]


def _common(rows: range, begin: int, end: int) -> range:
    start = max(rows.start, begin)
    return range(start, max(start, min(rows.stop, end)))


def _best_run(gains: Mapping[int, int]) -> range:
    """The consecutive rows with the greatest total gain."""
    best, best_total, begin, total, last = range(0), 0, 0, 0, -2
    for row, gain in gains.items():
        if total <= 0 or row != last + 1:
            begin, total = row, 0
        total, last = total + gain, row
        if total > best_total:
            best, best_total = range(begin, row + 1), total
    return best


def _merged(ranges: Sequence[range]) -> list[range]:
    """Ranges in order; those that meet are one."""
    found: list[range] = []
    for rows in sorted(ranges, key=attrgetter("start")):
        begin = found.pop().start if found and found[-1].stop == rows.start else rows.start
        found.append(range(begin, rows.stop))
    return found
