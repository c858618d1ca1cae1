"""Documents whose text is translated and whose layout stays: pages, office files, subtitles, strings."""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import chain
from pathlib import PurePath

from ptenmt.data.readers import has_many_zeros
from ptenmt.documents import text_files
from ptenmt.documents.html import Html
from ptenmt.documents.markdown import markdown
from ptenmt.documents.office import epub, office_document, open_document_text
from ptenmt.errors import DocumentError, OnProgress
from ptenmt.translation import Translation, Translator
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import Fragment, move_markup, text_of

_TEXT_FORMATS: dict[str, Callable[[str], text_files.Parsed[str]]] = {
    ".txt": text_files.plain_text,
    ".md": markdown,
    ".srt": text_files.subrip,
    ".vtt": text_files.web_vtt,
    ".json": text_files.json_strings,
    ".yaml": text_files.yaml_strings,
    ".yml": text_files.yaml_strings,
}
_FORMATS_WITH_LANGUAGES: dict[str, Callable[..., text_files.Parsed[str]]] = {
    ".html": Html,
    ".po": text_files.gettext_messages,
    ".pot": text_files.gettext_messages,
}
FORMATS = (*_TEXT_FORMATS, *_FORMATS_WITH_LANGUAGES, ".docx", ".odt", ".pptx", ".epub")
"""The file name suffixes of the formats."""
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
Document = text_files.Parsed[bytes]


class _EncodedDocument:
    """A document in UTF-8, UTF-16 with a byte order mark, or else ``legacy``; its encoding stays."""

    def __init__(
        self, content: bytes, parse: Callable[[str], text_files.Parsed[str]], *, legacy: str
    ) -> None:
        self._mark = next((mark for mark in _BYTE_ORDER_MARKS if content.startswith(mark)), b"")
        self._encoding = _BYTE_ORDER_MARKS.get(self._mark, "utf-8")
        if self._encoding == "utf-8" and has_many_zeros(content):
            raise DocumentError("the file is not UTF-8 but UTF-16 unmarked, or no text; save it as UTF-8")
        try:
            source = content[len(self._mark) :].decode(self._encoding)
        except UnicodeDecodeError as error:
            if self._mark or not legacy or b"\0" in content:
                encoding, place = self._encoding.upper(), len(self._mark) + error.start
                raise DocumentError(
                    f"the file is not {encoding}: byte {place:,} cannot be decoded; save it as UTF-8"
                ) from error
            self._encoding, source = legacy, content.decode(legacy, "replace")
        self._document = parse(source)
        self.texts = self._document.texts

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> bytes:
        text = self._document.with_texts(texts)
        try:
            return self._mark + text.encode(self._encoding)
        except UnicodeEncodeError:  # a letter that the legacy encoding lacks
            return codecs.BOM_UTF8 + text.encode()


def check_format(name: str) -> None:
    """Raise DocumentError for a file name of no known format."""
    if (suffix := _suffix(name)) not in FORMATS:
        hint = "save it as .docx or .txt first: a PDF has no paragraphs" if suffix == ".pdf" else ""
        message = f"files of type {suffix or '(none)'} are not supported: {', '.join(FORMATS)}"
        raise DocumentError(f"{message}; {hint}" if hint else message)


def read_document(
    name: str, content: bytes, languages: tuple[Collection[str], str] | None = None
) -> Document:
    """Read a document; refuses unknown formats, damage and sizes. ``languages`` are those of ``Html``."""
    check_format(name)
    match suffix := _suffix(name):
        case ".docx":
            return office_document(content, "a Word document")
        case ".pptx":
            return office_document(content, "a presentation")
        case ".odt":
            return open_document_text(content)
        case ".epub":
            return epub(content, languages)
        case _:
            parse = _TEXT_FORMATS.get(suffix) or partial(_FORMATS_WITH_LANGUAGES[suffix], languages=languages)
            return _EncodedDocument(content, parse, legacy="cp1252" if suffix in (".txt", ".srt") else "")


def translate_document(
    translator: Translator, name: str, content: bytes, on_progress: OnProgress, glossary: Glossary | None
) -> tuple[bytes, str | None]:
    """Translate a document of a format that its name tells; its layout stays.

    ``on_progress``: called with the name and the bytes of sentences done and in all. Raises DocumentError.

    Returns:
        The translation, and the document's ``other_language``.
    """
    source, target = translator.config.data.languages
    document = read_document(name, content, ((source,), target))
    texts = list(map(text_of, document.texts))
    total, done = sum(len(text.encode()) for text in texts), 0

    def show(num_bytes: int) -> None:
        nonlocal done
        done += num_bytes
        on_progress(name, min(done, total), total)

    translations = list(chain(*translator.translate_buffers(texts, glossary=glossary, on_progress=show)))
    moved = move_markup(translator, translations, document.texts)
    return document.with_texts([best for best, *_ in moved]), other_language(translations)


def other_language(translations: Sequence[Translation]) -> str | None:
    """The language of most of a document, if the translator has found it not to be the source language."""
    num_characters: Counter[str | None] = Counter()
    for translation in translations:
        num_characters[translation.detected] += len(translation.source)
    language = max(num_characters, key=num_characters.__getitem__, default=None)
    return language if 2 * num_characters[language] > num_characters.total() else None


def translated_name(name: str, language: str) -> str:
    """The file name of a translation, safe in a header: ``letter.en.txt`` for ``letter.txt``."""
    stem = re.sub(r"[^\w-]+", "-", PurePath(name.replace("\\", "/")).stem).strip("-")[:80]
    return f"{stem or 'translation'}.{language}{_suffix(name)}"


def _suffix(name: str) -> str:
    suffix = PurePath(name).suffix.lower()
    return ".html" if suffix == ".htm" else suffix
