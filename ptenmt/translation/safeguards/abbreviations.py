"""Abbreviations of forms, recipes and messages, months and days with a capital: words that models read."""

import re
from collections.abc import Iterator

from ptenmt.config import Config
from ptenmt.translation.safeguards.protocol import Safeguard, in_case_of, set_spans
from ptenmt.translation.safeguards.times import MONTHS
from ptenmt.translation.sentence import Sentence
from ptenmt.translation.spans import Span

_ABBREVIATIONS = {
    **{"c/": "com", "p/": "para", "s/": "sem", "obs.": "observação", "qtd.": "quantidade"},
    **{"qtde.": "quantidade", "pág.": "página", "págs.": "páginas", "máx.": "máximo", "mín.": "mínimo"},
    **{"aprox.": "aproximadamente", "ref.": "referência", "tel.": "telefone", "tlm.": "telemóvel"},
    **{"cód.": "código", "p. ex.": "por exemplo", "ex.": "exemplo", "temp.": "temperatura"},
    **{"dra.": "dr.", "eng.ª": "engenheira", "eng.º": "engenheiro"},
    **{"pro": "para o", "pra": "para"},
    **{"em segunda mão": "usado", "de segunda mão": "usado", "prof.ª": "professora", "n.º de": "número de"},
    **{"n.º do": "número do", "n.º da": "número da", "att.,": "atenciosamente,"},
    **{"hab.": "habitantes", "vc": "você", "vcs": "vocês", "tb": "também", "tbm": "também", "hj": "hoje"},
    **{"pq": "porque", "qdo": "quando", "mto": "muito", "mta": "muita", "dps": "depois"},
    **{"msg": "mensagem", "msgs": "mensagens", "pfv": "por favor", "obg": "obrigado"},
}
"""Of forms, recipes and messages: models read the whole word."""


def _forms(abbreviation: str) -> set[str]:
    """How it may be typed: *TB* and *Pro* are something else than *tb* and *pro*."""
    if abbreviation in _SMALL:
        return {abbreviation}
    forms = {abbreviation, abbreviation[:1].upper() + abbreviation[1:]}
    return forms if abbreviation.isalpha() else forms | {abbreviation.upper()}


_SMALL = ("pro", "pra")
_ALL_FORMS = sorted((form for one in _ABBREVIATIONS for form in _forms(one)), key=len, reverse=True)
_ABBREVIATION = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, _ALL_FORMS))})(?![\w/])")
_SALUTATION = re.compile(r"\bExm([oa])\.? (?:Sra?\.|Senhora?)(?= [A-ZÀ-Þ])")
_WITH_CAPITAL = {"sábado": "Saturday", "domingo": "Sunday", **MONTHS}
_AT_BEGINNING = re.compile(
    rf"(?:\A|[-–|/] |\()({'|'.join(map(str.capitalize, _WITH_CAPITAL))})(?!\w| [A-ZÀ-Þ])"
)
"""Models know these in lower case."""
_SPOONS = {"sopa": "tablespoon", "chá": "teaspoon", "sobremesa": "dessertspoon", "café": "small spoon"}
_SPOON = re.compile(
    r"\b(?P<colher>colher|colheres|c\.)"
    rf"(?: de (?P<of>{'|'.join(_SPOONS)})\b| \((?P<in>{'|'.join(_SPOONS)})\))"
    r"(?= de\b|[.,;)]|\Z)",
    re.I,
)
_ONE = re.compile(r"(?:\b(?:1|uma|meia)|[½¼]) \Z", re.I)


class Abbreviations(Safeguard):
    """Gives the model words in place of abbreviations."""

    def __init__(self, config: Config) -> None:
        self._is_portuguese = config.data.languages == ("pt", "en")

    def before(self, sentence: Sentence) -> None:
        """Give a sentence the spans of its abbreviations."""
        if self._is_portuguese and not sentence.target_prefix:
            set_spans(sentence, list(_spans(sentence.original)))


def _spans(text: str) -> Iterator[Span]:
    for match in _SPOON.finditer(text):
        is_one = match["colher"].lower() == "colher" or _ONE.search(text[: match.start()])
        spoon = _SPOONS[(match["of"] or match["in"]).lower()] + ("" if is_one else "s")
        source = "colher" if is_one else "colheres"
        yield _placed(match, source, spoon)
    for match in _SALUTATION.finditer(text):
        title = ("Sr.", "Dear Mr") if match[1] == "o" else ("Sra.", "Dear Ms")
        yield _placed(match, *title)
    for match in _AT_BEGINNING.finditer(text):
        name = match[1].lower()
        begin, end = match.span(1)
        yield Span(begin, end, "word", name, _WITH_CAPITAL[name], is_placed=True)
    for match in _ABBREVIATION.finditer(text):
        word = in_case_of(match[0], _ABBREVIATIONS[match[0].lower()])
        is_end = match[0].endswith(".") and not text[match.end() :].strip()
        yield Span(*match.span(), "word", word + "." * is_end)


def _placed(match: re.Match[str], source: str, target: str) -> Span:
    return Span(*match.span(), kind="word", source=source, target=target, is_placed=True)
