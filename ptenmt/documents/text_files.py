"""Text files of which some ranges are translated, and all else stays.

Plain text; the spoken text of subtitles (SubRip, WebVTT); strings of programs (gettext, JSON, YAML).
"""

import json
import re
import textwrap
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, Protocol, TypeVar

import yaml

from ptenmt.data.kept_parts import without_kept_parts
from ptenmt.documents.inline import (
    LINE_BREAK,
    Piece,
    StringText,
    check_text,
    html_tag,
    is_translated,
    limited,
    tagged,
)
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

_TIMES = re.compile(r"\s*[\d:.,]{4,14}\s*-->\s*[\d:.,]{4,14}")
_NUMBER = re.compile(r"\s*\d+\s*")
_SUBTITLE_TAG = r"<[^<>]*>|\{[^{}]*\}"
_SPEAKER = r"[A-ZÀ-Þ] [A-ZÀ-Þ.'\ -]{1,30} : (?:\s+|$)"
_DASH = re.compile(
    rf"^ \s* (?: (?: {_SUBTITLE_TAG} ) \s* )* (?: [-–—]+ \s* (?: {_SPEAKER} )? | {_SPEAKER} )", re.VERBOSE
)
"""What starts each speaker's lines in a dialogue: a dash, or a name in capitals, or both; it stays."""
_UNBROKEN = re.compile(rf"( {_DASH.pattern} | {_SUBTITLE_TAG} )", re.VERBOSE)
_LINE_END = re.compile(rf"[\r\n\v\f\x85\u2028\u2029]|{LINE_BREAK.pattern}", re.IGNORECASE)
_SUBTITLE_END = re.compile(rf"\r\n|\r|\n|\\N|{LINE_BREAK.pattern}|(?=<v\b)", re.IGNORECASE)
"""The end of a line; other subtitles than these have further signs for it. Each voice has a line."""
_NO_BREAK = "\ue000"
_Content = TypeVar("_Content", covariant=True)
_NO_TAG = str.maketrans("<>{}", "‹›()")

MAX_DEPTH = 200
_YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_STRING_TAG = r"</?(?:[A-Za-z][^<>]*|\d+ ?/?)>"
_IDENTIFIER = re.compile(r"[\w.:/@+-]*(?:\w[.:]\w|\d)[\w.:/@+-]*|[/:.]\S+")
"""One word that a program reads, such as a version, a key, a path or a size, and no kept part."""
_MOST_OF_CODE = 500
"""Characters; of longer strings only the choices among texts are looked for."""
_MESSAGE_FORMAT = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,")
"""ICU's choice among texts."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ACCELERATOR = re.compile(r"(?<!\S)(?:(?:[^\W\d_]{1,2}(?=&[a-zà-ÿ]{2}))?&|_)(?=[^\W\d_][^\s&_;=/]*(?!\S))")
"""What ends with the mark before the letter of a keyboard shortcut: & before or in a word, _ before one."""
_BEGIN_OF_WORD = re.compile(r"(?<!\S)(?=[^\W\d_])")


class Parsed(Protocol[_Content]):
    """A document, in text or in bytes."""

    texts: list[list[Fragment]]
    """Its texts to translate, in order, with their inline elements."""

    def with_texts(self, texts: Sequence[Sequence[Fragment]], /) -> _Content:
        """The document with other texts, one for each of ``texts``; to be called once."""
        ...


class TextFile:
    """A text file of which some ranges are translated; all else, and what has nothing to translate, stays.

    Args:
        source: The file.
        ranges: Where units begin and end, in order.
    """

    def __init__(self, source: str, ranges: Iterable[tuple[int, int, StringText]]) -> None:
        self._source = source
        self._ranges = limited(found for found in ranges if is_translated(text_of(found[2].spans)))
        self.texts = [unit.spans for _, _, unit in self._ranges]

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> str:
        """The file with other texts, one for each of ``texts``."""
        parts, last_end = [], 0
        for (begin, end, unit), spans in zip(self._ranges, texts, strict=True):
            parts += [self._source[last_end:begin], unit.written(spans)]
            last_end = end
        return "".join([*parts, self._source[last_end:]])


def plain_text(source: str) -> TextFile:
    """Plain text: each line with something to translate is a text; line ends and blank lines stay."""
    lines = _lines(source, _LINE_END, 0, len(source))
    return TextFile(source, ((*line, StringText([Piece("text", source[slice(*line)])])) for line in lines))


def _lines(source: str, line_end: re.Pattern[str], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the lines of a part of a file begin and end, without blank ones and white space at their ends."""
    ends = (found.span() for found in line_end.finditer(source, begin, end))
    for (_, first), (last, _) in pairwise([(begin, begin), *ends, (end, end)]):
        if line := source[first:last].rstrip():
            yield first, first + len(line)


class _Turn(StringText):
    """The lines of one speaker in a subtitle, or all of its lines if it is no dialogue."""

    def __init__(self, lines: Sequence[str], line_end: str) -> None:
        self._num_lines, self._line_end = len(lines), line_end
        text = " ".join(lines)
        dash = _DASH.match(text)
        self._dash = dash[0] if dash else ""
        pieces = tagged(text.removeprefix(self._dash), _SUBTITLE_TAG, _tag_name)
        super().__init__(pieces, escaped=lambda text: text.translate(_NO_TAG), has_texts=False)

    def written(self, spans: Sequence[Fragment]) -> str:
        """Replace the text; the number of lines stays, if possible."""
        text = self._dash + super().written(spans)
        return self._line_end.join(wrapped(text, self._num_lines, _UNBROKEN))


def _tag_name(tag: str) -> str:
    name = re.fullmatch(r"<(/?\w+)[^<>]*>", tag)
    return name[1].lower() if name else tag


def subrip(source: str) -> TextFile:
    """SubRip subtitles (.srt): what stands between the times; a number and blank lines before them stay."""
    return _subtitles(source, "")


def web_vtt(source: str) -> TextFile:
    """WebVTT subtitles: what is spoken, not settings, notes and styles; the first line is ``WEBVTT``."""
    if not re.match(r"WEBVTT(?![^\s])", source):
        raise DocumentError("the file has no WebVTT subtitles: its first line is not WEBVTT")
    return _subtitles(source, "\n")


def _subtitles(source: str, end: str) -> TextFile:
    """Subtitles; refused without any, or if they are too long or have too many tags or texts.

    A blank line ends one if ``end`` is not empty, else only the times of the next one, with a number before.
    """
    check_text(source, source.count("<") + source.count("{"))
    cues: list[tuple[int, int]] = []
    is_spoken = False
    lines = list(re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", source))
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if _TIMES.match(line[0]):
            cues.append((line.end(), line.end()))
            is_spoken = True
        elif not line[0].strip():
            is_spoken = is_spoken and not end
        elif is_spoken and not (following and _TIMES.match(following[0]) and _NUMBER.fullmatch(line[0])):
            cues[-1] = (cues[-1][0], line.end())
    if not cues and not end:
        raise DocumentError("the file has no subtitles: no line such as 00:00:01,000 --> 00:00:02,500")
    return TextFile(source, chain.from_iterable(_turns(source, *cue) for cue in cues))


def _turns(source: str, begin: int, end: int) -> Iterator[tuple[int, int, _Turn]]:
    """A cue's lines by speaker: each begins with a dash, but perhaps the first, or with a voice's tag.

    A dash before a word in lower case or a number may also stand within a sentence.
    """
    turns: list[list[tuple[int, int]]] = []
    is_dialogue = False
    for line in _lines(source, _SUBTITLE_END, begin, end):
        text = source[slice(*line)]
        dash = _DASH.match(text)
        if dash and not is_dialogue:
            first = text[dash.end() : dash.end() + 1]
            is_dialogue = not turns or not (first.islower() or first.isdigit())
        is_voice = text[:2].lower() == "<v"
        if not turns or is_voice or (is_dialogue and dash):
            turns.append([])
        turns[-1].append(line)
    for turn in turns:
        line_end = source[turn[0][1] : turn[1][0]] if len(turn) > 1 else ""
        yield turn[0][0], turn[-1][1], _Turn([source[slice(*line)] for line in turn], line_end)


def wrapped(text: str, num_lines: int, unbroken: re.Pattern[str]) -> list[str]:
    """Wrap into at most ``num_lines`` lines of balanced length; some parts are not broken."""
    kept = unbroken.sub(lambda part: part[0].replace(" ", _NO_BREAK), text)

    def lines(width: int) -> list[str]:
        return textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)

    widths = range(max(1, len(kept) // num_lines), len(kept) + 1)
    place = bisect_left(widths, True, key=lambda width: len(lines(width)) <= num_lines)
    wrapped = lines(widths[place]) if place < len(widths) else [kept]
    return [line.replace(_NO_BREAK, " ") for line in wrapped]


def _string(value: str, encoded: Callable[[str], str]) -> StringText:
    """A string in a file, as ``encoded`` writes one; one that programs read has no text.

    Raises DocumentError for a lone surrogate, which is half of a character.
    """
    if surrogate := _SURROGATE.search(value):
        raise DocumentError(f"a string has half of a surrogate pair, {surrogate[0]!r}")
    return StringText([] if _is_code(value) else tagged(value, _STRING_TAG, html_tag), encoded=encoded)


def _is_code(value: str) -> bool:
    """Whether a string is for programs: a choice among texts, an identifier, nothing but kept parts."""
    is_choice = _MESSAGE_FORMAT.search(value) is not None
    if is_choice or len(value) > _MOST_OF_CODE:
        return is_choice
    has_words = any(map(str.isalpha, without_kept_parts(value)))
    return _IDENTIFIER.fullmatch(value) is not None or (any(map(str.isalpha, value)) and not has_words)


_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_GETTEXT_LINE = re.compile(
    r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,9}\])?)?[ \t]*("((?:[^"\\]|\\.)*)")[ \t]*'
)
_WITH_TWO_NUMBERS = ("de", "en", "es", "it", "nl", "pt")
_PLURALS_OF_TEMPLATES = "nplurals=INTEGER; plural=EXPRESSION;"


def gettext_messages(source: str, languages: tuple[Collection[str], str] | None = None) -> TextFile:
    """A gettext catalogue: ``msgid`` is translated where ``msgstr`` is empty; all other bytes stay.

    The second of the ``languages`` becomes the one that the header names. A template gets a character set.
    """
    check_text(source, source.count("<"))
    if languages:
        header = re.compile(r'^("Language: )[^"\\]*', re.MULTILINE)
        source = header.sub(rf"\g<1>{languages[1]}", source, count=1)
        source = source.replace("charset=CHARSET", "charset=UTF-8", 1)
        if languages[1] in _WITH_TWO_NUMBERS:
            source = source.replace(_PLURALS_OF_TEMPLATES, "nplurals=2; plural=(n != 1);", 1)
    return TextFile(source, _gettext_ranges(source))


def _gettext_ranges(source: str) -> Iterator[tuple[int, int, StringText]]:
    line_end = "\r\n" if "\r\n" in source else "\n"
    texts = {"msgid": "", "msgid_plural": ""}
    for keyword, begin, end, text, is_fuzzy in _gettext_fields(source):
        value = re.sub(r"\\(.)", lambda sign: _CONTROLS.get(sign[1], sign[1]), text)
        if not keyword.startswith("msgstr"):
            texts[keyword] = value
        elif not value and not is_fuzzy:
            text = texts["msgid" if keyword in ("msgstr", "msgstr[0]") else "msgid_plural"]
            mark = _accelerator(text)
            encoded = partial(_gettext_string, mark=mark, line_end=line_end)
            yield begin, end, _string(text.replace(mark, "") if mark else text, encoded)


def _accelerator(text: str) -> str:
    """The mark of a keyboard shortcut, as in ``&Abrir``; empty if a text has none, or the sign twice."""
    found = _ACCELERATOR.search(text)
    mark = found[0][-1] if found else ""
    return mark if text.count(mark) == 1 else ""


def _gettext_fields(source: str) -> Iterator[tuple[str, int, int, str, bool]]:
    """The keywords, each with where its string begins and ends, the string, and if its message is fuzzy."""
    fields: list[tuple[str, int, int, str, bool]] = []
    is_fuzzy = False
    for number, line in enumerate(re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", source), 1):
        found = _GETTEXT_LINE.match(line[0])
        if not line[0].strip() or line[0].lstrip()[0] == "#":
            is_fuzzy = line[0].startswith("#,") and "fuzzy" in line[0] or is_fuzzy and bool(line[0].strip())
            continue
        if not found or line[0][found.end() :].strip() or not (found[1] or fields):
            raise DocumentError(f'line {number:,} is none of a gettext catalogue, such as msgid "text"')
        keyword, begin, before = found[1], line.start() + found.start(2), ""
        if not keyword:
            keyword, begin, _, before, _ = fields.pop()
        fields.append((keyword, begin, line.start() + found.end(2), before + found[3], is_fuzzy))
    if not fields:
        raise DocumentError('the file has no messages: no line such as msgid "text"')
    yield from fields


def _gettext_string(text: str, mark: str, line_end: str) -> str:
    """A string, with a mark before its first word; one with line ends inside stands on several lines."""
    lines = _BEGIN_OF_WORD.sub(mark, text, count=1).splitlines(keepends=True) or [""]
    strings = [json.dumps(line, ensure_ascii=False) for line in lines]
    return line_end.join(strings if len(strings) == 1 else ['""', *strings])


def json_strings(source: str) -> TextFile:
    """JSON: every string but keys is a text."""
    check_text(source, source.count("<"))
    try:
        json.loads(source, parse_int=str)
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, ValueError) else "it is nested too deeply"
        raise DocumentError(f"the file is not JSON: {reason}") from error
    encoded = partial(json.dumps, ensure_ascii=source.isascii() and "\\u" in source)
    strings = re.finditer(r'"(?:[^"\\]|\\.)*"(\s*:)?', source)  # a colon follows keys only
    values = (string for string in strings if not string[1])
    return TextFile(source, ((*value.span(), _string(json.loads(value[0]), encoded)) for value in values))


def yaml_strings(source: str) -> TextFile:
    """YAML: every scalar that is a string, but keys, is a text; aliases, tagged scalars and comments stay."""
    check_text(source, source.count("<"))
    try:
        return TextFile(source, (value[1:] for value in yaml_values(source)))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise DocumentError(f"the file is not YAML: {reason}") from error


def yaml_values(source: str) -> Iterator[tuple[str, int, int, StringText]]:
    """The strings of YAML but keys, each after the last key, and where it begins and ends."""
    key = ""
    places = ["item"]  # of what comes next in each collection: item, key, value, or hidden in a key
    for event in _yaml_events(source):
        kind = type(event)
        if kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            places.pop()
        if not issubclass(kind, yaml.NodeEvent):
            continue
        place = places[-1]
        places[-1] = {"key": "value", "value": "key"}.get(place, place)
        if issubclass(kind, yaml.CollectionStartEvent):
            is_mapping = kind is yaml.MappingStartEvent
            places.append("hidden" if place in ("key", "hidden") else "key" if is_mapping else "item")
            if len(places) > MAX_DEPTH:
                raise DocumentError("the YAML is nested too deeply", is_too_large=True)
        elif place in ("item", "value") and _is_yaml_string(event):
            begin = event.start_mark.index
            written = source[begin : event.end_mark.index].rstrip()
            end = begin + len(written)
            written = re.sub(r"^(?:[&!]\S*\s+)*", "", written)  # without anchor and tag
            yield key, end - len(written), end, _string(event.value, partial(_yaml_scalar, event.style))
        elif place == "key" and isinstance(event, yaml.ScalarEvent):
            key = event.value


def _yaml_events(source: str) -> Any:
    return yaml.parse(source, Loader=_YAML_LOADER)


def _is_yaml_string(event: Any) -> bool:
    if not isinstance(event, yaml.ScalarEvent):
        return False
    tag = event.tag or _YAML_LOADER("").resolve(yaml.ScalarNode, event.value, event.implicit)
    return bool(tag == "tag:yaml.org,2002:str")


def _yaml_scalar(style: str | None, text: str) -> str:
    """A text with the quotes of what it replaces, or if it cannot have these, in double quotes."""
    if style == "'" and "\n" not in text:
        return "'" + text.replace("'", "''") + "'"
    return text if not style and _is_plain(text) else json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether a text is the same string without quotes, in every context."""
    try:
        _, _, _, event, *others = _yaml_events(f"[{text}]")
    except yaml.YAMLError:
        return False
    return _is_yaml_string(event) and event.value == text and len(others) == 3
