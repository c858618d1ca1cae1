"""Numbers in words, as English writes them: ``vinte e três``, ``mil e duzentas``, ``dezassete``.

Small models lose one of several words, and confuse those of one word that are alike. Most numbers of one word
they translate themselves. text2num finds and reads them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ptenmt.data.placeholders import in_notation

_SIGN = re.compile(
    r"(?:vinte|nta|cento|ent[oa]s|mil|milh(?:ão|ões)) e \w{2}| mil(?:hão|hões)?\b"
    r"|\b(?:dez[aeo]\w+|(?:ca|qua)torze|quinhent[oa]s|cem)\b|(?:déc|vig|ag)ésim|\bdécim[oa] ",
    re.I,
)
"""Every number in words that is found has this; few other texts have."""
_CONFUSED = re.compile(
    r"dez[ae]sseis|dez[ae]ssete|dezoito|dez[ae]nove|(?:ca|qua)torze|quinhent[oa]s|cem", re.I
)
"""Numbers of one word that small models take for *seis*, *dez*, *cinco* or *sem*."""
_TOKEN = re.compile(r"\bpor cento\b|[^\W\d_]+|\S", re.I)
"""In *dez por cento e vinte* there is no *cento e vinte*."""
_BELOW_TWENTY = [
    *["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"],
    *["twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"],
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_DIGIT = re.compile(r"\d \Z")
"""Before a part of a number: *2 mil e quinhentos*."""
_CENTURY = re.compile(r"\bséculo \Z", re.I)
_BEFORE_YEAR = re.compile(r"\b(?:em|de|desde|até|ano|entre) \Z", re.I)
_PERCENT = re.compile(r" por cento\b", re.I)
_NEXT_WORD = re.compile(r" (?!por cento\b|e\b|a\b|ou\b|horas?\b)[^\W\d_]{2}|%")
_AFTER_YEAR = re.compile(r"(?! [^\W\d_])| (?:e|a|em|n[oa]s?|para|foi|quando)\b", re.I)
_YEARS = range(1100, 2100)
_HUNDRED = 100
_MILLION = 10**6
_COUNTED = re.compile(r"( e meio)? de(?= [a-zà-ÿ]{3})(?! (?:euros|dólares|reais|libras)\b)")


class Quantity(NamedTuple):
    """A part of a text, and how the target language writes it."""

    begin: int
    end: int
    target: str
    is_readable: bool = False
    """Whether a model without placeholders translates it well."""


def numbers_in_words(text: str, *, counting: bool) -> Iterator[Quantity]:
    """The numbers of several words: below a hundred in words, others in digits.

    ``counting``: those that count what the next word names; else the others, such as years.
    """
    for begin, end, value, is_ordinal in _numbers(text):
        typed = text[begin:end]
        if is_ordinal or not (
            " e " in typed.lower() or typed.lower().endswith(" mil") or _CONFUSED.fullmatch(typed)
        ):
            continue
        century = _CENTURY.search(text[:begin])
        if century and not counting:
            yield Quantity(century.start(), end, f"{in_notation(f'{value}º', ('pt', 'en'))} century")
        if century:
            continue
        is_year = value in _YEARS and _BEFORE_YEAR.search(text[:begin]) and _AFTER_YEAR.match(text, end)
        if counting == bool(is_year or not _NEXT_WORD.match(text, end)):
            continue
        if value >= _MILLION and value % _MILLION == 0:
            continue  # of millions_in_words
        percent = _PERCENT.match(text, end)
        english = f"{value}" if is_year else _in_english(value)
        if percent:
            english, end = f"{english} percent", percent.end()
        yield Quantity(begin, end, english.capitalize() if text[begin].isupper() else english)


def millions_in_words(text: str) -> Iterator[Quantity]:
    """Millions before what they count: ``um milhão e meio de`` is ``one and a half million``."""
    for begin, end, value, _ in _numbers(text):
        counted = _COUNTED.match(text, end)
        millions, rest = divmod(value, _MILLION)
        if millions and not rest and counted:
            half = " and a half" if counted[1] else ""
            yield Quantity(begin, counted.end(), f"{_in_english(int(millions))}{half} million")


def ordinals_in_words(text: str) -> Iterator[Quantity]:
    """The ordinals of several words: ``décimo segundo`` is ``12th``."""
    for begin, end, value, is_ordinal in _numbers(text):
        if is_ordinal and " " in text[begin:end]:
            yield Quantity(begin, end, in_notation(f"{value}º", ("pt", "en")))


def amount_in_words(text: str, nouns: Mapping[str, str]) -> str | None:
    """A text that is an amount, ``dois mil, trezentos e vinte reais``, in English, or None.

    ``nouns``: those that it may have, currencies for instance.
    """
    tokens, numbers = _tokens_and_numbers(re.sub(r"\b(mil|milh(?:ão|ões)), ", r"\1 ", text))
    english = {"e": "and", "de": "", "por cento": "percent", **nouns}
    words, last = list[str](), 0
    for number in [*numbers, None]:
        between = tokens[last : number.start] if number else tokens[last:]
        if not all(token.text().lower() in english for token in between):
            return None
        words += [english[token.text().lower()] for token in between]
        if number:
            words.append(_in_english(_value(number)))
            last = number.end
    return " ".join(filter(None, words)) if last else None


def _numbers(text: str) -> Iterator[tuple[int, int, int | float, bool]]:
    """Begin, end, value and whether it is an ordinal; not after digits."""
    if not _SIGN.search(text):
        return
    tokens, numbers = _tokens_and_numbers(text)
    for number in numbers:
        begin, end = tokens[number.start].begin, tokens[number.end - 1].end
        if not _DIGIT.search(text[:begin]):
            yield begin, end, _value(number), number.is_ordinal


def _tokens_and_numbers(text: str) -> "tuple[list[_Token], list[Any]]":
    from text_to_num import find_numbers

    tokens = [_Token(match) for match in _TOKEN.finditer(text)]
    return tokens, find_numbers(tokens, "pt", 0)


def _value(number: Any) -> int | float:
    value: float = number.value
    return int(value) if value == int(value) else value


class _Token:
    """A word, as text2num reads it; a sign is none."""

    def __init__(self, match: re.Match[str]) -> None:
        self.begin, self.end = match.span()
        self._text = match[0]

    def text(self) -> str:
        return self._text

    def nt_separated(self, previous: "_Token") -> bool:
        """Whether it begins another number than the token before it."""
        return self.begin - previous.end > 1

    def not_a_number_part(self) -> bool:
        return not self._text.isalpha()


def _in_english(value: int | float) -> str:
    """Below a hundred in words, others in digits: 23.5, 1,200."""
    return in_words(value) if isinstance(value, int) and value < _HUNDRED else f"{value:,}"


def in_words(value: int) -> str:
    """A number below a hundred."""
    if value < len(_BELOW_TWENTY):
        return _BELOW_TWENTY[value]
    tens, units = divmod(value, 10)
    return f"{_TENS[tens - 2]}-{_BELOW_TWENTY[units]}" if units else _TENS[tens - 2]
