"""Where the text is in the XML of a Word document.

Text is in runs, pieces of a paragraph with one look. Runs that follow each other and look alike are one text.
"""

from collections.abc import Iterator

from lxml import etree

from ptenmt.server.refusal import Refusal

_NAMESPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
"""ECMA-376's transitional one, which nearly all files are in, and its strict one."""


def _tags(*names: str) -> frozenset[str]:
    return frozenset(f"{{{namespace}}}{name}" for namespace in _NAMESPACES for name in names)


_RUN, _TEXT, _LOOK = _tags("r"), _tags("t"), _tags("rPr")
_INVISIBLE = _tags("lang", "noProof")
"""Parts of a look that nobody sees."""
_WITHOUT_WIDTH = _tags(
    *("lastRenderedPageBreak", "proofErr", "bookmarkStart", "bookmarkEnd"),
    *("commentRangeStart", "commentRangeEnd", "permStart", "permEnd"),
)
"""What may stand between two texts that are one."""
_MOST_ATTRIBUTES = 100
"""Of an element of a look; to read many takes lxml as long as the square of their number."""
_Trait = tuple[str, str, tuple[tuple[str, str], ...]]
_Look = tuple[_Trait, ...]


def texts_of(root: "etree._Element") -> "Iterator[list[etree._Element]]":
    """The elements that make up each text, in order, in one walk through the tree."""
    parts: list[etree._Element] = []
    look: _Look = ()
    looks: list[_Look] = []  # of the runs that are open
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if element.tag in _LOOK:
            walk.skip_subtree()
        elif element.tag in _RUN:
            looks = [*looks, _look(element)] if event == "start" else looks[:-1]
        elif _is_text(element):
            # The texts of one run have one look: to compare a long one with itself for each takes minutes.
            if parts and look is not looks[-1] and look != looks[-1]:
                yield parts
                parts = []
            look = looks[-1]
            parts += [element] if event == "start" else []
        elif parts and element.tag not in _WITHOUT_WIDTH:
            yield parts
            parts = []
    if parts:
        yield parts


def _is_text(element: "etree._Element") -> bool:
    """Whether it is text of a run; formulas have such elements too."""
    parent = element.getparent()
    return element.tag in _TEXT and parent is not None and parent.tag in _RUN


def _look(run: "etree._Element") -> _Look:
    """A run's properties: tags and attributes, without what nobody sees."""
    seen: list[_Trait] = []
    for properties in run.iterchildren(*_LOOK):
        walk = etree.iterwalk(properties, events=("start", "end"))
        for event, element in walk:
            if element.tag in _INVISIBLE:
                walk.skip_subtree()
            elif element is not properties:
                seen.append((event, element.tag, _attributes(element) if event == "start" else ()))
    return tuple(seen)


def _attributes(element: "etree._Element") -> tuple[tuple[str, str], ...]:
    count = len(element.attrib)
    if count > _MOST_ATTRIBUTES:
        raise Refusal(f"the Word document has {count:,} attributes in one place", 413)
    return tuple(sorted(element.attrib.items()))
