"""Stand-ins: in place of a word that models confuse with its like, they read one that they know.

Of *às quartas-feiras* a small model makes another day, of *mil e duzentas* two numbers. It reads *aos
domingos* and *dez*; the translation gets *Wednesdays* and *1,200* in place of the words that are aligned to
these. Its grammar is better than around a placeholder.
"""

import re
from collections.abc import Collection, Iterator
from itertools import zip_longest

from ptenmt.config import Config
from ptenmt.data.placeholders import in_notation
from ptenmt.tokenizers import UNK, Tokenizer
from ptenmt.translation.safeguards.names import names
from ptenmt.translation.safeguards.numerals import (
    Quantity,
    millions_in_words,
    numbers_in_words,
    ordinals_in_words,
)
from ptenmt.translation.safeguards.protocol import Safeguard, in_case_of, set_spans
from ptenmt.translation.safeguards.times import WEEKDAYS
from ptenmt.translation.sentence import Sentence
from ptenmt.translation.spans import Span

_WEEKDAYS = ("terça", "quarta", "quinta", "segunda", "sexta")
"""The best known last."""
_DAYS = ("domingo", "sábado")
_NUMBERS = ("oito", "seis", "nove", "sete")
_NAMES = {"man": ("Tom", "John"), "woman": ("Mary", "Emily"), "town": ("Boston", "Londres")}
_EXPECTED = {
    **{"domingo": "Sunday", "domingos": "Sundays", "sábado": "Saturday", "sábados": "Saturdays"},
    **{"oito": "eight Eight 8", "seis": "six Six 6", "nove": "nine Nine 9", "sete": "seven Seven 7"},
    **{"dez": "ten 10", "terceiro": "third", "terço": "third", "terços": "thirds", "Londres": "London"},
    "euros": "euros euro",
    **{name: name for name in ("Tom", "John", "Mary", "Emily", "Boston")},
}
"""How the models that know a stand-in translate it."""
_MANY = {
    **{"milhares de": "thousands of", "centenas de": "hundreds of", "dezenas de": "dozens of"},
    **{"dezenas de milhares de": "tens of thousands of", "milhões de": "millions of"},
    **{"centenas de milhares de": "hundreds of thousands of", "meia dúzia de": "half a dozen"},
}
_MANY_OF = re.compile(rf"\b(?:{'|'.join(sorted(_MANY, key=len, reverse=True))})(?= [a-zà-ÿ]{{3}})", re.I)
_QUARTER = re.compile(
    r"(?:(?<=\bum )quarto|(?<=\btrês )quartos)(?= d[aeo]s? (?:população|pessoas|alun|estudant|inquirid"
    r"|trabalhador|eleitor|portugues|brasileir|mulheres|homens|crianças|empresas|famílias|casos|total|dinheiro|mundo|país))",
    re.I,
)
"""A fourth, no room."""
_MASCULINE = {
    **{"a": "o", "as": "os", "à": "ao", "às": "aos", "na": "no", "nas": "nos", "da": "do", "das": "dos"},
    **{"pela": "pelo", "pelas": "pelos", "uma": "um", "numa": "num", "esta": "este", "nesta": "neste"},
    **{"desta": "deste", "essa": "esse", "nessa": "nesse", "toda": "todo", "todas": "todos"},
    **{"outra": "outro", "próxima": "próximo", "última": "último", "primeira": "primeiro"},
    "passada": "passado",
}
_OF_HOURS = {"o": "as", "ao": "às", "do": "das", "pelo": "pelas"}
"""*Ao meio-dia* is read as *às dez*."""
_DAY = f"(?:{'|'.join(_WEEKDAYS)})"
_FEIRA = r" feiras?(?! (?:internacional|nacional|anual|d[eoa]s?\b(?! manhã)))"
"""Not *a segunda feira do livro*."""
_LISTED = rf"(?:, {_DAY}s?)* (?:e|ou|a) (?:[àn]?s? ?)?{_DAY}s?-feiras?"
_AFTER_BARE = r"[.,;:!?)]|\Z| (?:passada|que vem|às?|de (?:manhã|tarde)|e|há|ou|não|eu|vou|temos)\b"
_SURE = "manhã de |tarde de |noite de | terça e |gundas e |terças e |uartas e |uintas e |sextas e "
"""The last nine characters before a weekday that is surely one."""
_WEEKDAY = re.compile(
    rf"\b(?P<before>(?:(?:{'|'.join(_MASCULINE)}) ){{0,3}})(?P<night>(?<={_SURE}))?"
    rf"(?<![\w-])(?P<word>(?P<name>{_DAY})s?"
    rf"(?:-feiras?|{_FEIRA}|(?={_LISTED})|(?P<bare>)(?(night)|(?={_AFTER_BARE}| [-–]|(?<=erça) (?!parte)))))"
    r"(?![\w-])(?P<after> passada)?",
    re.I,
)
_BEFORE_BARE = re.compile(
    r"(?:\b(?:às|nas|próxima|até|para|desde|esta|nesta|(?:manhã|tarde|noite|madrugada) d[ea]|aos \w+ e"
    r"|às (?:(?:segund|terç|quart|quint|sext)as(?:, | e ))*(?:segund|terç|quart|quint|sext)as(?:,| e)) |^)\Z",
    re.I,
)
_TIME_OF_DAY = re.compile(
    r" (?:às? (?:\d|tarde|noite|uma|duas|três|quatro|cinco|seis|sete|oito|nove|dez|onze)|de manhã|que vem)"
    r"|, \d{1,2}(?:h|:| de )"
)
_NOON = re.compile(rf"\b(?P<before>(?:{'|'.join(_OF_HOURS)}) )(?P<word>meio-dia)\b(?! e )(?P<after>)", re.I)
_STAND_INS = [
    *(word for day in _DAYS for word in (day, f"{day}s")),
    *(name for names_of_kind in _NAMES.values() for name in names_of_kind),
    *_NUMBERS,
    *["dez", "terceiro", "terceira", "terço", "terços"],
]
_MAX_TOKENS = 2
"""Of a word that a model knows well."""
_WORD = re.compile(r"\w+")
_REAIS = re.compile(r" (reais)\b")
_ORDINAL = re.compile(r"(?:(?<=o )|(?<=O ))\d{1,2}\.?º(?= [a-zà-ÿ]{4})")


class StandIns(Safeguard):
    """Gives words a stand-in, while there is one that the model knows and the sentence does not have."""

    def __init__(self, tokenizer: Tokenizer, config: Config) -> None:
        self._is_portuguese = config.data.languages == ("pt", "en")
        encoded = zip(_STAND_INS, tokenizer.encode(_STAND_INS), strict=True)
        self._known = {word for word, ids in encoded if UNK not in ids and len(ids) <= _MAX_TOKENS}

    def before(self, sentence: Sentence) -> None:
        """Give a sentence the spans of its names, weekdays and numbers in words."""
        if not self._is_portuguese or sentence.target_prefix:
            return
        text = sentence.original
        known = self._known.difference(_WORD.findall(text.lower()), _WORD.findall(text))
        named = list(_name_spans(text, known))
        own = [
            *_ordinal_spans(text, known),
            *_weekday_spans(text, known),
            *_noon_spans(text, known),
            *_number_spans(text, known),
        ]
        set_spans(sentence, [*named, *own])


def _name_spans(text: str, known: Collection[str]) -> Iterator[Span]:
    free = {kind: iter([name for name in stand_ins if name in known]) for kind, stand_ins in _NAMES.items()}
    for name in names(text):
        stand_in = next(free[name.kind], None)
        if stand_in is not None:
            yield _stand_in(name.begin, name.end, stand_in, text[name.begin : name.end])


def _weekday_spans(text: str, known: Collection[str]) -> Iterator[Span]:
    weekdays = [match for match in _WEEKDAY.finditer(text) if _is_weekday(match)]
    weekdays.sort(key=lambda match: _WEEKDAYS.index(match["name"].lower()))
    free = [day for day in _DAYS if {day, f"{day}s"} <= set(known)]
    for match, day in zip_longest(weekdays, free[: len(weekdays)]):
        plural = "s" if match["word"].lower().endswith("s") else ""
        if day is None:
            if match["bare"] is not None:
                begin, end = match.span("word")
                yield Span(begin, end, "stand-in", f"{match['name']}{plural}-feira{plural}")
            continue
        yield from _changed(match, _MASCULINE, day + plural, WEEKDAYS[match["name"][:3].lower()] + plural)


def _is_weekday(match: re.Match[str]) -> bool:
    """Whether it is no ordinal and no farm: *quarta-feira*, *quarta passada*, *até quarta*, *às quartas*."""
    if (
        match["bare"] is None
        or match["after"]
        or match["night"] is not None
        or match["name"].lower() == "terça"
    ):
        return True
    text, begin, end = match.string, match.start("word"), match.end("word")
    if _TIME_OF_DAY.match(text, end):
        return True
    before = text[:begin]
    if match["name"].lower() in ("sexta", "quarta") and re.search(r"\b(?:na|de|à) \Z", before, re.I):
        return text[end : end + 1] != " " or text[end:].startswith((" e ", " às "))
    is_heading = not before and (
        text[end : end + 2] in (" –", " -") or text[end : end + 1] == ":" or not text[end:]
    )
    is_plural = match["word"][-1] in "sS"
    found = _BEFORE_BARE.search(before)
    return is_heading or bool(
        found and found[0] and (is_plural or found[0].lower().strip() not in ("às", "nas"))
    )


def _noon_spans(text: str, known: Collection[str]) -> Iterator[Span]:
    for match in _NOON.finditer(text) if "dez" in known else ():
        yield from _changed(match, _OF_HOURS, "dez", "noon")


def _changed(match: re.Match[str], genders: dict[str, str], stand_in: str, target: str) -> Iterator[Span]:
    """The spans of a word and of those around it that agree with it."""
    for around in ("before", "after"):
        for word in re.finditer(r"\w+", match[around]) if match[around] else ():
            begin = match.start(around) + word.start()
            yield Span(begin, begin + len(word[0]), "stand-in", in_case_of(word[0], genders[word[0].lower()]))
    typed = match["word"]
    target = target.upper() if typed.isupper() else target
    yield _stand_in(*match.span("word"), in_case_of(typed, stand_in), target)


def _number_spans(text: str, known: Collection[str]) -> Iterator[Span]:
    free = [number for number in _NUMBERS if number in known]
    numbers = [
        *numbers_in_words(text, counting=True),
        *millions_in_words(text),
        *(
            Quantity(*match.span(), in_case_of(match[0], _MANY[match[0].lower()]))
            for match in _MANY_OF.finditer(text)
        ),
    ]
    for number, stand_in in zip(numbers, free, strict=False):
        typed = text[number.begin : number.end]
        target = number.target.upper() if typed.isupper() else number.target
        source = in_case_of(typed, stand_in)
        yield _stand_in(number.begin, number.end, source, target)
        reais = _REAIS.match(text, number.end)
        if reais and "euro" not in text:
            yield _stand_in(*reais.span(1), "euros", "reais")
    for match in _QUARTER.finditer(text):
        plural = match[0][len("quarto") :]
        if f"terço{plural}" not in known:
            continue
        yield _stand_in(*match.span(), f"terço{plural}", f"quarter{plural}")


def _ordinal_spans(text: str, known: Collection[str]) -> Iterator[Span]:
    """The first ordinal of a noun; one stand-in serves."""
    in_digits = (
        Quantity(*match.span(), in_notation(match[0], ("pt", "en"))) for match in _ORDINAL.finditer(text)
    )
    for ordinal in [*ordinals_in_words(text), *in_digits][:1]:
        source = "terceira" if text[ordinal.end - 1] in "aAª" else "terceiro"
        if source in known:
            yield _stand_in(ordinal.begin, ordinal.end, source, ordinal.target)


def _stand_in(begin: int, end: int, source: str, target: str) -> Span:
    """The span of a word for which the model reads another."""
    expected = _EXPECTED.get(source, _EXPECTED.get(source.lower(), "")).split()
    return Span(begin, end, "stand-in", source, target, is_placed=True, expected=frozenset(expected))
