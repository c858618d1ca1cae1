"""Word documents (.docx): paragraphs are translated, styles, tables and pictures stay.

A document is a zip of XML files, one of which tells the kinds of the others (ECMA-376, part 2). Nothing is
unpacked onto the disk, and no entity is resolved.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Sequence

from lxml import etree

from ptenmt.server.prose import check_tags, gathered, is_prose
from ptenmt.server.refusal import Refusal
from ptenmt.server.word_texts import texts_of

MOST_FILES = 2_000
MOST_BYTES = 50_000_000
"""Of all files in it together, unpacked."""
MOST_PROSE_BYTES = 8_000_000
"""Of those files that are translated; in memory they take ten times as much."""
MOST_TAGS = 500_000
"""In those files."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How such files may be packed (ECMA-376, part 2); other methods unpack all of a part at once."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, OverflowError, RuntimeError, ValueError)
"""What a damaged zip makes Python's reader raise."""
_KINDS = "[Content_Types].xml"
_KIND = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_MAIN = re.compile(
    r"application/vnd\.(?:openxmlformats-officedocument\.wordprocessingml|ms-word)"
    r"\.(?:document|template)(?:\.\w+)?\.main\+xml"
)
_PROSE = re.compile(
    rf"{_MAIN.pattern}|application/vnd\.openxmlformats-officedocument\.wordprocessingml"
    r"\.(?:header|footer|footnotes|endnotes|comments)\+xml"
)
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
        except _UNREADABLE as error:
            raise Refusal(f"the file is no Word document that can be read: {error}") from error
        except etree.XMLSyntaxError as error:
            raise Refusal(f"the Word document is damaged: {error.msg}") from error
        texts = (parts for tree in self._trees.values() for parts in texts_of(tree.getroot()))
        self._texts = gathered(parts for parts in texts if is_prose(_joined(parts)))

    @property
    def texts(self) -> list[str]:
        """The texts that are to be translated."""
        return [_joined(parts) for parts in self._texts]

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
    if len(entries) > MOST_FILES or len(set(archive.namelist())) < len(entries):
        raise Refusal("the file is no Word document that can be read: too many files in it, or some twice")
    if _KINDS not in archive.namelist():
        raise Refusal(f"the file is no Word document: it has no {_KINDS}")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise _too_large()
    for entry in entries:
        _content(archive, entry)  # what cannot be read is told before anything is translated
    kinds = _kinds(archive)
    if not any(map(_MAIN.fullmatch, kinds.values())):
        raise Refusal(f"the file is no Word document: {_KINDS} names no text of one")
    return _parsed(archive, [name for name, kind in kinds.items() if _PROSE.fullmatch(kind)])


def _kinds(archive: zipfile.ZipFile) -> dict[str, str]:
    """The kind of each file in it, by name; upper and lower case are the same in names."""
    root = _parsed(archive, [_KINDS])[_KINDS].getroot()
    own = {
        item.get("PartName", "").lower(): item.get("ContentType", "")
        for item in root.iter(f"{_KIND}Override")
    }
    by_ending = {
        item.get("Extension", "").lower(): item.get("ContentType", "")
        for item in root.iter(f"{_KIND}Default")
    }
    names = {name: f"/{name}".lower() for name in archive.namelist()}
    return {name: own.get(part) or by_ending.get(part.rpartition(".")[2], "") for name, part in names.items()}


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A file in it; ``archive.read`` would unpack gigabytes of one that says it were small."""
    if entry.compress_type not in _METHODS:
        raise Refusal("the file is no Word document that can be read: it is not packed as these are")
    with archive.open(entry) as file:
        return file.read(entry.file_size)


def _parsed(archive: zipfile.ZipFile, names: Sequence[str]) -> "dict[str, etree._ElementTree]":
    """Files of XML in it, by name, once it is known that they are not too much."""
    contents = {name: _content(archive, archive.getinfo(name)) for name in names}
    if sum(map(len, contents.values())) > MOST_PROSE_BYTES:
        raise _too_large()
    check_tags(sum(content.count(b"<") for content in contents.values()), MOST_TAGS)
    return {name: _tree(content) for name, content in contents.items()}


def _tree(content: bytes) -> "etree._ElementTree":
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,  # they may cut the text of an element
        remove_pis=True,
    )
    tree = etree.parse(io.BytesIO(content), parser)
    if tree.docinfo.doctype:
        raise Refusal("the Word document is damaged: it declares a document type")
    return tree


def _too_large() -> Refusal:
    return Refusal("the Word document is too large when it is unpacked", 413)


def _serialised(tree: "etree._ElementTree") -> bytes:
    return bytes(etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=True))


def _joined(parts: "Sequence[etree._Element]") -> str:
    return "".join(part.text or "" for part in parts)
