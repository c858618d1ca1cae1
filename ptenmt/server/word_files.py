"""Word documents (.docx): paragraphs are translated, styles, tables and pictures stay.

A document is a zip of XML files. Text is in runs, pieces of a paragraph with one look; the runs that follow
each other and look alike are one text. Nothing is unpacked onto the disk, and no entity is resolved.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence

from lxml import etree

from ptenmt.server.refusal import Refusal

MOST_FILES = 2_000
MOST_BYTES = 50_000_000
"""Of all files in it together, unpacked."""
MOST_PROSE_BYTES = 8_000_000
"""Of those files that are translated; in memory they take ten times as much."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How such files may be packed (ECMA-376, part 2); other methods unpack all of a part at once."""
_PROSE = re.compile(r"word/(document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml")
_MAIN = "word/document.xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH, _RUN, _TEXT, _LOOK = f"{_W}p", f"{_W}r", f"{_W}t", f"{_W}rPr"
_INVISIBLE = {f"{_W}lang", f"{_W}noProof"}
"""Parts of a look that nobody sees."""
_WITHOUT_WIDTH = {f"{_W}lastRenderedPageBreak", f"{_W}proofErr", f"{_W}bookmarkStart", f"{_W}bookmarkEnd"}
"""What may stand between two texts that are one."""
_PRESERVE = "{http://www.w3.org/XML/1998/namespace}space"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class WordFile:
    """A Word document, cut where translations go.

    Args:
        content: The file.

    Raises:
        Refusal: It is none, it is damaged, or it is far larger than it looks.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                self._trees = _trees(archive)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
            raise Refusal(f"the file is no Word document that can be read: {error}") from error
        except etree.XMLSyntaxError as error:
            raise Refusal(f"the Word document is damaged: {error.msg}") from error
        self._texts = [
            text for tree in self._trees.values() for text in _texts(tree.getroot()) if _is_prose(text)
        ]

    @property
    def texts(self) -> list[str]:
        """The texts that are to be translated."""
        return ["".join(part.text or "" for part in parts) for parts in self._texts]

    def with_texts(self, translations: Sequence[str]) -> bytes:
        """The document with other texts, one for each of ``texts``."""
        for (first, *others), translation in zip(self._texts, translations, strict=True):
            first.text = _NOT_XML.sub("", translation)
            first.set(_PRESERVE, "preserve")
            for part in others:
                part.text = ""
        written = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(self._content)) as archive,
            zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for entry in archive.infolist():
                tree = self._trees.get(entry.filename)
                content = _content(archive, entry) if tree is None else _serialised(tree)
                new.writestr(entry, content, zipfile.ZIP_DEFLATED)
        return written.getvalue()


def _trees(archive: zipfile.ZipFile) -> "dict[str, etree._ElementTree]":
    """The files that hold text, by name, once the sizes of all are known to be harmless."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries if _PROSE.fullmatch(entry.filename)]
    if _MAIN not in names:
        raise Refusal(f"the file is no Word document: it has no {_MAIN}")
    if len(entries) > MOST_FILES or len(set(archive.namelist())) < len(entries):
        raise Refusal("the file is no Word document that can be read: too many files in it, or some twice")
    prose = sum(archive.getinfo(name).file_size for name in names)
    if prose > MOST_PROSE_BYTES or sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise Refusal("the Word document is too large when it is unpacked", 413)
    for entry in entries:
        _content(archive, entry)  # what cannot be read is told before anything is translated
    return {name: _parsed(_content(archive, archive.getinfo(name))) for name in names}


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A file in it; ``archive.read`` would unpack gigabytes of one that says it were small."""
    if entry.compress_type not in _METHODS:
        raise Refusal("the file is no Word document that can be read: it is not packed as these are")
    with archive.open(entry) as file:
        return file.read(entry.file_size)


def _parsed(content: bytes) -> "etree._ElementTree":
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    tree = etree.parse(io.BytesIO(content), parser)
    if tree.docinfo.doctype:
        raise Refusal("the Word document is damaged: it declares a document type")
    return tree


def _serialised(tree: "etree._ElementTree") -> bytes:
    return bytes(etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=True))


def _texts(root: "etree._Element") -> "Iterator[list[etree._Element]]":
    """The elements that make up each text, in order."""
    for paragraph in root.iter(_PARAGRAPH):
        parts: list[etree._Element] = []
        look: tuple[object, bytes] | None = None
        for element, own_look in _inline(paragraph):
            if element.tag == _TEXT and own_look == look:
                parts.append(element)
                continue
            if parts:
                yield parts
            parts, look = ([element], own_look) if element.tag == _TEXT else ([], None)
        if parts:
            yield parts


def _inline(paragraph: "etree._Element") -> "Iterator[tuple[etree._Element, tuple[object, bytes]]]":
    """What a paragraph's runs hold, each with where it is and how it looks; without paragraphs in it."""
    for run in paragraph.iter(_RUN):
        if next(run.iterancestors(_PARAGRAPH)) is not paragraph:
            continue
        look = (run.getparent(), _look(run))
        for element in run.iterchildren():
            if element.tag != _LOOK and element.tag not in _WITHOUT_WIDTH:
                yield element, look


def _look(run: "etree._Element") -> bytes:
    """A run's properties, in one spelling."""
    properties = run.find(_LOOK)
    if properties is None:
        return b""
    seen = [element for element in properties.iterchildren() if element.tag not in _INVISIBLE]
    return b"".join(etree.tostring(element, method="c14n", with_tail=False) for element in seen)


def _is_prose(parts: "Sequence[etree._Element]") -> bool:
    return any(char.isalpha() for part in parts for char in part.text or "")
