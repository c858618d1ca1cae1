"""Inline elements, such as bold words and links: written around the spans of a translation."""

from collections.abc import Callable, Sequence
from typing import Any

from ptenmt.translation.markup import Span


def write_spans(
    box: Any,
    text: str,
    spans: Sequence[Span],
    literals: Sequence[str | None],
    open_element: Callable[[int, bool], Any],
    append_text: Callable[[Any, str], None],
) -> None:
    """Write a text with elements around its spans.

    Args:
        box: The element to fill.
        text: The text.
        spans: Its spans.
        literals: For each span of the source what stands there for an element without a text of its own;
            None: the element holds the text of the span.
        open_element: Returns the element of a span, given its number, for the first time or again.
        append_text: Appends text to an element.
    """
    opened: list[tuple[Any, int, int]] = [(box, -1, len(text))]
    place, seen = 0, set[int]()

    def write(end: int) -> None:
        nonlocal place
        if end > place:
            append_text(opened[-1][0], text[place:end])
            place = end

    for begin, end, number, parent in spans:
        while opened[-1][1] != parent:
            write(opened[-1][2])
            opened.pop()
        write(begin)
        element = open_element(number, number not in seen)
        seen.add(number)
        opened[-1][0].append(element)
        if literals[number] is None:
            opened.append((element, number, end))
        elif text[begin:end] == literals[number]:
            place = end
    while opened:
        write(opened[-1][2])
        opened.pop()
