"""Spans of a sentence, such as kept parts and glossary terms, and their places in its translation.

A kept part is read as a placeholder, or as it was typed; the model writes it where it belongs. What it
drops, and what has no placeholder, is put into the gap between words that the word alignment votes for; what
it writes twice is kept once. A term of a glossary takes the place of the words that are aligned to it. Markup
(markup.py) finds the gaps of empty elements with the same vote.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import mul

from ptenmt.data.kept_parts import PLACEHOLDERS
from ptenmt.translation.word_alignment import words_of

_BRACKETS = "([{“‘«¿¡"
_OPENING = f"{_BRACKETS}\"'/-–—"
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


def source_text(sentence: str, spans: Sequence[Span], *, lower: bool = False) -> tuple[str, list[int]]:
    """What the model reads of a sentence; ``lower``: in lower case, but for its first letter and kept parts.

    Returns the text, and where in it each span begins.
    """
    text, copied, begins = "", 0, []
    for span in spans:
        text += _lowered(sentence[copied : span.begin], text) if lower else sentence[copied : span.begin]
        if not span.source and not sentence[span.end : span.end + 1].isalnum():
            text = text.rstrip()
        elif not span.source and text[-1:].isalnum():
            text += " "  # between two words
        begins.append(len(text))
        text += _lowered(span.source, text) if lower and span.is_term else span.source
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

    It touches the words beside it where the kept part does in the sentence, and only there. A kept part that
    the model read as it was typed is written as it was typed.
    """
    for span in spans:
        if span.source == span.target and not span.is_term:
            # Only letters, digits, hyphens and full stops are read as typed: a replacement without escapes.
            text = re.sub(rf"(?<!\w){re.escape(span.target)}(?!\w)", span.target, text, flags=re.IGNORECASE)
    for sign in filter(text.__contains__, PLACEHOLDERS):
        own = [span for span in spans if span.source == sign]
        if not own and sign in sentence:  # without safeguards
            continue
        text, *parts = text.split(sign)
        for span, after in zip(own, parts, strict=False):
            before = _spaced(text, sentence[: span.begin][-1:])
            text = before + sign + _spaced(after[::-1], sentence[span.end : span.end + 1])[::-1]
        for after in parts[len(own) :]:  # one too many
            before = text if after[:1].isalnum() else text.rstrip()
            text = f"{before} {after}" if before[-1:].isalnum() and after[:1].isalnum() else before + after
    return text


def _spaced(text: str, typed: str) -> str:
    """A text that ends at a placeholder, with or without a space as in the sentence.

    Args:
        text: The text.
        typed: The character beside the kept part in the sentence, if any.
    """
    bare = text.rstrip()
    if typed.isalnum() and bare[-1:].isalnum():
        return bare
    return f"{text} " if (typed.isspace() or not typed) and text[-1:].isalnum() else text


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
    sentence: str,
    source: tuple[Sequence[str], Sequence[Sequence[float]]],
    spans: Sequence[tuple[Span, int]],
) -> str:
    """A translation with the terms and missing kept parts of its sentence at their aligned places.

    Args:
        text: The translation, with placeholders.
        sentence: The sentence as it was typed.
        source: The words that the model read, and the weights [target words, source words].
        spans: Of the sentence, each with its place in the text that the model read; in order.
    """
    words = words_of(text)
    source_words, weights = source
    ends = list(accumulate(map(len, source_words)))
    inserted: list[list[Span]] = [[] for _ in range(len(words) + 1)]  # before each word, and after the last
    kept = _rows_of_kept_parts(text, words, [span for span, _ in spans])
    taken = set(chain(*kept))
    inside = set(chain(*(rows[1:] for rows in kept)))
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
        gap = max((gap for gap in range(len(votes)) if gap not in inside), key=votes.__getitem__)
        inserted[gap].append(span)
    return _joined(words, inserted, sentence)


def _joined(words: Sequence[str], inserted: Sequence[Sequence[Span]], sentence: str) -> str:
    """A translation with spans before its words, and after the last, spaced as in the sentence."""
    text = ""
    for own, word in zip(inserted, [*words, ""], strict=True):
        for span in own:
            text = _inserted(text, span, sentence[: span.begin][-1:])
        text += _after(word, sentence[own[-1].end :][:1]) if own else word
    return text


def _rows_of_kept_parts(text: str, words: Sequence[str], spans: Sequence[Span]) -> list[list[int]]:
    """Which words of a translation each kept part that is there consists of."""
    ends = list(accumulate(map(len, words)))
    written = {span.source for span in spans if not span.is_term and span.source} | {*PLACEHOLDERS}
    return [
        [row for row, end in enumerate(ends) if part.start() < end and end - len(words[row]) < part.end()]
        for part in re.finditer("|".join(map(re.escape, sorted(written, key=len, reverse=True))), text)
    ]


def _inserted(text: str, span: Span, typed: str) -> str:
    """A text and a span after it; ``typed``: the character before it in the sentence, if any."""
    part = span.source if span.source in PLACEHOLDERS else span.target
    last = text[-1:]
    touches = not last or last.isspace() or last in _BRACKETS or last == typed
    return text + part if touches or (typed.isalnum() and last.isalnum()) else f"{text} {part}"


def _after(word: str, typed: str) -> str:
    """A word after a span; ``typed``: the character after that in the sentence, if any."""
    bare = word.lstrip()
    if typed.isalnum() and bare[:1].isalnum():
        return bare
    is_open = word[:1].isalnum() or (word and word[0] in _OPENING)
    return f" {word}" if is_open and word[0] != typed else word


def _replace(words: list[str], shares: Sequence[float], taken: set[int], target: str) -> bool:
    """Put a term in place of the words that are equal or aligned to it; False: there are none.

    Args:
        words: Of the translation; changed.
        shares: How much each word attends to the term in the source.
        taken: The words that other terms have replaced, or that are kept parts; changed.
        target: The term in the target language.
    """
    rows = _rows_of(target, words, shares, taken)
    if not rows:
        return False
    taken.update(rows)
    first, *others = rows
    word = words[first].lstrip()
    is_first = not any(map(str.isalpha, "".join(words[:first])))
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
