"""Word documents (.docx): paragraphs are translated, styles, tables and pictures stay; with python-docx.

Text is in runs: parts of a paragraph with one formatting. Consecutive runs are one text. Those that are not
formatted like most of it are its spans, and so are hyperlinks; tabs, line breaks and fields separate texts.
"""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import groupby
from typing import Any

import docx
from docx.document import Document
from docx.opc.constants import CONTENT_TYPE
from docx.opc.part import PartFactory, XmlPart
from lxml import etree

from ptenmt.server.documents.inline import InlineText
from ptenmt.server.documents.plain import check_tags, is_prose, limited, xml_characters
from ptenmt.server.limits import Refusal
from ptenmt.translation.markup import Span

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
_RUN, _TEXT = f"{_W}r", f"{_W}t"
_INVISIBLE = {f"{_W}lang", f"{_W}noProof", f"{_W}rPr", f"{_W}lastRenderedPageBreak"}
"""Elements of a run or of its formatting that have no visible effect."""
_MARKS = {
    *(f"{_W}{mark}{end}" for mark in ("bookmark", "commentRange", "perm") for end in ("Start", "End")),
    f"{_W}proofErr",
}
"""Elements between two runs that do not separate their texts."""
_WRAPPERS = {f"{_W}hyperlink", f"{_W}ins", f"{_W}moveTo", f"{_W}smartTag"}
_DELETED = {f"{_W}del", f"{_W}moveFrom"}
_POINTS = {
    *(f"{_W}{name}" for name in ("footnoteReference", "endnoteReference", "commentReference")),
    *(f"{_W}drawing", f"{_W}pict"),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent",
}
"""Contents of a run that stand between words."""
_UNREADABLE = "the file is not a Word document, or it is damaged"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_Element = Any
"""lxml has no public name for the class of elements."""
_Look = tuple[tuple[Any, ...], ...]


class WordDocument:
    """A Word document; refused if it is damaged, none, or too large unpacked."""

    def __init__(self, content: bytes) -> None:
        self._document = _opened(_checked(content))
        roots = _translated_roots(self._document)
        flows = (flow for root in roots for flow in _flows(root, _kinds(root)))
        self._flows = limited(flow for flow in flows if is_prose(flow.text))
        check_tags(sum(flow.num_copied for flow in self._flows), MAX_TAGS)
        self.texts, self.spans = [flow.text for flow in self._flows], [flow.spans for flow in self._flows]

    def with_texts(self, translations: Sequence[str], spans: Sequence[Sequence[Span]]) -> bytes:
        """The document with other texts, one for each of ``texts``, and their spans."""
        for flow, translation, of_text in zip(self._flows, translations, spans, strict=True):
            flow.fill(translation, of_text)
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


class _WordFlow(InlineText):
    """Consecutive inline elements of a paragraph.

    Args:
        nodes: The elements.
        kinds: What they and those inside are; see ``_kinds``.
    """

    def __init__(self, nodes: Sequence[_Element], kinds: Mapping[_Element, str]) -> None:
        super().__init__()
        self._nodes, self._kinds = nodes, kinds
        self._usual: dict[_Element | None, _Element] = {}
        """A run with the formatting of most of the text: of the flow (None), and of each wrapper."""
        self._add(None, nodes)
        self.num_copied = len(self.spans) * sum(map(_size, self._usual.values()))

    def _add(self, wrapper: _Element | None, nodes: Iterable[_Element], parent: int = -1) -> None:
        """Add the nodes of the flow or of a wrapper; runs with the usual formatting are no spans."""
        looks = {
            node: _formatting(node) if self._kinds[node] == "text" else None
            for node in nodes
            if self._kinds[node] != "empty"
        }
        counts: Counter[_Look | None] = Counter()
        for node, look in looks.items():
            counts[look] += len(_joined(node)) if look is not None else 0
        usual = max(counts, key=counts.__getitem__, default=None)
        for (look, _), group in groupby(looks, lambda node: (looks[node], looks[node] is None and node)):
            node, *others = group
            begin, number, kind = self._length, len(self.spans), self._kinds[node]
            if look is None or look != usual:
                self._elements.append(node)
                self._literals.append("" if kind == "point" else None)
                self.spans.append(Span(begin, begin, number, parent))
            else:
                self._usual.setdefault(wrapper, node)
            if kind == "text":
                self._put("".join(map(_joined, (node, *others))))
            elif kind == "wrapper":
                self._add(node, node, number)
            if number < len(self.spans):
                self.spans[number] = Span(begin, self._length, number, parent)

    def fill(self, text: str, spans: Sequence[Span]) -> None:
        """Replace the text and its spans."""
        first = self._nodes[0]
        if not self.spans:
            elements = [each for node in self._nodes for each in node.iterchildren(_TEXT)]
            for element in elements:
                element.text = ""
            _write(elements[0], text)
            return
        marks = [each for node in self._nodes for each in (node, *node) if each.tag in _MARKS]
        box, place, parent = first.makeelement(_RUN + "s"), first.makeelement(_RUN), first.getparent()
        first.addprevious(place)
        for node in self._nodes:
            parent.remove(node)
        self._usual |= {box: self._usual[None]} if None in self._usual else {}
        self._write(box, text, spans)
        begins, ends = ([mark for mark in marks if mark.tag.endswith(end)] for end in ("Start", "End"))
        for node in [*begins, *box, *ends]:
            place.addprevious(node)
        parent.remove(place)

    def _open(self, number: int, *, is_first: bool) -> _Element:
        element = self._elements[number]
        if self._kinds[element] == "text":
            return _run_like(element)
        if self._kinds[element] == "wrapper":
            usual = self._usual.get(element)
            if not is_first:
                element = element.makeelement(element.tag, dict(element.attrib))
            element[:] = []
            self._usual |= {element: usual} if usual is not None else {}
        return element

    def _append_text(self, parent: _Element, text: str) -> None:
        if parent.tag != _RUN:
            usual = self._usual.get(parent)
            parent.append(parent.makeelement(_RUN) if usual is None else _run_like(usual))
            parent = parent[-1]
        _write(etree.SubElement(parent, _TEXT), text)


def _kinds(root: _Element) -> dict[_Element, str]:
    """What runs are, and what stands beside them.

    ``text``; ``wrapper``: has inline elements; ``point``: stands between words; ``empty``: has no width;
    ``break``, like all others: separates texts.
    """
    kinds: dict[_Element, str] = {}
    _divide_runs(root)
    for node in reversed(list(root.iter(_RUN, *_WRAPPERS, *_DELETED, *_MARKS))):
        if node.tag in _MARKS:
            kinds[node] = "empty"
        elif node.tag in _DELETED:
            kinds[node] = "point"
        elif node.tag in _WRAPPERS:
            is_inline = all(kinds.get(child, "break") != "break" for child in node)
            kinds[node] = "wrapper" if is_inline and len(node.attrib) <= MAX_ATTRIBUTES else "break"
        else:
            tags = {child.tag for child in node.iterchildren("*")} - _INVISIBLE
            inner = "text" if tags == {_TEXT} else "point" if tags <= _POINTS else "break"
            kinds[node] = inner if tags else "empty"
            if inner == "text" and not is_prose(_joined(node)) and _is_superscript(node):
                kinds[node] = "point"  # the mark of a footnote
    return kinds


def _divide_runs(root: _Element) -> None:
    """Divide runs that have text and something else."""
    num_copied = 0
    for run in list(root.iter(_RUN)):
        contents = [child for child in run.iterchildren("*") if child.tag not in _INVISIBLE]
        others = [list(group) for _, group in groupby(contents, lambda child: child.tag == _TEXT)][1:]
        num_copied += len(others) * _size(run)
        check_tags(num_copied, MAX_TAGS)
        for group in others:
            following = _run_like(run)
            following.extend(group)
            run.addnext(following)
            run = following


def _flows(container: _Element, kinds: Mapping[_Element, str]) -> Iterator[_WordFlow]:
    """The flows in an element, in order."""
    nodes: list[_Element] = []
    for child in [*container, None]:
        if child is not None and kinds.get(child, "break") != "break":
            nodes.append(child)
            continue
        if nodes:
            yield _WordFlow(nodes, kinds)
        for point in (point for node in nodes for point in _points(node, kinds)):
            yield from _flows(point, kinds)
        nodes = []
        if child is not None:
            yield from _flows(child, kinds)


def _points(node: _Element, kinds: Mapping[_Element, str]) -> Iterator[_Element]:
    """The points in an inline element."""
    if kinds[node] == "point":
        yield node
    elif kinds[node] == "wrapper":
        for child in node:
            yield from _points(child, kinds)


def _formatting(run: _Element) -> _Look:
    """A run's properties, comparable, without those that are invisible."""
    found = []
    for properties in run.iterchildren(f"{_W}rPr"):
        for element in properties.iter("*"):
            if len(element.attrib) > MAX_ATTRIBUTES:
                raise Refusal(f"the Word document has {len(element.attrib):,} attributes in one place", 413)
            if element.tag not in _INVISIBLE:
                found.append((element.tag, *sorted(element.attrib.items())))
    return tuple(found)


def _is_superscript(run: _Element) -> bool:
    return any(look.get(f"{_W}val") == "superscript" for look in run.iter(f"{_W}vertAlign"))


def _size(run: _Element) -> int:
    """How many elements a run's formatting has."""
    return sum(1 for properties in run.iterchildren(f"{_W}rPr") for _ in properties.iter())


def _run_like(run: _Element) -> _Element:
    """An empty run with the same formatting."""
    found = run.makeelement(_RUN)
    found.extend(map(deepcopy, run.iterchildren(f"{_W}rPr")))
    return found


def _joined(run: _Element) -> str:
    return "".join(element.text or "" for element in run.iterchildren(_TEXT))


def _write(element: _Element, text: str) -> None:
    element.text = xml_characters(text)
    element.set(_SPACE, "preserve")


def _too_large() -> Refusal:
    return Refusal("the Word document is too large when it is unpacked", 413)
