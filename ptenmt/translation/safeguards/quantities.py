"""Quantities of Portuguese text as English writes them: scales, units, hours, Roman numerals of centuries.

A number is masked with the words that give it its size, since a model that loses one of them changes the
meaning a thousandfold: ``2,3 mil milhões`` is ``2.3 billion``. The long scale of Portugal (*bilião*) and the
short one of Brazil (*bilhão*) differ in spelling.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from ptenmt.data.placeholders import NUMBER, in_notation

_LANGUAGES = ("pt", "en")
_SCALES = {
    "mil milhões": "billion",
    "mil milhão": "billion",
    "mil": "thousand",
    **dict.fromkeys(["milhão", "milhões", "mi"], "million"),
    **dict.fromkeys(["bilhão", "bilhões", "bi"], "billion"),
    **dict.fromkeys(["bilião", "biliões", "trilhão", "trilhões", "tri"], "trillion"),
    **dict.fromkeys(["trilião", "triliões"], "quintillion"),
}
_LONG_SCALE = ("mil milhões", "mil milhão", "bilião", "biliões", "trilião", "triliões")
"""What a model that has read mostly Brazilian text gets wrong after a numeral, too."""
_NUMERALS = {
    "um": "one",
    "dois": "two",
    "três": "three",
    "quatro": "four",
    "cinco": "five",
    "seis": "six",
    "sete": "seven",
    "oito": "eight",
    "nove": "nine",
    "dez": "ten",
    "vinte": "twenty",
    "cem": "a hundred",
}
_LENGTHS_AND_WEIGHTS = r"[kcmd]?m[²³]?|[km]?g|[mcd]?l|ha|t"
_UNITS = rf"km/h|m/s|mph|{_LENGTHS_AND_WEIGHTS}|s|min|[kMG]?W|[kM]Wh|V|[kMG]?Hz|[KMGT]B|[º°][CF]|k?J|kcal"
_ROMAN = r"\b(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=\w)\b"
_ROMAN_DIGITS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_SCALE = rf"[ \u00a0]({'|'.join(_SCALES)})(?!\w)( e mei[oa]\b(?! dúzia))?(?: de(?= \w))?"
_SCALED = re.compile(rf"({NUMBER}){_SCALE}")
_SCALED_NUMERAL = re.compile(rf"\b({'|'.join(_NUMERALS)}){_SCALE}", re.IGNORECASE)
_HUNDREDS = re.compile(rf" e \d{{1,3}}(?![\d.,]|[ \u00a0](?:{'|'.join(_SCALES)})\b)")
"""After *mil*: part of the same number, or another one."""
_MEASURE = re.compile(rf"({NUMBER})[ \u00a0]({_UNITS})(?![\w'’-])")
_HOUR = re.compile(
    r"\b(?:às|das|(?:entre|e|para|desde) as|(?:até|pelas)(?= \d+h)) ([01]?\d|2[0-3]) ?h(?!\w)", re.IGNORECASE
)
_CENTURIES = re.compile(rf"(?i:\bséculos?|\bsécs\.) (?:{_ROMAN})(?:(?:, | e | a | ao |[-–]){_ROMAN})*")
_CENTURY = re.compile(
    rf"(?:\b(?i:séc\.|século(?= \d| \w+ [ad]\.C))|(?<!\w )(?<!\w)(?i:século))"
    rf" ({_ROMAN}|\d{{1,2}}\b)(?: ([ad])\.[ ]?C\b\.?)?"
)
_REGNAL = re.compile(rf"{_ROMAN}(?<=\w\w)|(?<=[a-zà-ÿ] )[IVX]\b(?![.’'-]?\w)")
_NUMBERED = re.compile(rf"\b[nN](?:\.[ºo°]|[º°])\.?[ \u00a0]?({NUMBER})")
"""*N.º*, not the word *no*."""


_SIGNS = re.compile(r"\d|[IVXLCDM](?![a-zà-ÿ])|(?i:ilh[ãõ]|ili[ãõ])")
"""Every quantity has one of these; few sentences without quantities have."""


class Quantity(NamedTuple):
    """A part of a text, and how the target language writes it."""

    begin: int
    end: int
    target: str


def quantities(text: str, languages: tuple[str, str]) -> list[Quantity]:
    """The quantities of a text, in order; none in other languages than Portuguese, to English."""
    if languages != _LANGUAGES or not _SIGNS.search(text) or text.isupper():
        return []
    chosen: list[Quantity] = []
    for quantity in sorted(_all_quantities(text), key=lambda one: (one.begin, -one.end)):
        if not chosen or quantity.begin >= chosen[-1].end:
            chosen.append(quantity)
    return chosen


def _with_scales(text: str) -> Iterator[Quantity]:
    for match in _SCALED.finditer(text):
        number, scale, half = match.groups()
        is_begun = scale == "mil" and _HUNDREDS.match(text, match.end())
        if not (is_begun or (half and "," in number)):
            number = in_notation(f"{number},5" if half else number, _LANGUAGES)
            yield Quantity(*match.span(), _scaled(number, _SCALES[scale]))
    for match in _SCALED_NUMERAL.finditer(text):
        numeral, scale, half = match.groups()
        if half or scale.lower() in _LONG_SCALE:
            fraction = " and a half" if half else ""
            words = f"{_NUMERALS[numeral.lower()]}{fraction} {_SCALES[scale.lower()]}"
            yield Quantity(*match.span(), words.capitalize() if numeral[0].isupper() else words)


def _all_quantities(text: str) -> Iterator[Quantity]:
    yield from _with_scales(text)
    for match in _MEASURE.finditer(text):
        yield Quantity(*match.span(), f"{in_notation(match[1], _LANGUAGES)} {match[2].replace('º', '°')}")
    for match in _HOUR.finditer(text):
        yield Quantity(match.start(1), match.end(), f"{match[1]}:00")
    for match in _NUMBERED.finditer(text):
        yield Quantity(*match.span(), f"No. {in_notation(match[1], _LANGUAGES)}")
    for match in _CENTURY.finditer(text):
        era = {None: "", "a": " BC", "d": " AD"}[match[2]]
        yield Quantity(*match.span(), f"{_ordinal(match[1])} century{era}")
    for centuries in _CENTURIES.finditer(text):
        for match in re.finditer(_ROMAN, centuries[0]):
            begin, end = (centuries.start() + place for place in match.span())
            yield Quantity(begin, end, _ordinal(match[0]))
    for match in _REGNAL.finditer(text):
        yield Quantity(*match.span(), match[0])


def _scaled(number: str, scale: str) -> str:
    """A number with its scale; thousands in digits."""
    digits = re.search(r"[\d,.]*\d", number)
    if scale != "thousand" or digits is None:
        return f"{number} {scale}"
    value = Decimal(digits[0].replace(",", "")) * 1000
    if value != value.to_integral_value():
        return f"{number} {scale}"
    return f"{number[: digits.start()]}{int(value):,}{number[digits.end() :]}"


def _ordinal(numeral: str) -> str:
    """The ordinal of a Roman numeral, or of digits."""
    if numeral.isdecimal():
        return in_notation(f"{numeral}º", _LANGUAGES)
    values = [_ROMAN_DIGITS[digit] for digit in numeral]
    total = sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )
    teens = 10 < total % 100 < 20
    return f"{total}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(total % 10, 'th')}"
