"""What is translated in a document: which texts, how many there may be, and their inline elements."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count, groupby, islice, pairwise
from operator import itemgetter
from typing import Any, TypeVar

from lxml import etree

from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Elements, Fragment, num_shared, text_of

MAX_TEXTS = 20_000
"""Texts of a document; even at one word each they would keep a server busy for minutes."""
LINE_BREAK = re.compile(r"</?br\s*/?>", re.IGNORECASE)
"""A line break of HTML, which plain texts have, too; browsers take an end tag for one."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_AMOUNT = re.compile(r"\d(?:,\d|\.\d{3}(?!\d))")
_FILE_NAME = re.compile(r"\S*\w\.(?:[a-z]{3,4}|[a-z]{2,3}\d|js|md|py|gz|sh)")
_Item = TypeVar("_Item")
MAX_DEPTH = 16
"""Of the tags of a ``TaggedText`` in each other; what follows a further one is not inside it."""
POINT, PLACEHOLDER = "", "{}"
_VOID = re.compile(r"<(?:br|hr|img|input|wbr)\b.*|<.*/>", re.IGNORECASE | re.DOTALL)
_BEFORE_ORDINAL = re.compile(r"(?:\d|\b[nN])\.?$")
_ORDINAL_SIGNS = {"o": "º", "a": "ª"}
_NO_BREAK_ENTITY, _NO_BREAK = "&nbsp;", "\u00a0"
_NUMBER_IN_BRACES = re.compile(r"\{\d+\}")
_PLACEHOLDERS = re.compile(r"\{\d+\}|\n")
_LINE_END = re.compile("[\n\v\f\x85\u2028\u2029]")
_GAP = re.compile(r"[\s|·•/›»>–—-]*")
_LINKS, _RAISED = {"a", "link"}, {"sub", "sup"}


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


def xml_characters(text: str) -> str:
    """A text without the characters that XML forbids; two of them are white space."""
    return _NOT_XML.sub(lambda sign: " " if sign[0] in "\v\f" else "", text)


def numbers_in_braces(root: Any) -> set[str]:
    """What looks like a placeholder in the text of an element."""
    text = etree.tostring(root, method="text", encoding="unicode")  # python-pptx overrides .text, not this
    return {*_NUMBER_IN_BRACES.findall(text)}


def merged(spans: Iterable[Fragment]) -> list[Fragment]:
    """The same with neighbours in the same elements as one."""
    return [(text_of(list(group)), path) for path, group in groupby(spans, itemgetter(1))]


def boundary(last: Fragment, text: str, path: Elements, name_of: Callable[[int], str]) -> Elements | None:
    """The elements around the place between two parts of a text, if the text ends there.

    It does where an element ends and another begins between two letters or digits, as in menus without white
    space; not at subscripts, superscripts and drop caps.

    Args:
        last: The part before it.
        text: The part after it.
        path: The elements of that.
        name_of: Gives the tag of an element.
    """
    before, last_path = last
    shared = num_shared(last_path, path)
    if not (before[-1:].isalnum() and text[:1].isalnum()) or shared == min(len(last_path), len(path)):
        return None
    is_drop_cap = len(before) == 1 and before.isupper() and text[0].islower()
    names = set(map(name_of, last_path[shared:] + path[shared:]))
    return None if is_drop_cap or names & _RAISED else path[:shared]


def are_texts(elements: Sequence[tuple[str, str]], gaps: Sequence[str]) -> bool:
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
        if names & _RAISED or not names.issubset(_LINKS) and (not gap or is_sentence):
            return False
    return True


class InlineText(ABC):
    """A text with inline elements, which its translation gets, too.

    An element with contents that are not translated, such as code, stands in the text as a placeholder, and
    what separates two texts as a line end.

    Args:
        taken: Texts that are no placeholders; see ``numbers_in_braces``.
    """

    def __init__(self, taken: Collection[str]) -> None:
        self.spans: list[Fragment] = []
        self._elements: list[Any] = []
        """Those that paths refer to. One of them may be a text, such as the space after an image."""
        self._names = (name for name in map("{{{}}}".format, count()) if name not in taken)
        self._placeholders: dict[str, list[Any]] = {}
        """What each placeholder stands for, in order: elements, or texts."""

    def _number(self, element: Any) -> int:
        """The number of a new element."""
        self._elements.append(element)
        return len(self._elements) - 1

    def _placeholder(self, element: Any, name: str | None = None) -> str:
        """A placeholder, by default one that occurs once."""
        name = name or next(self._names)
        self._placeholders.setdefault(name, []).append(element)
        return name

    def _write(self, spans: Iterable[Fragment]) -> None:
        """Write a translation; placeholders that it lost are at its end, and line ends that it added stay."""
        last = Elements()
        left = {name: [*elements] for name, elements in self._placeholders.items()}
        for text, path in [*merged(spans), ("", Elements())]:
            same = num_shared(last, path)
            for _ in last[same:]:
                self._close()
            for number in path[same:]:
                self._open(self._elements[number])
            last, end = path, 0
            for placeholder in _PLACEHOLDERS.finditer(text):
                elements = left.get(name := placeholder[0])
                if elements or (name != "\n" and elements is not None):
                    self._append_text(text[end : placeholder.start()])
                    end = placeholder.end()
                    if elements:
                        self._append(elements.pop(0))
            self._append_text(text[end:])
        for element in chain(*left.values()):
            if not isinstance(element, str) or element.strip():
                self._append_text(" ")
                self._append(element)

    @abstractmethod
    def _open(self, element: Any) -> None:
        """Begin an element, for the first time or again."""

    @abstractmethod
    def _close(self) -> None:
        """End the innermost element."""

    @abstractmethod
    def _append(self, element: Any) -> None:
        """Append what a placeholder stands for."""

    @abstractmethod
    def _append_text(self, text: str) -> None:
        """Append text, if there is any."""


@dataclass
class _Tag:
    """A tag: its name, what begins the element, and what ends it."""

    name: str
    begin: str
    end: str = ""


class TaggedText(InlineText):
    """A text with tags that are written as they stand, such as those of subtitles.

    A tag is an element around the text up to its end tag, or up to the end without one.

    Args:
        pieces: The parts of the source, each with the name of its tag: ``b`` begins an element, ``/b`` ends
            it, ``POINT`` stands between words, ``PLACEHOLDER`` like a word, and None is text.
        has_boundaries: Whether texts end at a ``boundary``, and elements may be texts of their own; else the
            former is within a word.
    """

    def __init__(self, pieces: Iterable[tuple[str, str | None]], *, has_boundaries: bool = True) -> None:
        pieces = list(pieces)
        text = "".join(part for part, name in pieces if name is None)
        super().__init__({*_NUMBER_IN_BRACES.findall(text)})
        self._has_space_entities = _NO_BREAK_ENTITY in text
        self._written, self._ends = list[str](), list[str]()
        path, names, text_end = Elements(), list[str](), 0
        for part, name in pieces:
            if name is None and part:
                part = part.replace(_NO_BREAK_ENTITY, _NO_BREAK)
                last = self.spans[text_end - 1] if text_end and has_boundaries else ("", path)
                around = boundary(last, part, path, lambda number: self._elements[number].name)
                if around is not None:
                    self.spans.insert(text_end, (self._placeholder("", "\n"), around))
                self.spans.append((_LINE_END.sub(lambda end: self._placeholder(end[0], "\n"), part), path))
                text_end = len(self.spans)
            elif name == PLACEHOLDER:
                self.spans.append((self._placeholder(part), path))
                text_end = len(self.spans)
            elif name and name[0] == "/" and name[1:] in names:
                names = names[: -1 - names[::-1].index(name[1:])]
                self._elements[path[len(names)]].end = part
                path = path[: len(names)]
            elif name is not None:
                inner = (*path, self._number(_Tag(name, part)))
                self.spans.append(("", inner))
                if name != POINT and len(path) < MAX_DEPTH:
                    path, names = inner, [*names, name]
        self.spans = merged(
            span
            for span, (_, following) in pairwise([*self.spans, ("", Elements())])
            if span[0] or following[: len(span[1])] != span[1]
        )
        if has_boundaries:
            self._separate()

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
        named = [(self._elements[number].name, text) for number, text in elements.items()]
        if not are_texts(named, gaps):
            return
        line_ends, left = iter(self._placeholders.pop("\n", [])), set(elements)
        for at, (text, path) in enumerate(self.spans):
            left.difference_update(path)
            is_gap = len(path) <= depth and text and 0 < len(left) < len(elements)
            if is_gap and "\n" not in text:
                self.spans[at] = (self._placeholder(text, "\n"), path)
            else:
                self._placeholders.setdefault("\n", []).extend(islice(line_ends, text.count("\n")))

    def is_around(self, path: Elements, signs: str) -> bool:
        """Whether the innermost element's tag consists of some characters."""
        return set(self._elements[path[-1]].begin) <= set(signs)

    def written(self, spans: Sequence[Fragment], escaped: Callable[[str], str] = str) -> str:
        """A translation with its tags; placeholders that it lost are at its end."""
        self._written, self._ends, self._escaped = [], [], escaped
        self._write(spans)
        return "".join(self._written)

    def _open(self, element: _Tag) -> None:
        self._written.append(element.begin)
        self._ends.append(element.end)

    def _close(self) -> None:
        self._written.append(self._ends.pop())

    def _append(self, element: str) -> None:
        self._written.append(element)

    def _append_text(self, text: str) -> None:
        written = self._escaped(text)
        self._written.append(
            written.replace(_NO_BREAK, _NO_BREAK_ENTITY) if self._has_space_entities else written
        )


def html_tag(tag: str) -> str:
    """The name of a tag of HTML, or of the numbered ones of React's libraries, as of ``TaggedText``."""
    name = re.match(r"<(/?(?:[A-Za-z][\w-]*|\d+))", tag)
    return POINT if name is None or _VOID.fullmatch(tag) else name[1].lower()


class ElementText(InlineText):
    """A text with elements of a tree."""

    _opened: list[Any]
    """What gets the translated text, outermost first."""
    _begun: set[Any]
    """The elements that are written."""

    def _write_into(self, container: Any, spans: Iterable[Fragment]) -> None:
        self._opened, self._begun = [container], set()
        self._write(spans)

    def _put(self, text: str, path: Elements) -> None:
        if text:
            before = (
                self.spans.pop()[0] if self.spans and self.spans[-1][0] and self.spans[-1][1] == path else ""
            )
            self.spans.append((before + text, path))

    def _put_empty(self, path: Elements) -> None:
        """Add an element, unless it has something inside."""
        if not self.spans or self.spans[-1][1][: len(path)] != path:
            self.spans.append(("", path))

    def _ordinal(self, text: str) -> str:
        """The sign that a superscript stands for if it is part of the number before it, as in 1.º or n.º."""
        before = self.spans[-1][0] if self.spans else ""
        is_part = len(text) <= 2 and text.isalpha() and _BEFORE_ORDINAL.search(before)
        return _ORDINAL_SIGNS.get(text, text) if is_part else ""

    def _open(self, element: Any) -> None:
        if isinstance(element, str):
            self._append(element)
            self._opened.append(self._opened[-1])
        else:
            empty, contents = self._emptied(element, is_first=element not in self._begun)
            self._begun.add(element)
            self._append(empty)
            self._opened.append(contents)

    def _close(self) -> None:
        self._opened.pop()

    def _append(self, element: Any) -> None:
        if isinstance(element, str):
            self._append_text(element)
        else:
            element.tail = None
            self._opened[-1].append(element)

    @abstractmethod
    def _emptied(self, element: Any, *, is_first: bool) -> tuple[Any, Any]:
        """An element without its text, for the first time or again, and what gets the translated text."""
