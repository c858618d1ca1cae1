"""HTML: text is translated, the elements around it stay; parsed and written with lxml.

lxml closes open elements as HTML prescribes, and escapes each text that it writes: no translation can
become markup.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from lxml import etree

from ptenmt.server.documents.plain import check_tags, is_prose, limited, xml_characters
from ptenmt.server.limits import Refusal

MAX_TAGS = 100_000
MAX_ATTRIBUTES = 1_000
"""Of one element: parsing takes time quadratic in their number."""

_UNTRANSLATED = {
    *("code", "iframe", "kbd", "math", "noembed", "noframes", "noscript", "object", "pre", "samp"),
    *("script", "style", "svg", "template", "textarea", "tt", "var", "xmp"),
}
_IS_PAGE = re.compile(
    r"(?:\s|<!--.*?-->|<\?[^>]*>)*+<(?:!doctype|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_END_OF_BODY = re.compile(r"</(?:body|html)\b[^>]*>?", re.IGNORECASE)
"""These end tags are optional, and libxml2 drops text that follows them."""
_INNER_SPACE = re.compile(r"(?<=\S)[ \t\r\n\f]+(?=\S)")
_Element = Any
"""lxml has no public name for the class of elements."""
_Slot = tuple[_Element, str]
"""Where a text is: an element, and ``text`` (inside, before its first child) or ``tail`` (after it)."""


class Html:
    """A page, or a fragment of one.

    Args:
        source: The HTML.
        language: The language of the texts to come; replaces the ``lang`` of a page that has one.

    Raises:
        Refusal: It has too many tags, attributes or texts, or is nested too deeply.
    """

    def __init__(self, source: str, language: str | None = None) -> None:
        check_tags(source.count("<"), MAX_TAGS)
        self._is_page = _IS_PAGE.match(source) is not None
        self._root = _parsed(source if self._is_page else f"<html><body>{source}")
        self._slots = limited(slot for slot in _slots(self._root) if is_prose(_text(slot)))
        if language and "lang" in self._root.attrib:
            self._root.set("lang", language)
        # As in browsers, white space inside a text is one space.
        self.texts = [_INNER_SPACE.sub(" ", _text(slot)) for slot in self._slots]

    def with_texts(self, translations: Sequence[str]) -> str:
        """The HTML with other texts, one for each of ``texts``."""
        for (element, place), translation in zip(self._slots, translations, strict=True):
            setattr(element, place, xml_characters(translation))
        if self._is_page:
            return _written(self._root.getroottree())
        body = self._root[0]
        return escape(body.text or "", quote=False) + "".join(map(_written, body))


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


def _slots(element: _Element) -> Iterator[_Slot]:
    """The texts of an element in order, without those of untranslated elements."""
    if _is_translated(element):
        yield element, "text"
        for child in element:
            yield from _slots(child)
            yield child, "tail"


def _is_translated(node: _Element) -> bool:
    """Whether the text in an element is translated; that of a comment is not."""
    if not isinstance(node.tag, str) or node.tag in _UNTRANSLATED:
        return False
    is_marked = "notranslate" in node.get("class", "").split()
    return not is_marked and node.get("translate", "").strip().lower() != "no"


def _text(slot: _Slot) -> str:
    return getattr(slot[0], slot[1]) or ""


def _written(tree: Any) -> str:
    return str(etree.tostring(tree, method="html", encoding="unicode"))
