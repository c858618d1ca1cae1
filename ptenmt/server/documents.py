"""Documents whose text is translated and whose layout stays."""

import codecs
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Protocol

from ptenmt.server.markup import Markup
from ptenmt.server.prose import gathered, is_prose, replaced
from ptenmt.server.refusal import Refusal
from ptenmt.server.subtitles import Subtitles
from ptenmt.server.word_files import WordFile

_LINE = re.compile(r"[^\r\n]+")
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class Document(Protocol):
    """A document, cut where translations go."""

    @property
    def texts(self) -> list[str]:
        """The texts that are to be translated."""
        ...

    def with_texts(self, translations: Sequence[str]) -> bytes:
        """The document with other texts, one for each of ``texts``."""
        ...


class _Readable(Protocol):
    """What is made of characters."""

    @property
    def texts(self) -> list[str]: ...

    def with_texts(self, translations: Sequence[str]) -> str: ...


class _Lines:
    """Plain text: a line is a text, if there is a letter in it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._places = gathered(line.span() for line in _LINE.finditer(source) if is_prose(line[0]))

    @property
    def texts(self) -> list[str]:
        return [self._source[begin:end] for begin, end in self._places]

    def with_texts(self, translations: Sequence[str]) -> str:
        return replaced(self._source, self._places, translations)


class _TextFile:
    """A document of characters; their encoding stays.

    Args:
        content: UTF-8, or UTF-16 with a byte order mark.
        read: Cuts it.
    """

    def __init__(self, content: bytes, read: Callable[[str], _Readable]) -> None:
        self._mark = next((mark for mark in _BYTE_ORDER_MARKS if content.startswith(mark)), b"")
        self._encoding = _BYTE_ORDER_MARKS.get(self._mark, "utf-8")
        try:
            source = content[len(self._mark) :].decode(self._encoding)
        except UnicodeDecodeError as error:
            tried, place = self._encoding.upper(), len(self._mark) + error.start
            told = f"the file is not {tried}: byte {place:,} cannot be read; save it as UTF-8"
            raise Refusal(told) from error
        self._cut = read(source)

    @property
    def texts(self) -> list[str]:
        return self._cut.texts

    def with_texts(self, translations: Sequence[str]) -> bytes:
        return self._mark + self._cut.with_texts(translations).encode(self._encoding)


_READERS: dict[str, Callable[[bytes], Document]] = {
    ".txt": lambda content: _TextFile(content, _Lines),
    ".html": lambda content: _TextFile(content, Markup),
    ".srt": lambda content: _TextFile(content, Subtitles),
    ".docx": WordFile,
}
FORMATS = tuple(_READERS)
"""Endings of the names of what can be read."""


def read_document(name: str, content: bytes) -> Document:
    """Read a document.

    Args:
        name: Of the file; its ending says what it is.
        content: What is in it.

    Raises:
        Refusal: It is none of what can be read, or it is damaged.
    """
    ending = ending_of(name)
    if ending not in _READERS:
        raise Refusal(f"files of the kind {ending or 'without an ending'} are not read: {', '.join(FORMATS)}")
    return _READERS[ending](content)


def ending_of(name: str) -> str:
    """The ending of a file's name, in small letters; ``.htm`` is ``.html``."""
    ending = PurePath(name).suffix.lower()
    return ".html" if ending == ".htm" else ending


def translated_name(name: str, language: str) -> str:
    """What a translation is called: ``letter.en.txt`` for ``letter.txt``, of letters, digits and hyphens."""
    stem = re.sub(r"[^\w-]+", "-", PurePath(name.replace("\\", "/")).stem).strip("-")[:80]
    return f"{stem or 'translation'}.{language}{ending_of(name)}"
