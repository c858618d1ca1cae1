"""Word documents (.docx): paragraphs are translated, styles, tables and pictures stay; with python-docx.

Text is in runs: parts of a paragraph with one formatting. Consecutive runs that are formatted alike are one
text.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import docx
from docx.document import Document
from docx.opc.constants import CONTENT_TYPE
from docx.opc.part import PartFactory, XmlPart
from lxml import etree

from ptenmt.server.documents.plain import check_tags, is_prose, limited, xml_characters
from ptenmt.server.limits import Refusal

MAX_FILES = 2_000
MAX_BYTES = 50_000_000
"""Of all files in a document together, unpacked."""
MAX_XML_BYTES = 8_000_000
"""Of its XML files, which take ten times as much memory when they are parsed."""
MAX_TAGS = 500_000
MAX_ATTRIBUTES = 100
"""Of one element of a run's formatting: reading them takes time quadratic in their number."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods of OPC (ECMA-376, part 2); zipfile unpacks others without a bound."""
_TRANSLATED = re.compile(
    r".*\.wordprocessingml\.(document\.main|header|footer|footnotes|endnotes|comments)\+xml"
)
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_INVISIBLE = {f"{_W}lang", f"{_W}noProof", f"{_W}rPr"}
"""Elements of a run's formatting that have no visible effect."""
_WITHOUT_WIDTH = {
    *(f"{_W}{mark}{end}" for mark in ("bookmark", "commentRange", "perm") for end in ("Start", "End")),
    *(f"{_W}lastRenderedPageBreak", f"{_W}proofErr"),
}
"""Elements between two runs that do not separate their texts."""
_UNREADABLE = "the file is not a Word document, or it is damaged"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_Element = Any
"""lxml has no public name for the class of elements."""
_Text = list[_Element]
"""The ``w:t`` elements whose contents are one text."""


class WordDocument:
    """A Word document; refused if it is damaged, none, or too large unpacked."""

    def __init__(self, content: bytes) -> None:
        self._document = _opened(_checked(content))
        roots = _translated_roots(self._document)
        texts = limited(text for root in roots for text in _texts(root))
        self._elements = [text for text in texts if is_prose(_joined(text))]
        self.texts = [_joined(text) for text in self._elements]

    def with_texts(self, translations: Sequence[str]) -> bytes:
        """The document with other texts, one for each of ``texts``."""
        for (first, *others), translation in zip(self._elements, translations, strict=True):
            first.text = xml_characters(translation)
            first.set(_SPACE, "preserve")
            for element in others:
                element.text = ""
        written = io.BytesIO()
        try:
            self._document.save(written)
        except Exception as error:
            raise Refusal(_UNREADABLE) from error
        return written.getvalue()


def _checked(content: bytes) -> io.BytesIO:
    """The same zip archive, repacked after its sizes are checked.

    A file in a zip may unpack to more than its header states, and python-docx reads each to its end.
    """
    repacked = io.BytesIO()
    num_xml_bytes = num_tags = 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(repacked, "w") as safe:
            entries = archive.infolist()
            if len(entries) > MAX_FILES or len({entry.filename for entry in entries}) < len(entries):
                raise Refusal("the Word document cannot be read: too many files in it, or some twice")
            if sum(entry.file_size for entry in entries) > MAX_BYTES:
                raise _too_large()
            for entry in entries:
                if entry.compress_type not in _METHODS:
                    raise Refusal("the Word document cannot be read: unknown compression")
                with archive.open(entry) as file:
                    unpacked = file.read(entry.file_size)
                if _is_xml(unpacked):
                    num_xml_bytes += len(unpacked)
                    num_tags += unpacked.count(b"<")
                safe.writestr(entry.filename, unpacked, zipfile.ZIP_DEFLATED, compresslevel=1)
    except Refusal:
        raise
    except Exception as error:  # zipfile raises about any of them for damaged archives
        raise Refusal(_UNREADABLE) from error
    if num_xml_bytes > MAX_XML_BYTES:
        raise _too_large()
    check_tags(num_tags, MAX_TAGS)
    return repacked


def _is_xml(content: bytes) -> bool:
    """Whether a parser could take it for XML: it begins with ``<`` in UTF-8, UTF-16, UTF-32 or EBCDIC."""
    return content[:1_000].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1] in (b"<", b"L", b"")


def _opened(file: io.BytesIO) -> Document:
    for notes in (CONTENT_TYPE.WML_FOOTNOTES, CONTENT_TYPE.WML_ENDNOTES):  # which python-docx keeps as bytes
        PartFactory.part_type_for.setdefault(notes, XmlPart)
    try:
        return docx.Document(file)
    except Exception as error:  # of a damaged document it raises whatever happens to fail
        raise Refusal(_UNREADABLE) from error


def _translated_roots(document: Document) -> Iterator[_Element]:
    """The XML of the text, headers, footers, notes and comments."""
    for part in document.part.package.iter_parts():
        if isinstance(part, XmlPart):
            root: Any = part.element
            if root.getroottree().docinfo.doctype:
                raise Refusal("the Word document is damaged: it declares a document type")
            if _TRANSLATED.fullmatch(part.content_type):
                etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)  # they split texts
                yield root


def _texts(root: _Element) -> Iterator[_Text]:
    """Consecutive ``w:t`` elements with equal formatting, in order."""
    text: _Text = []
    previous: _Element | None = None
    formatting: object = None
    for run in root.iter(f"{_W}r"):
        previous_formatting, formatting = formatting, _formatting(run)
        if text and (not _follows(run, previous) or formatting != previous_formatting):
            yield text
            text = []
        for element in run.iterchildren("*"):
            if element.tag == f"{_W}t":
                text.append(element)
            elif text and element.tag not in _INVISIBLE | _WITHOUT_WIDTH:
                yield text
                text = []
        previous = run
    if text:
        yield text


def _follows(run: _Element, previous: _Element | None) -> bool:
    """Whether nothing visible is between two runs."""
    siblings = run.itersiblings("*", preceding=True)
    return next((each for each in siblings if each.tag not in _WITHOUT_WIDTH), None) is previous


def _formatting(run: _Element) -> list[tuple[Any, ...]]:
    """A run's properties, comparable, without those that are invisible."""
    found = []
    for properties in run.iterchildren(f"{_W}rPr"):
        for element in properties.iter("*"):
            if len(element.attrib) > MAX_ATTRIBUTES:
                raise Refusal(f"the Word document has {len(element.attrib):,} attributes in one place", 413)
            if element.tag not in _INVISIBLE:
                found.append((element.tag, *sorted(element.attrib.items())))
    return found


def _joined(text: _Text) -> str:
    return "".join(element.text or "" for element in text)


def _too_large() -> Refusal:
    return Refusal("the Word document is too large when it is unpacked", 413)
