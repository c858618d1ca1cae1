"""Quantities drawn again: numbers, times, ordinals, weekdays, months and names of both sides of a pair.

Where both sides have the same quantities, others of the same kind take their places, each written as its
language writes it (by CLDR, through Babel): so a model learns the notation and not the numbers that its
corpus happens to have. A pair whose sides disagree stays as it is. It goes for any two languages of CLDR.

A drawn number has as many digits as the one before, its decimals and its grouping; one that is followed by
words in the singular keeps that form, and an ordinal keeps its ending.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any, Literal

from ptenmt.config import DataConfig
from ptenmt.data.readers import SentencePair, read_lines

Kind = Literal["number", "year", "time", "ordinal", "weekday", "month", "words"]
_DIGIT = re.compile(r"\d")
_YEARS = range(1000, 2100)
_MAX_DIGITS = 9
_TRIES = 20
_TIME = r"(?P<hour>[01]?\d|2[0-4])(?:(?P<sep>h|:)(?P<minute>[0-5]\d)|(?P<full>h))(?P<half> ?[ap]\.?m\b\.?)?"
_ORDINAL = r"(?P<ordinal>\d{1,3})(?P<ending>\.?[ºª]|(?:st|nd|rd|th|er|re|e|de|ste|a|o)\b)"
_BEFORE, _AFTER = r"(?<![\w.,:/–-])(?<!\d )", r"(?![\w]|[.,:/–-]\d| \d)"


@dataclass(frozen=True)
class WrittenQuantity:
    """A quantity in a text."""

    begin: int
    end: int
    kind: Kind
    value: str
    """What it says in every language: digits and a decimal point, minutes of the day, a place in a list."""
    text: str


class Notation:
    """How a language writes quantities."""

    def __init__(self, language: str) -> None:
        from babel import Locale

        self._locale: Any = Locale(language)
        symbols = self._locale.number_symbols.get("latn") or self._locale.number_symbols
        self._decimal, self._group = symbols["decimal"], symbols["group"]
        groups = re.escape(self._group) + (" \u00a0\u202f" if self._group.isspace() else "")
        number = rf"\d{{1,3}}(?:[{groups}]\d{{3}})+(?:\{self._decimal}\d+)?|\d+(?:\{self._decimal}\d+)?"
        tables: dict[Kind, list[dict[int, str]]] = {
            "weekday": _tables(self._locale.days),
            "month": _tables(self._locale.months),
            "words": [_numbers_in_words(language)],
        }
        self._named: dict[str, tuple[Kind, int, dict[int, str]]] = {}
        """The kind of each name, its number, and the names of all numbers."""
        for kind, of_kind in tables.items():
            for table in of_kind:
                for number_of, name in table.items():
                    for form in (name, _capitalized(name)):
                        self._named.setdefault(form, (kind, number_of, table))
        forms = sorted(self._named, key=len, reverse=True)
        names = rf"(?<![\w-])(?P<name>{'|'.join(map(re.escape, forms))})(?![\w-])"
        self.names = re.compile(names)
        self._pattern = re.compile(rf"{_BEFORE}(?:{_TIME}|{_ORDINAL}|(?P<number>{number})){_AFTER}|{names}")

    def find(self, text: str) -> Iterator[WrittenQuantity]:
        """Find the quantities of a text, in order."""
        for match in self._pattern.finditer(text):
            if match["name"]:
                kind, number, _ = self._named[match[0]]
                yield WrittenQuantity(*match.span(), kind, str(number), match[0])
            elif match["hour"]:
                yield self._time(match)
            elif match["ordinal"]:
                yield WrittenQuantity(*match.span(), "ordinal", match["ordinal"], match[0])
            elif len(digits := re.sub(r"\D", "", match["number"])) <= _MAX_DIGITS and match[0][0] != "0":
                whole, _, decimals = match["number"].partition(self._decimal)
                is_year = digits == match[0] and len(digits) == 4 and int(digits) in _YEARS
                value = re.sub(r"\D", "", whole) + (f".{decimals}" if decimals else "")
                yield WrittenQuantity(*match.span(), "year" if is_year else "number", value, match[0])

    @staticmethod
    def _time(match: re.Match[str]) -> WrittenQuantity:
        hour, minute = int(match["hour"]), int(match["minute"] or 0)
        if match["half"] and 1 <= hour <= 12:
            hour = hour % 12 + (12 if "p" in match["half"].lower() else 0)
        return WrittenQuantity(*match.span(), "time", str(60 * hour + minute), match[0])

    def agree(self, value: str, other: str) -> bool:
        """Whether words beside two numbers have the same form: of the plural, and of an ordinal's ending."""
        forms = (self._locale.plural_form, self._locale.ordinal_form)
        return all(form(float(value)) == form(float(other)) for form in forms)

    def write(self, quantity: WrittenQuantity, value: str) -> str:
        """Another value in the notation of a quantity; an empty text if it cannot be written like it."""
        if named := self._named.get(quantity.text):
            name = named[2][int(value)]
            return _capitalized(name) if quantity.text[0].isupper() else name
        if quantity.kind == "time":
            return _time_like(quantity.text, int(value))
        if quantity.kind == "ordinal":
            return value + quantity.text.lstrip("0123456789")
        whole, _, decimals = value.partition(".")
        if sign := re.search(r"(?<=\d)[^\d](?=\d{3}(?!\d))", quantity.text.split(self._decimal)[0]):
            whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", sign[0], whole)
        return f"{whole}{self._decimal}{decimals}" if decimals else whole


def _tables(names: Any) -> list[dict[int, str]]:
    """The tables of the names of weekdays or months, each from number to name, long names first."""
    contexts = ("format", "stand-alone")
    return [dict(names[context][width]) for width in ("wide", "abbreviated") for context in contexts]


def _capitalized(name: str) -> str:
    return name[:1].upper() + name[1:]


def redraw_quantities(source: str, target: str, random: Random, data: DataConfig) -> SentencePair:
    """Draw the quantities again that both sides of a pair have equally often; see the module."""
    languages = data.languages
    notations = [notation(language) for language in languages]
    if not (_DIGIT.search(source) and _DIGIT.search(target)) and not notations[0].names.search(source):
        return source, target
    found = [list(own.find(text)) for own, text in zip(notations, (source, target), strict=True)]
    counts = [Counter((one.kind, one.value) for one in quantities) for quantities in found]
    digits = [sum(count for (kind, _), count in of_side.items() if kind != "words") for of_side in counts]
    if digits[0] != digits[1]:
        return source, target
    new = {
        key: _drawn(*key, random, notations) for key, count in counts[0].items() if counts[1][key] == count
    }
    texts = [source, target]
    for side, (own, quantities) in enumerate(zip(notations, found, strict=True)):
        for one in reversed(quantities):
            value = new.get((one.kind, one.value))
            written = own.write(one, value) if value is not None else one.text
            if not written:
                return source, target
            texts[side] = texts[side][: one.begin] + written + texts[side][one.end :]
    return texts[0], texts[1]


def _drawn(kind: Kind, value: str, random: Random, notations: list[Notation]) -> str:
    """Another value of a kind, in whose neighbourhood the words of both languages stay as they are."""
    for _ in range(_TRIES):
        other = _any_value(kind, value, random)
        if kind in ("weekday", "month", "time", "year") or all(own.agree(value, other) for own in notations):
            return other
    return value


def _any_value(kind: Kind, value: str, random: Random) -> str:
    if kind == "weekday":
        return str(random.randrange(7))
    if kind == "month":
        return str(random.randint(1, 12))
    if kind == "words":
        return str(random.choice(_WORDS_LIKE))
    if kind == "year":
        return str(random.randint(1100, 2050))
    if kind == "time":
        hour, minute = divmod(int(value), 60)
        # The half of the day stays, and a full hour.
        other = random.randrange(1, 12) + (12 if hour >= 12 else 0)
        return str(60 * other + (5 * random.randrange(1, 12) if minute else 0))
    whole, _, decimals = value.partition(".")
    if len(whole) == 1:
        drawn = random.randint(2, 9)
    elif len(whole) == 2:  # a day stays a possible one
        drawn = random.randint(10, 28) if int(whole) <= 31 else random.randint(32, 99)
    else:
        drawn = random.randrange(10 ** (len(whole) - 1), 10 ** len(whole))
    end = "".join(str(random.randrange(10)) for _ in decimals)
    return f"{drawn}.{end}" if decimals else str(drawn)


def _time_like(text: str, value: int) -> str:
    """Minutes of the day, written as another time."""
    hour, minute = divmod(value, 60)
    if half := re.search(r" ?[ap]\.?m", text, re.IGNORECASE):
        is_same = (hour >= 12) == ("p" in half[0].lower())
        if not is_same:
            return ""
        hour = (hour - 1) % 12 + 1
    digits = re.match(r"\d+", text)
    begin = f"{hour:02d}" if digits and len(digits[0]) == 2 and digits[0][0] == "0" else str(hour)
    return re.sub(
        r"\A\d+(?:(h|:)(\d\d))?", lambda old: begin + (f"{old[1]}{minute:02d}" if old[1] else ""), text
    )


_WORDS_LIKE = tuple(number for number in range(13, 100) if number % 10 not in (1, 2))
"""Numbers whose words have no gender and no plural of their own."""


def _numbers_in_words(language: str) -> dict[int, str]:
    """The words of some numbers; none for a language that num2words lacks."""
    from num2words import num2words

    try:
        return {number: num2words(number, lang=language) for number in _WORDS_LIKE}
    except NotImplementedError:
        return {}


notation = cache(Notation)
"""The notation of a language by its ISO 639-1 code."""


def replace_names(source: str, target: str, random: Random, data: DataConfig) -> SentencePair:
    """Put another name of ``data.augment.name_list`` in place of one that both sides have once."""
    groups = name_groups(Path(data.augment.name_list or ""))
    words = [Counter(re.findall(r"[^\W\d_]+", text)) for text in (source, target)]
    shared = [word for word in words[0] if word in groups and words[0][word] == words[1][word] == 1]
    if not shared:
        return source, target
    name = random.choice(shared)
    other = random.choice(groups[name])
    pattern = rf"(?<![^\W_]){name}(?![^\W_])"
    return re.sub(pattern, other, source), re.sub(pattern, other, target)


@cache
def name_groups(file: Path) -> dict[str, list[str]]:
    """The names that may take the place of each name: those of its group; a blank line ends a group."""
    lines = (line.strip() for line in read_lines(file))
    groups = [list(group) for is_named, group in groupby(lines, bool) if is_named]
    return {name: group for group in groups for name in group}
