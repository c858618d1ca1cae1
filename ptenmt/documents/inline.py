"""What is translated in a document: which texts, how many there may be, and their inline elements."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, count, groupby, islice, pairwise
from operator import itemgetter
from typing import Any, TypeVar

from lxml import etree

from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Elements, Fragment, num_shared, text_of

MAX_TEXTS = 20_000
"""Texts of a document; even at one word each they would keep a server busy for minutes."""
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
    """A text without the characters that XML forbids."""
    return _NOT_XML.sub("", text)


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
    return None if is_drop_cap or names & {"sub", "sup"} else path[:shared]


class TaggedText:
    """A text with tags that are written as they stand, such as those of subtitles.

    A tag is an element around the text up to its end tag, or up to the end without one.

    Args:
        pieces: The parts of the source, each with the name of its tag: ``b`` begins an element, ``/b`` ends
            it, ``POINT`` stands between words, ``PLACEHOLDER`` like a word, and None is text.
        has_boundaries: Whether texts end at a ``boundary``; else it is within a word.
    """

    def __init__(self, pieces: Iterable[tuple[str, str | None]], *, has_boundaries: bool = True) -> None:
        pieces = list(pieces)
        text = "".join(part for part, name in pieces if name is None)
        self._has_space_entities = _NO_BREAK_ENTITY in text
        free = (name for name in map("{{{}}}".format, count()) if name not in text)
        self._tags: list[list[str]] = []  # what begins and ends each element
        self._placeholders: dict[str, str] = {}
        self._line_ends: list[str] = []
        """What each line end of the text stands for: a boundary for nothing."""
        path, names, spans = Elements(), list[str](), list[Fragment]()
        text_end = 0
        for part, name in pieces:
            if name is None and part:
                part = part.replace(_NO_BREAK_ENTITY, _NO_BREAK)
                around = boundary(spans[text_end - 1], part, path, self._name) if text_end else None
                if has_boundaries and around is not None:
                    spans.insert(text_end, ("\n", around))
                    self._line_ends.append("")
                spans.append((part, path))
                self._line_ends += ["\n"] * part.count("\n")
                text_end = len(spans)
            elif name == PLACEHOLDER:
                placeholder = next(free)
                self._placeholders[placeholder] = part
                spans.append((placeholder, path))
                text_end = len(spans)
            elif name and name[0] == "/" and name[1:] in names:
                names = names[: -1 - names[::-1].index(name[1:])]
                self._tags[path[len(names)]][1] = part
                path = path[: len(names)]
            elif name is not None:
                self._tags.append([part, ""])
                inner = (*path, len(self._tags) - 1)
                spans.append(("", inner))
                if name != POINT and len(path) < MAX_DEPTH:
                    path, names = inner, [*names, name]
        self.spans = merged(
            span
            for span, (_, following) in pairwise([*spans, ("", Elements())])
            if span[0] or following[: len(span[1])] != span[1]
        )

    def is_around(self, path: Elements, signs: str) -> bool:
        """Whether the innermost element's tag consists of some characters."""
        return set(self._tags[path[-1]][0]) <= set(signs)

    def _name(self, number: int) -> str:
        return html_tag(self._tags[number][0])

    def written(self, spans: Sequence[Fragment], escaped: Callable[[str], str] = str) -> str:
        """A translation with its tags; placeholders that it lost are at its end."""
        parts, last, line_ends = list[str](), Elements(), iter(self._line_ends)
        for text, path in [*spans, ("", Elements())]:
            same = num_shared(last, path)
            parts += [self._tags[number][1] for number in reversed(last[same:])]
            parts += [self._tags[number][0] for number in path[same:]]
            written = escaped(text)
            if self._has_space_entities:
                written = written.replace(_NO_BREAK, _NO_BREAK_ENTITY)
            parts.append(re.sub("\n", lambda line_end: next(line_ends, line_end[0]), written))
            last = path
        left = {**self._placeholders}

        def original(name: re.Match[str]) -> str:
            return left.pop(name[0], "") if name[0] in self._placeholders else name[0]

        return " ".join([_PLACEHOLDERS.sub(original, "".join(parts)), *left.values()])


def html_tag(tag: str) -> str:
    """The name of a tag of HTML, or of the numbered ones of React's libraries, as of ``TaggedText``."""
    name = re.match(r"<(/?(?:[A-Za-z][\w-]*|\d+))", tag)
    return POINT if name is None or _VOID.fullmatch(tag) else name[1].lower()


class TranslationUnit(ABC):
    """A text with inline elements.

    An element with contents that are not translated, such as code, stands in the text as a placeholder.

    Args:
        taken: Texts that are no placeholders; see ``numbers_in_braces``.
    """

    def __init__(self, taken: Collection[str]) -> None:
        self.spans: list[Fragment] = []
        self._elements: list[Any] = []
        """Those that paths refer to. One of them may be a text, such as the space after an image."""
        self._names = (name for name in map("{{{}}}".format, count()) if name not in taken)
        self._placeholders: dict[str, list[Any]] = {}
        """The elements that each placeholder stands for, in order; a boundary is an empty text."""

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

    def _number(self, element: Any) -> int:
        """The number of a new element."""
        self._elements.append(element)
        return len(self._elements) - 1

    def _placeholder(self, element: Any, name: str | None = None) -> str:
        """A placeholder, by default one that occurs once."""
        name = name or next(self._names)
        self._placeholders.setdefault(name, []).append(element)
        return name

    def _ordinal(self, text: str) -> str:
        """The sign that a superscript stands for if it is part of the number before it, as in 1.º or n.º."""
        before = self.spans[-1][0] if self.spans else ""
        is_part = len(text) <= 2 and text.isalpha() and _BEFORE_ORDINAL.search(before)
        return _ORDINAL_SIGNS.get(text, text) if is_part else ""

    def _write(self, container: Any, spans: Iterable[Fragment]) -> None:
        """Write a translation into an element; placeholders that it lost are at its end."""
        opened, last, seen = [container], Elements(), set[int]()
        left = {name: [*elements] for name, elements in self._placeholders.items()}

        def append(element: Any) -> None:
            if isinstance(element, str):
                self._append_text(opened[-1], element)
            else:
                element.tail = None
                opened[-1].append(element)

        for text, path in merged(spans):
            same = num_shared(last, path)
            del opened[same + 1 :]
            for number in path[same:]:
                element = self._elements[number]
                if isinstance(element, str):
                    append(element)
                    continue
                element, contents = self._opened(element, is_first=number not in seen)
                append(element)
                opened.append(contents)
                seen.add(number)
            last, end = path, 0
            for placeholder in _PLACEHOLDERS.finditer(text):
                if placeholder[0] not in left:
                    continue
                self._append_text(opened[-1], text[end : placeholder.start()])
                end = placeholder.end()
                if left[placeholder[0]]:
                    append(left[placeholder[0]].pop(0))
            self._append_text(opened[-1], text[end:])
        del opened[1:]
        for element in chain(*left.values()):
            self._append_text(container, " ")
            append(element)

    @abstractmethod
    def _opened(self, element: Any, *, is_first: bool) -> tuple[Any, Any]:
        """An element without its text, for the first time or again, and what gets the translated text."""

    @abstractmethod
    def _append_text(self, parent: Any, text: str) -> None:
        """Append text to an element, if there is any."""
