"""Times of day, weekdays, dates and decades of Portuguese text as English writes them."""

import re
from collections.abc import Iterator

from ptenmt.data.placeholders import in_notation
from ptenmt.translation.safeguards.numerals import Quantity, in_words

_DASH = " ?[-–] ?"
MONTHS = {
    **{"janeiro": "January", "fevereiro": "February", "março": "March", "abril": "April", "maio": "May"},
    **{"junho": "June", "julho": "July", "agosto": "August", "setembro": "September"},
    **{"outubro": "October", "novembro": "November", "dezembro": "December"},
}
_DATE = re.compile(
    r"(?:\b(em|no dia) )?(?<![\w.,:/–-])(0?[1-9]|[12]\d|3[01])(?:\.?[ºo°])?"
    rf" de ({'|'.join(MONTHS)})(?: de (\d{{4}}))?(?!\w)",
    re.I,
)
_DAY = re.compile(
    r"\b(?:(no)|ao|o) dia ([12]?\d|3[01])(?!\d|/|[.,]\d|\.?º| \()"
    r"(?! de (?:[a-zç]+ro|abril|maio|jun|jul|agosto|março))",
    re.I,
)
_DAY_OF_MONTH = re.compile(r"(?<![\w/.,-])1\.?º(/\d\d(?:/\d{4})?)(?!\w|/)")
_SHORT_MONTHS = {
    **{"jan": "Jan", "fev": "Feb", "mar": "Mar", "abr": "Apr", "mai": "May", "jun": "Jun"},
    **{"jul": "Jul", "ago": "Aug", "set": "Sep", "out": "Oct", "nov": "Nov", "dez": "Dec"},
}
_SHORT_DATE = re.compile(
    rf"(?<![\w.,:/–-])(?:(\d\d?)( de |[ /-]))?({'|'.join(_SHORT_MONTHS)})"
    r"(\.? de |\. ?|(?<=\d.{4}) |[/-])(\d{4}|(?<=/)\d\d)(?!\w|[.,/-]\d)",
    re.I,
)
"""14 fev. 2023, 15-MAR-2024, jan/20; not *mar 2000*."""
WEEKDAYS = {
    **{"2": "Monday", "3": "Tuesday", "4": "Wednesday", "5": "Thursday", "6": "Friday"},
    **{"seg": "Monday", "ter": "Tuesday", "qua": "Wednesday", "qui": "Thursday", "sex": "Friday"},
    **{"sáb": "Saturday", "sab": "Saturday", "dom": "Sunday"},
}
_WEEKDAY_NAME = (
    r"([2-6](?=\.?ª)|seg(?:unda)?|ter(?:ça|(?=[.–-]))|qua(?:rta)?|qui(?:nta)?|sex(?:ta)?|sáb(?:ado)?|dom(?:ingo)?)"
    r"(?:\.?ª)?(?:[ -]feira)?(?!\w)"
)
_WEEKDAYS_RANGE = re.compile(
    r"(?:\b(de) |(?<!\ba )(?<!\b[dn]a )(?<!\bpela )(?<![\w.,-]))"
    rf"{_WEEKDAY_NAME}(?:\.(?= (?-i:[aà])|[-–]))?"
    rf"(?: (?:a|à|ao|até) |{_DASH}){_WEEKDAY_NAME}(?:\.(?=[,:]| [a-z\d]))?"
    r"(?! (?:edi|s[ée]ri|class|ord|divis|posi|part|categ|gera|fil|temp|vez|ano|fase|etap|feira|lugar))",
    re.I,
)
"""Not *de segunda a sexta classe*."""
_FEIRA = r"[ -]feiras?(?!\w)(?! (?:internacional|nacional|anual|d[eoa]s?(?! manhã| semana)))"
"""Not *3.ª Feira do Livro*."""
_WEEKDAY_NUMBER = r"([2-6])\.?[ªa](s?)"
_WEEKDAY = re.compile(
    rf"(?:\b(na) )?(?<![\w.,]){_WEEKDAY_NUMBER}(?:{_FEIRA}|(?= (?:a|à|e|ou) {_WEEKDAY_NUMBER}{_FEIRA}))", re.I
)
_SHORT_WEEKDAY = re.compile(
    r"(?<![\w.,])(seg|ter|qua|qui|sex|s[áa]b|dom)\."
    r"(?=\)|\Z|[,;:]? (?:(?-i:e|a|à|até|das|às|de|ou|encerrad\w+|fechad\w+)\b|[\d–-])|[,;:])",
    re.I,
)
_DECADES = re.compile(
    r"(?:\b(nos) |(?<=\bdos )|(?<=\baos )|(?<=\bpelos )|(?<=\bos )(?<!todos os ))anos ((?:1[89]|20)?\d0)"
    r"(?:(?: e | a )((?:19|20)?\d0))?(?!\w|[.,]\d| ?%| ?[e,a] ?\d| mil\b| [mbt]r?ilh)",
    re.I,
)
_PARTS_OF_DAY = {
    **dict.fromkeys(["manhã", "madrugada"], " in the morning"),
    "tarde": " in the afternoon",
    "noite": " at night",
}
_CLOCK = (
    r"(?<![\w.,:/])([01]?\d|2[0-4])(?:(?: ?h|:)([0-5]\d)(m(?:in)?)?| ?h(?:oras?)?)?(?!\w|:\d)"
    r"(?: da (manhã|tarde|noite|madrugada)\b(?! seguinte))?"
)
_HOUR = re.compile(rf"(?=\d+(?: ?h(?:\d|\b)| horas?\b))(?!24){_CLOCK}", re.I)
_FROM_HOUR_TO_HOUR = re.compile(
    r"(?:\b(d[ae]s?|desde as) |(?<![\w–-])(?=\d+(?: ?h|:)))"
    rf"{_CLOCK}((?: até)? às |{_DASH}(?=\d+(?: ?h|:))){_CLOCK}",
    re.I,
)
_LONG_RANGE = 3
"""Hours between two hours that say when, not how long: *9h-18h*, not *2h-3h*."""
_BETWEEN_HOURS = re.compile(rf"\b(entre as) {_CLOCK}( e (?:as )?){_CLOCK}", re.I)
_OF_DURATION = (
    r"(?: de (?!hoje|ontem|amanhã|segunda|terça|quarta|quinta|sexta|sábado|domingo)[a-z]"
    r"| por\b| diárias| semanais)"
)
"""After hours that are no time of day: *7 horas de viagem*."""
_BEFORE_HOUR = re.compile(
    r"(?:\b(?:às(?: \d+ (?:ou|e))?|das|(?:entre|e|para|desde|até|após) as|até(?= \d+h)|pelas) "
    r"|\b(?:são|eram) (?=\d+ ?h(?:oras)?(?:[.,;!?]|$| d[ao] (?:manhã|tarde|noite|madrugada)| em ponto))"
    r"|(?:feira|segunda|terça|quarta|quinta|sexta|sábado|domingo), "
    r"|\b(?:hor[áa]rios?|hora|abertura|fecho|fechamento|encerramento|início|fim|chegada|partida): )"
    rf"(?=\d+ ?h(?!oras{_OF_DURATION}))",
    re.I,
)
_BEFORE_DURATION = re.compile(
    r"\b(?:(?:dur|demor)\w+|lev(?:a|am|ou|aram|ará)|(?:duração|tempo)(?: é de| de| é|:))"
    r"(?: cerca de| mais de| menos de| quase)? (?=\d+h\d\d)"
    r"|(?<!partir )(?<!antes )(?<!depois )(?<!comboio )(?<!trem )"
    r"\b(?:durante|faltam|há|em|de|após|quase) (?=\dh\d\d)",
    re.I,
)
_HOURS_IN_WORDS = {
    **{"uma": 1, "duas": 2, "três": 3, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7, "oito": 8, "nove": 9},
    **{"dez": 10, "onze": 11, "doze": 12, "treze": 13, "catorze": 14, "quatorze": 14, "quinze": 15},
    **{"dezasseis": 16, "dezesseis": 16, "dezassete": 17, "dezessete": 17, "dezoito": 18},
    **{"dezanove": 19, "dezenove": 19, "vinte": 20},
    **{"vinte e uma": 21, "vinte e duas": 22, "vinte e três": 23},
}
_MINUTES = {
    **{"cinco": 5, "dez": 10, "quinze": 15, "um quarto": 15, "vinte": 20, "vinte e cinco": 25, "meia": 30},
    **{"trinta": 30, "trinta e cinco": 35, "quarenta": 40, "quarenta e cinco": 45, "cinquenta": 50},
    "cinquenta e cinco": 55,
}
_TWELVE = {"meio-dia": "noon", "meia-noite": "midnight"}
_AFTERNOON = 13
"""From this hour on, *às dezoito horas* is 18:00: English has no such words."""


def _one_of(words: dict[str, int]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_HOUR_IN_WORDS = _one_of(_HOURS_IN_WORDS)
_PART_OF_DAY = rf"(?: da (?P<part>{'|'.join(_PARTS_OF_DAY)})\b(?! seguinte))?"
_CLOCK_IN_WORDS = re.compile(
    r"\b(?:(?:às|das|as|pelas|são|eram|seriam|serão) |(?:à|da|a|pela|é|era) (?=uma\b))"
    rf"(?P<clock>(?P<hour>{_HOUR_IN_WORDS})(?P<unit> horas?)?"
    rf"(?: (?P<sign>e|menos) (?P<minutes>{_one_of(_MINUTES)})(?: minutos)?\b)?"
    rf"(?! mil\b)(?!\w){_PART_OF_DAY})",
    re.I,
)
_HALF_PAST = re.compile(
    rf"\b(?:às|das|as|pelas|são|eram|à) (?P<clock>(?P<hour>\d\d?) e meia\b{_PART_OF_DAY})", re.I
)
_HOURS_IN_WORDS_RANGE = re.compile(
    rf"\b(?P<from>das|da|desde as|entre as) (?P<first>{_HOUR_IN_WORDS}|meio-dia)(?: horas)?"
    rf"{_PART_OF_DAY.replace('<part>', '<first_part>')} (?:às|à|até às|até à|e as|ao|até ao) "
    rf"(?P<last>{_HOUR_IN_WORDS}|{'|'.join(_TWELVE)})(?: horas)?{_PART_OF_DAY}(?! e \w|\w)",
    re.I,
)
_BEFORE_FULL_HOUR = re.compile(
    r"\b(?:(?P<is>são|é|faltam|falta)|(?P<was>eram|era|faltavam|faltava)|às) "
    r"(?P<minutes>cinco|dez|quinze|(?:um )?quarto|vinte(?: e cinco)?) "
    rf"para (?:as?|o) (?P<hour>{_HOUR_IN_WORDS}|meio-dia)\b{_PART_OF_DAY}",
    re.I,
)
_PAST_TWELVE = re.compile(rf"\b(?:[oa] )?({'|'.join(_TWELVE)}) e ({_one_of(_MINUTES)})\b", re.I)


def times(text: str) -> Iterator[Quantity]:
    """The times of a text, some of which overlap."""
    yield from _hours(text)
    yield from _times_in_words(text)
    for match in _WEEKDAYS_RANGE.finditer(text):
        first, last = (WEEKDAYS[name[:3].lower()] for name in match.group(2, 3))
        yield Quantity(*match.span(), with_preposition("from", match[1], f"{first} to {last}"))
    for match in _DATE.finditer(text):
        before, day, month, year = match.groups()
        date = " ".join(filter(None, [str(int(day)), MONTHS[month.lower()], year]))
        yield Quantity(*match.span(), with_preposition("on", before, date), is_readable=True)
    for match in _DAY.finditer(text):
        day = f"the {in_notation(f'{match[2]}º', ('pt', 'en'))}"
        yield Quantity(*match.span(), with_preposition("on", match[1], day))
    for match in _DAY_OF_MONTH.finditer(text):
        yield Quantity(*match.span(), f"1{match[1]}")
    for match in _SHORT_DATE.finditer(text):
        day, after_day, month, after_month, year = match.groups()
        parts = [day or "", after_day or "", _SHORT_MONTHS[month.lower()], after_month, year]
        date = "".join(part if part.isalnum() or part in "/-" else " " for part in parts)
        yield Quantity(*match.span(), date)
    for match in _WEEKDAY.finditer(text):
        weekday = with_preposition("on", match[1], WEEKDAYS[match[2]] + match[3])
        yield Quantity(*match.span(), weekday, is_readable=True)
    for match in _SHORT_WEEKDAY.finditer(text):
        yield Quantity(*match.span(), WEEKDAYS[match[1].lower()])
    for match in _DECADES.finditer(text):
        decade = with_preposition("in the", match[1], f"{match[2]}s")
        yield Quantity(match.start(), match.end(2), decade, is_readable=True)
        if match[3]:
            yield Quantity(*match.span(3), f"{match[3]}s", is_readable=True)


def _hours(text: str) -> Iterator[Quantity]:
    hours = {cue.end() for cue in _BEFORE_HOUR.finditer(text)}
    durations = {cue.end() for cue in _BEFORE_DURATION.finditer(text)}
    for match in _BETWEEN_HOURS.finditer(text):
        clocks = f"{_clock(*match.group(2, 3, 5))} and {_clock(*match.group(7, 8, 10))}"
        yield Quantity(*match.span(), with_preposition("between", match[1], clocks))
    for match in _FROM_HOUR_TO_HOUR.finditer(text):
        before, typed = match.group(1, 6)
        is_dash = typed.strip() in ("-", "–")
        is_far = int(match[7]) - int(match[2]) >= _LONG_RANGE
        if not is_dash or before or match[3] or match[8] or is_far or match.start() in hours:
            conjunction = typed if is_dash and not before else " to "
            clocks = f"{_clock(*match.group(2, 3, 5))}{conjunction}{_clock(*match.group(7, 8, 10))}"
            yield Quantity(*match.span(), with_preposition("from", before, clocks))
    for match in _HOUR.finditer(text):
        hour, minutes, unit, part = match.groups()
        is_time = part or match.start() in hours
        is_long = unit or match.start() in durations
        is_long = is_long or (len(hour) == 1 and re.compile(_OF_DURATION).match(text, match.end()))
        if minutes and is_long and not is_time:
            yield Quantity(*match.span(), f"{hour} h {minutes} min")
        elif minutes or is_time:
            yield Quantity(*match.span(), _clock(hour, minutes, part))


def _clock(hour: str, minutes: str | None, part: str | None) -> str:
    """A time of day."""
    return f"{hour}:{minutes or '00'}{_PARTS_OF_DAY[part.lower()] if part else ''}"


def with_preposition(preposition: str, typed: str | None, time: str) -> str:
    """A time with its preposition, in the case of the typed one, if there is one."""
    if typed is None:
        return time
    return f"{preposition.capitalize() if typed[0].isupper() else preposition} {time}"


def _clocks_in_words(text: str) -> Iterator[Quantity]:
    """The times after *às*, *são* and their like."""
    for match in _CLOCK_IN_WORDS.finditer(text):
        hour = _HOURS_IN_WORDS[match["hour"].lower()]
        minutes = match["minutes"]
        if match["sign"] and match["sign"].lower() == "menos":
            to = "a quarter" if minutes.lower() == "um quarto" else in_words(_MINUTES[minutes.lower()])
            clock = f"{to} to {in_words(hour)}{_part_of_day(match)}"
            yield Quantity(*match.span("clock"), clock)
        elif match["part"] and not minutes:
            before = match[0][: match.start("clock") - match.start()].strip().lower()
            clock = f"{in_words(hour)}{_part_of_day(match)}"
            if before in ("às", "à"):
                yield Quantity(*match.span(), with_preposition("at", match[0], clock))
            else:
                yield Quantity(*match.span("clock"), clock)
        elif minutes or (match["unit"] and hour >= _AFTERNOON):
            past = f"{_MINUTES[minutes.lower()] if minutes else 0:02}"
            yield Quantity(*match.span("clock"), f"{hour}:{past}{_part_of_day(match)}")


def _times_in_words(text: str) -> Iterator[Quantity]:
    """The times of day: ``três e meia da tarde``, ``dez para as oito``, ``meia-noite e meia``."""
    for match in _BEFORE_FULL_HOUR.finditer(text):
        minutes = match["minutes"].lower()
        to = "a quarter" if minutes.endswith(("quarto", "quinze")) else in_words(_MINUTES[minutes])
        english = f"{to} to {_hour_in_english(match['hour'])}{_part_of_day(match)}"
        before = "it is" if match["is"] else "it was" if match["was"] else "at"
        yield Quantity(*match.span(), with_preposition(before, match[0], english))
    yield from _clocks_in_words(text)
    for match in _HALF_PAST.finditer(text):
        yield Quantity(*match.span("clock"), f"{match['hour']}:30{_part_of_day(match)}")
    for match in _HOURS_IN_WORDS_RANGE.finditer(text):
        first, last = (_hour_in_english(match[hour]) for hour in ("first", "last"))
        first += _PARTS_OF_DAY[match["first_part"].lower()] if match["first_part"] else ""
        is_between = match["from"].lower().startswith("entre")
        clocks = f"{first} {'and' if is_between else 'to'} {last}{_part_of_day(match)}"
        yield Quantity(*match.span(), with_preposition("between" if is_between else "from", match[0], clocks))
    for match in _PAST_TWELVE.finditer(text):
        twelve, minutes = _TWELVE[match[1].lower()], match[2].lower()
        if minutes == "meia":
            yield Quantity(*match.span(), with_preposition("half past", match[0], twelve))
        else:
            yield Quantity(*match.span(), f"{12 if twelve == 'noon' else 0}:{_MINUTES[minutes]:02}")


def _hour_in_english(hour: str) -> str:
    return _TWELVE.get(hour.lower()) or in_words(_HOURS_IN_WORDS[hour.lower()])


def _part_of_day(match: re.Match[str]) -> str:
    return _PARTS_OF_DAY[match["part"].lower()] if match["part"] else ""
