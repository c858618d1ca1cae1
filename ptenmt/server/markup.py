"""HTML of which only the text is translated.

Everything else stays to the byte, broken markup included: tokens are found as the HTML standard's tokenizer
finds them (section 13.2.5), each in one look, however broken they are. A translation is escaped, so that none
can become markup.
"""

import html
import re
from collections.abc import Iterator, Sequence

from ptenmt.server.prose import check_tags, gathered, is_prose, replaced
from ptenmt.server.tags import OpenElements

_BLANK = r"[ \t\n\f\r]"
_VALUE = rf"""{_BLANK}*+ = {_BLANK}*+ (?: "[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z) | [^ \t\n\f\r>]*+ )"""
_NAME = r"(?: =[^ \t\n\f\r/>=]*+ | [^ \t\n\f\r/>=]++ )"
_TOKEN = re.compile(
    rf"""
    (?P<text> (?: [^<] | <(?![a-zA-Z/!?]) )++ )
    | <!-- (?: -?> | .*? (?: --!?> | \Z ) )              # a comment
    | < (?: [!?] | /(?![a-zA-Z]) ) [^>]* (?: > | \Z )    # what becomes one, and a document type
    | < (?P<end>/?) (?P<name>[a-zA-Z][^ \t\n\f\r/>]*+)
      (?P<attributes> (?: {_BLANK}++ | /(?!>) | {_NAME} (?: {_VALUE} )?+ )*+ ) (?P<closed>/?) (?: > | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rf"(?P<name>{_NAME}) (?P<value>{_VALUE})?+", re.VERBOSE)
_RAW_TEXT = frozenset(("script", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript"))
"""Elements in which there are no tags."""
_SCRIPT = re.compile(r"<!(?=--)|-->|</?script(?=[ \t\n\f\r/>])", re.IGNORECASE)
_NOT_PROSE = frozenset(
    ("code", "pre", "kbd", "samp", "var", "tt", "template", "math", "svg", "object", *_RAW_TEXT)
)
_LONG_REFERENCE = re.compile(r"&#([0-9]{8,}+)")
"""Python refuses numbers of some thousand digits."""
_INNER_BLANKS = re.compile(r"(?<=\S)[ \t\r\n\f]+(?=\S)")

MOST_TAGS = 100_000


class Markup:
    """An HTML text, cut where translations go.

    Args:
        source: The HTML.

    Raises:
        Refusal: There are too many tags in it, or too many texts.
    """

    def __init__(self, source: str) -> None:
        check_tags(source.count("<"), MOST_TAGS)
        self._source = source
        self._places = gathered(
            (begin, end) for begin, end in _texts(source) if is_prose(_unescaped(source[begin:end]))
        )

    @property
    def texts(self) -> list[str]:
        """The texts that are to be translated, entities resolved; lines end where the browser lets them."""
        return [_INNER_BLANKS.sub(" ", _unescaped(self._source[begin:end])) for begin, end in self._places]

    def with_texts(self, translations: Sequence[str]) -> str:
        """The HTML with other texts.

        Args:
            translations: One for each of ``texts``.
        """
        return replaced(self._source, self._places, [_escaped(text) for text in translations])


def _texts(source: str) -> Iterator[tuple[int, int]]:
    """Where the texts begin and end that may be translated."""
    place = 0
    around = OpenElements()
    while place < len(source):
        token = _TOKEN.match(source, place)
        assert token is not None, "every text begins with a token"
        begin, place = place, token.end()
        if token["text"] is not None and around.are_translated:
            yield begin, place
        name = (token["name"] or "").lower()
        if token["end"]:
            around.end(name)
        elif name:
            is_translated = name not in _NOT_PROSE and not _is_kept(token["attributes"])
            around.start(name, is_translated=is_translated, is_closed=token["closed"] != "")
        if name in _RAW_TEXT and not token["end"] and not around.are_foreign:
            place = _end_of(name, source, place)


def _is_kept(attributes: str) -> bool:
    """Whether the author wants an element left as it is: the first attribute ``translate`` says no."""
    if "translate" not in attributes.lower():
        return False
    found = (each for each in _ATTRIBUTE.finditer(attributes) if each["name"].lower() == "translate")
    value = next((each["value"] or "" for each in found), "")
    return _unescaped(value.partition("=")[2].strip(" \t\n\f\r\"'")).lower() == "no"


def _end_of(name: str, source: str, place: int) -> int:
    """Where an element without tags in it ends."""
    if name == "script":
        return _end_of_script(source, place)
    found = re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE).search(source, place)
    return len(source) if found is None else found.start()


def _end_of_script(source: str, place: int) -> int:
    """Where a script ends; in a comment in it, others may begin and end (from 13.2.5.17)."""
    in_comment = in_script = False
    for found in _SCRIPT.finditer(source, place):
        tag = found[0].lower()
        if tag == "</script" and not in_script:
            return found.start()
        in_comment = tag != "-->" and (in_comment or tag == "<!")
        in_script = in_comment and (tag == "<script" or (in_script and tag != "</script"))
    return len(source)


def _unescaped(text: str) -> str:
    """A text without entities; eight digits are enough for a number beyond any character."""
    return html.unescape(_LONG_REFERENCE.sub(lambda found: f"&#{found[1].lstrip('0')[:8] or 0}", text))


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\u00a0", "&nbsp;")
