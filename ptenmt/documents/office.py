"""Word documents and presentations: paragraphs are translated; with python-docx and python-pptx.

Text is in runs: parts of a paragraph with one formatting. Consecutive runs are one text. Those that are not
formatted like most of it are inline elements, and so are hyperlinks; tabs and line breaks separate texts.
"""

import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import groupby
from typing import Any, Literal

import docx
from docx.opc.constants import CONTENT_TYPE
from docx.opc.part import PartFactory, XmlPart
from lxml import etree

from ptenmt.documents.archive import MAX_TAGS, packed, unpacked, unreadable
from ptenmt.documents.inline import (
    ElementText,
    are_texts,
    check_tags,
    is_prose,
    is_translated,
    limited,
    merged,
    numbers_in_braces,
    xml_characters,
)
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Elements, Fragment, text_of

MAX_ATTRIBUTES = 100
"""Of one element of a run's formatting: reading them takes time quadratic in their number."""

_TRANSLATED = re.compile(
    r".*\.wordprocessingml\.(document\.main|header|footer|footnotes|endnotes|comments)\+xml"
)
_PROXIES = {
    CONTENT_TYPE.PML_SLIDE: "slide",
    CONTENT_TYPE.PML_NOTES_SLIDE: "notes_slide",
    CONTENT_TYPE.DML_CHART: "chart",
}
"""The parts of a presentation that are translated, and their attributes with the element."""
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
_CONTROL = f"{_W}sdt"
_WRAPPERS = {_CONTROL, *(f"{_W}{name}" for name in ("hyperlink", "ins", "moveTo", "smartTag"))}
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
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_Element = Any
"""lxml has no public name for the class of elements."""
_Formatting = tuple[tuple[Any, ...], ...]


class OfficeDocument:
    """A Word document or a presentation; refused if it is damaged, none, or too large unpacked."""

    def __init__(self, content: bytes, kind: Literal["a Word document", "a presentation"]) -> None:
        self._kind = kind
        self._document = _opened(io.BytesIO(packed(unpacked(content, kind))), kind)
        roots = list(_translated_roots(self._document))
        units = (unit for root in roots for unit in _units(root, _roles(root), numbers_in_braces(root)))
        self._units = limited(unit for unit in units if is_translated(text_of(unit.spans)))
        check_tags(sum(unit.num_copied for unit in self._units), MAX_TAGS)
        pictures = (node for root in roots for node in root.iter("{*}docPr", "{*}cNvPr"))
        self._described = limited(node for node in pictures if is_prose(node.get("descr", "")))
        self.texts = [unit.spans for unit in self._units]
        self.texts += [[(node.get("descr"), ())] for node in self._described]

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> bytes:
        """The document with other texts, one for each of ``texts``."""
        for unit, spans in zip(self._units, texts, strict=False):
            unit.fill(spans)
        for node, spans in zip(self._described, texts[len(self._units) :], strict=True):
            node.set("descr", xml_characters(text_of(spans)))
        for root in _translated_roots(self._document):
            etree.strip_tags(root, _FIELD)
        written = io.BytesIO()
        try:
            self._document.save(written)
        except Exception as error:
            raise unreadable(self._kind) from error
        return written.getvalue()


def _opened(file: io.BytesIO, kind: str) -> Any:
    if kind == "a presentation":
        from pptx import Presentation as open_file  # which loads Pillow and XlsxWriter
    else:
        open_file = docx.Document
        for notes in (CONTENT_TYPE.WML_FOOTNOTES, CONTENT_TYPE.WML_ENDNOTES):  # python-docx keeps bytes
            PartFactory.part_type_for.setdefault(notes, XmlPart)
    try:
        return open_file(file)
    except Exception as error:  # of a damaged document they raise whatever happens to fail
        raise unreadable(kind) from error


def _translated_roots(document: Any) -> Iterator[_Element]:
    """The XML of the text, headers, footers, notes and comments; of slides, their notes and charts."""
    for part in document.part.package.iter_parts():
        proxy = getattr(part, _PROXIES.get(part.content_type, ""), None)
        root: Any = part.element if isinstance(part, XmlPart) else getattr(proxy, "element", None)
        if root is not None and root.getroottree().docinfo.doctype:
            raise DocumentError("the document is damaged: it declares a document type")
        if proxy is not None or (root is not None and _TRANSLATED.fullmatch(part.content_type)):
            etree.strip_tags(root, etree.Comment, etree.ProcessingInstruction)  # they split texts
            yield root


class _RunUnit(ElementText):
    """Consecutive inline elements of a paragraph.

    Args:
        nodes: The elements.
        roles: Of them and of those inside; see ``_roles``.
        taken: As of ``InlineText``.
    """

    def __init__(self, nodes: list[_Element], roles: Mapping[_Element, str], taken: Collection[str]) -> None:
        super().__init__(taken)
        self._nodes, self._roles = nodes, roles
        self._default: dict[_Element | None, _Element] = {}
        """A run with the formatting of most of the text: of the unit (None), and of each wrapper."""
        self._add(None, nodes, ())
        self.spans = merged(self.spans)
        self.num_copied = len(self._elements) * sum(map(_size, self._default.values()))

    def points(self) -> Iterator[_Element]:
        """The elements that stand between words."""
        return (element for element in self._elements if self._roles[element] == "point")

    def _add(self, wrapper: _Element | None, nodes: Iterable[_Element], path: Elements) -> None:
        """Add the nodes of the unit or of a wrapper; the text of runs with default formatting is its own."""
        formatting = {node: _formatting(node) for node in nodes if self._roles[node] == "text"}
        counts: Counter[_Formatting] = Counter()
        for node, of_run in formatting.items():
            counts[of_run] += len(_joined(node))
        default = max(counts, key=counts.__getitem__, default=None)
        previous, last = None, path
        for node in nodes:
            role, properties, inner = self._roles[node], formatting.get(node), path
            if role == "text":
                text = _joined(node)
                ordinal = self._ordinal(text) if _is_superscript(node) else ""
                text = ordinal or text
                if properties == default or ordinal:
                    self._default.setdefault(wrapper, node)
                elif properties == previous:
                    inner = last
                else:
                    inner = (*path, self._number(node))
                self._put(text, inner)
            elif role == "placeholder":
                self._put(self._placeholder(node), path)
            elif role != "dropped":
                inner = (*path, self._number(node))
                if role == "wrapper":
                    self._add(node, _contents_of(node), inner)
                self._put_empty(inner)
            previous, last = properties, inner

    def fill(self, spans: Sequence[Fragment]) -> None:
        """Replace the text."""
        parent, following = self._nodes[0].getparent(), self._nodes[-1].getnext()
        container = parent.makeelement("runs")
        for node in self._nodes:
            parent.remove(node)
        if None in self._default:
            self._default[container] = self._default[None]
        self._write_into(container, self._with_formatted_blanks(self._with_ranges(spans)))
        for node in list(container):
            if following is None:
                parent.append(node)
            else:
                following.addprevious(node)

    def _with_formatted_blanks(self, spans: Sequence[Fragment]) -> Iterator[Fragment]:
        """The spans, a blank between two runs with formatting of their own in that of the first."""
        for at, (text, path) in enumerate(spans):
            beside = [other for near, other in spans[max(at - 1, 0) : at + 2 : 2] if near]
            if text.isspace() and len(beside) == 2 and all(self._is_run(other, path) for other in beside):
                path = beside[0]
            yield text, path

    def _is_run(self, path: Elements, around: Elements) -> bool:
        """Whether a path is that of a run with formatting of its own, in the same elements."""
        return path[:-1] == around and path != around and self._roles.get(self._elements[path[-1]]) == "text"

    def _with_ranges(self, spans: Sequence[Fragment]) -> list[Fragment]:
        """Return the spans with the start of each bookmark or comment before its end."""
        ordered = list(spans)
        ends: dict[tuple[str, str], int] = {}
        for at, (text, path) in enumerate(spans):
            mark = self._elements[path[-1]] if path and not text else None
            if mark is not None and mark.tag in _RANGES:
                key = mark.tag.removesuffix("Start").removesuffix("End"), mark.get(f"{_W}id", "")
                if mark.tag.endswith("End"):
                    ends[key] = at
                elif key in ends:
                    ordered[at], ordered[ends[key]] = spans[ends[key]], spans[at]
        return ordered

    def _emptied(self, element: _Element, *, is_first: bool) -> tuple[_Element, _Element]:
        role, default = self._roles[element], self._default.get(element)
        if role == "text":
            element = _run_like(element)
        elif role == "wrapper" and is_first:
            _contents_of(element)[:] = []
        elif role == "wrapper":
            element = element.makeelement(element.tag, dict(element.attrib))
            if element.tag == _CONTROL:
                etree.SubElement(element, f"{_CONTROL}Content")
        contents = _contents_of(element)
        if default is not None:
            self._default[contents] = default
        return element, contents

    def _append_text(self, text: str) -> None:
        parent = self._opened[-1]
        if not text:
            return
        if parent.tag not in _RUNS:
            default = self._default.get(parent)
            parent.append(parent.makeelement(f"{_W}r") if default is None else _run_like(default))
            parent = parent[-1]
        written = etree.SubElement(parent, f"{parent.tag[:-1]}t")
        written.text = xml_characters(text)
        if parent.tag.startswith(_W):
            written.set(_SPACE, "preserve")


def _roles(root: _Element) -> dict[_Element, str]:
    """The role of runs, and of what stands beside them.

    ``text``; ``wrapper``: has inline elements; ``point``: stands between words; ``placeholder``: is not
    translated; ``dropped``: has no effect; ``break``, like all others: separates texts.
    """
    roles: dict[_Element, str] = {}
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
            is_inline = all(roles.get(child, "break") != "break" for child in _contents_of(node))
            roles[node] = "wrapper" if is_inline and len(node.attrib) <= MAX_ATTRIBUTES else "break"
        else:
            inside = {child.tag for child in node.iterchildren("*")} - _INVISIBLE - _PROPERTIES
            if not inside:
                roles[node] = "dropped"
            elif inside <= _TEXTS:
                is_mark = not is_prose(_joined(node)) and _is_superscript(node)  # of a footnote
                roles[node] = "point" if is_mark else "text"
            else:
                roles[node] = "point" if inside <= _POINTS else "break"
    return roles


def _divide_runs(root: _Element) -> None:
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


def _wrap_fields(root: _Element) -> None:
    """Put the runs of each field into an element, unless its text is translated."""
    fields = (
        run for run in root.iter(f"{_W}r") if run is not root and run.find(_FIELD_CHARACTER) is not None
    )
    for parent in dict.fromkeys(run.getparent() for run in fields):
        depth, nodes = 0, list[_Element]()
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


def _units(container: _Element, roles: Mapping[_Element, str], taken: Collection[str]) -> Iterator[_RunUnit]:
    """The translation units in an element, in order."""
    nodes: list[_Element] = []
    for child in [*container, None]:
        if child is not None and roles.get(child, "break") != "break":
            nodes.append(child)
            continue
        for text in _separated(nodes, roles):
            unit = _RunUnit(text, roles, taken)
            yield unit
            for point in unit.points():
                yield from _units(point, roles, taken)
        nodes = []
        if child is not None:
            yield from _units(child, roles, taken)


def _separated(nodes: list[_Element], roles: Mapping[_Element, str]) -> list[list[_Element]]:
    """Consecutive inline elements as one text, or the hyperlinks that are texts of their own."""
    links, gaps = list[_Element](), [""]
    for node in nodes:
        is_link = (
            node.tag == _HYPERLINK or next(node.iterchildren(*_PROPERTIES), node).find(_CLICK) is not None
        )
        if is_link:
            links.append(node)
            gaps.append("")
        elif roles[node] != "dropped":
            gaps[-1] += "".join(text.text or "" for text in node.iter(*_TEXTS))
    texts = [("a", "".join(text.text or "" for text in node.iter(*_TEXTS))) for node in links]
    if all(gaps[1:-1]) and are_texts(texts, gaps):
        return [[link] for link in links]
    return [nodes] if nodes else []


def _contents_of(element: _Element) -> _Element:
    """What has the contents of an element."""
    contents = element.find(f"{_CONTROL}Content") if element.tag == _CONTROL else None
    return element if contents is None else contents


def _formatting(run: _Element) -> _Formatting:
    """A run's properties, comparable, without those that are invisible."""
    effects = []
    for properties in run.iterchildren(*_PROPERTIES):
        for element in properties.iter("*"):
            if len(element.attrib) > MAX_ATTRIBUTES:
                raise DocumentError(
                    f"the document has {len(element.attrib):,} attributes in one place", is_too_large=True
                )
            visible = [
                attribute for attribute in element.attrib.items() if attribute[0] not in _INVISIBLE_ATTRIBUTES
            ]
            if element.tag not in _INVISIBLE and (visible or element is not properties):
                effects.append((element.tag, *sorted(visible)))
    return tuple(effects)


def _is_superscript(run: _Element) -> bool:
    properties = run.iterchildren(f"{_A}rPr")
    is_raised = any(element.get("baseline", "-")[0] not in "-0" for element in properties)
    return is_raised or any(
        alignment.get(f"{_W}val") == "superscript" for alignment in run.iter(f"{_W}vertAlign")
    )


def _size(run: _Element) -> int:
    """How many elements a run's formatting has."""
    return sum(1 for properties in run.iterchildren(*_PROPERTIES) for _ in properties.iter())


def _run_like(run: _Element) -> _Element:
    """An empty run with the same formatting."""
    empty = run.makeelement(run.tag)
    empty.extend(map(deepcopy, run.iterchildren(*_PROPERTIES)))
    return empty


def _joined(run: _Element) -> str:
    return "".join(element.text or "" for element in run.iterchildren(*_TEXTS))
