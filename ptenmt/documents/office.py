"""Documents that are zip archives: Word documents and presentations, OpenDocument texts, EPUBs.

They are unpacked within bounds, parsed with lxml, and packed again; what is not translated stays. In Word
documents and presentations text is in runs: parts of a paragraph with one formatting. Consecutive runs are
one text. Those that are not formatted like most of it are inline elements, and so are hyperlinks; tabs and
line breaks separate texts.
"""

import io
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import chain, groupby, islice
from typing import Any, Literal
from urllib.parse import unquote

from lxml import etree

from ptenmt.documents.html import SPACE, Html
from ptenmt.documents.inline import CONTAINER, Node, Piece, TreeUnit, check_tags, is_prose, limited
from ptenmt.documents.text_files import Parsed
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment

MAX_FILES = 2_000
MAX_BYTES = 50_000_000
"""Of all files in a document together, unpacked."""
MAX_XML_BYTES = 8_000_000
"""Of its XML files, which take ten times as much memory when they are parsed."""
MAX_TAGS = 500_000

_TOO_LARGE = "the document is too large when it is unpacked"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods of OPC, OpenDocument and EPUB; zipfile unpacks others without a bound."""


class ZippedDocument:
    """Files of which the ``parts`` are translated; refused if they have too many texts."""

    def __init__(self, files: dict[str, bytes], parts: Mapping[str, Parsed[str]]) -> None:
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
                raise DocumentError(_TOO_LARGE, is_too_large=True)
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
        raise DocumentError(_TOO_LARGE, is_too_large=True)
    check_tags(sum(content.count(b"<") for content in xml), MAX_TAGS)
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


def _is_xml(content: bytes) -> bool:
    """Whether a parser could take it for XML: it begins with ``<`` in UTF-8, UTF-16, UTF-32 or EBCDIC."""
    return content[:1_000].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1] in (b"<", b"L", b"")


_MAIN_PARTS = {
    "a Word document": "wordprocessingml.document",
    "a presentation": "presentationml.presentation",
}
"""The type of the part that a document begins with."""
_TRANSLATED = re.compile(
    r".*\.(?:wordprocessingml\.(?:document\.main|header|footer|footnotes|endnotes|comments)"
    r"|presentationml\.(?:slide|notesSlide)|drawingml\.chart)\+xml"
)
"""The types of the parts that are translated."""
_TYPES = "[Content_Types].xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_RUNS, _TEXTS, _PROPERTIES = ({f"{_W}{name}", f"{_A}{name}"} for name in ("r", "t", "rPr"))
"""The elements of both formats have the same names."""
_INVISIBLE = {*(f"{_W}{name}" for name in ("lang", "noProof", "lastRenderedPageBreak", "softHyphen"))}
"""Elements of a run or of its formatting that have no visible effect."""
_INVISIBLE_ATTRIBUTES = {"lang", "altLang", "dirty", "err", "noProof", "smtClean", "smtId"}
"""Of a presentation's formatting."""
_RANGES = {f"{_W}{name}{end}" for name in ("bookmark", "commentRange", "perm") for end in ("Start", "End")}
"""Where a range begins and ends, between two runs."""
_DROPPED = f"{_W}proofErr"
_WRAPPERS = {f"{_W}{name}" for name in ("hyperlink", "ins", "moveTo", "smartTag")}
_HYPERLINK, _CLICK = f"{_W}hyperlink", f"{_A}hlinkClick"
_DELETED = {f"{_W}del", f"{_W}moveFrom"}
_POINTS = {
    *(f"{_W}{name}" for name in ("footnoteReference", "endnoteReference", "commentReference")),
    *(f"{_W}{name}" for name in ("drawing", "pict", "sym")),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent",
}
"""Contents of a run that stand between words."""
_FIELD, _FIELD_CHARACTER = "field", f"{_W}fldChar"
_PLACEHOLDERS = {
    _FIELD,
    f"{_W}fldSimple",
    f"{_A}fld",
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath",
}
"""Elements beside runs whose contents Word computes, or that are formulas."""
_Formatting = tuple[tuple[Any, ...], ...]


def office_document(content: bytes, kind: Literal["a Word document", "a presentation"]) -> ZippedDocument:
    """Read a Word document or a presentation: its text, headers, footers, notes, comments, slides, charts."""
    files = unpacked(content, kind)
    types = Html(decoded(files, _TYPES, kind), roles=_epub_roles).root
    of_names, of_suffixes = (
        {node.get(key, "").lower(): node.get("ContentType", "") for node in types.iter(f"{{*}}{name}")}
        for name, key in (("Override", "PartName"), ("Default", "Extension"))
    )
    type_of = {
        name: of_names.get(f"/{name.lower()}") or of_suffixes.get(name.lower().rpartition(".")[2], "")
        for name in files
        if name != _TYPES
    }
    if not any(found.endswith(f"{_MAIN_PARTS[kind]}.main+xml") for found in type_of.values()):
        raise unreadable(kind)
    translated = [name for name, found in type_of.items() if _TRANSLATED.fullmatch(found)]
    return ZippedDocument(files, {name: _OfficePart(decoded(files, name, kind)) for name in translated})


class _RunUnit(TreeUnit):
    """Consecutive inline elements of a paragraph; see ``_roles``."""

    def __init__(self, element: Node, place: str, nodes: list[Node], roles: Mapping[Node, str]) -> None:
        self._default: dict[Node | None, Node] = {}
        """A run with the formatting of most of the text: of the unit (None), and of each wrapper."""
        super().__init__(element, place, nodes, roles)
        self.num_copied = len(self.spans) * sum(map(_size, self._default.values()))

    def _pieces(
        self, text: str | None, nodes: Iterable[Node], wrapper: Node | None = None
    ) -> Iterator[Piece]:
        """The pieces of the unit or of a wrapper; runs with default formatting are text."""
        nodes = [node for node in nodes if self._roles[node] != "dropped"]
        formatting = {node: _formatting(node) for node in nodes if self._roles[node] == "text"}
        counts: Counter[_Formatting] = Counter()
        for node, look in formatting.items():
            counts[look] += len(_joined(node))
        plain = [look for node, look in formatting.items() if not _is_link(node)] or list(counts)
        default = max(plain, key=counts.__getitem__, default=None)
        for _, group in groupby(nodes, lambda node: formatting.get(node, node)):
            alike = list(group)
            first, text = alike[0], "".join(map(_joined, alike))
            role, name = self._roles[first], "a" if _is_link(first) else "run"
            if role == "wrapper":
                yield Piece("open", first, name)
                yield from self._pieces(None, first, first)
                yield Piece("close", None, name)
            elif role == "placeholder":
                yield Piece("placeholder", first)
            elif role != "text":
                self.boxes.append(first)
                yield Piece("point", first, name)
            elif formatting[first] == default:
                self._default.setdefault(wrapper, first)
                yield Piece("text", text)
            else:
                yield from (Piece("open", first, name), Piece("text", text), Piece("close", None, name))

    def fill(self, spans: Sequence[Fragment]) -> None:
        """Replace the text; the start of each bookmark or comment stays before its end."""
        ordered = list(spans)
        ends: dict[tuple[str, str], int] = {}
        for at, (text, path) in enumerate(spans):
            mark = self._text.elements[path[-1]].begin if path and not text else None
            if mark is not None and mark.tag in _RANGES:
                key = mark.tag.removesuffix("Start").removesuffix("End"), mark.get(f"{_W}id", "")
                if mark.tag.endswith("End"):
                    ends[key] = at
                elif key in ends:
                    ordered[at], ordered[ends[key]] = spans[ends[key]], spans[at]
        super().fill(ordered)

    def _emptied(self, element: Node, is_first: bool) -> Node:
        role, default = self._roles[element], self._default.get(element)
        if role == "text":
            element = _run_like(element)
        elif role == "wrapper" and is_first:
            element[:] = []
        elif role == "wrapper":
            element = element.makeelement(element.tag, dict(element.attrib))
        if default is not None:
            self._default[element] = default
        return element

    def _append_text(self, parent: Node, text: str) -> None:
        if parent.tag not in _RUNS:
            default = self._default.get(None if parent.tag == CONTAINER else parent)
            parent.append(parent.makeelement(f"{_W}r") if default is None else _run_like(default))
            parent = parent[-1]
        written = etree.SubElement(parent, f"{parent.tag[:-1]}t")
        written.text = text
        if parent.tag.startswith(_W):
            written.set(SPACE, "preserve")


class _OfficePart(Html):
    """A part of a Word document or a presentation: its paragraphs, then the descriptions of its pictures."""

    def __init__(self, source: str) -> None:
        super().__init__(source, roles=_roles, unit_type=_RunUnit, max_tags=MAX_TAGS)
        check_tags(sum(unit.num_copied for unit in self._units), MAX_TAGS)

    def _written(self, tree: Node) -> str:
        etree.strip_tags(tree, _FIELD)
        return super()._written(tree)


def _roles(root: Node) -> dict[Node, str]:
    """The role of runs, and of what stands beside them.

    ``text``; ``wrapper``: has inline elements; ``point``: stands between words; ``placeholder``: is not
    translated; ``dropped``: has no effect; ``block``, like all others: separates texts.
    """
    etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)  # they split texts
    roles: dict[Node, str] = {}
    _divide_runs(root)
    _wrap_fields(root)
    tags = (*_RUNS, _DROPPED, *_RANGES, *_WRAPPERS, *_DELETED, *_PLACEHOLDERS)
    for node in reversed(list(root.iter(*tags))):
        if node.tag == _DROPPED:
            roles[node] = "dropped"
        elif node.tag in _DELETED | _RANGES:
            roles[node] = "point"
        elif node.tag in _PLACEHOLDERS:  # an entry of an index is invisible
            is_entry = re.match(r'\s*(?:XE|TC)\s*"', "".join(node.itertext()))
            roles[node] = "point" if is_entry else "placeholder"
        elif node.tag in _WRAPPERS:
            is_inline = all(roles.get(child, "block") != "block" for child in node)
            roles[node] = "wrapper" if is_inline else "block"
        else:
            inside = {child.tag for child in node.iterchildren("*")} - _INVISIBLE - _PROPERTIES
            if not inside:
                roles[node] = "dropped"
            elif inside <= _TEXTS:
                is_mark = not is_prose(_joined(node)) and _is_superscript(node)  # of a footnote
                roles[node] = "point" if is_mark else "text"
            else:
                roles[node] = "point" if inside <= _POINTS else "block"
    return roles


def _divide_runs(root: Node) -> None:
    """Divide runs that have text and something else."""
    num_copied = 0
    for run in list(root.iter(*_RUNS)):
        for hyphen in run.iterchildren(f"{_W}noBreakHyphen"):
            hyphen.tag, hyphen.text = f"{_W}t", "\u2011"
        contents = [child for child in run.iterchildren("*") if child.tag not in _INVISIBLE | _PROPERTIES]
        others = [list(group) for _, group in groupby(contents, lambda child: child.tag in _TEXTS)][1:]
        num_copied += len(others) * _size(run)
        check_tags(num_copied, MAX_TAGS)
        for group in others:
            following = _run_like(run)
            following.extend(group)
            run.addnext(following)
            run = following


def _wrap_fields(root: Node) -> None:
    """Put the runs of each field into an element, unless its text is translated."""
    fields = (
        run for run in root.iter(f"{_W}r") if run is not root and run.find(_FIELD_CHARACTER) is not None
    )
    for parent in dict.fromkeys(run.getparent() for run in fields):
        depth, nodes = 0, list[Node]()
        for node in list(parent):
            kinds = [mark.get(f"{_W}fldCharType") for mark in node.iterchildren(_FIELD_CHARACTER)]
            depth += kinds.count("begin")
            if depth:
                nodes.append(node)
            depth = max(0, depth - kinds.count("end"))
            if nodes and not depth:
                code = "".join(code.text or "" for node in nodes for code in node.iter(f"{_W}instrText"))
                if not re.search(r"HYPERLINK|^\s*TOC\b", code):
                    field = parent.makeelement(_FIELD)
                    nodes[0].addprevious(field)
                    field.extend(nodes)
                nodes = []


def _is_link(node: Node) -> bool:
    return node.tag == _HYPERLINK or next(node.iterchildren(*_PROPERTIES), node).find(_CLICK) is not None


def _formatting(run: Node) -> _Formatting:
    """A run's properties, comparable, without those that are invisible."""
    effects = []
    for properties in run.iterchildren(*_PROPERTIES):
        for element in properties.iter("*"):
            visible = [
                attribute for attribute in element.attrib.items() if attribute[0] not in _INVISIBLE_ATTRIBUTES
            ]
            if element.tag not in _INVISIBLE and (visible or element is not properties):
                effects.append((element.tag, *sorted(visible)))
    return tuple(effects)


def _is_superscript(run: Node) -> bool:
    properties = run.iterchildren(f"{_A}rPr")
    is_raised = any(element.get("baseline", "-")[0] not in "-0" for element in properties)
    return is_raised or any(
        alignment.get(f"{_W}val") == "superscript" for alignment in run.iter(f"{_W}vertAlign")
    )


def _size(run: Node) -> int:
    """How many elements a run's formatting has."""
    return sum(1 for properties in run.iterchildren(*_PROPERTIES) for _ in properties.iter())


def _run_like(run: Node) -> Node:
    """An empty run with the same formatting."""
    empty = run.makeelement(run.tag)
    empty.extend(map(deepcopy, run.iterchildren(*_PROPERTIES)))
    return empty


def _joined(run: Node) -> str:
    return "".join(element.text or "" for element in run.iterchildren(*_TEXTS))


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
    names = ["content.xml", *({"styles.xml"} & {*files})]
    parts = {name: Html(decoded(files, name, _ODT_KIND), roles=_odt_roles) for name in names}
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
    titles = {*root.iter(f"{_DC}title", f"{_DC}description")}
    titles.update(*root.iter(f"{_NCX}docTitle", f"{_NCX}navLabel"))
    return {node: "block" if node in titles else "untranslated" for node in root.iter()}
