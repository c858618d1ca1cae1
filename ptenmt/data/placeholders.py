"""Placeholders: what a translation carries over as it is, replaced by numbered symbols and put back.

URLs, e-mail addresses, paths, numbers in digits with their signs and units, ``2 + 2``, ``85 x 60``, codes
such as ``H2O``, ``iPhone``, ``{name}``, ``%1$s``, ``<b>``, ``#TAG#``, ``@user`` and emoji are entities.
Training and translation mask them with the same functions.
"""

import re
from collections.abc import Sequence
from functools import cache

PLACEHOLDERS = tuple("❶❷❸❹❺❻❼❽❾❿")
"""The symbols: single characters, which neither tokenization, case nor Unicode normalization changes."""

# Python before 3.11.5 matches atomic groups and possessive quantifiers wrongly: these patterns have neither.
# Where only the longest match is right, a lookahead says what must not follow it.
_BRACKETS = r"\([^\s<>\"“”«»()]*\)"
ADDRESS = (
    rf"(?i:https?://|ftp://|(?<!\w)www\.)(?:{_BRACKETS}|(?!{_BRACKETS})[^\s<>\"“”«»])*"
    rf"(?:{_BRACKETS}|[^\s<>\"“”«».,;:!?'’`)\]}}])"
    r"|(?<![\w.%+-])[\w.%+-]+@[\w-]+(?:\.[\w-]+)+"
)
"""The pattern of a URL, without the punctuation after it, or an e-mail address."""
_THREE_DIGITS = r"[ \u00a0\u202f]\d{3}(?!\d)"
_INTEGER = (
    rf"(?:\d{{1,3}}(?:(?:{_THREE_DIGITS}){{6}}|(?:{_THREE_DIGITS}){{1,5}}(?!{_THREE_DIGITS}))"
    rf"|(?!\d{{1,3}}{_THREE_DIGITS})\d+(?!\d))"
)
"""All digits of an integer; its thousands may be separated by spaces."""

NUMBER = (
    rf"(?<![\w&])(?<!&#)(?<!\d[.,:/–-])(?:(?<!\S)[+−-])?(?:(?:R|US)?\$[ \u00a0]?|[€£¥])?"
    rf"{_INTEGER}(?:[.,:/–-]\d+)*(?![.,:/–-]?\d)"
    r"(?:\.?[ºª](?![- ]?feira)|h\d\d|(?!(?:[ao]?s|[ao]|st|nd|rd|th)\b)[a-z]{1,3}"
    r"|[ \u00a0\u202f]?(?:%%?|[‰€£¥$′″])(?![({.]?\w))?(?!\.?\w)"
)
"""The pattern of a number: 7, -1,000.5, 2 500, 12/03/2024, 10:30, 18h30, R$ 5, 10 %, 42.º, 5kg; not 1990s."""
EXPRESSION = rf"{NUMBER} ?[+*/=×÷] ?{NUMBER}(?: ?[-−+*/=×÷] ?{NUMBER})*"
"""The pattern of numbers with operators: 5 * 3, 2 + 2 - 1 = 3; not 10 - 2, which may be a dash."""
_DECIMAL = r"\d+(?:[.,]\d+)*(?:\^[-−]?\d+)?"
SIZE = rf"(?<![\w.,:/–-]){_DECIMAL} ?[x×] ?{_DECIMAL}(?: ?[x×+=] ?{_DECIMAL})*(?:[ckm]?m)?(?!\.?\w)"
"""The pattern of numbers with a cross: 85 x 60, 1920x1080, 2,5 × 3 = 7,5, 6 x 10^24; the score 1 x 7."""
CODE = (
    r"(?<![\w-])(?:[A-Z]{2}\d\d(?: \d{4})+(?: \d{1,3})?|[A-Z]+-\d+|[A-Za-z]+\d[A-Za-z\d]*(?:\.\d+)*"
    r"|\d+[A-Z][A-Za-z\d]*|[A-Z]\+{2,3}|[CF]#)(?!-?\w)"
)
"""The pattern of a word with digits: H2O, COVID-19, 3D, PT50 0002 0123; A++, C#."""
_DECIMAL_POINT = frozenset(["en", "he", "hi", "ja", "ko", "th", "zh"])
"""The languages with a decimal point; the others have a comma."""
_IP_ADDRESS = re.compile(r"(?:[01]?\d?\d|2[0-5]\d)(?:\.(?:[01]?\d?\d|2[0-5]\d)){3}")
_IDENTIFIER = re.compile(r"\.\d{3}(?:-\d{1,2}|/\d+(?:-\d+)?)(?![\d.,])")
"""Part of a number that says no amount: 123.456.789-09, 12.345/2020; not 1.000-2.000."""
_SWAPPED = str.maketrans(".,", ",.")

_FILE_SUFFIXES = (
    "pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|txt|csv|tsv|json|xml|ya?ml|html?|md|epub|srt|zip|rar|7z|tar|t?gz"
    "|jpe?g|png|gif|svg|webp|mp[34]|avi|mov|mkv|wav|exe|apk|iso|log|py|js|css|sql|sh"
)
_NAME = rf"(?:[^\W{''.join(PLACEHOLDERS)}][\u0300-\u036f]*)+"  # with combining accents
_EMOJI = "[\u203c\u2049\u2139\u2190-\u21ff\u231a-\u27bf\u2934-\u2b55\U0001f000-\U0001faff]"
_EMOJI_CHANGED = f"{_EMOJI}[\ufe0f\U0001f3fb-\U0001f3ff]*"  # variation selector, skin tones
_ENTITIES = (
    ADDRESS,
    r"\A {0,3}```[^`\n]*(?:\n(?s:.*))?\Z",  # a code fence, or its first line
    r"(?<!`)(?P<ticks>`+)(?!`)[^\n]{1,200}?(?<!`)(?P=ticks)(?!`)|\{%[^{}\n]{0,200}%\}",  # code; {% tag %}
    r"\$\$[^$\n]{1,200}\$\$|(?<![\w$])\$(?=[^$\n]{0,200}[\\^_=])[^$\n]{1,200}\$(?![\w$])"  # a formula in TeX
    r"|\\\([^\n]{1,200}?\\\)",
    # A call: a name with _ or a dot, or arguments that begin with a quote; not aluno(a).
    r"(?<![\w.])(?:(?=[\w.]{0,80}(?:\w_\w|\w\.[a-z]{2}))[A-Za-z_][\w.]{0,80}(?<!\.)|[A-Za-z]\w{0,80}(?=\(['\"]))"
    r"\((?:[^()\n]|\([^()\n]{0,80}\)){0,200}\)",
    # {count, plural, one {# file} other {# files}}
    r"\{\w{1,40}, ?(?:plural|select|selectordinal),(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,80}\}){0,200}\}){0,400}\}",
    r"\{\{[^{}\n]{0,80}\}\}|\$\{[^{}\n]{0,80}\}|\$?\{[^{}\s]{0,40}\}",  # {{ name }}, ${name}, {name}
    r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});",  # &nbsp;
    # %s, %1$s, %(name)s, %.2f, with %% after them or alone
    r"(?<![\d%])%(?:\d+\$|\(\w+\))?[-+0#]?\d*(?:\.\d+)?[sdifgxXu@](?:%%)?(?!\w)|(?<![\w%])%%(?!%)",
    rf"(?<![\w&])#{_NAME}#?",  # #TAG#, #tag
    rf"(?<![\w@])@{_NAME}",
    r"[0-9#*]\ufe0f?\u20e3",  # a keycap
    r"(?<![\w@.-])(?:[A-Za-z\d-]+\.(?=\w))+(?:com|org|net|edu|gov|info|pt|br|uk|io)(?!\.?\w|-)(?:/[^\s<>\"“”«»]*[\w/])?",
    rf"(?<![\w./@~-])[~\w./-]*\w\.(?i:{_FILE_SUFFIXES})(?![\w/-]|\.\w)",  # relatório_final.docx
    r"(?<!\w)(?:[A-Za-z]:|\\)\\[^\s<>\"|?*]*\w",  # C:\dir\file.txt, \\server\dir
    r"(?<!\S)(?:(?:~|\.\.?)/[\w./-]*\w|/[\w.-]+(?:/[\w.-]+)*/[\w-]+)",  # ~/dir, ../dir/file, /usr/bin
    r"(?<!\S)--[a-z][\w-]*(?:=[^\s<>]*\w)?",  # --option
    r"</?[A-Za-z][\w-]*(?: [^<>]{0,200})?/?>",  # <b>
    r"(?<!\S)(?:[&<>*]|&&|\|\|)(?!\S)",  # a sign that stands alone
    r"(?<!\w)(?:R|US)\$(?![ \u00a0]?\d)",  # a currency without an amount
    r"(?<!\w)__[a-z]\w{0,40}__(?!\w)|(?<![\w.@-])[A-Za-z][^\W_]*(?:_[^\W_]+)+(?!\w)",  # __init__, snake_case
    r"(?<!\w)(?:[a-z]+|[A-Z][a-z]+)[A-Z][A-Za-z\d]*(?!\w)",  # camelCase, iPhone
    r"(?<![\w*])[*_]{1,3}(?=[^\W_])|(?<=[\w.,:;!?…)\"”’%‰€£¥$°])[*_]{1,3}(?![\w*])",  # *emphasis* in Markdown
    r"(?<!~)~~(?=[^\s~])|(?<=[^\s~])~~(?!~)",  # ~~strikethrough~~
    rf"\[(?=[^\[\]\n]{{1,200}}\]\(\S)|(?<=\S)\]{_BRACKETS}",  # [link](address)
    r"(?<![\w.])(?<!E\. )(?!E\. U\. A\.|S\. A\.)[A-Z]\.(?: [A-Z]\.){1,4} [A-Z][a-zà-ÿ]+\b",  # J. R. Silva
    r"(?<!\w)(?:São|S\.) [A-Z][a-zà-ÿ]+",  # São Paulo, S. Pedro
    r"(?<!\w)[A-Z](?: ?[x×&] ?[A-Z]){1,3}(?!\w)",  # A x L x P, A & B
    CODE,
    SIZE,
    EXPRESSION,
    NUMBER,
    f"[{''.join(PLACEHOLDERS)}]",
    "[\U0001f1e6-\U0001f1ff]{2}",  # a flag
    f"{_EMOJI_CHANGED}(?:\u200d{_EMOJI_CHANGED})*",
)

_SIGNS = re.compile(
    rf"[\d@#%`*_\u20e3{{{''.join(PLACEHOLDERS)}{_EMOJI[1:]}|://|(?i:www)\.|[<>&$]|:\\|\\\("
    r"|[\w\]]\(|\w\.[A-Za-z]{2}|[A-Z]\. [A-Z]|São [A-Z]|[A-Z] ?[x×] ?[A-Z]"
    r"|[a-z][A-Z]|\\\\|--[a-z]|(?:^|[\s~.])/|\|\||~~"
)
"""Every entity has one of these; to search them is ten times as fast."""


@cache
def entity_pattern() -> re.Pattern[str]:
    """Match an entity; a placeholder that stands in the text itself is one, too."""
    return re.compile("|".join(_ENTITIES))


def mask(text: str) -> tuple[str, list[str]]:
    """Replace the entities of a text by placeholders; of more than ten different ones, the first ten.

    Returns the text, and the entities: the n-th is that of the n-th placeholder. One that occurs several
    times has one placeholder. ``unmask`` restores the text from both.
    """
    entities = _in_order(_entities(text))
    return _replaced(text, entities, PLACEHOLDERS), entities


def unmask(text: str, entities: Sequence[str]) -> str:
    """Replace the placeholders of a masked text, or of its translation, by the entities of ``mask``."""
    values = dict(zip(PLACEHOLDERS, entities, strict=False))
    return "".join(values.get(sign, sign) for sign in text) if values else text


def in_notation(entity: str, languages: Sequence[str]) -> str:
    """Write a number as the target language does; another entity is returned unchanged.

    From Portuguese to English ``1.234,5`` becomes ``1,234.5``, ``18h30`` ``18:30`` and ``42.º`` ``42nd``.
    """
    from_point, to_point = (language in _DECIMAL_POINT for language in languages)
    is_number = re.fullmatch(f"{NUMBER}|{SIZE}|{EXPRESSION}", entity)
    if from_point == to_point or not is_number or _IDENTIFIER.search(entity):
        return entity
    thousands, decimal = ",." if from_point else ".,"
    amount = re.compile(rf"(?:[1-9]\d{{0,2}}(?:\{thousands}\d{{3}})+|\d+)(?:\{decimal}\d+)?")

    def written(part: re.Match[str]) -> str:
        is_amount = amount.fullmatch(part[0]) and not _IP_ADDRESS.fullmatch(part[0])
        return part[0].translate(_SWAPPED) if is_amount else part[0]

    entity = re.sub(r"\d[\d.,]*\d", written, entity)
    if to_point:
        entity = re.sub(r"(\d)h(\d\d)", r"\1:\2", entity)
    if languages[1] == "en" and (ordinal := re.search(r"(1?)(\d)\.?[ºª]$", entity)):
        ending = {"1": "st", "2": "nd", "3": "rd"}.get(ordinal[2], "th")
        return entity[: ordinal.end(2)] + ("th" if ordinal[1] else ending)
    return entity


def entities_in_notation(text: str, languages: Sequence[str]) -> list[tuple[re.Match[str], str]]:
    """The entities of a text, in order, and each as ``in_notation`` writes it."""
    return [(entity, in_notation(entity[0], languages)) for entity in find_entities(text)]


def mask_pair(source: str, target: str, placeholders: Sequence[str] = PLACEHOLDERS) -> tuple[str, str]:
    """Replace the entities that stand equally often on both sides of a sentence pair by placeholders.

    The ten ``placeholders`` are used in their order; another one each time trains all alike. Sentences
    without such an entity are returned unchanged.
    """
    in_source, in_target = _entities(source), _entities(target)
    shared = [entity for entity in in_source if in_source.count(entity) == in_target.count(entity)]
    if any(entity in PLACEHOLDERS and entity not in shared for entity in (*in_source, *in_target)):
        return source, target  # a masked entity could not be told from a placeholder in the text
    chosen = _in_order(shared)
    return _replaced(source, chosen, placeholders), _replaced(target, chosen, placeholders)


def without_entities(text: str) -> str:
    """Remove the entities of a text."""
    return entity_pattern().sub("", text) if _SIGNS.search(text) else text


def find_entities(text: str) -> list[re.Match[str]]:
    """Find the entities of a text, in order."""
    return list(entity_pattern().finditer(text)) if _SIGNS.search(text) else []


def _entities(text: str) -> list[str]:
    return [entity[0] for entity in find_entities(text)]


def _in_order(entities: Sequence[str]) -> list[str]:
    """The first ten different entities, preceded by the placeholders in the text."""
    return sorted(dict.fromkeys(entities), key=lambda entity: entity not in PLACEHOLDERS)[: len(PLACEHOLDERS)]


def _replaced(text: str, entities: Sequence[str], placeholders: Sequence[str]) -> str:
    symbols = dict(zip(entities, placeholders, strict=False))
    return entity_pattern().sub(lambda entity: symbols.get(entity[0], entity[0]), text) if symbols else text
