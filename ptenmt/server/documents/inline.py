"""Inline elements, such as bold words and links: spans of a text, and written around those of another."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ptenmt.translation.markup import Span


class InlineText(ABC):
    """A text with inline elements."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._parts: list[str] = []
        self._length, self._end = 0, ""
        """The number of characters of the text, and the last of them."""
        self._elements: list[Any] = []
        """The element of each span."""
        self._literals: list[str | None] = []
        """What stands in the text for an element without one of its own; None: it has that of the span."""

    @property
    def text(self) -> str:
        """The text."""
        return "".join(self._parts)

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length, self._end = self._length + len(text), text[-1]

    def _write(self, box: Any, text: str, spans: Sequence[Span]) -> None:
        """Write another text and the elements around its spans into an element."""
        opened: list[tuple[Any, int, int]] = [(box, -1, len(text))]
        place, seen = 0, set[int]()

        def write(end: int) -> None:
            nonlocal place
            if end > place:
                self._append_text(opened[-1][0], text[place:end])
                place = end

        for begin, end, number, parent in spans:
            while opened[-1][1] != parent:
                write(opened[-1][2])
                opened.pop()
            write(begin)
            element = self._open(number, is_first=number not in seen)
            seen.add(number)
            opened[-1][0].append(element)
            if self._literals[number] is None:
                opened.append((element, number, end))
            elif text[begin:end] == self._literals[number]:
                place = end
        while opened:
            write(opened[-1][2])
            opened.pop()

    @abstractmethod
    def _open(self, number: int, *, is_first: bool) -> Any:
        """The element of a span, for the first time or again; empty, if it has a text."""

    @abstractmethod
    def _append_text(self, parent: Any, text: str) -> None:
        """Append text to an element."""
