"""The Moses tokenizer and detokenizer: what the package sacremoses gives, without its start and its price.

Importing sacremoses compiles every rule of every language, with classes of ten thousand characters, and at
each full stop it builds a set of all letters. Here its tables alone are read, and a rule is compiled when a
text may need it.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal

from ptenmt.data.moses_tables import characters, prefix_table, prefix_tables, ranges

_TOKENS_KEPT = 1 << 14
_DIGITS = frozenset("0123456789")
_DOTS = re.compile(r"\.{2,}")
_APART = r"\1 ' \2"
_NUMBERS_ONLY = " #NUMERIC_ONLY#"
JOINED_OTHERWISE = ("cs", "fi", "fr", "ga", "it")
"""Languages with rules of their own for joining."""

_CHINESE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\ua840-\ua87f\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff65-\uffdc"
    "\U00017000-\U00018aff\U0001b000-\U0001b12f\U0001b170-\U0001b2ff\U00020000-\U0002ffff]"
)
"""Characters of scripts that have no blanks between words: Chinese, Japanese, Korean."""
_CLOSING = ",.?!:;\\%}])"
_OPENING = "([{¿¡"  # and currencies
_QUOTES = "'\"„“`"
_DOUBLE_QUOTES = "„“"  # which count as one kind with the plain one
_Kind = Literal["word", "chinese", "opening", "closing", "contraction", "quote"]


@lru_cache
def moses(language: str) -> "Moses":
    """The rules of a language, by its ISO 639-1 code; those of English for one that Moses does not know."""
    return Moses(language if prefix_table(language) in prefix_tables() else "en")


class Moses:
    """Splits and joins text of one language.

    Args:
        language: A code that Moses knows.

    Attributes:
        letters: Characters that words are made of.
        lower: Small letters.
        staying: Characters that are not split off.
        abbreviations: Words that keep their full stop.
        before_numbers: Words that keep it before a number.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        tables = characters()
        others = tables["Han"] if language == "zh" else ""
        self.letters = tables["IsAlpha"] + tables["signs"] + others
        self.lower = tables["IsLower"]
        self.staying = tables["IsAlnum"] + tables["signs"] + others + ".'`,-"
        self._numbers = ranges(tables["IsN"])
        self._spaced = _Spaced(self.staying)
        lines = map(str.strip, prefix_tables()[prefix_table(language)].splitlines())
        prefixes = {line for line in lines if line and not line.startswith("#")}
        self.before_numbers = {
            line.removesuffix(_NUMBERS_ONLY) for line in prefixes if line.endswith(_NUMBERS_ONLY)
        }
        self.abbreviations = prefixes - self.before_numbers

    def split(self, text: str) -> str:
        """Put blanks between words and punctuation, as ``MosesTokenizer.tokenize`` does without escapes.

        Args:
            text: Without control characters, and with single blanks.
        """
        text = text.strip().translate(self._spaced)
        if ".." in text:
            text = _DOTS.sub(r" \g<0> ", text)
        if "," in text:
            text = text.replace(", ", " , ")
            if text.count(",") > text.count(" , "):
                text = _apply(self.commas, text)
        if "'" in text:
            text = _apply(self.apostrophes, text)
        tokens = text.split()
        for place in [place for place, token in enumerate(tokens) if token[-1] == "."]:
            tokens[place] = self._full_stop_apart(tokens[place], "".join(tokens[place + 1 : place + 2]))
        text = " ".join(tokens)
        return f"{text[:-2]} . ' " if text.endswith(".'") else text

    def join(self, tokens: Sequence[str]) -> str:
        """Write words and punctuation without needless blanks, as ``MosesDetokenizer.detokenize`` does.

        Args:
            tokens: None of them is empty or has a blank in it.
        """
        if self.language in JOINED_OTHERWISE:
            joined: str = _sacremoses_detokenizer(self.language).detokenize(tokens, unescape=False)
            return joined
        if "@-@" in tokens:
            tokens = f" {' '.join(tokens)} ".replace(" @-@ ", "-").split()
        try:
            return "".join(map(self._joining.__getitem__, tokens)).removeprefix(" ")
        except LookupError:
            return self._joined_by_kind(tokens)

    def _joined_by_kind(self, tokens: Sequence[str]) -> str:
        """Join tokens whose blanks are up to the tokens before them."""
        parts: list[str] = []
        opened: set[str] = set()
        before, sticks = "", True
        for token in tokens:
            kind = _kind(token)
            if kind == "quote":
                kind = self._side_of_quote(token, before, opened)
            if kind != "word" and before:
                sticks = sticks or self._sticks(kind, before)
            parts.append(token if sticks else f" {token}")
            before, sticks = token, kind == "opening"
        return "".join(parts)

    @cached_property
    def _joining(self) -> "_Joining":
        return _Joining(self._sticks)

    def _sticks(self, kind: _Kind, before: str) -> bool:
        """Whether a token goes to the one before it: , and 's and words of scripts without blanks."""
        if kind == "closing":
            return True
        if kind == "contraction":
            return self.language == "en"
        return kind == "chinese" and _CHINESE.match(before[-1]) is not None

    def _side_of_quote(self, token: str, before: str, opened: set[str]) -> _Kind:
        """Quotes open and close in turn; ``opened`` are those that are open."""
        quote = token if token.strip(_DOUBLE_QUOTES) else '"'
        if quote in opened:
            opened.remove(quote)
            return "closing"
        if self.language == "en" and token == "'" and before.endswith("s"):  # the doctors' idea
            return "closing"
        opened.add(quote)
        return "opening"

    def _full_stop_apart(self, token: str, following: str) -> str:
        """The token with a blank before its full stop, unless it is an abbreviation or in mid-sentence."""
        if token[-2:] in (".", ".."):
            return token
        word = token[:-1]
        stays = (
            ("." in word and any(letter in self.letters for letter in word))
            or word in self.abbreviations
            or (following != "" and following[0] in self.lower)
            or (word in self.before_numbers and following[:1] in _DIGITS)
        )
        return token if stays else f"{word} ."

    @cached_property
    def commas(self) -> "_Rules":
        """A comma stays only where it is between digits."""
        number = self._numbers
        return _compiled(
            (rf"([^{number}]),", r"\1 , "), (rf",([^{number}])", r" , \1"), (rf"([{number}]),$", r"\1 , ")
        )

    @cached_property
    def apostrophes(self) -> "_Rules":
        """Where an apostrophe stands apart, and to which side it goes where it does not."""
        letters = ranges(self.letters)
        letter, other = f"([{letters}])", f"([^{letters}])"
        if self.language == "en":
            return _compiled(
                (f"{other}'{other}", _APART),
                (f"([^{letters}{self._numbers}])'{letter}", _APART),
                (f"{letter}'{other}", _APART),
                (f"{letter}'{letter}", r"\1 '\2"),
                (f"([{self._numbers}])'(s)", r"\1 '\2"),
            )
        if self.language in ("fr", "it"):
            return _compiled(
                (f"{other}'{other}", _APART),
                (f"{other}'{letter}", _APART),
                (f"{letter}'{other}", _APART),
                (f"{letter}'{letter}", r"\1' \2"),
            )
        return _compiled(("'", " ' "))


_Rules = Sequence[tuple[re.Pattern[str], str]]


def _compiled(*rules: tuple[str, str]) -> _Rules:
    return [(re.compile(pattern), replacement) for pattern, replacement in rules]


def _apply(rules: _Rules, text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


class _Spaced(dict[int, str]):
    """Characters with blanks around them, but for those that stay; found out when one is met first."""

    def __init__(self, staying: str) -> None:
        super().__init__()
        self._staying = staying

    def __missing__(self, code: int) -> str:
        character = chr(code)
        stays = character in self._staying or character.isspace()
        self[code] = character if stays else f" {character} "
        return self[code]


class _Joining(dict[str, str]):
    """Tokens with the blank before them, if they have one wherever they stand, as nearly all do or do not.

    Args:
        sticks: Tells whether a token of a kind goes to the one before it.

    Raises:
        LookupError: A token's blank is up to the tokens before it.
    """

    def __init__(self, sticks: Callable[[_Kind, str], bool]) -> None:
        super().__init__()
        self._sticks = sticks

    def __missing__(self, token: str) -> str:
        kind = _kind(token)
        if kind not in ("word", "closing", "contraction"):
            raise LookupError(token)
        if len(self) >= _TOKENS_KEPT:
            self.clear()
        self[token] = token if self._sticks(kind, "") else f" {token}"
        return self[token]


@lru_cache(_TOKENS_KEPT)
def _kind(token: str) -> _Kind:
    """What a token is when tokens are joined."""
    tables = characters()
    if _CHINESE.match(token):
        return "chinese"
    if not token.strip(_OPENING + tables["IsSc"]):
        return "opening"
    if not token.strip(_CLOSING):
        return "closing"
    if token[0] == "'" and token[1:2] and token[1] in tables["IsAlpha"]:
        return "contraction"
    return "word" if token.strip(_QUOTES) else "quote"


@lru_cache
def _sacremoses_detokenizer(language: str) -> Any:
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(language)
