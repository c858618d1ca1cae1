"""Plain text (.txt), and the rules of all formats: which texts are translated, and how many there may be."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeVar

from ptenmt.server.limits import Refusal
from ptenmt.translation.markup import Fragment, text_of

MAX_TEXTS = 20_000
"""Texts of a document; even at one word each they would keep a server busy for minutes."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FILE_NAME = re.compile(r"\S*\w\.(?:[a-z]{3,4}|[a-z]{2,3}\d|js|md|py|gz|sh)")
_LINE = re.compile(r"[^\r\n]+")
_Item = TypeVar("_Item")


def is_prose(text: str) -> bool:
    """Whether a text has something to translate: a letter, and not only the name of a file."""
    return any(map(str.isalpha, text)) and _FILE_NAME.fullmatch(text.strip()) is None


def limited(items: Iterable[_Item]) -> list[_Item]:
    """The texts of a document as a list; refuses more than ``MAX_TEXTS`` without reading the rest."""
    texts = list(islice(items, MAX_TEXTS + 1))
    if len(texts) > MAX_TEXTS:
        raise Refusal(f"the document has more than {MAX_TEXTS:,} texts", 413)
    return texts


def check_tags(count: int, limit: int) -> None:
    """Refuse a document with too many tags, or characters that could begin one."""
    if count > limit:
        raise Refusal(f"the document has {count:,} tags; {limit:,} are allowed", 413)


def xml_characters(text: str) -> str:
    """A text without the characters that XML forbids."""
    return _NOT_XML.sub("", text)


class PlainText:
    """Plain text: each line with a letter in it is a text; line ends and blank lines stay."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines = limited(line.span() for line in _LINE.finditer(source) if is_prose(line[0]))
        self.texts: list[list[Fragment]] = [[(source[slice(*line)], ())] for line in self._lines]

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> str:
        """The file with other texts, one for each of ``texts``."""
        parts, last_end = [], 0
        for (begin, end), spans in zip(self._lines, texts, strict=True):
            parts += [self._source[last_end:begin], text_of(spans)]
            last_end = end
        return "".join([*parts, self._source[last_end:]])
