"""Text preparation before tokenization, and detokenization of translations.

Corpora like TED have words and punctuation separated, in the Penn Treebank's style: ``it 's``, ``is n't``,
quotes as two back-ticks and two apostrophes. User input is converted to it, and translations back.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ptenmt.config import DataConfig
from ptenmt.config.schema import Tokenization

_Rules = Sequence[tuple[str, re.Pattern[str], str]]
"""(required substring, pattern, replacement). The substring test is fast; so are patterns that start with
literal text and a lookbehind after it."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""ASCII control characters."""
_NOT_TYPED = re.compile(r"[\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]")
"""All control characters, byte order marks and halves of surrogate pairs. A corpus keeps those above ASCII:
TED's test set has some, in a mis-encoded dash."""


def _compiled(*rules: tuple[str, str, str]) -> _Rules:
    return [(needed, re.compile(pattern), replacement) for needed, pattern, replacement in rules]


_ENGLISH_CONTRACTIONS = _compiled(
    (" '", r"(?i)(n) ('t)(?!\S)", r" \1\2"),  # isn 't -> is n't
    ("' ", r"(?i)(?<!\S)' (?=(?:s|m|re|ve|ll|d)(?!\S))", "'"),  # it ' s -> it 's
)
"""From the Moses tokenizer's English contractions to the Penn Treebank's."""

# Splits that both WordPiece and the Moses tokenizer make.
# haven ’ t -> haven’t
_TYPOGRAPHIC_CONTRACTION = (" ’ ", r"(?i)(?<=\w) ’ (?=(?:t|s|m|re|ve|ll|d)(?!\S))", "’")
_DOUBLE_HYPHEN = ("- -", r"(?<!\S)- -(?!\S)", "--")
_SLASH = (" / ", r"(?<=\w) / (?=\w)", "/")  # and / or -> and/or
_TIME = (" : ", r"(?<!\d)(\d\d?) : (?=\d\d(?!\d))", r"\1:")  # 10 : 30 -> 10:30

_PIECES_TO_TOKENS = _compiled(
    ("` `", r"(?<!\S)` `(?!\S)", "``"),
    ("' '", r"(?<!\S)' '(?!\S)", "''"),
    ("n ' t", r"(?<!\S)n ' t(?!\S)", "n't"),  # is n ' t -> is n't
    (" ' ", r"' (?<=\w ' )(?=(?:s|m|re|ve|ll|d)(?!\S))", "'"),  # it ' s -> it 's
    _TYPOGRAPHIC_CONTRACTION,
    _DOUBLE_HYPHEN,
    (" - ", r"(?<=\w) - (?=\w)", "-"),  # twenty - five -> twenty-five
    _SLASH,
    (". . .", r"(?<!\S)\. \. \.(?!\S)", "..."),
    (" , ", r" , (?<=\d , )(?<!\d{4} , )(?=\d{3}(?!\d))", ","),  # 1 , 000 -> 1,000
    (" . ", r"(?<=\d) \. (?=\d)", "."),  # 3 . 5 -> 3.5
    _TIME,
    (" . ", r"(?<!\S)(mr|mrs|ms|dr|prof|st|jr|sr|vs) \.(?= \w)", r"\1."),  # mr . x -> mr. x
    (" . ", r"(?<=\w) \. (com|org|net|edu|gov)(?!\S)", r".\1"),  # ted . com -> ted.com
    ("ph . d", r"(?<!\S)ph \. d(?!\S)", "ph.d"),
)
"""From punctuation split off everywhere to the Penn Treebank's tokens."""

_INITIALS = re.compile(r"(?<!\S)[a-z](?: \. [a-z](?= \.))+(?: \.(?= [\w,;:—]))?")
"""``u . s .``: single letters with full stops; the last full stop only inside a sentence (at its end it stays
a token of its own)."""

_OPENING, _CLOSING = "\ue000", "\ue001"
"""Placeholders for directed quotes; the Moses detokenizer would count pairs instead."""

_BEFORE_JOINING = _compiled(
    ("``", r"(?<!\S)``(?: (?:``|''))*(?!\S)", _OPENING),
    ("''", r"(?<!\S)''(?: (?:``|''))*(?!\S)", _CLOSING),
    ("“ ", r"“ ([^“”]*) ”", r"“\1 ”"),
    ("« ", r"« ([^«»]*) »", r"«\1 »"),
    (" 's", r" 's(?<=\w 's)(?!\S)", "'s"),  # names like levi 's in any language
    _TYPOGRAPHIC_CONTRACTION,
    *((f" {sign}", rf"(?<=\d) {sign}(?= \D|$)", sign) for sign in "€£¥"),  # 5 € is not € 5
    _DOUBLE_HYPHEN,
    _SLASH,
    _TIME,
)
_BEFORE_JOINING_ENGLISH = _compiled(
    ("'", r"(?i)(?<=\w) (?=n't(?!\S))", ""),  # is n't -> isn't
    ("'", r"(?i)'(?<!\S')(?!(?:t|s|m|re|ve|ll|d)(?!\S))(?=\w)", "' "),  # 'how opens a quote, 's does not
)
_AFTER_JOINING = _compiled(
    (_OPENING, f"{_OPENING} ?", '"'),
    (_CLOSING, f" ?{_CLOSING}", '"'),
    ("“", r"“([^“”]*) ”", r"“\1”"),
    ("«", r"«([^«»]*) »", r"«\1»"),
)


def spacing(data: DataConfig) -> Tokenization:
    """Return ``data.tokenization``, or the default of the data source."""
    return data.tokenization or ("given" if data.source == "tfds" else "none")


def preparation_options(data: DataConfig) -> dict[str, str | bool]:
    """Everything that the form of prepared text depends on besides its language, by option."""
    return {"tokenization": spacing(data), "normalization": data.normalization, "lowercase": data.lowercase}


def lowers_typed(data: DataConfig) -> bool:
    """Whether user input is lower-cased, as TED is: its models' vocabularies have no upper case."""
    return data.lowercase or (data.source == "tfds" and spacing(data) == "given")


def preparation_differences(data: DataConfig, wanted: DataConfig) -> list[str]:
    """What differs between two configs in the direction and the form of their text."""
    form, other = (
        {
            "direction": "→".join(config.languages),
            **preparation_options(config),
            "lowercase": lowers_typed(config),
        }
        for config in (data, wanted)
    )
    return [f"{name} {form[name]}, not {value}" for name, value in other.items() if form[name] != value]


class _Moses:
    """The Moses tokenizer and detokenizer of a language; English rules for one that Moses does not know."""

    def __init__(self, language: str) -> None:
        import sacremoses.corpus

        known = sacremoses.corpus.NonbreakingPrefixes().available_langs.values()
        self.language = language if language in known else "en"
        self._tokenizer = sacremoses.MosesTokenizer(self.language)
        self._detokenizer = sacremoses.MosesDetokenizer(self.language)

    def split(self, text: str) -> str:
        return str(self._tokenizer.tokenize(text, escape=False, return_str=True))

    def join(self, tokens: Sequence[str]) -> str:
        return str(self._detokenizer.detokenize(tokens, unescape=False))


_moses = lru_cache(_Moses)


class TextPreparation:
    """The text normalization of a run, the same in training and in translation.

    Its methods' ``language`` is the text's ISO 639-1 code.
    """

    def __init__(self, data: DataConfig) -> None:
        self._data = data
        self._spacing = spacing(data)

    def prepare(self, text: str, language: str) -> str:
        """Normalize a sentence of the corpus, tokenize it by Moses and lower-case it, as configured.

        ASCII control characters become spaces, and runs of white space one space.
        """
        text = self._normalized(text)
        if self._spacing == "moses":
            text = _moses(language).split(text)
        return text.lower() if self._data.lowercase else text

    def prepare_input(self, text: str, language: str) -> str:
        """Prepare user input, any text of any length, so that it looks like the corpus.

        As ``prepare``; where the corpus is tokenized and lower-cased already, so is the input.
        """
        text = _NOT_TYPED.sub(" ", text)
        if self._spacing != "given":
            return self.prepare(text, language)
        text = _split_like_treebank(self._normalized(text), language)
        return text.lower() if lowers_typed(self._data) else text

    def detokenize(self, text: str, language: str) -> str:
        """Detokenize the model's output; it is unchanged where the corpus is plain text."""
        return text if self._spacing == "none" else detokenize_tokens(text, language)

    def _normalized(self, text: str) -> str:
        form = self._data.normalization
        if form != "none":
            text = unicodedata.normalize(form, text)
        if text.isprintable() and "  " not in text:  # most text, of which only the ends may change
            return text.strip()
        return " ".join(_CONTROL.sub(" ", text).split())


def detokenize_tokens(text: str, language: str) -> str:
    """Detokenize text: ``it 's fine , is n't it ?`` → ``it's fine, isn't it?``.

    Tokens are separated by spaces, in the style of the Penn Treebank or the Moses tokenizer. An unknown
    language is treated as English.
    """
    rules = _moses(language)
    text = _apply(_BEFORE_JOINING, text)
    if rules.language == "en":
        text = _apply(_BEFORE_JOINING_ENGLISH, text)
    return _apply(_AFTER_JOINING, rules.join(text.split()))


def repair_wordpiece(text: str) -> str:
    """Undo the splits that WordPiece makes at every punctuation mark: ``is n ' t it`` → ``is n't it``.

    That tokenizer cannot distinguish ``it 's`` from ``it ' s``; these rules restore the Penn Treebank's
    tokens, in which TED comes: contractions, quotes, hyphens, numbers, initials and abbreviations.
    """
    text = _apply(_PIECES_TO_TOKENS, text)
    if " . " not in text:
        return text
    return _INITIALS.sub(lambda initials: initials[0].replace(" ", ""), text)


def _apply(rules: _Rules, text: str) -> str:
    for needed, pattern, replacement in rules:
        if needed in text:
            text = pattern.sub(replacement, text)
    return text


def _split_like_treebank(text: str, language: str) -> str:
    """Split by Moses, but keep the Treebank's closing quotes and English contractions."""
    rules = _moses(language)
    if rules.language != "en" and "''" not in text:
        return rules.split(text)
    text = " '' ".join(map(rules.split, text.split("''")))
    if rules.language == "en":
        text = _apply(_ENGLISH_CONTRACTIONS, text)
    return " ".join(text.split())
