"""Documents that are zip archives, unpacked within bounds and packed again: OpenDocument texts, EPUBs."""

import io
import posixpath
import zipfile
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice
from typing import Any
from urllib.parse import unquote

from lxml import etree

from ptenmt.documents.html import Html, check_bounds
from ptenmt.documents.inline import are_texts, check_tags, limited
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment

MAX_FILES = 2_000
MAX_BYTES = 50_000_000
"""Of all files in a document together, unpacked."""
MAX_XML_BYTES = 8_000_000
"""Of its XML files, which take ten times as much memory when they are parsed."""
MAX_TAGS = 500_000

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods of OPC, OpenDocument and EPUB; zipfile unpacks others without a bound."""


class ZippedDocument:
    """Files of which the ``parts`` are translated; refused if they have too many texts."""

    def __init__(self, files: dict[str, bytes], parts: Mapping[str, Html]) -> None:
        self._files, self._parts = files, parts
        self.texts = limited(chain.from_iterable(part.texts for part in parts.values()))

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> bytes:
        """The archive with other texts, one for each of ``texts``."""
        remaining = iter(texts)
        for name, part in self._parts.items():
            self._files[name] = part.with_texts(list(islice(remaining, len(part.texts)))).encode()
        return packed(self._files)


def unpacked(content: bytes, kind: str) -> dict[str, bytes]:
    """The files of a zip archive by name, after their sizes are checked.

    A file in a zip may unpack to more than its header states; no more than that is read.
    """
    files: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_FILES or len({entry.filename for entry in entries}) < len(entries):
                raise DocumentError("the document cannot be read: too many files in it, or some twice")
            if sum(entry.file_size for entry in entries) > MAX_BYTES:
                raise _too_large()
            for entry in entries:
                if entry.compress_type not in _METHODS:
                    raise DocumentError("the document cannot be read: unknown compression")
                with archive.open(entry) as file:
                    files[entry.filename] = file.read(entry.file_size)
    except DocumentError:
        raise
    except Exception as error:  # zipfile raises about any of them for damaged archives
        raise unreadable(kind) from error
    xml = list(filter(_is_xml, files.values()))
    if sum(map(len, xml)) > MAX_XML_BYTES:
        raise _too_large()
    check_tags(sum(content.count(b"<") for content in xml), MAX_TAGS)
    for markup in xml:
        check_bounds(markup)
    return files


def packed(files: Mapping[str, bytes]) -> bytes:
    """A zip archive; as OpenDocument and EPUB prescribe, ``mimetype`` is first and not compressed."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
        for name in sorted(files, key="mimetype".__ne__):
            written.writestr(name, files[name], zipfile.ZIP_STORED if name == "mimetype" else None)
    return archive.getvalue()


def decoded(files: Mapping[str, bytes], name: str, kind: str) -> str:
    """A file as text; one that is missing or not UTF-8 is refused."""
    try:
        return files[name].decode("utf-8-sig")
    except (KeyError, UnicodeDecodeError) as error:
        raise unreadable(kind) from error


def unreadable(kind: str) -> DocumentError:
    """The error for a document that is not of a kind, such as ``a Word document``."""
    return DocumentError(f"the file is not {kind}, or it is damaged or encrypted")


def _too_large() -> DocumentError:
    return DocumentError("the document is too large when it is unpacked", is_too_large=True)


def _is_xml(content: bytes) -> bool:
    """Whether a parser could take it for XML: it begins with ``<`` in UTF-8, UTF-16, UTF-32 or EBCDIC."""
    return content[:1_000].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1] in (b"<", b"L", b"")


_ODT_KIND = "an OpenDocument text"
_BODY = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}text"
_T = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_PARAGRAPHS = (f"{_T}p", f"{_T}h", f"{_SVG}title", f"{_SVG}desc")
_INLINE = ("span", "a", "meta", "content-control")
_BREAKS = (f"{_T}tab", f"{_T}line-break")


def open_document_text(content: bytes) -> ZippedDocument:
    """Read an OpenDocument text; its headers and footers are among the styles."""
    files = unpacked(content, _ODT_KIND)
    parts: dict[str, Html] = {}
    for name in ("content.xml", *({"styles.xml"} & {*files})):
        parts[name] = Html(decoded(files, name, _ODT_KIND), roles=_odt_roles)
    if next(parts["content.xml"].root.iter(_BODY), None) is None:
        raise unreadable(_ODT_KIND)
    return ZippedDocument(files, parts)


def _odt_roles(root: Any) -> dict[Any, str]:
    """The role of each node, as of HTML; comments are removed, since they split texts.

    Paragraphs are blocks; tabs and line breaks separate texts; what contains paragraphs inside a paragraph,
    such as a note or a text box, is a box; fields are placeholders.
    """
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)
    for space in list(root.iter(f"{_T}s")):  # LibreOffice writes it between a field and a word
        field = space.getprevious()
        is_word = field is not None and field.tag.startswith(_T) and "".join(field.itertext())[-1:].strip()
        if is_word and space.tail and not (field.tail or space.attrib):
            field.tail = f" {space.tail}"
            space.getparent().remove(space)
    roles: dict[Any, str] = {}
    for node in root.iter():
        is_inside = roles.get(node.getparent()) in ("block", "inline")
        if node.tag in _PARAGRAPHS:
            is_deleted = next(node.iterancestors(f"{_T}deletion"), None) is not None
            roles[node] = "untranslated" if is_deleted else "block"
        elif not is_inside or node.tag in _BREAKS:
            roles[node] = "untranslated"
        elif etree.QName(node).localname in _INLINE:
            roles[node] = "inline" if next(node.iter(*_BREAKS), None) is None else "block"
        elif next(node.iter(*_PARAGRAPHS), None) is not None:
            roles[node] = "box"
        else:
            is_field = node.tag.startswith(_T) and any(map(str.strip, node.itertext()))
            roles[node] = "placeholder" if is_field else "point"
    for paragraph in root.iter(*_PARAGRAPHS):
        links = [("a", "".join(node.itertext())) for node in paragraph if node.tag == f"{_T}a"]
        gaps = [paragraph.text or "", *(node.tail or "" for node in paragraph)]
        if len(links) == len(paragraph) and are_texts(links, gaps):
            roles.update((node, roles[paragraph]) for node in paragraph)
    return roles


_EPUB_KIND = "an EPUB"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"


def epub(content: bytes, languages: tuple[Collection[str], str] | None = None) -> ZippedDocument:
    """Read an EPUB; ``languages`` are those of ``Html``, and the second becomes the book's."""
    files = unpacked(content, _EPUB_KIND)
    container = Html(decoded(files, "META-INF/container.xml", _EPUB_KIND), roles=_epub_roles)
    parts: dict[str, Html] = {}
    for path in {root.get("full-path", ""): None for root in container.root.iter("{*}rootfile")}:
        parts[path] = package = Html(decoded(files, path, _EPUB_KIND), roles=_epub_roles)
        if languages:
            for language in package.root.iter(f"{_DC}language"):
                language.text = languages[1]
        for item in package.root.iter("{*}item"):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(item.get("href", ""))))
            kind = item.get("media-type") if name in files and name not in parts else None
            if kind == "application/xhtml+xml":
                parts[name] = Html(decoded(files, name, _EPUB_KIND), languages, is_xhtml=True)
            elif kind == "application/x-dtbncx+xml":
                parts[name] = Html(decoded(files, name, _EPUB_KIND), roles=_epub_roles)
    if len(parts) < 2:  # no package, or no page
        raise unreadable(_EPUB_KIND)
    return ZippedDocument(files, parts)


def _epub_roles(root: Any) -> dict[Any, str]:
    """The role of each node, as of HTML: titles, and what contains those of pages, are translated."""
    titles = {*root.iter(f"{_DC}title")}
    titles.update(*root.iter(f"{_NCX}docTitle", f"{_NCX}navLabel"))
    return {node: "block" if node in titles else "untranslated" for node in root.iter()}
