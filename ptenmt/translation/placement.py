"""Spans of a sentence, such as kept parts and glossary terms, and their places in its translation.

A kept part is read as a placeholder, or as it was typed; the model writes it where it belongs. What it
drops, and what has no placeholder, is put into the gap between words that the word alignment votes for; what
it writes twice is kept once. A term of a glossary takes the place of the words that are aligned to it. Markup
(markup.py) finds the gaps of empty elements with the same vote.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from ptenmt.data.kept_parts import PLACEHOLDERS
from ptenmt.translation.word_alignment import words_of

_OPENING = "([{“‘«\"'/-–—¿¡"
_NEAR = 12
"""How many words on each side of a gap vote."""
_DISTANCE_DECAY = 0.7
"""How much less each word votes than the one before it."""
_MARK_VOTE = 0.1
_MIN_SHARE = 0.1
"""The share of a word's attention with which it may belong to a term."""
_SURE_SHARE = 0.5
"""The share of a word's attention with which it belongs to a term."""
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)[^<>]*(?<!/)>")


@dataclass(frozen=True)
class Span:
    """A part of a sentence, and what becomes of it."""

    begin: int
    end: int
    """Characters of the sentence as it was typed."""
    source: str
    """What the model reads in its place: a placeholder, the part itself, or nothing."""
    target: str
    """What stands in the translation in its place."""
    is_term: bool = False
    """Whether the target replaces what the model writes: a term of a glossary."""

    def overlaps(self, spans: Iterable["Span"]) -> bool:
        """Whether it shares characters with one of other spans."""
        return any(span.begin < self.end and self.begin < span.end for span in spans)


def source_text(sentence: str, spans: Sequence[Span], *, lower: bool = False) -> tuple[str, list[int]]:
    """What the model reads of a sentence; ``lower``: in lower case, but for its first letter.

    Returns the text, and where in it each span begins.
    """
    text, copied, begins = "", 0, []
    for span in spans:
        text += _lowered(sentence[copied : span.begin], text) if lower else sentence[copied : span.begin]
        after = sentence[span.end : span.end + 1]
        if not span.source and (not after or not after.isalnum()):
            text = text.rstrip()
        begins.append(len(text))
        text += _lowered(span.source, text) if lower else span.source
        copied = span.end
    text += _lowered(sentence[copied:], text) if lower else sentence[copied:]
    return text, begins


def _lowered(text: str, before: str) -> str:
    """A text in lower case, with a capital if no letter stands before it."""
    text = text.lower()
    if any(map(str.isalpha, before)):
        return text
    first = next((place for place, char in enumerate(text) if char.isalpha()), 0)
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def checked(text: str, sentence: str, spans: Sequence[Span]) -> str:
    """A translation with each placeholder at most as often as the sentence has it.

    It touches the words beside it where the kept part does in the sentence, and only there.
    """
    masked = [span for span in spans if span.source in PLACEHOLDERS]
    for sign in dict.fromkeys(span.source for span in masked):
        own = [span for span in masked if span.source == sign]
        before, *parts = text.split(sign)
        kept, extra = parts[: len(own)], parts[len(own) :]
        if extra and kept:
            kept[-1] += "".join(part if part[:1] == " " else f" {part}" for part in extra).rstrip()
        for span, after in zip(own, kept, strict=False):
            before, after = (
                _spaced(before, sentence[: span.begin][-1:]),
                _spaced(after[::-1], sentence[span.end : span.end + 1]),
            )
            before += sign + after[::-1]
        text = before
    return text


def _spaced(text: str, typed: str) -> str:
    """A text that ends at a placeholder, with a space there if the typed character is one, not a letter."""
    bare = text.rstrip()
    if typed.isalnum() and bare[-1:].isalnum():
        return bare
    return f"{text} " if typed.isspace() and text[-1:].isalnum() else text


def missing_spans(text: str, spans: Sequence[Span]) -> list[Span]:
    """The kept parts that a translation, with placeholders, lacks."""
    missing = []
    counts: Counter[str] = Counter()
    for span in spans:
        if not span.is_term:
            written = span.source if span.source in PLACEHOLDERS else span.target
            counts[written] += 1
            if text.count(written) < counts[written]:
                missing.append(span)
    return missing


def with_kept_parts(text: str, spans: Sequence[Span]) -> str:
    """A translation with kept parts in place of placeholders.

    Tags, if one is closed that is not the last one opened, get the order of the sentence.
    """
    targets = {span.source: span.target for span in spans if span.source in PLACEHOLDERS}
    tags = [span.source for span in spans if span.source in targets and _TAG.fullmatch(span.target)]
    written = [char for char in text if char in tags]
    if sorted(written) == sorted(tags) and _is_crossed([targets[char] for char in written]):
        in_order = iter(tags)
        text = "".join(next(in_order) if char in targets and char in tags else char for char in text)
    return "".join(targets.get(char, char) for char in text)


def _is_crossed(tags: Sequence[str]) -> bool:
    """Whether a tag is closed that is not the last one opened."""
    opened: list[str] = []
    for tag in tags:
        match = _TAG.fullmatch(tag)
        if match and not match[1]:
            opened.append(match[2])
        elif match and (not opened or opened.pop() != match[2]):
            return True
    return False


def placed(
    text: str,
    source: tuple[Sequence[str], Sequence[Sequence[float]]],
    spans: Sequence[tuple[Span, int]],
) -> str:
    """A translation with the terms and missing kept parts of its sentence at their aligned places.

    Args:
        text: The translation, with placeholders.
        source: The words that the model read, and the weights [target words, source words].
        spans: Of the sentence, each with its place in the text that the model read; in order.
    """
    words = words_of(text)
    source_words, weights = source
    ends = list(accumulate(map(len, source_words)))
    inserted = [""] * (len(words) + 1)  # before each word, and after the last
    taken: set[int] = set()
    missing = missing_spans(text, [span for span, _ in spans])
    for span, begin in spans:
        end = begin + len(span.source)
        columns = [
            column
            for column, (word, stop) in enumerate(zip(source_words, ends, strict=True))
            if stop - len(word.lstrip()) < end and begin < stop
        ]
        if span.is_term:
            shares = [sum(row[column] for column in columns) for row in weights]
            if _replace(words, shares, taken, span.target):
                continue
        elif span not in missing:
            continue
        column = columns[0] if columns else sum(stop <= begin for stop in ends)
        votes = gap_votes(words, source_words, weights, column)
        gap = max(range(len(votes)), key=votes.__getitem__)
        addition = span.source if span.source in PLACEHOLDERS else span.target
        inserted[gap] += addition if gap == 0 and not inserted[gap] else f" {addition}"
    parts = []
    for addition, word in zip(inserted, [*words, ""], strict=True):
        is_joined = addition and word[:1] and (word[0].isalnum() or word[0] in _OPENING)
        parts += [addition, f" {word}" if is_joined else word]
    return "".join(parts)


def _replace(words: list[str], shares: Sequence[float], taken: set[int], target: str) -> bool:
    """Put a term in place of the words that are equal or aligned to it; False: there are none.

    Args:
        words: Of the translation; changed.
        shares: How much each word attends to the term in the source.
        taken: The words that other terms have replaced; changed.
        target: The term in the target language.
    """
    rows = _rows_of(target, words, shares, taken)
    if not rows:
        return False
    taken.update(rows)
    first, *others = rows
    word = words[first].lstrip()
    is_first = not any(map(str.isalnum, "".join(words[:first])))
    term = target.capitalize() if is_first and word[:1].isupper() and target.islower() else target
    words[first] = words[first][: len(words[first]) - len(word)] + term
    for row in others:
        words[row] = ""
    return True


def _rows_of(target: str, words: Sequence[str], shares: Sequence[float], taken: set[int]) -> list[int]:
    """Which words of a translation a term replaces: those that are the term, else those aligned to it."""
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
    best = max(free, key=shares.__getitem__, default=None)
    if best is None or shares[best] < _MIN_SHARE:
        return []
    first = last = best
    while first - 1 in free and shares[first - 1] >= _SURE_SHARE:
        first -= 1
    while last + 1 in free and shares[last + 1] >= _SURE_SHARE:
        last += 1
    return list(range(first, last + 1))


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
