"""HTML: text is translated, the elements around it stay; parsed and written with lxml.

A paragraph is one text: inline elements such as links are spans of it. lxml closes open elements as HTML
prescribes, and escapes each text that it writes: no translation can become markup.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from lxml import etree

from ptenmt.server.documents.inline import InlineText
from ptenmt.server.documents.plain import check_tags, is_prose, limited, xml_characters
from ptenmt.server.limits import Refusal
from ptenmt.translation.markup import Span

MAX_TAGS = 100_000
MAX_ATTRIBUTES = 1_000
"""Of one element: parsing takes time quadratic in their number."""

_UNTRANSLATED = {
    *("code", "iframe", "kbd", "math", "noembed", "noframes", "noscript", "object", "pre", "samp"),
    *("script", "style", "svg", "template", "textarea", "tt", "var", "xmp"),
}
_INLINE = {
    *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font"),
    *("i", "ins", "kbd", "mark", "math", "nobr", "q", "s", "samp", "small", "span", "strike", "strong"),
    *("sub", "sup", "time", "tt", "u", "var", "wbr"),
}
_POINTS = {
    *("iframe", "img", "input", "noscript", "object", "picture", "script", "style", "svg", "template"),
}
"""Elements without a text of their own; they stand between words."""
_ATTRIBUTES = ("alt", "title", "placeholder", "aria-label")
_DESCRIPTIONS = ("description", "og:description", "og:title", "twitter:description", "twitter:title")
"""``meta`` elements with a text."""
_IS_PAGE = re.compile(
    r"(?:\s|<!--.*?-->|<\?[^>]*>)*+<(?:!doctype|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_END_OF_BODY = re.compile(r"</(?:body|html)\b[^>]*>?", re.IGNORECASE)
"""These end tags are optional, and libxml2 drops text that follows them."""
_WHITE = " \t\r\n\f"
_SPACE = re.compile(f"[{_WHITE}]+")
_Element = Any
"""lxml has no public name for the class of elements."""


class Html:
    """A page, or a fragment of one.

    Args:
        source: The HTML.
        languages: In ``lang`` the first ones are replaced by the second, the language of the translation.

    Raises:
        Refusal: It has too many tags, attributes or texts, or is nested too deeply.
    """

    def __init__(self, source: str, languages: tuple[Collection[str], str] | None = None) -> None:
        check_tags(source.count("<"), MAX_TAGS)
        self._is_page = _IS_PAGE.match(source) is not None
        self._root = _parsed(source if self._is_page else f"<html><body>{source}")
        elements = list(_translated(self._root))
        flows = _flows(self._root, _kinds(self._root))
        self._flows = [flow for flow in flows if is_prose(flow.text)]
        self._attributes = [
            (element, name)
            for element in elements
            for name in _names(element)
            if is_prose(element.get(name, ""))
        ]
        self.texts = [flow.text for flow in self._flows]
        self.texts += [element.get(name) for element, name in self._attributes]
        self.spans = [*(flow.spans for flow in self._flows), *([] for _ in self._attributes)]
        limited(line for text in self.texts for line in text.split("\n") if is_prose(line))
        if languages:
            if self._is_page:
                self._root.set("lang", languages[1])
            for element in elements:
                if element.get("lang", "").lower().split("-")[0] in languages[0]:
                    element.set("lang", languages[1])

    def with_texts(self, translations: Sequence[str], spans: Sequence[Sequence[Span]]) -> str:
        """The HTML with other texts, and their spans, for each of ``texts``."""
        for (element, name), translation in zip(
            self._attributes, translations[len(self._flows) :], strict=True
        ):
            element.set(name, xml_characters(translation))
        for flow, translation, of_text in zip(self._flows, translations, spans, strict=False):
            flow.fill(translation, of_text)
        if self._is_page:
            return _written(self._root.getroottree())
        body = self._root[0]
        return escape(body.text or "", quote=False) + "".join(map(_written, body))


class _HtmlFlow(InlineText):
    """Text and inline elements between two blocks.

    Args:
        element: A block.
        place: ``text``, if the flow begins in it, before its first child; ``tail``, if it follows it.
    """

    def __init__(self, element: _Element, place: str) -> None:
        super().__init__()
        self._element, self._place = element, place
        self._nodes: list[_Element] = []
        self._tails: list[str | None] = []
        """The white space after each element: a space, if it is an image between two."""
        self._first = self._last = getattr(element, place) or ""
        self._add_text(self._first)

    def add(self, node: _Element, kinds: Mapping[_Element, str]) -> None:
        """Add the next inline element, and the text after it."""
        self._nodes.append(node)
        self._add(node, kinds, -1)

    def _add(self, node: _Element, kinds: Mapping[_Element, str], parent: int) -> None:
        number, begin, kind, tail = len(self.spans), self._length, kinds[node], node.tail or ""
        is_spaced = node.tag in _POINTS and self._end == " " and tail[:1].isspace()
        self._tails.append(" " if is_spaced else None)
        self._elements.append(node)
        self.spans.append(Span(begin, begin, number, parent))
        self._literals.append(None)
        if kind == "inline":
            self._add_text(node.text)
            for child in node:
                self._add(child, kinds, number)
        else:
            literal = {"break": "\n", "kept": f"{{{number}}}"}.get(kind, "")
            self._literals[number] = literal
            self._put(literal)
        self.spans[number] = Span(begin, self._length, number, parent)
        if node.tag in _POINTS and self._end.isalnum() and tail[:1].isalnum():
            self._put(" ")  # an image separates words
        self._add_text(tail)

    def _add_text(self, text: str | None) -> None:
        """Add text; as in browsers, white space is collapsed to one space, and removed at the beginning."""
        self._last = text or self._last
        spaced = _SPACE.sub(" ", text or "")
        self._put(spaced[1:] if spaced[:1] == " " and self._end in ("", " ", "\n") else spaced)

    def fill(self, text: str, spans: Sequence[Span]) -> None:
        """Replace the text and its spans."""
        parent = self._element if self._place == "text" else self._element.getparent()
        for node in self._nodes:
            parent.remove(node)
        if text[-1:] == " ":
            text = text[:-1] + (self._last[len(self._last.rstrip(_WHITE)) :] or " ")
        box = parent.makeelement("div")
        self._write(box, text, spans)
        self._nodes = list(box)
        setattr(self._element, self._place, None)
        for node in reversed(self._nodes):
            if self._place == "text":
                parent.insert(0, node)
            else:
                self._element.addnext(node)
        lead = self._first[: len(self._first) - len(self._first.lstrip(_WHITE))]
        setattr(self._element, self._place, lead + (box.text or ""))

    def _open(self, number: int, *, is_first: bool) -> _Element:
        element = self._elements[number]
        if not is_first:
            attributes = {name: value for name, value in element.attrib.items() if name != "id"}
            return element.makeelement(element.tag, attributes)
        if self._literals[number] is None:
            element[:] = []
            element.text = None
        element.tail = self._tails[number]
        return element

    def _append_text(self, parent: _Element, text: str) -> None:
        last = next(parent.iterchildren(reversed=True), None)  # len() counts them all
        if last is None:
            parent.text = (parent.text or "") + xml_characters(text)
        else:
            last.tail = (last.tail or "") + xml_characters(text)


def _parsed(source: str) -> _Element:
    content = _END_OF_BODY.sub("", source).encode()
    etree.fromstring(content, etree.HTMLParser(encoding="utf-8", target=_AttributeCheck()))
    parser = etree.HTMLParser(encoding="utf-8", default_doctype=False)
    root = etree.fromstring(content, parser)
    if parser.error_log.filter_from_level(etree.ErrorLevels.FATAL):  # nothing after such an error is parsed
        raise Refusal("the HTML is nested too deeply", 413)
    return etree.Element("html") if root is None else root  # a document type alone has no root


class _AttributeCheck:
    """A parser target that builds nothing and refuses elements with too many attributes."""

    def start(self, _tag: str, attributes: dict[str, str]) -> None:
        if len(attributes) > MAX_ATTRIBUTES:
            raise Refusal(f"an element of the HTML has more than {MAX_ATTRIBUTES:,} attributes", 413)

    def close(self) -> None: ...


def _translated(element: _Element) -> Iterator[_Element]:
    """An element and those inside whose contents are translated."""
    if _is_translated(element):
        yield element
        for child in element:
            yield from _translated(child)


def _names(element: _Element) -> Sequence[str]:
    """The attributes of an element that have a text."""
    if element.tag == "meta":
        name = element.get("name") or element.get("property") or ""
        return ("content",) if name.lower() in _DESCRIPTIONS else ()
    if element.tag == "input" and element.get("type", "").lower() in ("button", "submit", "reset"):
        return (*_ATTRIBUTES, "value")
    return _ATTRIBUTES


def _kinds(root: _Element) -> dict[_Element, str]:
    """The role of each node in a text.

    ``inline``: its text is a span; ``kept``: it stands in the text as it is; ``break``: a line break;
    ``point``: it stands between words; ``block``: texts end at it.
    """
    kinds: dict[_Element, str] = {}
    for node in reversed(list(root.iter())):
        if not isinstance(node.tag, str) or node.tag in _POINTS or _is_note(node):
            kinds[node] = "point"
        elif node.tag == "br":
            kinds[node] = "break"
        elif node.tag not in _INLINE or any(kinds[child] == "block" for child in node):
            kinds[node] = "block"
        elif _is_translated(node):
            kinds[node] = "inline"
        else:
            kinds[node] = "kept" if any(map(str.strip, node.itertext())) else "point"
    return kinds


def _is_note(node: _Element) -> bool:
    """Whether a superscript is the mark of a footnote: a number, or in brackets."""
    text = "".join(node.itertext()).strip() if node.tag == "sup" else "a"
    return text[:1] == "[" or not is_prose(text)


def _flows(block: _Element, kinds: Mapping[_Element, str]) -> Iterator[_HtmlFlow]:
    """The flows in a block, in order."""
    if not _is_translated(block):
        return
    flow = _HtmlFlow(block, "text")
    for child in list(block):
        if kinds[child] == "block":
            yield flow
            yield from _flows(child, kinds)
            flow = _HtmlFlow(child, "tail")
        else:
            flow.add(child, kinds)
    yield flow


def _is_translated(node: _Element) -> bool:
    """Whether the text in an element is translated; that of a comment is not."""
    if not isinstance(node.tag, str) or node.tag in _UNTRANSLATED:
        return False
    is_marked = "notranslate" in node.get("class", "").split()
    return not is_marked and node.get("translate", "").strip().lower() != "no"


def _written(tree: Any) -> str:
    return str(etree.tostring(tree, method="html", encoding="unicode"))
