"""What is translated in a document: which texts, how many there may be, and their inline elements."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, groupby, islice, pairwise
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeVar

from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Elements, Fragment, num_shared, text_of

MAX_TEXTS = 20_000
"""Texts of a document; even at one word each they would keep a server busy for minutes."""
MAX_CHARACTERS = 2_000_000
MAX_TAGS = 50_000
"""Of a file of text."""
MAX_DEPTH = 64
"""Of elements in each other; what is inside a further one is written after it."""
LINE_BREAK = re.compile(r"</?br\s*/?>", re.IGNORECASE)
"""A line break of HTML, which plain texts have, too; browsers take an end tag for one."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_AMOUNT = re.compile(r"\d(?:,\d|\.\d{3}(?!\d))")
_FILE_NAME = re.compile(r"\S*\w\.(?:[a-z]{3,4}|[a-z]{2,3}\d|js|md|py|gz|sh)")
_VOID = re.compile(r"<(?:br|hr|img|input|wbr)\b.*|<.*/>", re.IGNORECASE | re.DOTALL)
_NUMBER_IN_BRACES = re.compile(r"\{\d+\}")
_PLACEHOLDERS = re.compile(r"\{\d+\}|\n")
_LINE_END = re.compile("[\n\v\f\x85\u2028\u2029]")
_GAP = re.compile(r"[\s|·•/›»>–—-]*")
_LINKS, _WITHIN_WORDS = {"a", "link"}, {"sub", "sup", "run"}
"""Tags of links, which may be texts of their own, and of parts of words; ``run`` is one of office files."""
_Item = TypeVar("_Item")
CONTAINER = "container"
"""The tag of what a translation is written to."""
Node = Any
"""An element of lxml's, which has no public name for their class."""


def is_prose(text: str) -> bool:
    """Whether a text has a letter, and is not only the name of a file."""
    return any(map(str.isalpha, text)) and _FILE_NAME.fullmatch(text.strip()) is None


def is_translated(text: str) -> bool:
    """Whether a text has something to translate: prose, or a number that languages write differently."""
    has_letter = any(map(str.isalpha, text))
    return is_prose(text) if has_letter else _AMOUNT.search(text) is not None


def limited(items: Iterable[_Item]) -> list[_Item]:
    """The texts of a document as a list; refuses more than ``MAX_TEXTS`` without reading the rest."""
    texts = list(islice(items, MAX_TEXTS + 1))
    if len(texts) > MAX_TEXTS:
        raise DocumentError(f"the document has more than {MAX_TEXTS:,} texts", is_too_large=True)
    return texts


def check_tags(count: int, limit: int) -> None:
    """Refuse a document with too many tags, or characters that could begin one."""
    if count > limit:
        raise DocumentError(f"the document has {count:,} tags; {limit:,} are allowed", is_too_large=True)


def check_text(source: str, num_tags: int) -> None:
    """Refuse a file of text that is too long, or has too many characters that could begin a tag."""
    if len(source) > MAX_CHARACTERS:
        raise DocumentError(f"the document has more than {MAX_CHARACTERS:,} characters", is_too_large=True)
    check_tags(num_tags, MAX_TAGS)


def xml_characters(text: str) -> str:
    """A text without the characters that XML forbids; two of them are white space."""
    return _NOT_XML.sub(lambda sign: " " if sign[0] in "\v\f" else "", text)


class Piece(NamedTuple):
    """A part of a text as its format has it."""

    kind: Literal["text", "open", "close", "point", "box", "placeholder", "break"]
    """``open`` and ``close``: what begins and ends an element; ``point``: an element that stands between
    words, or within one, such as a comment; ``box``: one between words; ``placeholder``: what is not
    translated and stands in the text like a word, such as code; ``break``: what separates two texts."""
    item: Any
    """The text; else what a writer of the format writes."""
    name: str = ""
    """The tag of an element, which its end has, too."""


@dataclass
class Element:
    """An inline element: its tag, and what begins and ends it."""

    name: str
    begin: Any
    end: Any = None


class InlineText:
    """A text with inline elements, which its translation gets, too.

    An element is around the text up to its end, or up to the end of the text without one. What ends nothing
    begins an element, too.

    Args:
        pieces: What the text consists of.
        has_texts: Whether elements may be texts of their own, as the links of a menu are, and texts end
            between two elements without white space.
    """

    def __init__(self, pieces: Iterable[Piece], *, has_texts: bool = True) -> None:
        pieces = list(pieces)
        text = "".join(item for kind, item, _ in pieces if kind == "text")
        taken = {*_NUMBER_IN_BRACES.findall(text)}
        self.spans: list[Fragment] = []
        self.elements: list[Element] = []
        """Those that paths refer to."""
        self._names = (name for name in map("{{{}}}".format, count()) if name not in taken)
        self._placeholders: dict[str, list[Any]] = {}
        """What each placeholder stands for, in order; line ends stand for what separates texts."""
        self._has_texts = has_texts
        self._read(pieces)
        self.spans = merged(
            span
            for span, (_, following) in pairwise([*self.spans, ("", Elements())])
            if span[0] or following[: len(span[1])] != span[1]
        )
        if has_texts:
            self._separate()

    def translated(self, spans: Iterable[Fragment]) -> Iterator[Piece]:
        """A translation in pieces; placeholders that it lost are at its end, line ends that it added stay."""
        last = Elements()
        left = {name: [*items] for name, items in self._placeholders.items()}
        for text, path in [*merged(spans), ("", Elements())]:
            same = num_shared(last, path)
            for number in reversed(last[same:]):
                yield Piece("close", self.elements[number].end)
            for number in path[same:]:
                yield Piece("open", self.elements[number].begin)
            last, end = path, 0
            for placeholder in _PLACEHOLDERS.finditer(text):
                items = left.get(name := placeholder[0])
                if items or (name != "\n" and items is not None):
                    yield Piece("text", text[end : placeholder.start()])
                    end = placeholder.end()
                    if items:
                        yield Piece("placeholder", items.pop(0))
            yield Piece("text", text[end:])
        for item in chain(*left.values()):
            if not isinstance(item, str) or item.strip():
                yield from (Piece("text", " "), Piece("placeholder", item))

    def _read(self, pieces: Iterable[Piece]) -> None:
        path, last, is_after_box = Elements(), ("", Elements()), False
        end = 0  # of the spans without elements that begin now
        opened: list[tuple[str, Elements, int]] = []  # the names of elements, what is around them, and they
        for kind, item, name in pieces:
            is_end = kind == "close" and name in (known for known, _, _ in opened)
            if kind == "text" and item:
                text = _LINE_END.sub(lambda end: self._placeholder(end[0], "\n"), item)
                is_boundary = self._has_texts and self._is_boundary(last, (item, path))
                is_glued = last[0][-1:].isalnum() and item[0].isalnum()
                if is_glued and (is_boundary or is_after_box):
                    around = path[: num_shared(self.spans[end - 1][1], path)]
                    self.spans.insert(end, (self._placeholder("", "\n") if is_boundary else " ", around))
                self.spans.append((text, path))
                last, end, is_after_box = (item, path), len(self.spans), False
            elif kind in ("placeholder", "break"):
                last = self._placeholder(item, "\n" if kind == "break" else None), path
                self.spans.append(last)
                end = len(self.spans)
            elif is_end:
                at = max(at for at, (known, _, _) in enumerate(opened) if known == name)
                _, path, number = opened[at]
                self.elements[number].end = item
                del opened[at:]
            elif kind != "text" and item is not None:
                self.elements.append(Element(name, item))
                inner = (*path, len(self.elements) - 1)
                self.spans.append(("", inner))
                is_after_box = is_after_box or kind == "box"
                end = end if kind in ("open", "close") else len(self.spans)
                if kind in ("open", "close") and len(opened) < MAX_DEPTH:
                    opened.append((name, path, inner[-1]))
                    path = inner

    def _placeholder(self, item: Any, name: str | None = None) -> str:
        """A placeholder, by default one that occurs once."""
        name = name or next(self._names)
        self._placeholders.setdefault(name, []).append(item)
        return name

    def _is_boundary(self, last: Fragment, following: Fragment) -> bool:
        """Whether one element ends and another begins between two parts of a text, as in minified menus.

        Not within words: subscripts, superscripts and drop caps.
        """
        (before, last_path), (after, path) = last, following
        shared = num_shared(last_path, path)
        names = {self.elements[number].name for number in last_path[shared:] + path[shared:]}
        is_drop_cap = len(before) == 1 and before.isupper() and after[0].islower()
        return shared < min(len(last_path), len(path)) and not (is_drop_cap or names & _WITHIN_WORDS)

    def _separate(self) -> None:
        """Put line ends between the elements if they are texts of their own."""
        paths = [path for text, path in self.spans if text.strip()]
        depth = num_shared(min(paths), max(paths)) if paths else 0
        elements, gaps = dict[int, str](), [""]
        for text, path in self.spans:
            if len(path) <= depth:
                gaps[-1] += text
            elif text:
                gaps += [""] if path[depth] not in elements else []
                elements[path[depth]] = elements.get(path[depth], "") + text
        if not _are_texts([(self.elements[number].name, text) for number, text in elements.items()], gaps):
            return
        line_ends, seen = iter(self._placeholders.pop("\n", [])), set[int]()
        spans = list[Fragment]()
        for text, path in self.spans:
            number = path[depth] if text and len(path) > depth else None
            seen.update(() if number is None else (number,))
            if number is None and text and 0 < len(seen) < len(elements) and "\n" not in gaps[len(seen)]:
                text = self._placeholder(text, "\n")
            else:
                self._placeholders.setdefault("\n", []).extend(islice(line_ends, text.count("\n")))
            spans.append((text, path))
        self.spans = spans


def merged(spans: Iterable[Fragment]) -> list[Fragment]:
    """The same with neighbours in the same elements as one."""
    return [(text_of(list(group)), path) for path, group in groupby(spans, itemgetter(1))]


def _are_texts(elements: Sequence[tuple[str, str]], gaps: Sequence[str]) -> bool:
    """Whether inline elements, such as the links of a menu, are texts of their own.

    They are if there is nothing else in their block but white space, or signs such as a bar, between them.
    Parts of one sentence may be elements, too: after one that begins with a capital, another one that begins
    with a small letter, unless both are links.

    Args:
        elements: The tag and the text of each.
        gaps: The text before the first one, and after each.
    """
    if sum(is_prose(text) for _, text in elements) < 2 or not all(map(_GAP.fullmatch, gaps)):
        return False
    for (last, following), gap in zip(pairwise(elements), gaps[1:], strict=False):
        names, (before, after) = {last[0], following[0]}, (last[1].strip(), following[1].strip())
        is_sentence = before[:1].isupper() and after[:1].islower()
        if names & _WITHIN_WORDS or not names.issubset(_LINKS) and (not gap or is_sentence):
            return False
    return True


def tagged(text: str, pattern: str, name_of: Callable[[str], str]) -> Iterator[Piece]:
    """The pieces of a string, given the pattern of its tags, and their names: ``b``, ``/b``, or none."""
    for at, part in enumerate(re.split(f"({pattern})", text)):
        name = name_of(part) if at % 2 else ""
        if at % 2 == 0:
            yield Piece("text", part)
        elif name[:1] == "/":
            yield Piece("close", part, name[1:])
        else:
            yield Piece("open" if name else "point", part, name)


def html_tag(tag: str) -> str:
    """The name of a tag of HTML, or of the numbered ones of React's libraries, as of ``tagged``."""
    name = re.match(r"<(/?(?:[A-Za-z][\w-]*|\d+))", tag)
    return "" if name is None or _VOID.fullmatch(tag) else name[1].lower()


class StringText(InlineText):
    """A text whose elements are strings, such as the tags of subtitles; they are written as they stand.

    Args:
        pieces: As of ``InlineText``, and so is ``has_texts``.
        escaped: Turns text into that of the format.
        encoded: Turns the text with its tags into what stands in the file.
    """

    def __init__(
        self,
        pieces: Iterable[Piece],
        *,
        escaped: Callable[[str], str] = str,
        encoded: Callable[[str], str] = str,
        has_texts: bool = True,
    ) -> None:
        self._escaped, self._encoded = escaped, encoded
        super().__init__(pieces, has_texts=has_texts)

    def written(self, spans: Sequence[Fragment]) -> str:
        """A translation as it stands in the file."""
        pieces = self.translated(spans)
        parts = (self._escaped(item) if kind == "text" else item or "" for kind, item, _ in pieces)
        return self._encoded("".join(parts))


class TreeUnit(ABC):
    """Text and nodes of a tree between two blocks, which its translation replaces.

    Args:
        element: A block.
        place: ``text``, if the unit begins in it, before its first child; ``tail``, if it follows it.
        nodes: The inline elements.
        roles: Of all elements; see ``tree_units``.
    """

    num_copied = 0
    """How many elements of formatting its translation may copy."""

    def __init__(self, element: Node, place: str, nodes: list[Node], roles: Mapping[Node, str]) -> None:
        self._element, self._place, self._nodes, self._roles = element, place, nodes, roles
        self._before = self._after = ""
        """White space around the text."""
        self.boxes: list[Node] = []
        """The elements that have texts of their own."""
        self._text = InlineText(self._pieces(getattr(element, place), nodes))
        self.spans = self._text.spans

    def fill(self, spans: Sequence[Fragment]) -> None:
        """Replace the text."""
        for node in self._nodes:
            node.getparent().remove(node)
        container = self._element.makeelement(CONTAINER)
        opened, begun = [container], set[Node]()
        for kind, item, _ in chain(self._text.translated(spans), [Piece("text", self._after)]):
            inner = opened[-1]
            if kind == "close":
                opened.pop()
                continue
            if not isinstance(item, str):
                inner = self._emptied(item, item not in begun) if kind == "open" else item
                inner.tail = None
                opened[-1].append(inner)
                begun.add(item)
            elif item:
                self._append_text(inner, xml_characters(item))
            if kind == "open":
                opened.append(inner)
        self._nodes = list(container)
        setattr(self._element, self._place, None)
        for node in reversed(self._nodes):
            if self._place == "text":
                self._element.insert(0, node)
            else:
                self._element.addnext(node)
        setattr(self._element, self._place, self._before + (container.text or ""))

    @abstractmethod
    def _pieces(self, text: str | None, nodes: Iterable[Node]) -> Iterator[Piece]:
        """The pieces of an element, or of the unit; adds to ``boxes``."""

    @abstractmethod
    def _emptied(self, element: Node, is_first: bool) -> Node:
        """An element without its text, for the first time or again."""

    @abstractmethod
    def _append_text(self, parent: Node, text: str) -> None:
        """Append text to an element."""


_Unit = TypeVar("_Unit", bound=TreeUnit)


def tree_units(block: Node, roles: Mapping[Node, str], unit_type: type[_Unit]) -> Iterator[_Unit]:
    """The units in a block, in order.

    ``roles``: a text ends at a ``block``, or an element without a role, and at an ``untranslated`` one, of
    which only blocks inside are translated; the other roles are those that ``unit_type`` knows.
    """
    begin, place, nodes = block, "text", list[Node]()
    for child in [*block, None]:
        if child is not None and roles.get(child, "block") not in ("block", "untranslated"):
            nodes.append(child)
            continue
        if roles.get(block) != "untranslated" and (nodes or getattr(begin, place)):
            unit = unit_type(begin, place, nodes, roles)
            yield unit
            for box in unit.boxes:
                yield from tree_units(box, roles, unit_type)
        if child is not None:
            yield from tree_units(child, roles, unit_type)
            begin, place, nodes = child, "tail", []
