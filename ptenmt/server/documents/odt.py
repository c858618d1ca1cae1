"""OpenDocument texts (.odt): paragraphs are translated; read and written with lxml."""

from typing import Any

from lxml import etree

from ptenmt.server.documents.archive import ZippedDocument, decoded, unpacked, unreadable
from ptenmt.server.documents.html import Html

_KIND = "an OpenDocument text"
_BODY = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}text"
_T = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_PARAGRAPHS = (f"{_T}p", f"{_T}h", f"{_SVG}title", f"{_SVG}desc")
_INLINE = ("span", "a", "meta", "content-control")
_BREAKS = (f"{_T}tab", f"{_T}line-break")


def open_document_text(content: bytes) -> ZippedDocument:
    """Read an OpenDocument text; its headers and footers are among the styles."""
    files = unpacked(content, _KIND)
    parts: dict[str, Html] = {}
    for name in ("content.xml", *({"styles.xml"} & {*files})):
        parts[name] = Html(decoded(files, name, _KIND), roles=_roles)
    if next(parts["content.xml"].root.iter(_BODY), None) is None:
        raise unreadable(_KIND)
    return ZippedDocument(files, parts)


def _roles(root: Any) -> dict[Any, str]:
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
    return roles
