"""Writing translations as people do inside a TensorFlow graph: ``repair_wordpiece`` and ``join_tokens``.

The rules are those of ``data/text.py`` and ``data/moses.py``, said without looking ahead or behind: what
a rule looks at is a group of its own, which is put back.
"""

from typing import Any

from ptenmt.config import Config
from ptenmt.data.moses import moses
from ptenmt.export.graph.joining import join
from ptenmt.export.graph.patterns import DIGIT, NO_DIGIT, WORD, apply
from ptenmt.export.limits import is_joined, why_not_written

_OPENING, _CLOSING, _HELD = "\ue000", "\ue001", "\ue002"
_CONTRACTED = "(?:t|s|m|re|ve|ll|d)"

_TYPOGRAPHIC_CONTRACTION = (rf"(?i)({WORD}) ’ ({_CONTRACTED}(?: |$))", r"\1’\2")
_DOUBLE_HYPHEN = (r"(^| )- -( |$)", r"\1--\2")
_SLASH = (rf"({WORD}) / ({WORD})", r"\1/\2")
_TIME = (rf"(^|{NO_DIGIT})({DIGIT}{{1,2}}) : ({DIGIT}{DIGIT}(?:{NO_DIGIT}|$))", r"\1\2:\3")

_PIECES_TO_TOKENS = (
    (r"(^| )` `( |$)", r"\1``\2"),
    (r"(^| )' '( |$)", r"\1''\2"),
    (r"(^| )n ' t( |$)", r"\1n't\2"),
    (rf"({WORD} )' ((?:s|m|re|ve|ll|d)(?: |$))", r"\1'\2"),
    _TYPOGRAPHIC_CONTRACTION,
    _DOUBLE_HYPHEN,
    (rf"({WORD}) - ({WORD})", r"\1-\2"),
    _SLASH,
    (r"(^| )\. \. \.( |$)", r"\1...\2"),
    (rf"(^|{NO_DIGIT})({DIGIT}{{1,3}}) , ({DIGIT}{{3}}(?:{NO_DIGIT}|$))", r"\1\2,\3"),
    (rf"({DIGIT}) \. ({DIGIT})", r"\1.\2"),
    _TIME,
    (rf"(^| )(mr|mrs|ms|dr|prof|st|jr|sr|vs) \.( {WORD})", r"\1\2.\3"),
    (rf"({WORD}) \. (com|org|net|edu|gov)( |$)", r"\1.\2\3"),
    (r"(^| )ph \. d( |$)", r"\1ph.d\2"),
    # Initials: u . s . in mid-sentence -> u.s.
    (rf"(^| |{_HELD})([a-z]) \. ([a-z])( \.|{_HELD})", rf"\1\2{_HELD}\3\4"),
    (rf"({_HELD}[a-z]) \.( [\pL\pN_,;:—])", r"\1.\2"),
    (_HELD, "."),
)
_BEFORE_JOINING = (
    (r"(^| )``(?: (?:``|''))*( |$)", rf"\1{_OPENING}\2"),
    (r"(^| )''(?: (?:``|''))*( |$)", rf"\1{_CLOSING}\2"),
    (r"“ ([^“”]*) ”", r"“\1 ”"),
    (r"« ([^«»]*) »", r"«\1 »"),
    (rf"({WORD}) ('s(?: |$))", r"\1\2"),
    _TYPOGRAPHIC_CONTRACTION,
    (rf"({DIGIT}) ([€£¥])( {NO_DIGIT}|$)", r"\1\2\3"),
    _DOUBLE_HYPHEN,
    _SLASH,
    _TIME,
)
_BEFORE_JOINING_ENGLISH = (
    (rf"(?i)({WORD}) (n't(?: |$))", r"\1\2"),
    # 'how opens a quote, 's does not
    (rf"(?i)(^| )'({_CONTRACTED}(?: |$))", rf"\1{_HELD}\2"),
    (rf"(^| )'({WORD})", r"\1' \2"),
    (_HELD, "'"),
)
_AFTER_JOINING = (
    (f"{_OPENING} ?", '"'),
    (f" ?{_CLOSING}", '"'),
    (r"“([^“”]*) ”", r"“\1”"),
    (r"«([^«»]*) »", r"«\1»"),
)


def repaired(texts: Any) -> Any:
    """What ``repair_wordpiece`` does to texts [B]."""
    return apply(_PIECES_TO_TOKENS, texts)


def written(texts: Any, config: Config) -> Any:
    """Write what was said [B] as people do, where the tokenizer or the corpus has punctuation apart."""
    if config.tokenizer.kind == "wordpiece":
        texts = repaired(texts)
    if not is_joined(config) or why_not_written(config):
        return texts
    language = moses(config.data.target_language).language
    texts = apply(_BEFORE_JOINING, texts)
    if language == "en":
        texts = apply(_BEFORE_JOINING_ENGLISH, texts)
    return apply(_AFTER_JOINING, join(texts, language))
