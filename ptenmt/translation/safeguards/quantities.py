"""Quantities of Portuguese text as English writes them: amounts, units, hours, dates, Roman numerals.

A number is masked with the words that give it its size, since a model that loses one of them changes the
meaning a thousandfold: ``2,3 mil milhões`` is ``2.3 billion``. The long scale of Portugal (*bilião*) and the
short one of Brazil (*bilhão*) differ in spelling.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from ptenmt.data.augmentation import capitalized
from ptenmt.data.placeholders import NUMBER, SIZE, in_notation
from ptenmt.translation.safeguards.numerals import Quantity, amount_in_words, numbers_in_words
from ptenmt.translation.safeguards.times import times, with_preposition

_LANGUAGES = ("pt", "en")
_SPACE = "[ \u00a0]"
_DASH = " ?[-–] ?"
_SCALES = {
    "mil milhões": "billion",
    "mil milhão": "billion",
    "mil": "thousand",
    **dict.fromkeys(["milhão", "milhões", "mi"], "million"),
    **dict.fromkeys(["bilhão", "bilhões", "bi"], "billion"),
    **dict.fromkeys(["bilião", "biliões", "trilhão", "trilhões", "tri"], "trillion"),
    **dict.fromkeys(["trilião", "triliões"], "quintillion"),
}
_SCALE_WORD = rf"(?:{'|'.join(_SCALES)})(?!\w)"
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
_LENGTHS_AND_WEIGHTS = r"[kcmd]?m[²³]?|[km]?g|[mcd]?l|ha|t|KM/H|K[GM]|[CM]M|ML"
_OTHER_UNITS = (
    r"km/h|m/s|mph|s|min|[kMG]?W|[kM]Wh|V|[kMG]?Hz|[KMGT]B|[º°][CF]|k?J|kcal|MP|mAh|fps|rpm|dpi|px|VA|lm|Nm|dB"
    r"|mcg|[MG]bps"
)
_ROMAN = r"\b(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=\w)\b"
_ROMAN_DIGITS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_NOUNS = {
    **{"euro": "euro", "euros": "euros", "dólar": "dollar", "dólares": "dollars", "real": "real"},
    **{"reais": "reais", "libra": "pound", "libras": "pounds", "iene": "yen", "ienes": "yen"},
    **dict.fromkeys(["cêntimo", "centavo"], "cent"),
    **dict.fromkeys(["cêntimos", "centavos"], "cents"),
    **{"hora": "hour", "horas": "hours"},
}
_NOUN_WORD = rf"(?:{'|'.join(_NOUNS)})(?!\w)"
_NOUN = (
    rf"({_NOUN_WORD})"
    r"(?! (?:norte-)?(?:american|austral|canad|esterlin|egíp|liban|síri|turc))"
)
"""Its adjective, which would stand before it, is the model's."""
_SCALE = rf"(?i:{_SPACE}({_SCALE_WORD})( e mei[oa]\b(?! dúzia))?(?:(?: de)? {_NOUN}| de(?= \w))?)"
_SCALED = re.compile(rf"({NUMBER}){_SCALE}")
_SCALED_NUMERAL = re.compile(rf"\b((?i:{'|'.join(_NUMERALS)})){_SCALE}")
_BEFORE_RANGE_END = re.compile(rf"{NUMBER}(?: (?:a|e|ou|até) |{_DASH})\Z")
_MAX_RANGE_BEGIN = 40
"""Characters before the second number of a range."""
_OF_NOUN = re.compile(rf"({NUMBER}){_SPACE}(?i:{_NOUN})")
_EVERY = re.compile(rf"\bde (\d+) em \1 ({_NOUN_WORD})", re.I)
_IN_BRACKETS = re.compile(r"\d ?[%€]? \(([^\W\d_][^()\d]{1,150})\)")
"""An amount in words, after the digits."""
_PERIODS = {
    **{"ano": "year", "anos": "year", "mês": "month", "meses": "month", "hora": "hour", "horas": "hour"},
    **{"dia": "day", "dias": "day"},
}
_AND_A_HALF = re.compile(
    rf"\b(uma|duas|{'|'.join(_NUMERALS)}|\d+) ({'|'.join(_PERIODS)})"
    r" e (mei[oa]|um quarto|três quartos)\b",
    re.I,
)
_PER_THOUSAND = re.compile(rf"({NUMBER}) (?i:por mil\b)(?! (?i:{_SCALE_WORD}|{_NOUN_WORD}))")
_HUNDREDS = re.compile(rf" e \d{{1,3}}(?![\d.,]|{_SPACE}{_SCALE_WORD})")
"""After *mil*: part of the same number, or another one."""
_MEASURE = re.compile(
    rf"({SIZE}|{NUMBER}|(?:\d+ )?[½¼¾]){_SPACE}({_OTHER_UNITS}|{_LENGTHS_AND_WEIGHTS})(?![\w'’-])"
)
_CELSIUS = re.compile(r"(?<![\w.,])([-−]?\d+(?:,\d+)?)º([CF])(?!\w)")
_PER = {
    **{"unidade": "unit", "un": "unit", "pessoa": "person", "hora": "hour", "dia": "day", "noite": "night"},
    **{"semana": "week", "mês": "month", "mes": "month", "ano": "year"},
}
_RATE = re.compile(
    rf"({NUMBER})((?: (?:m?[mlg]|[kM]Wh?|k?cal|mg))?) ?/ ?({'|'.join(_PER)}|kg|g|l|kWh|h|m[²2])(?!\.?\w)"
)
_ABBREVIATED = re.compile(r"(?<![\w.,])((?:(?:R|US)?\$ ?|[€£])?\d+(?:[.,]\d+)*)([MKB] ?[€$]?)(?!\w)")
"""2,5M, R$ 3M, 1.500M€."""
_RANGE = re.compile(rf"(?:\b(de) )?({NUMBER}) a ({NUMBER}(?<=[€$%‰]))", re.I)
"""5 a 10 €: models with placeholders exchange the numbers with the words around."""
_LETTERED_ORDINAL = re.compile(r"(?<![\w.,/-])(\d{1,3})[ao](?= [a-zà-ÿ]{3})")
_ARTICLE = re.compile(
    r"(?:\b([Aa])rt\.º? (?=\d+\.?º|\d{1,2}\.\d{3}\b|\d+,? (?:§|[IVX]|d[aoe]))|(?i:(?<=\bartigo ))(?=\d+\.?º))"
    r"(\d+(?:\.\d{3})?)(?:\.?º)?"
)
_FLOOR = re.compile(r"(\d{1,2})\.?º (Esq|Dto|Dir|Fte)\b\.?", re.I)
_SIDES = {"esq": "left", "dto": "right", "dir": "right", "fte": "front"}
_SUM = re.compile(rf"{NUMBER} ?[kMG]?[PBWVm]\w?(?: \+ {NUMBER} ?[kMG]?[PBWVm]\w?)+(?!\w)")
_DEGREES = re.compile(r"(?<![\w.,])([-−]?\d{1,2})º(?=[,.;)]|\Z| [eaà] [-−]?\d)")
_OF_TEMPERATURE = re.compile(r"\b(?:temperaturas?|m[áa]x(?:imas?|\.)|m[íi]n(?:imas?|\.)|graus|febre)", re.I)
_PACKED = re.compile(r"(?<![\w.,])(\d+) ?(un|cx|pct)\b(?:\.(?= \w))?")
_PACKS = {"un": ("unit", "units"), "cx": ("box", "boxes"), "pct": ("pack", "packs")}
_ESCUDOS = re.compile(r"(?<![\w.,])\d[\d.]*\$\d\d(?!\d)")
_OF_ALL = re.compile(r"\b(?i:página|passo|etapa|parte|questão|resultados?) (\d+(?:[-–]\d+)?) de (\d+)\b")
_CENTURIES = re.compile(
    rf"(?i:\bséculos?|\bsécs\.) (?:{_ROMAN})(?:(?i:, | e | a | ao |[-–])(?![DM]\. ){_ROMAN})*"
)
_CENTURY = re.compile(
    rf"(?:\b(?i:séc\.|(?-i:SÉCULO)|século(?= \d| \w+ [ad]\.C))|(?<!\w )(?<!\w)(?i:século))"
    rf" ({_ROMAN}|\d{{1,2}}\b)(?: ([adAD])\.[ ]?C\b\.?)?"
)
_ERA = r"(?: ([adAD])\. ?C\b\.?)"
_CENTURIES_OF_ERAS = re.compile(
    rf"\b(?:séculos?|sécs?\.) ({_ROMAN}){_ERA}?(, | e | a | ao |–|-)({_ROMAN}){_ERA}",
    re.I,
)
_ERAS = {"a": " BC", "d": " AD"}
_POINTS = re.compile(rf"({NUMBER}) ?p\.?p\b\.?")
_INSTALLMENTS = re.compile(r"(?:\b(em )?(até ))?(\d+) ?[xX](?: vezes)? (sem juros\b|(?=no cartão))", re.I)
_CURRENCY_AT = re.compile(r"(?<=euro |ólar |ibra )a ((?:R\$|US\$|€) ?\d[\d.,]*\d)")
_PARAGRAPH = re.compile(r"(§ ?\d+)\.?º")
_REGNAL = re.compile(rf"{_ROMAN}(?<=\w\w)|(?<=[a-zà-ÿ] )[IVX]\b(?![.’'-]?\w)")
_POPES = {
    **{"Pio": "Pius", "Bento": "Benedict", "Leão": "Leo", "Gregório": "Gregory", "Clemente": "Clement"},
    **{"João": "John", "Paulo": "Paul", "Francisco": "Francis", "Inocêncio": "Innocent", "Urbano": "Urban"},
    **{"João Paulo": "John Paul", "Alexandre": "Alexander", "Júlio": "Julius", "Sisto": "Sixtus"},
}
_POPE = re.compile(
    r"\b(?P<title>(?:[oO] )?[pP]apa )?"
    rf"(?P<name>João Paulo(?= II?\b)|(?<=apa )(?:{'|'.join(_POPES)}))(?P<numeral> {_ROMAN})?(?! [A-ZÀ-Þ])"
)
_WORLD_WAR = re.compile(r"\b(?:[aA] )?(I{1,2}) Guerra Mundial\b")
_REGNAL_IN_CAPITALS = re.compile(
    rf"(?:(?<=CAPÍTULO )|(?<=ARTIGO )|(?<=VOLUME )|(?<=PARTE )|(?!VI\b)(?=[IVX]{{2}})){_ROMAN}"
)
"""*VI* is a verb, too."""
_NUMBERS_OF_LIST = re.compile(r"\b[nN]\.?(?:os|ºs|°s)\.? (\d+)(?:(, )(\d+))? (e|a) (\d+)")
_NUMBERED = re.compile(
    rf"\b[nN](?:\.[ºo°]|[º°])\.?{_SPACE}?"
    rf"({NUMBER}|\{{\w+\}}|%(?:\(\w+\))?[sd]|\d[\w./-]*\w|[A-Z]{{2,4}} [A-Z]?\d+/\d+)"
)
"""*N.º*, not the word *no*."""
_NUMBERED_RANGE = re.compile(r"\b[nN]\.?[ºo°] (\d{1,4}) a (\d{1,4})(?![\w.,/]\w)")
_OF_THE = re.compile(r" d[ao]s?(?= [A-ZÀ-Þ])")
"""A model exchanges what stands around a placeholder and *of*."""
_IDENTIFIED = re.compile(
    r"\b(?:NIF|NIPC|NISS|CPF|CNPJ|RG|IE|(?i:contribuinte|telefone|telem[óo]vel|celular|tel\.?|inscrição \w+"
    r"|matrícula|(?:n\.?º|número) d[eoa] (?:cliente|cont\w+|processo|fatura|pedido|regist\w+|série|utente"
    r"|telefone|apólice)))"
    r"(?: é| n\.?º)?:? (\d{1,3}(?:\.\d{3}){2,})(?![.,-]?\w)"
)
"""Digits whose full stops separate no thousands."""


_SIGNS = re.compile(
    r"[\d½¼¾]|[pP]apa |[IVXLCDM](?![a-zà-ÿ])"
    r"|(?i:n\.?[º°]|il[hi][ãõ]|mei[ao]|quarto|(?:vinte|cento|mil|nta|nt[oa]s) e|horas|torze|dez[aeo]\w"
    r"|\b(?:às?|d?as?|são|eram|pelas|é|era|para as?) (?:uma|duas|três|quatro|cinco|seis|sete|oito|nove|dez"
    r"|onze|doze|treze|quinze|vinte)\b|\bcem\b|quinhent"
    r"|\b(?:seg|ter|qua|qui|sex|s[áa]b|dom)(?:\.|[\w.-]*(?: [aà]|[-–])))"
)
"""Every quantity has one of these; few sentences without quantities have."""
_CAPITALS = re.compile(r"[^\W\d_]{2}")
"""Letters in a row; one capital alone, *N.º 5*, shows nothing."""
_ORDINAL_SIGNS = str.maketrans("", "", "ºª")
"""Python counts these to the small letters."""


def quantities(text: str, languages: tuple[str, str]) -> list[Quantity]:
    """The quantities of a text, in order; none in other languages than Portuguese, to English."""
    if languages != _LANGUAGES or not _SIGNS.search(text):
        return []
    in_capitals = bool(_CAPITALS.search(text)) and text.translate(_ORDINAL_SIGNS).isupper()
    chosen: list[Quantity] = []
    for quantity in sorted(_all_quantities(text, in_capitals), key=lambda one: (one.begin, -one.end)):
        if not chosen or quantity.begin >= chosen[-1].end:
            chosen.append(quantity._replace(target=quantity.target.upper()) if in_capitals else quantity)
    return chosen


def _amounts(text: str) -> Iterator[Quantity]:
    for match in _SCALED.finditer(text):
        number, scale, half, currency = match.groups()
        is_begun = scale.lower() == "mil" and _HUNDREDS.match(text, match.end())
        if not (is_begun or (half and "," in number)):
            number = in_notation(f"{number},5" if half else number, _LANGUAGES)
            before = text[max(0, match.start() - _MAX_RANGE_BEGIN) : match.start()]
            is_range = re.search("[-–]", number[1:]) or _BEFORE_RANGE_END.search(before)
            english = _SCALES[scale.lower()]
            words = (f"{number} {english}" if is_range else _scaled(number, english)) + _in_english(currency)
            yield Quantity(*match.span(), capitalized(words) if scale.istitle() else words)
    for match in _SCALED_NUMERAL.finditer(text):
        numeral, scale, half, currency = match.groups()
        if half or scale.lower() in _LONG_SCALE:
            fraction = " and a half" if half else ""
            words = f"{_NUMERALS[numeral.lower()]}{fraction} {_SCALES[scale.lower()]}{_in_english(currency)}"
            yield Quantity(*match.span(), words.capitalize() if numeral[0].isupper() else words)
    yield from numbers_in_words(text, counting=False)
    for match in _IN_BRACKETS.finditer(text):
        amount = amount_in_words(match[1], _NOUNS)
        if amount:
            yield Quantity(*match.span(1), amount)
    for match in _OF_NOUN.finditer(text):
        words = in_notation(match[1], _LANGUAGES) + _in_english(match[2])
        words = capitalized(words) if match[2].istitle() else words
        yield Quantity(*match.span(), words, is_readable=True)
    for match in _EVERY.finditer(text):
        yield Quantity(
            *match.span(), with_preposition("every", match[0], f"{match[1]}{_in_english(match[2])}")
        )
    for match in _PER_THOUSAND.finditer(text):
        yield Quantity(*match.span(), f"{in_notation(match[1], _LANGUAGES)} per thousand")


def _with_halves(text: str) -> Iterator[Quantity]:
    for match in _AND_A_HALF.finditer(text):
        number = {"uma": "one", "duas": "two", **_NUMERALS}.get(match[1].lower(), match[1])
        period = _PERIODS[match[2].lower()]
        part = {"um quarto": "a quarter", "três quartos": "three quarters"}.get(match[3].lower(), "a half")
        is_one = number in ("one", "1")
        article = "an" if period == "hour" else "a"
        words = f"{article} {period} and {part}" if is_one else f"{number} and {part} {period}s"
        yield Quantity(*match.span(), words)


def _rates(text: str) -> Iterator[Quantity]:
    for match in _POINTS.finditer(text):
        yield Quantity(*match.span(), f"{in_notation(match[1], _LANGUAGES)} percentage points")
    for match in _INSTALLMENTS.finditer(text):
        words = f"{match[3]} {'interest-free ' if match[4] else ''}installments"
        words = f"up to {words}" if match[2] else words
        yield Quantity(*match.span(), with_preposition("in", match[0], words) if match[1] else words)
    for match in _CURRENCY_AT.finditer(text):
        yield Quantity(*match.span(), f"at {in_notation(match[1], _LANGUAGES)}")


def _in_english(noun: str | None) -> str:
    return f" {_NOUNS[noun.lower()]}" if noun else ""


def _all_quantities(text: str, in_capitals: bool) -> Iterator[Quantity]:
    yield from times(text)
    yield from _amounts(text)
    yield from _measures(text)
    yield from _with_halves(text)
    yield from _rates(text)
    yield from _numbered(text)
    yield from _ordinals(text)
    for match in _IDENTIFIED.finditer(text):
        yield Quantity(*match.span(1), match[1])
    for match in _OF_ALL.finditer(text):
        yield Quantity(match.start(1), match.end(), f"{match[1]} of {match[2]}")
    for match in _POPE.finditer(text):
        pope = f"{_POPES[match['name']]}{match['numeral'] or ''}"
        yield Quantity(*match.span(), f"Pope {pope}" if match["title"] else pope)
    for match in _WORLD_WAR.finditer(text):
        yield Quantity(*match.span(), f"World War {match[1]}")
    for match in (_REGNAL_IN_CAPITALS if in_capitals else _REGNAL).finditer(text):
        yield Quantity(*match.span(), match[0])


def _measures(text: str) -> Iterator[Quantity]:
    for match in _MEASURE.finditer(text):
        yield Quantity(*match.span(), f"{in_notation(match[1], _LANGUAGES)} {match[2].replace('º', '°')}")
    for match in _SUM.finditer(text):
        yield Quantity(*match.span(), match[0])
    for match in _DEGREES.finditer(text) if _OF_TEMPERATURE.search(text) else ():
        yield Quantity(*match.span(), f"{match[1]}°")
    for match in _PACKED.finditer(text):
        one, several = _PACKS[match[2]]
        yield Quantity(*match.span(), f"{match[1]} {one if match[1] == '1' else several}")
    for match in _ESCUDOS.finditer(text):
        yield Quantity(*match.span(), match[0])
    for match in _CELSIUS.finditer(text):
        yield Quantity(*match.span(), f"{in_notation(match[1], _LANGUAGES)}°{match[2]}")
    for match in _RATE.finditer(text):
        yield Quantity(
            *match.span(), f"{in_notation(match[1], _LANGUAGES)}{match[2]}/{_PER.get(match[3], match[3])}"
        )
    for match in _ABBREVIATED.finditer(text):
        yield Quantity(*match.span(), in_notation(match[1], _LANGUAGES) + match[2])
    for match in _RANGE.finditer(text):
        numbers = (in_notation(number, _LANGUAGES) for number in match.group(2, 3))
        yield Quantity(*match.span(), with_preposition("from", match[1], " to ".join(numbers)))


def _numbered(text: str) -> Iterator[Quantity]:
    for match in _NUMBERS_OF_LIST.finditer(text):
        first, comma, second, between, last = match.groups()
        listed = f"{first}{comma or ''}{second or ''} {'and' if between == 'e' else 'to'} {last}"
        yield Quantity(*match.span(), f"Nos. {listed}")
    for match in _NUMBERED_RANGE.finditer(text):
        yield Quantity(*match.span(), f"Nos. {match[1]} to {match[2]}")
    for match in _NUMBERED.finditer(text):
        number = f"No. {in_notation(match[1], _LANGUAGES)}"
        of = _OF_THE.match(text, match.end())
        yield Quantity(match.start(), of.end() if of else match.end(), f"{number} of the" if of else number)


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _ARTICLE.finditer(text):
        number = match[2].replace(".", "")
        yield Quantity(*match.span(), f"{match[1]}rticle {number}" if match[1] else number)
    for match in _PARAGRAPH.finditer(text):
        yield Quantity(*match.span(), match[1])
    for match in _FLOOR.finditer(text):
        yield Quantity(*match.span(), f"{_ordinal(match[1])} floor {_SIDES[match[2].lower()]}")
    for match in _LETTERED_ORDINAL.finditer(text):
        yield Quantity(*match.span(), _ordinal(match[1]))
    for match in _CENTURY.finditer(text):
        yield Quantity(*match.span(), _century(match[1], match[2]))
    for match in _CENTURIES_OF_ERAS.finditer(text):
        first, second = _century(match[1].upper(), match[2]), _century(match[4].upper(), match[5])
        between = {"e": " and ", "a": " to ", "ao": " to "}.get(match[3].strip().lower(), match[3])
        yield Quantity(*match.span(), f"{first}{between}{second}")
    for centuries in _CENTURIES.finditer(text):
        for match in re.finditer(_ROMAN, centuries[0]):
            begin, end = (centuries.start() + place for place in match.span())
            yield Quantity(begin, end, _ordinal(match[0]))


def _century(numeral: str, era: str | None) -> str:
    return f"{_ordinal(numeral)} century{_ERAS[era.lower()] if era else ''}"


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
