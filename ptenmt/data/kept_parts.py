"""Kept parts: what is no word and stays in a translation as it is, such as addresses, tags, codes, templates.

The rules know no language. A run of characters without white space is kept, without the punctuation of its
sentence, if it mixes letters with digits, holds signs of code, a slash or a full stop between letters, or
has a capital inside. Numbers, quantities (``19h30``, ``5kg``, ``R$80``), abbreviations with full stops
(``E.U.A.``) and ordinary words with a hyphen or an apostrophe are left to the model. Training masks kept
parts with these functions; translation gives them the same placeholders (translation/safeguards.py).
"""

import re
from collections.abc import Sequence
from functools import cache

PLACEHOLDERS = tuple("❶❷❸❹❺❻❼❽❾❿")
"""The symbols: single characters, which neither tokenization, case nor Unicode normalization changes."""
_SYMBOLS = frozenset(PLACEHOLDERS)

# Python before 3.11.5 matches atomic groups and possessive quantifiers wrongly: these patterns have neither.
_BRACKETS = r"\([^\s<>\"“”«»()]*\)"
ADDRESS = (
    rf"(?i:[a-z][a-z+]*://|(?<!\w)www\.)(?:{_BRACKETS}|(?!{_BRACKETS})[^\s<>\"“”«»])*"
    rf"(?:{_BRACKETS}|[^\s<>\"“”«».,;:!?'’`)\]}}])"
    r"|(?<![\w.%+-])[\w.%+-]+@[\w-]+(?:\.[\w-]+)+"
)
"""The pattern of a URL, without the punctuation after it, or an e-mail address."""
_LETTER = r"[^\W\d_]"
_SIGN = f"[{''.join(PLACEHOLDERS)}]"
_NAME = rf"(?:(?!{_SIGN})\w[\u0300-\u036f]*)+"
_UNITS = (  # symbols as CLDR has them, and what texts write without a space
    "[kcdmµhn]?m[23²³]?|[kmµ]?g|[kcdmµh]?[lL]|[kMGT]?W(?:h|p)?|[kmM]?[VAJ]|[kMGT]?Hz|[kKMGT]i?[Bb](?:ps|/s)?|B"
    "|h|min|m?s|ha|t|k?cal|k?Pa|d[Bb]|[º°]?[CFK]|pol|in|ft|lb|oz|mi|bi|tri|p|px|pt|x|k|K|M|[kc]?m/[hs]|rpm"
)
_AMOUNT = rf"\d[\d.,:]*(?:h(?:\d\d(?:m(?:in)?)?)?|[.]?[ºª°'’″”]|[ao]s?|st|nd|rd|th|s|{_UNITS})"
QUANTITY = rf"(?:[A-Z]{{0,2}}[$€£¥])?(?:{_AMOUNT})(?:[-–/]{_AMOUNT})?(?![\w/-]|\.\w)"
"""The pattern of a number with its unit, which the model reads: 19h30, 9h–19h, 5kg, R$80mi, 1.ª, 100km/h."""
_FILE = (
    "pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|txt|csv|tsv|json|xml|ya?ml|html?|md|epub|srt|zip|rar|7z|tar|t?gz|jpe?g"
    "|png|gif|svg|webp|mp[34]|avi|mov|mkv|wav|exe|apk|iso|log|py|js|css|sql|sh"
)
_EMOJI = "[\u203c\u2049\u2139\u2190-\u21ff\u231a-\u27bf\u2934-\u2b55\ue000-\uf8ff\U0001f000-\U0001faff]"
_EMOJI_CHANGED = f"{_EMOJI}[\ufe0f\U0001f3fb-\U0001f3ff]*"  # variation selector, skin tones

_PATTERNS = (
    # An address: https://a.pt/b?c=1, ana@a.pt; not a.pt.
    ADDRESS,
    # Code and formulas: a fence, or its first line; `git add`, $$x^2$$, $x_1$, \(x\); not R$ 5 e R$ 6.
    r"\A {0,3}```[^`\n]*(?:\n(?s:.*))?\Z"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]{1,200}?(?<!`)(?P=ticks)(?!`)"
    r"|\$\$[^$\n]{1,200}\$\$|(?<![\w$])\$(?=[^$\n]{0,200}[\\^_=])[^$\n]{1,200}\$(?![\w$])"
    r"|\\\([^\n]{1,200}?\\\)",
    # A template: {name}, {{ name }}, {% if x %}, ${name}, {n, plural, …}, [[x]], ⟦0⟧; not {um texto}.
    r"\{\w{1,40}, ?(?:plural|select|selectordinal),(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,80}\}){0,200}\}){0,400}\}"
    r"|\{%[^{}\n]{0,200}%\}|<%[^<>\n]{0,200}%>|\[\[[^\[\]\s]{1,80}\]\]|⟦[^⟦⟧\s]{0,80}⟧"
    r"|[$#]?\{\{[^{}\n]{0,80}\}\}|[$#@]\{[^{}\n]{0,80}\}|\{[^{}\s]{0,40}\}",
    # A format or a variable: %s, %1$s, %(n)s, %nome%, %%X%%, $nome, $nome$; not 10%, R$.
    r"(?<![\d%])%(?:\d+\$|\(\w+\))?[-+0#]?\d*(?:\.\d+)?[A-Za-z@](?:%%)?(?!\w)"
    r"|(?<![\w%])%{1,2}\w+%{1,2}(?!\w)|(?<![\w$])\$[A-Za-z_]\w*\$?(?![\w$(])",
    # A tag: <b>, </a>, <!-- x -->, &nbsp;, [quote=Ana], [/b], ](address); not a < b, [risos].
    r"<(?:/?[A-Za-z][\w.:-]*(?:\s[^<>]{0,200})?/?|!--[^<>]{0,200}--|\?[^<>]{0,200}\?|![A-Z][^<>]{0,200})>"
    r"|&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});"
    r"|\[(?:/[a-z]{1,10}|[a-z]{1,10}=[^\[\]\s]{1,80}|[biusq]|url|img|code|quote)\]"
    rf"|(?<=\S)\]{_BRACKETS}",
    # A call: os.path.join("a", b), print('a'), $t(x); not aluno(a).
    r"(?<![\w.$])(?:(?=[\w.$]{0,80}(?:\w_\w|\w\.[a-z]{2}|\$\w))[A-Za-z_$][\w.]{0,80}(?<!\.)"
    r"|[A-Za-z]\w{0,80}(?=\(['\"]))\((?:[^()\n]|\([^()\n]{0,80}\)){0,200}\)",
    # A path or file: /usr/bin, ~/x, C:\x, a/b/c, dd/MM/yyyy, HH:mm:ss, a.txt, --option=1; not e/ou, km/h.
    r"(?<!\w)(?:[A-Za-z]:|\\)\\[^\s<>\"|?*]*\w"
    r"|(?<![\w.~/])(?:~|\.\.?)?(?:/[\w.@-]*\w){2,}/?(?!\w)|(?<![\w.~/])(?:~|\.\.?)/[\w.-]*\w"
    rf"|(?<![\w./@~-])[~\w*./-]*[\w*]\.(?i:{_FILE})(?![\w/-]|\.\w)"
    r"|(?<![\w/])[\w.@-]+(?:/[\w.@-]+){2,}(?<![.])(?!\w)"
    r"|(?<!\S)--?[a-z][\w-]*(?:=[^\s<>]*\w)?(?![\w/])|(?<![\w:])[A-Za-z]+(?::[A-Za-z]+){2,}(?![\w:])",
    # An identifier of digits: 123456, 0000 0000, 123.456.789-09, 1.2.3, +351 912 345 678, 21 123 45 67; not
    # 1.234.567, 1 234 567.
    r"(?<![\w.,])(?:\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}|\(\d\d\) \d{4,5}-\d{4}|\d{6,}"
    r"|\d{4}(?: \d{4})+(?: \d{1,4})?|(?=\d+(?: \d+){2})\d{1,4}(?: \d{3})* (?:\d\d|\d{4,5})(?: \d{2,5})*"
    r"|(?=(?:[./-]?\d){6,}(?!\d))\d+(?:[./-]\d+)*[/-]\d+(?:[./-]\d+)*"
    r"|(?!\d{1,3}(?:\.\d{3})+(?!\.?\d))\d+(?:\.\d+){2,})(?![\w]|[.,/-]\d)",
    # A word too long for one, such as a key; one with signs of code: snake_case, __init__, #tag, @user, a=b,
    # x^2, a\b, C#, Ctrl+C; not **bom**.
    r"(?<!\w)[A-Za-zÀ-ɏ\d+/=_-]{50,}(?!\w)"
    rf"|(?<![\w@#])(?:#{{1,3}}|@{{1,2}}){_NAME}(?:-{_NAME})*(?:#{{1,3}}|@{{1,2}})?(?![\w#@])"
    rf"|(?<![\w.@-])(?:__\w+__|_[A-Z][A-Z_]*_|(?:{_NAME})?[^\W_]_[\w.*-]*\w|_[a-z]\w*_\w+)(?!\w)"
    r"|(?<!\S)[(\"“«]?(?=\S*(?:\w[=^\\]|[\\^]\S))(?:[^\s().,;:!?\"“”«»<>]|[.,;:!?()](?=\S))+(?<![*_])"
    r"|(?<!\w)[A-Z](?:\+\+|#)(?!\w)|(?<![\w+])[A-Za-z]\w*(?:\+\w+)+(?![\w+])|(?<!\w)[A-Za-z_]\w*\[\w*\]",
    # Letters with digits, a full stop between letters, a capital inside: H2O, 3f2a, COVID-19, os.path,
    # iPhone; not E.U.A., fim.Depois, Sr.ª, pré-2000.
    rf"(?<![\w$€£.-])(?!{QUANTITY})(?:(?=[\w-]*(?:{_LETTER}\d|\d{_LETTER}|[A-Z]-\d|\d-[A-Z]))"
    rf"(?!{_SIGN})\w(?:(?!{_SIGN})\w)*(?:[.-]\w+)*"
    r"|[a-z]\w+(?:\.[a-z]\w+)+|[A-Z]\w*[a-z][A-Z]\w*(?:\.[A-Za-z]\w+)+"
    r"|[A-Za-z]*[a-zà-ÿ][A-Z][A-Za-z\d]*)(?!\w|-\w)",
    # A sign repeated, or signs of code alone: ----, ____, =>, &&; not ..., !!!.
    r"(?P<repeated>[-=_*#~+|/\\])(?P=repeated){2,}|\.{4,}"
    r"|(?<!\S)(?:[-=]>|<[-=]|[<>=!]=|&&|\|\|)(?!\S)",
    # Emoji, flags, keycaps, private use; placeholders in the text itself.
    f"[0-9#*]\ufe0f?\u20e3|[\U0001f1e6-\U0001f1ff]{{2}}|{_EMOJI_CHANGED}(?:\u200d{_EMOJI_CHANGED})*|{_SIGN}",
)
"""With an example and a counter-example each."""

_SIGNS = re.compile(
    rf"[\d@#%`_\\^={{{''.join(PLACEHOLDERS)}{_EMOJI[1:]}|[<&$~⟦⟧]|\]\(|\[[\[/a-z]|\w\.\w|/\w|\w\+[\w+]|\w:\w|\w\[|--|\*{{3}}|\+{{3}}"
    r"|[A-Za-zÀ-ɏ]{50}|/{3}|\|\||\.{4}|://|[a-zà-ÿ][A-Z]|[\w\]]\(['\"]|-[a-z]"
)
"""Every kept part has one of these; to search them is faster."""


@cache
def kept_part_pattern() -> re.Pattern[str]:
    """Match a kept part; a placeholder that stands in the text itself is one, too."""
    return re.compile("|".join(_PATTERNS))


def find_kept_parts(text: str) -> list[re.Match[str]]:
    """Find the kept parts of a text, in order."""
    return list(kept_part_pattern().finditer(text)) if _SIGNS.search(text) else []


def mask(text: str) -> tuple[str, list[str]]:
    """Replace the kept parts of a text by placeholders; of more than ten different ones, the first ten.

    Returns the text, and the parts: the n-th is that of the n-th placeholder. One that occurs several times
    has one placeholder. ``unmask`` restores the text from both.
    """
    found = _parts(text)
    parts = _in_order(found)
    if any(part not in parts and not _SYMBOLS.isdisjoint(part) for part in found):
        return text, []  # what stays could not be told from the placeholders
    return _replaced(text, parts, PLACEHOLDERS), parts


def unmask(text: str, parts: Sequence[str]) -> str:
    """Replace the placeholders of a masked text, or of its translation, by the parts of ``mask``."""
    values = dict(zip(PLACEHOLDERS, parts, strict=False))
    return "".join(values.get(sign, sign) for sign in text) if values else text


def mask_pair(source: str, target: str, placeholders: Sequence[str] = PLACEHOLDERS) -> tuple[str, str]:
    """Replace the kept parts that stand equally often on both sides of a sentence pair by placeholders.

    The ten ``placeholders`` are used in their order; another one each time trains all alike. Sentences
    without such a part are returned unchanged.
    """
    in_source, in_target = _parts(source), _parts(target)
    shared = [part for part in in_source if in_source.count(part) == in_target.count(part)]
    if any(part not in shared and not _SYMBOLS.isdisjoint(part) for part in (*in_source, *in_target)):
        return source, target  # a masked part could not be told from a placeholder in the text
    chosen = _in_order(shared)
    return _replaced(source, chosen, placeholders), _replaced(target, chosen, placeholders)


def without_kept_parts(text: str) -> str:
    """Remove the kept parts of a text."""
    return kept_part_pattern().sub("", text) if _SIGNS.search(text) else text


def _parts(text: str) -> list[str]:
    return [part[0] for part in find_kept_parts(text)]


def _in_order(parts: Sequence[str]) -> list[str]:
    """The first ten different parts, preceded by those that are placeholders or contain some."""
    return sorted(dict.fromkeys(parts), key=_SYMBOLS.isdisjoint)[: len(PLACEHOLDERS)]


def _replaced(text: str, parts: Sequence[str], placeholders: Sequence[str]) -> str:
    symbols = dict(zip(parts, placeholders, strict=False))
    return kept_part_pattern().sub(lambda part: symbols.get(part[0], part[0]), text) if symbols else text
