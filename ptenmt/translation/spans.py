"""Spans: parts of a sentence that the model reads otherwise, or whose place in the translation matters.

A removed URL and a term of a glossary are spans. ``source_text`` applies them to the
sentence, ``placed`` puts what becomes of them into its translation, at the words that are aligned to them.
Markup (markup.py) finds the places of empty elements with the same vote.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul

from ptenmt.data.placeholders import find_entities
from ptenmt.translation.word_alignment import words_of

_OPENING = "([{“‘«\"'/-–—¿¡"
_BRACKETS = ("()", "[]", "{}", "“”", "‘’", "«»", '""', "''")
_NEAR = 12
"""How many words on each side of a place vote."""
_DISTANCE_DECAY = 0.7
"""How much less each word votes than the one before it."""
_MARK_VOTE = 0.1
_MIN_SHARE = 0.1
"""The share of a word's attention with which it may belong to a span."""
_SURE_SHARE = 0.5
"""The share of a word's attention with which it belongs to a span."""
_ARTICLE = re.compile(r"(?:a|d|n|pel)?[oa]s?|às?|[dn]?uma?", re.IGNORECASE)
"""An article of Portuguese, also with a preposition."""
_POSSESSIVE = re.compile(r"['’]s?\Z")
_ENGLISH_ARTICLES = ("the", "a", "an")


@dataclass(frozen=True)
class Span:
    """A part of a sentence, and what becomes of it."""

    begin: int
    end: int
    """Characters of the sentence as it was typed."""
    kind: str
    """What it is to the safeguard that found it; read by safeguards only."""
    source: str
    """What the model reads in its place; if empty or a space, it is removed."""
    target: str | None = None
    """What stands in the translation in its place; None: what the model writes."""
    is_attached: bool = False
    """Whether what is removed has no space before it."""
    is_term: bool = False
    """Whether a glossary gave the target, be it that of a number."""
    is_carried: bool = False
    """Whether it is an entity, which the translation carries over."""
    is_placed: bool = False
    """Whether the words aligned to it give its place in the translation even if the model reads it."""

    expected: frozenset[str] = frozenset()
    """If known, the words of which the model writes one for the source; the target takes its place."""

    @property
    def is_removed(self) -> bool:
        """Whether the model reads nothing in its place."""
        return not self.source.strip()

    @property
    def is_aligned(self) -> bool:
        """Whether its place in the translation is that of the words that are aligned to it."""
        return self.target is not None and (self.is_placed or self.is_removed)

    def contains(self, span: "Span") -> bool:
        """Whether another span lies in it."""
        return self.begin <= span.begin and span.end <= self.end

    def overlaps(self, spans: Iterable["Span"]) -> bool:
        """Whether it shares characters with one of other spans."""
        return any(span.begin < self.end and self.begin < span.end for span in spans)


def source_text(sentence: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """What the model reads of a sentence, and the aligned spans, with their places in it."""
    text, copied, aligned = "", 0, list[Span]()
    for span in spans:
        begin, end, target = span.begin, span.end, span.target
        if not span.source and begin < end:
            if begin > copied and sentence[begin - 1] + sentence[end : end + 1] in _BRACKETS:
                begin, end = begin - 1, end + 1
                target = f"{sentence[begin]}{target}{sentence[end - 1]}"
            text += sentence[copied:begin]
            after = sentence[end : end + 1]
            if not text:
                end += len(sentence[end:]) - len(sentence[end:].lstrip())
            elif not after or after.isspace() or not (after.isalnum() or after in _OPENING):
                text = text.rstrip()
            is_attached = begin > 0 and not sentence[begin - 1].isspace()
            span = replace(span, begin=len(text), end=len(text), target=target, is_attached=is_attached)
        else:
            text += sentence[copied:begin] + span.source
            span = replace(span, begin=len(text) - len(span.source), end=len(text))
        copied = max(copied, end)
        if span.is_aligned:
            aligned.append(span)
    return text + sentence[copied:], aligned


def placed(
    words: Sequence[str], source: Sequence[str], weights: Sequence[Sequence[float]], spans: Sequence[Span]
) -> str:
    """A translation with what becomes of the aligned spans of its source.

    Args:
        words: Of the translation.
        source: The words of the text that the model read.
        weights: [target words, source words].
        spans: With their places in that text; sorted, and none overlaps another.
    """
    placement = _Placement(words, source, weights)
    for span in spans:
        assert span.target is not None
        if span.is_removed or not placement.replace(span, span.target):
            placement.insert(span, span.target)
    return placement.text()


class _Placement:
    """A translation into which spans are put, one after the other; arguments as of ``placed``."""

    def __init__(
        self, words: Sequence[str], source: Sequence[str], weights: Sequence[Sequence[float]]
    ) -> None:
        self._words, self._source, self._weights = words, source, weights
        self._source_ends = list(accumulate(map(len, source)))
        self._changed = list(words)
        self._inserted = [""] * (len(words) + 1)
        """What stands before each word, and after the last."""
        self._taken: set[int] = set()
        """The words that a term has replaced."""
        entities = find_entities("".join(words))
        starts = [0, *accumulate(map(len, words))]
        self._gaps = [
            gap
            for gap, start in enumerate(starts)
            if not any(entity.start() < start < entity.end() for entity in entities)
        ]
        """Where something may be inserted: not within an entity."""

    def replace(self, span: Span, target: str) -> bool:
        """Put what becomes of a span in place of the words that belong to it; False: there are none."""
        column = self._columns(span)[0]
        follows_article = column > 0 and _ARTICLE.fullmatch(self._source[column - 1].strip())
        kept = _ENGLISH_ARTICLES if follows_article else ()
        rows = self._expected_row(span) or _rows_of(
            target, self._changed, self._shares(span), self._taken, kept
        )
        if not rows:
            return False
        self._taken.update(rows)
        first, *others = rows
        self._changed[first] = _in_place_of(first, self._changed, target)
        for row in others:
            self._changed[row] = ""
        return True

    def _expected_row(self, span: Span) -> list[int]:
        """The word that is surely the translation of a span, as a list; empty: none is."""
        rows = [
            row
            for row, word in enumerate(self._changed)
            if row not in self._taken and _POSSESSIVE.sub("", word.strip()) in span.expected
        ]
        shares = self._shares(span)
        return [max(rows, key=shares.__getitem__)] if rows else []

    def insert(self, span: Span, target: str) -> None:
        """Put what becomes of a span into the gap between words that has the most votes."""
        if span.is_removed:
            column = sum(end <= span.begin for end in self._source_ends)
        else:
            column = self._columns(span)[0]
        votes = gap_votes(self._words, self._source, self._weights, column)
        gap = max(self._gaps, key=votes.__getitem__)
        before = self._inserted[gap] or "".join(self._changed[:gap])
        is_attached = span.is_attached and not before[-1:].isalnum()
        self._inserted[gap] += target if not before or is_attached else f" {target}"

    def text(self) -> str:
        """The translation with what was put into it."""
        parts = []
        for inserted, word in zip(self._inserted, [*self._changed, ""], strict=True):
            is_joined = inserted and word[:1] and (word[0].isalnum() or word[0] in _OPENING)
            parts += [inserted, f" {word}" if is_joined else word]
        return "".join(parts)

    def _columns(self, span: Span) -> list[int]:
        """The words of the source that a span covers, without the white space before them."""
        return [
            column
            for column, (word, end) in enumerate(zip(self._source, self._source_ends, strict=True))
            if end - len(word.lstrip()) < span.end and span.begin < end
        ]

    def _shares(self, span: Span) -> list[float]:
        """How much each word of the translation attends to a span."""
        columns = self._columns(span)
        return [sum(of_word[column] for column in columns) for of_word in self._weights]


def gap_votes(
    words: Sequence[str], source: Sequence[str], weights: Sequence[Sequence[float]], column: int
) -> list[float]:
    """Votes for each gap between the words of a translation to be that before a word of the source.

    The gap before the first word of the translation comes first, that after the last word last. Words before
    a gap should attend to the source before that place, and later ones behind it; near words count more.
    Marks follow their like in the source.
    """
    begin, end = max(0, column - _NEAR), column + _NEAR
    near = [_DISTANCE_DECAY ** (column - 1 - place) for place in range(begin, column)]
    near += [-(_DISTANCE_DECAY ** (place - column)) for place in range(column, end)]
    left = {word.strip() for word in source[:column]}
    right = {word.strip() for word in source[column:]}
    votes = [0.0]
    for word, of_word in zip(words, weights, strict=True):
        mark = word.strip()
        vote = sum(map(mul, of_word[begin:end], near))
        if any(map(str.isalnum, mark)):
            votes.append(vote)
        elif mark in left and mark in right:
            votes.append(_MARK_VOTE * vote)
        else:
            votes.append(_MARK_VOTE * ((mark in left) - (mark in right)))
    return list(accumulate(votes))


def _rows_of(
    target: str, words: Sequence[str], shares: Sequence[float], taken: set[int], kept: Collection[str]
) -> list[int]:
    """Which words of a translation a term replaces: those that are the term, else those aligned to it.

    Args:
        target: The term in the target language.
        words: The words of the translation.
        shares: How much each word attends to the term in the source.
        taken: The words that another term has replaced.
        kept: Words that stay before a term that does not begin with one of them itself.
    """
    wanted = [word.strip().casefold() for word in words_of(target)]
    folded = [word.strip().casefold() for word in words]
    equal = [
        range(first, first + len(wanted))
        for first in range(len(words) - len(wanted) + 1)
        if folded[first : first + len(wanted)] == wanted
        and taken.isdisjoint(range(first, first + len(wanted)))
    ]
    if equal:
        return list(max(equal, key=lambda rows: sum(shares[row] for row in rows)))
    free = [row for row, word in enumerate(words) if row not in taken and any(map(str.isalnum, word))]
    articles = [row for row in free if folded[row] in kept and wanted[0] not in kept]
    best = max((row for row in free if row not in articles), key=shares.__getitem__, default=None)
    if best is None or shares[best] < _MIN_SHARE:
        return []
    first = last = best
    while first - 1 in free and shares[first - 1] >= _SURE_SHARE:
        first -= 1
    while last + 1 in free and shares[last + 1] >= _SURE_SHARE:
        last += 1
    while first in articles:
        first += 1
    return list(range(first, last + 1))


def _in_place_of(row: int, words: Sequence[str], target: str) -> str:
    """A term in place of a word: with its space, and the capital of a first word."""
    replaced = words[row]
    word = replaced.lstrip()
    is_first = not any(map(str.isalnum, "".join(words[:row])))
    is_capital = is_first and word[0].isupper() and target.islower()
    possessive = _POSSESSIVE.search(word)
    if possessive and not _POSSESSIVE.search(target):
        target += possessive[0]
    return replaced[: -len(word)] + (target.capitalize() if is_capital else target)
