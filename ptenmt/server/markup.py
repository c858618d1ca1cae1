"""HTML of which only the text is translated.

Everything else stays to the byte, broken markup included: tokens are found as the HTML standard's tokenizer
finds them (section 13.2.5), each in one look, however broken they are. A translation is escaped, so that none
can become markup.
"""

import html
import re
from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"""
    (?P<text> (?: [^<] | <(?![a-zA-Z/!?]) )++ )
    | <!-- (?: -?> | .*? (?: --!?> | \Z ) )              # a comment
    | < (?: [!?] | /(?![a-zA-Z]) ) [^>]* (?: > | \Z )    # what becomes one, and a document type
    | < (?P<end>/?) (?P<name>[a-zA-Z][^\s/>]*)
      (?: [^>=] | = \s* (?: "[^"]*(?:"|\Z) | '[^']*(?:'|\Z) | ) )*+ (?: > | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
_RAW_TEXT = frozenset(("script", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript"))
"""Elements in which there are no tags."""
_NOT_PROSE = frozenset(
    ("code", "pre", "kbd", "samp", "var", "tt", "template", "math", "svg", "object", *_RAW_TEXT)
)
_UNTRANSLATED = re.compile(r"""\stranslate\s*=\s*["']?no\b""", re.IGNORECASE)
_INNER_BLANKS = re.compile(r"(?<=\S)[ \t\r\n\f]+(?=\S)")


class Markup:
    """An HTML text, cut where translations go.

    Args:
        source: The HTML.
    """

    def __init__(self, source: str) -> None:
        self._tokens = [(raw, is_text and _is_prose(raw)) for raw, is_text in _tokens(source)]

    @property
    def texts(self) -> list[str]:
        """The texts that are to be translated, entities resolved; lines end where the browser lets them."""
        return [_INNER_BLANKS.sub(" ", html.unescape(raw)) for raw, is_text in self._tokens if is_text]

    def with_texts(self, translations: Sequence[str]) -> str:
        """The HTML with other texts.

        Args:
            translations: One for each of ``texts``.
        """
        given = iter(translations)
        return "".join(_escaped(next(given)) if is_text else raw for raw, is_text in self._tokens)


def _tokens(source: str) -> Iterator[tuple[str, bool]]:
    """What follows each other in a text, and whether it is text that may be translated."""
    place = 0
    closed, depth = "", 0  # the element in which nothing is translated, and how many of its name are open
    while place < len(source):
        token = _TOKEN.match(source, place)
        assert token is not None, "every text begins with a token"
        place = token.end()
        yield token[0], token["text"] is not None and depth == 0
        name = (token["name"] or "").lower()
        if token["end"]:
            depth -= depth > 0 and name == closed
            continue
        if name in _RAW_TEXT:
            begin, place = place, _end_of(name, source, place)
            yield source[begin:place], False
        if name and depth == 0:
            closed = name if _is_closed(name, token[0]) else ""
        depth += name != "" and name == closed and not token[0].endswith("/>")


def _is_closed(name: str, tag: str) -> bool:
    return name in _NOT_PROSE or _UNTRANSLATED.search(tag) is not None


def _end_of(name: str, source: str, place: int) -> int:
    """Where an element without tags in it ends."""
    found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(source, place)
    return len(source) if found is None else found.start()


def _is_prose(raw: str) -> bool:
    return any(char.isalpha() for char in html.unescape(raw))


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\u00a0", "&nbsp;")
