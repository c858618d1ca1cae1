"""Stand-ins: in place of a word that models confuse with its like, they read one that all of them know.

Of *às quartas-feiras* a small model makes another day, of *mil e duzentas* two numbers. It reads *aos
domingos* and *dez*; the translation gets *Wednesdays* and *1,200* in place of the words that are aligned to
these. Its grammar is better than around a placeholder.
"""

import re
from collections.abc import Iterator

from ptenmt.config import Config
from ptenmt.translation.safeguards.numerals import Quantity, numbers_in_words, ordinals_in_words
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import Sentence
from ptenmt.translation.spans import Span

_WEEKDAYS = {
    **{"terça": "Tuesday", "quarta": "Wednesday", "quinta": "Thursday"},
    **{"segunda": "Monday", "sexta": "Friday"},
}
"""The best known last."""
_DAYS = ("domingo", "sábado")
_NUMBERS = ("oito", "seis", "nove", "sete")
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
_AFTER_BARE = (
    r"[.,;:!?)]|\Z| passada"
    r"| (?:às?|de|e|que vem|há|o|os|não|eu|vou|temos|costum\w+)\b(?! (?:vez|parte|ordem))"
)
_WEEKDAY = re.compile(
    rf"\b(?P<before>(?:(?:{'|'.join(_MASCULINE)}) ){{0,3}})(?<![\w-])(?P<word>(?P<name>{_DAY})s?"
    rf"(?:-feiras?|{_FEIRA}|(?={_LISTED})|(?P<bare>)(?={_AFTER_BARE})))(?![\w-])(?P<after> passada)?",
    re.I,
)
_NOON = re.compile(rf"\b(?P<before>(?:{'|'.join(_OF_HOURS)}) )(?P<word>meio-dia)\b(?! e )(?P<after>)", re.I)
_ABBREVIATIONS = {
    **{"c/": "com", "p/": "para", "s/": "sem", "obs.": "observação", "qtd.": "quantidade"},
    **{"qtde.": "quantidade", "pág.": "página", "págs.": "páginas", "máx.": "máximo", "mín.": "mínimo"},
    **{"aprox.": "aproximadamente", "ref.": "referência", "tel.": "telefone", "tlm.": "telemóvel"},
    **{"cód.": "código", "p. ex.": "por exemplo", "ex.": "exemplo", "temp.": "temperatura"},
    **{"hab.": "habitantes", "vc": "você", "vcs": "vocês", "tb": "também", "tbm": "também", "hj": "hoje"},
    **{"pq": "porque", "qdo": "quando", "mto": "muito", "mta": "muita", "dps": "depois"},
    **{"msg": "mensagem", "msgs": "mensagens", "pfv": "por favor", "obg": "obrigado"},
}
"""Of forms, recipes and messages: models read the whole word."""
_ABBREVIATION = re.compile(
    rf"(?<![\w./-])(?:{'|'.join(map(re.escape, sorted(_ABBREVIATIONS, key=len, reverse=True)))})(?![\w/])",
    re.I,
)


_SPOONS = {"sopa": "tablespoon", "chá": "teaspoon", "sobremesa": "dessertspoon", "café": "small spoon"}
_SPOON = re.compile(
    r"\b(?P<colher>colher|colheres|c\.)"
    rf"(?: de (?P<of>{'|'.join(_SPOONS)})\b| \((?P<in>{'|'.join(_SPOONS)})\))"
    r"(?= de\b|[.,;)]|\Z)",
    re.I,
)
_ONE = re.compile(r"(?:\b(?:1|uma|meia)|[½¼]) \Z", re.I)


class StandIns(Safeguard):
    """Gives weekdays and numbers in words a stand-in, while there is one that the sentence does not have."""

    def __init__(self, config: Config) -> None:
        self._is_portuguese = config.data.languages == ("pt", "en")

    def before(self, sentence: Sentence) -> None:
        """Give a sentence the spans of its weekdays and of its numbers in words."""
        if not self._is_portuguese or sentence.target_prefix:
            return
        text = sentence.original
        own = [*_weekday_spans(text), *_noon_spans(text), *_number_spans(text)]
        own += _spans_of_forms(text)
        own = [span for span in own if not span.overlaps(sentence.spans)]
        if own:
            sentence.spans = tuple(sorted([*sentence.spans, *own], key=lambda span: (span.begin, span.end)))


def _weekday_spans(text: str) -> Iterator[Span]:
    weekdays = [match for match in _WEEKDAY.finditer(text) if _is_weekday(match)]
    names = list(_WEEKDAYS)
    weekdays.sort(key=lambda match: names.index(match["name"].lower()))
    free = [day for day in _DAYS if day not in text.lower()]
    for match, day in zip(weekdays, free, strict=False):
        is_plural = match["word"].lower().endswith("s")
        plural = "s" if is_plural else ""
        yield from _changed(match, _MASCULINE, day + plural, _WEEKDAYS[match["name"].lower()] + plural)


def _is_weekday(match: re.Match[str]) -> bool:
    """Whether it is no ordinal: *quarta-feira*, *quarta passada*, *próxima quarta*, *às quartas*."""
    before = match["before"].lower()
    is_plural = match["word"][-1] in "sS" and before.startswith(("às ", "nas "))
    return bool(match["bare"] is None or match["after"] or is_plural or before.endswith("próxima "))


def _noon_spans(text: str) -> Iterator[Span]:
    for match in _NOON.finditer(text):
        yield from _changed(match, _OF_HOURS, "dez", "noon")


def _changed(match: re.Match[str], genders: dict[str, str], stand_in: str, target: str) -> Iterator[Span]:
    """The spans of a word and of those around it that agree with it."""
    for around in ("before", "after"):
        for word in re.finditer(r"\w+", match[around]) if match[around] else ():
            begin = match.start(around) + word.start()
            yield Span(
                begin, begin + len(word[0]), "stand-in", _in_case_of(word[0], genders[word[0].lower()])
            )
    typed = match["word"]
    yield Span(
        *match.span("word"),
        "stand-in",
        _in_case_of(typed, stand_in),
        target.upper() if typed.isupper() else target,
        is_placed=True,
    )


def _number_spans(text: str) -> Iterator[Span]:
    words = set(re.findall(r"\w+", text.lower()))
    free = [number for number in _NUMBERS if number not in words]
    numbers = [
        *numbers_in_words(text, counting=True),
        *(
            Quantity(*match.span(), _in_case_of(match[0], _MANY[match[0].lower()]))
            for match in _MANY_OF.finditer(text)
        ),
    ]
    for number, stand_in in zip(numbers, free, strict=False):
        typed = text[number.begin : number.end]
        target = number.target.upper() if typed.isupper() else number.target
        source = _in_case_of(typed, stand_in)
        yield Span(number.begin, number.end, "stand-in", source, target, is_placed=True)
    for match in _QUARTER.finditer(text):
        plural = match[0][len("quarto") :]
        yield Span(*match.span(), "stand-in", f"terço{plural}", f"quarter{plural}", is_placed=True)
    for ordinal in ordinals_in_words(text):
        source = "terceira" if text[ordinal.end - 1] in "aA" else "terceiro"
        if source[:-1] not in text.lower():
            yield Span(ordinal.begin, ordinal.end, "stand-in", source, ordinal.target, is_placed=True)


def _spans_of_forms(text: str) -> Iterator[Span]:
    for match in _SPOON.finditer(text):
        is_one = match["colher"].lower() == "colher" or _ONE.search(text[: match.start()])
        spoon = _SPOONS[(match["of"] or match["in"]).lower()] + ("" if is_one else "s")
        source = "colher" if is_one else "colheres"
        yield Span(*match.span(), "stand-in", source, spoon, is_placed=True)
    for match in _ABBREVIATION.finditer(text):
        word = _in_case_of(match[0], _ABBREVIATIONS[match[0].lower()])
        is_end = match[0].endswith(".") and not text[match.end() :].strip()
        yield Span(*match.span(), "stand-in", word + "." * is_end)


def _in_case_of(typed: str, word: str) -> str:
    """A word with a capital where another was typed with one; in capitals, too, for the truecasing to see."""
    if typed.isupper() and len(typed) > 1:
        return word.upper()
    return word.capitalize() if typed[0].isupper() else word
