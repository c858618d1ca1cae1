"""HTML and XML: text is translated, the elements around it stay; parsed and written with lxml.

A paragraph is one text, with inline elements such as links. lxml closes open elements as HTML
prescribes, and escapes each text that it writes: no translation can become markup.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from html import escape, unescape
from typing import Any

from lxml import etree

from ptenmt.documents.inline import (
    LINE_BREAK,
    Node,
    Piece,
    TreeUnit,
    check_tags,
    is_prose,
    is_translated,
    limited,
    tree_units,
    xml_characters,
)
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

MAX_TAGS = 100_000
MAX_ATTRIBUTES = 1_000
"""Of one element, and namespaces declared around one: these take time quadratic in their number."""

_UNTRANSLATED = {
    *("code", "iframe", "kbd", "math", "noembed", "noframes", "noscript", "object", "pre", "samp"),
    *("script", "style", "svg", "template", "textarea", "tt", "var", "xmp"),
    *("{http://www.w3.org/1998/Math/MathML}math", "{http://www.w3.org/2000/svg}svg"),
}
BLOCKS = {
    *("address", "article", "aside", "base", "blockquote", "body", "caption", "center", "col", "colgroup"),
    *("dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer"),
    *("form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr"),
    *("html", "legend", "li", "link", "listing", "main", "menu", "meta", "nav", "noframes", "ol", "optgroup"),
    *("option", "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot"),
    *("th", "thead", "title", "tr", "ul", "xmp"),
}
_POINTS = {
    *("audio", "button", "canvas", "embed", "iframe", "img", "input", "label", "noscript", "object"),
    *("picture", "script", "select", "style", "svg", "template", "textarea", "video"),
    "{http://www.w3.org/2000/svg}svg",
    "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}s",
}
"""Elements that stand between words; a text inside is a text of its own."""
_ATTRIBUTES = ("alt", "title", "placeholder", "aria-label", "label")
_DESCRIPTIONS = ("description", "og:description", "og:title", "twitter:description", "twitter:title")
"""``meta`` elements with a text."""
_BEGIN_OF_PAGE = re.compile(r"<(?:html|head|body)\b", re.IGNORECASE)
_END_OF_BODY = re.compile(r"</(?:body|html)\b[^>]*>?", re.IGNORECASE)
"""These end tags are optional, and libxml2 drops text that follows them."""
_NO_XML = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)(?:\w+;)?|<(?![\w:/!?])")
"""What begins neither an entity of XML nor a tag."""
_CODE = {"?>": r"<\?.*?\?>", "]]>": r"<!\[CDATA\[.*?\]\]>"}
"""Code in HTML, of PHP for one, and text of XML, by their ends; to browsers these are comments."""
_UNFINISHED_CODE = re.compile(r"<\?php.*", re.DOTALL)
_CODE_NAME = re.compile("(?:(?:<|&lt;)!--)?ptenmtcode([0-9]{1,6})q(?:--(?:>|&gt;))?")
_NO_COMMENTS = r"<(?:title|textarea)\b(?:{0}|[^<])*|<[A-Za-z/](?:{0}|[^>])*"
"""Where comments cannot stand: an element with nothing but text, a tag."""
_PROLOG = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!doctype\b[^>\[]*>", re.IGNORECASE | re.DOTALL)
"""What precedes the root. In XML a document type with declarations is none: it is not well-formed."""
_XHTML = "{http://www.w3.org/1999/xhtml}"
_LANGUAGES = "lang", "{http://www.w3.org/XML/1998/namespace}lang"
_WHITE = " \t\r\n\f"
_SPACES = re.compile(f"[{_WHITE}]+")
SPACE = "{http://www.w3.org/XML/1998/namespace}space"


class _HtmlUnit(TreeUnit):
    """Text and inline elements between two blocks of HTML, or of XML with the same roles; see ``_roles``."""

    _text_before = ""
    """The last part of the text that is read."""
    _is_after_point = False
    """Whether an element without text follows it."""

    def __init__(self, element: Node, place: str, nodes: list[Node], roles: Mapping[Node, str]) -> None:
        around = (node for node in (element, element.getparent()) if node is not None)
        self._is_preserved = "preserve" in [node.get(SPACE) for node in around]
        super().__init__(element, place, nodes, roles)
        if not self._is_preserved:  # white space at both ends has no effect, and stays as it is
            first = getattr(element, place) or ""
            last = (nodes[-1].tail if nodes else first) or ""
            self._before = first[: len(first) - len(first.lstrip(_WHITE))]
            self._after = last[len(last.rstrip(_WHITE)) :] if nodes or last.strip(_WHITE) else ""
            if self.spans and self.spans[-1][0][-1:] == " ":
                text, path = self.spans.pop()
                self.spans += [(text[:-1], path)] if text[:-1] or path else []

    def _pieces(self, text: str | None, nodes: Iterable[Node]) -> Iterator[Piece]:
        """The pieces of an element, or of the unit."""
        yield from self._text_pieces(text)
        for node in nodes:
            kind = self._roles[node]
            if kind == "placeholder":
                is_break = node.tag == "br"
                yield Piece("break" if is_break else "placeholder", node)
                self._text_before, self._is_after_point = "\n" if is_break else "}", False
            elif kind == "inline":
                yield Piece("open", node, node.tag)
                yield from self._pieces(node.text, node)
                yield Piece("close", None, node.tag)
                self._is_after_point = self._is_after_point or not (len(node) or node.text)
            else:
                self.boxes += [node] if kind == "box" else []
                yield Piece("box" if node.tag in _POINTS else "point", node, node.tag)
                self._is_after_point = True
            yield from self._text_pieces(node.tail)

    def _text_pieces(self, text: str | None) -> Iterator[Piece]:
        """A text with white space collapsed as in browsers."""
        spaced = (text or "") if self._is_preserved else _SPACES.sub(" ", text or "")
        if spaced[:1] == " " and self._text_before[-1:] in ("", " ", "\n") and not self._is_preserved:
            spaced = spaced[1:]
            if self._is_after_point:
                yield Piece("point", " ")
        if spaced:
            yield Piece("text", spaced)
            self._text_before, self._is_after_point = spaced, False

    def _emptied(self, element: Node, is_first: bool) -> Node:
        if not is_first:
            attributes = {name: value for name, value in element.attrib.items() if name != "id"}
            element = element.makeelement(element.tag, attributes)
        elif self._roles[element] == "inline":
            element[:] = []
            element.text = None
        return element

    def _append_text(self, parent: Node, text: str) -> None:
        last = next(parent.iterchildren(reversed=True), None)  # len() counts them all
        if last is None:
            parent.text = (parent.text or "") + text
        else:
            last.tail = (last.tail or "") + text


class Html:
    """A page, or a fragment of one.

    Args:
        source: The HTML.
        languages: In ``lang`` the first ones are replaced by the second, the language of the translation.
        is_xhtml: Whether it is XML, with the elements of HTML.
        roles: Of other XML, the function for the role of each node; see ``_roles``.
        unit_type: The class of its texts, which knows the roles.
        max_tags: How many characters may begin a tag.

    Raises:
        DocumentError: It has too many tags, attributes or texts, is nested too deeply, or is XML that is not
            well-formed.
    """

    def __init__(
        self,
        source: str,
        languages: tuple[Collection[str], str] | None = None,
        *,
        is_xhtml: bool = False,
        roles: Callable[[Node], dict[Node, str]] | None = None,
        unit_type: type[TreeUnit] = _HtmlUnit,
        max_tags: int = MAX_TAGS,
    ) -> None:
        check_tags(source.count("<"), max_tags)
        is_xml = is_xhtml or roles is not None
        self._codes: list[str] = []
        self._breaks: list[str] = []
        if not is_xml:
            source = xml_characters(source)
            for end, code in _CODE.items():
                source = self._without_code(source, source.rfind(end) + len(end), code)
            if unfinished := _UNFINISHED_CODE.search(source):
                source = source[: unfinished.start()] + f"<!--{self._named(unfinished)}-->"
            self._breaks = LINE_BREAK.findall(source)
            source = LINE_BREAK.sub("<br>", source)
        self._is_xhtml = is_xhtml
        begin = 0
        while part := _PROLOG.match(source, begin):
            begin = part.end()
        self._prolog, source = source[:begin], source[begin:]
        is_page = "<!doctype" in self._prolog.lower() or _BEGIN_OF_PAGE.match(source) is not None
        self._is_page = is_page and not is_xml
        self._method = "xml" if is_xml else "html"
        if is_xml:
            self.root = _parsed_xml(source)
        else:
            self.root = _parsed(source if self._is_page else f"<html><body>{source}")
        for node in self.root.iter(f"{_XHTML}*") if is_xhtml else ():
            node.tag = node.tag.removeprefix(_XHTML)
        pictures = dict.fromkeys(self.root.iter("{*}docPr", "{*}cNvPr"))
        translated = pictures if roles else _translated(self.root, languages)
        role_of = roles(self.root) if roles else _roles(self.root, translated)
        units = tree_units(self.root, role_of, unit_type)
        self._units = [unit for unit in units if is_translated(text_of(unit.spans))]
        self._attributes = [
            (element, name)
            for element in translated
            for name in _names(element)
            if is_prose(_CODE_NAME.sub("", element.get(name, "")))
        ]
        self.texts = [unit.spans for unit in self._units]
        self.texts += [[(element.get(name), ())] for element, name in self._attributes]
        limited(line for text in map(text_of, self.texts) for line in text.split("\n") if is_translated(line))
        if languages:
            self._name_language(translated, *languages)

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> str:
        """The HTML with other texts, one for each of ``texts``."""
        remaining = iter(texts)
        for unit in self._units:
            unit.fill(next(remaining))
        for element, name in self._attributes:
            element.set(name, xml_characters(text_of(next(remaining))))
        if self._is_page:
            return self._as_typed(self._prolog + self._written(self.root))
        body = self.root[0]
        start = self._prolog + escape(body.text or "", quote=False)
        return self._as_typed(start + "".join(map(self._written, body)))

    def _without_code(self, source: str, end: int, code: str) -> str:
        """The HTML up to ``end`` with a comment in place of each piece of code, or, within a tag, a name."""
        pattern = re.compile(f"(?P<code>{code})|{_NO_COMMENTS.format(code)}", re.DOTALL)

        def named(found: re.Match[str]) -> str:
            if found["code"]:
                return f"<!--{self._named(found)}-->"
            return re.sub(code, self._named, found[0], flags=re.DOTALL)

        return pattern.sub(named, source[:end]) + source[end:]

    def _named(self, code: re.Match[str]) -> str:
        self._codes.append(code[0])
        return f"ptenmtcode{len(self._codes) - 1}q"

    def _as_typed(self, written: str) -> str:
        """The HTML with the source's code and its notation of line breaks."""
        breaks = iter(self._breaks)
        if len(LINE_BREAK.findall(written)) == len(self._breaks):
            written = LINE_BREAK.sub(lambda _: next(breaks), written)
        return _CODE_NAME.sub(
            lambda name: self._codes[int(name[1])] if int(name[1]) < len(self._codes) else name[0], written
        )

    def _name_language(self, translated: Iterable[Node], sources: Collection[str], target: str) -> None:
        """Replace the language that the page, or an element of it, names."""
        if self._is_page:
            self.root.set("lang", target)
        for element in translated:
            for name in _LANGUAGES:
                if element.get(name, "").lower().split("-")[0] in sources:
                    element.set(name, target)

    def _written(self, tree: Any) -> str:
        if self._method == "xml":
            for node in tree.iter("*"):
                if self._is_xhtml and node.tag[0] != "{":
                    node.tag = _XHTML + node.tag
        written = str(etree.tostring(tree, method=self._method, encoding="unicode"))
        return written.replace("<wbr></wbr>", "<wbr>")


def _parsed(source: str) -> Node:
    content = _END_OF_BODY.sub("", source).encode()
    etree.fromstring(content, etree.HTMLParser(encoding="utf-8", target=_Bounds()))
    parser = etree.HTMLParser(encoding="utf-8", default_doctype=False)
    root = etree.fromstring(content, parser)
    if parser.error_log.filter_from_level(etree.ErrorLevels.FATAL):  # nothing after such an error is parsed
        raise DocumentError("the HTML is nested too deeply", is_too_large=True)
    if root is None:  # a document type alone has no root
        return etree.Element("html")
    for node in [*root.iter("wbr")]:  # to libxml2 what follows it is inside
        node.addprevious(node.makeelement("wbr", node.attrib))
        node.tag = "after-wbr"
    etree.strip_tags(root, "after-wbr")
    return root


def _parsed_xml(source: str) -> Node:
    """XML in two elements, as a fragment of HTML is."""
    content = _NO_XML.sub(lambda sign: escape(unescape(sign[0])), xml_characters(source))
    content = f"<xml><xml>{content}</xml></xml>"
    bounded = etree.XMLParser(resolve_entities=False, recover=True, target=_Bounds())
    etree.fromstring(content.encode(), bounded)
    parser = etree.XMLParser(resolve_entities=False, recover=True)
    root = etree.fromstring(content, parser)
    if errors := parser.error_log.filter_from_fatals():  # others are of namespaces that are not declared
        raise DocumentError(f"the XML is not well-formed: {errors[0].message.strip()}")
    return root


class _Bounds:
    """A parser target that builds nothing and refuses elements with too many attributes or namespaces."""

    def __init__(self) -> None:
        self._num_namespaces = [0]

    def start(self, _tag: str, attributes: dict[str, str], namespaces: dict[str | None, str]) -> None:
        self._num_namespaces.append(self._num_namespaces[-1] + len(namespaces))
        if max(len(attributes), self._num_namespaces[-1]) > MAX_ATTRIBUTES:
            raise DocumentError(
                f"an element has more than {MAX_ATTRIBUTES:,} attributes or namespaces", is_too_large=True
            )

    def end(self, _tag: str) -> None:
        self._num_namespaces.pop()

    def close(self) -> None: ...


def _translated(root: Node, languages: tuple[Collection[str], str] | None) -> dict[Node, None]:
    """The elements whose attributes are translated, and their texts but for ``_UNTRANSLATED``, in order."""
    translated: dict[Node, None] = {}
    metas = (node.get("content", "") for node in root.iter("meta") if node.get("name") == "google")
    is_refused = any("notranslate" in content for content in metas)
    for node in root.iter("*"):
        choice, parent = node.get("translate", "inherit").strip().lower(), node.getparent()
        language = next(filter(None, map(node.get, _LANGUAGES)), "").lower().split("-")[0]
        is_foreign = languages and node.tag not in ("html", "body") and language not in ("", *languages[0])
        if choice == "no" or "notranslate" in node.get("class", "").split() or is_foreign:
            continue
        is_inside = (
            not is_refused if parent is None else parent in translated and parent.tag not in _UNTRANSLATED
        )
        if is_inside or choice in ("", "yes"):
            translated[node] = None
    return translated


def _names(element: Node) -> Sequence[str]:
    """The attributes of an element that have a text."""
    if element.tag.rpartition("}")[2] in ("docPr", "cNvPr"):  # a picture in an office file
        return ("descr",)
    if element.tag == "meta":
        name = element.get("name") or element.get("property") or ""
        return ("content",) if name.lower() in _DESCRIPTIONS else ()
    if element.tag == "input" and element.get("type", "").lower() in ("button", "submit", "reset"):
        return (*_ATTRIBUTES, "value")
    return _ATTRIBUTES


def _roles(root: Node, translated: Collection[Node]) -> dict[Node, str]:
    """The role of each node in a text.

    ``inline``: its text is part of that. ``placeholder``: its contents are not translated, or it is a line
    break. ``point``: it stands between words; so does a ``box``, whose texts are separate. ``block``: texts
    end at it, and at an ``untranslated`` one, of which only blocks inside may be translated.
    """
    roles: dict[Node, str] = {}
    for node in reversed(list(root.iter())):
        is_translated = node in translated and node.tag not in _UNTRANSLATED
        if node.tag in _POINTS and is_translated:
            roles[node] = "box"
        elif not isinstance(node.tag, str) or node.tag in _POINTS or _is_note(node):
            roles[node] = "point"
        elif node.tag == "br":
            roles[node] = "placeholder"
        elif node.tag in BLOCKS or any(roles[child] in ("block", "untranslated") for child in node):
            roles[node] = "block" if is_translated else "untranslated"
        elif is_translated:
            roles[node] = "inline"
        else:
            roles[node] = "placeholder" if any(map(str.strip, node.itertext())) else "point"
    return roles


def _is_note(node: Node) -> bool:
    """Whether a superscript is the mark of a footnote: a number, in brackets, or a link."""
    text = "".join(node.itertext()).strip() if node.tag == "sup" else "a"
    return text[:1] == "[" or not is_prose(text) or (node.tag == "sup" and node.find("a") is not None)
