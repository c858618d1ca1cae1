"""Which elements of an HTML page are open, where end tags may be missing.

A small part of the HTML standard's tree construction (section 13.2.6): what has no content, which tags end
which elements, and how far up an end tag reaches.
"""

from bisect import bisect_left

_Names = frozenset[str]


def _names(text: str) -> _Names:
    return frozenset(text.split())


_NEVER_OPEN = _names(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr"
)
_NEVER_CLOSED = _names("html body")
"""What follows their end tags is in them nevertheless."""
_WALLS = _names("applet caption marquee object table td template th")
"""Elements out of which no end tag reaches, but those of tables."""
_TABLE_PARTS = _names("caption table tbody td tfoot th thead tr")
_TABLES = _names("table template")
_FOREIGN = _names("svg math")
"""Elements of other languages, in which ``/`` ends what it closes, and nothing is raw text."""
_HTML_AGAIN = _names("foreignobject desc title annotation-xml mi mn mo ms mtext")
"""Elements of those languages in which there is HTML."""
_NEVER_FOREIGN = _names(
    """b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing
    menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"""
)
"""HTML elements that end SVG and MathML around them."""
_BLOCKS = _names(
    """address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section
    summary table ul xmp"""
)


def _ends(tags: str, *, ended: str, within: str, walls: _Names = _WALLS) -> dict[str, tuple[_Names, _Names]]:
    return dict.fromkeys(tags.split(), (_names(ended), _names(within) | walls))


_NO_WALLS: _Names = frozenset()
_PARAGRAPH_END = (_names("p"), _names("button") | _WALLS)
_TABLE_PART_ENDS = _ends(
    "tbody tfoot thead", ended="caption colgroup tbody tfoot thead tr", within="table", walls=_NO_WALLS
)
_ENDS = (
    _ends("li", ended="li", within="dir menu ol ul")
    | _ends("dd dt", ended="dd dt", within="dl")
    | _ends("a", ended="a", within="")
    | _ends("button", ended="button", within="")
    | _ends("td th", ended="td th", within="table tr", walls=_NO_WALLS)
    | _ends("tr", ended="caption colgroup tr", within="table", walls=_NO_WALLS)
    | _TABLE_PART_ENDS
    | _ends("option", ended="option", within="datalist optgroup select")
    | _ends("optgroup", ended="optgroup option", within="select")
    | _ends("rb rp rt rtc", ended="rb rp rt rtc", within="ruby")
)
"""For a start tag, which elements it ends, and within which."""
_DEEPEST = 256
"""What is nested deeper replaces the element around it, but in what is not translated; browsers do so too."""


class OpenElements:
    """The elements around a place, outermost first."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._places: dict[str, list[int]] = {}  # in _names, of each name that is in it
        self._untranslated: int | None = None

    @property
    def are_translated(self) -> bool:
        """Whether text here is to be translated."""
        return self._untranslated is None

    @property
    def are_foreign(self) -> bool:
        """Whether they are SVG or MathML here, and not HTML."""
        return self._innermost(_FOREIGN) > self._innermost(_HTML_AGAIN)

    def start(self, name: str, *, is_translated: bool, is_closed: bool) -> None:
        """A start tag.

        Args:
            name: In small letters.
            is_translated: Whether the element may be translated.
            is_closed: Whether it ends with ``/``; in HTML that says nothing.
        """
        if name in _NEVER_FOREIGN and self.are_foreign:
            self._leave_foreign()
        if name in _BLOCKS:
            self._end(*_PARAGRAPH_END)
        if name in _ENDS:
            self._end(*_ENDS[name])
        if name in _NEVER_OPEN or (is_closed and (name in _FOREIGN or self.are_foreign)):
            return
        if len(self._names) == _DEEPEST:
            if not self.are_translated:
                return
            self._cut(_DEEPEST - 1)
        if not is_translated and self._untranslated is None:
            self._untranslated = len(self._names)
        self._places.setdefault(name, []).append(len(self._names))
        self._names.append(name)

    def end(self, name: str) -> None:
        """An end tag; of what is not open it ends nothing."""
        if name not in _NEVER_CLOSED:
            self._end(frozenset((name,)), _TABLES if name in _TABLE_PARTS else _WALLS)

    def _end(self, ended: _Names, within: _Names) -> None:
        """End the innermost of such elements (of several kinds, the outermost) that is within no others."""
        wall = self._innermost(within)
        found = [places for name in ended if (places := self._places.get(name)) and places[-1] >= wall]
        if found:
            is_one = len(ended) == 1
            self._cut(min(places[-1 if is_one else bisect_left(places, wall)] for places in found))

    def _leave_foreign(self) -> None:
        """End SVG and MathML, out to the HTML that they are in."""
        html = self._innermost(_HTML_AGAIN)
        places = (place for name in _FOREIGN for place in self._places.get(name, ()))
        self._cut(min(place for place in places if place > html))

    def _innermost(self, names: _Names) -> int:
        """Where the innermost of such elements is; -1: there is none."""
        return max((self._places[name][-1] for name in names & self._places.keys()), default=-1)

    def _cut(self, length: int) -> None:
        for name in reversed(self._names[length:]):
            self._places[name].pop()
            if not self._places[name]:
                del self._places[name]
        del self._names[length:]
        if self._untranslated is not None and self._untranslated >= length:
            self._untranslated = None
