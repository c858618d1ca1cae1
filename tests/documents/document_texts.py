"""What the tests of documents share: a document's texts, and the document with other ones."""

import io
import zipfile
from collections.abc import Mapping

from ptenmt.documents import Document, read_document
from ptenmt.translation.markup import text_of

LANGUAGES = (("pt",), "en")


def read(name: str, content: str | bytes) -> Document:
    return read_document(name, content.encode() if isinstance(content, str) else content, LANGUAGES)


def texts_of(name: str, content: str | bytes) -> list[str]:
    return list(map(text_of, read(name, content).texts))


def upper_case(name: str, content: str | bytes) -> bytes:
    document = read(name, content)
    return document.with_texts([[(text.upper(), path) for text, path in spans] for spans in document.texts])


def raised(source: str, *texts: str) -> str:
    """The source with some texts, which are separated by semicolons, in capitals."""
    for text in ";".join(texts).split(";"):
        assert text in source
        source = source.replace(text, text.upper())
    return source


def packed(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as written:
        for name, content in files.items():
            written.writestr(name, content)
    return archive.getvalue()


def unpacked(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode(errors="replace") for name in archive.namelist()}
