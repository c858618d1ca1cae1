"""Plain text, and subtitles (SubRip, WebVTT), of which all but the spoken text stays."""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Protocol, TypeVar

from ptenmt.documents.inline import LINE_BREAK, Piece, StringText, check_text, is_translated, limited, tagged
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Fragment, text_of

_TIMES = re.compile(r"\s*[\d:.,]{4,14}\s*-->\s*[\d:.,]{4,14}")
_NUMBER = re.compile(r"\s*\d+\s*")
_TAG = r"<[^<>]*>|\{[^{}]*\}"
_SPEAKER = r"[A-ZÀ-Þ] [A-ZÀ-Þ.'\ -]{1,30} : (?:\s+|$)"
_DASH = re.compile(
    rf"^ \s* (?: (?: {_TAG} ) \s* )* (?: [-–—]+ \s* (?: {_SPEAKER} )? | {_SPEAKER} )", re.VERBOSE
)
"""What starts each speaker's lines in a dialogue: a dash, or a name in capitals, or both; it stays."""
_KEPT = re.compile(rf"( {_DASH.pattern} | {_TAG} )", re.VERBOSE)
_LINE_END = re.compile(rf"[\r\n\v\f\x85\u2028\u2029]|{LINE_BREAK.pattern}", re.IGNORECASE)
_SUBTITLE_END = re.compile(rf"\r\n|\r|\n|\\N|{LINE_BREAK.pattern}|(?=<v\b)", re.IGNORECASE)
"""The end of a line; other subtitles than these have further signs for it. Each voice has a line."""
_NO_BREAK = "\ue000"
_Content = TypeVar("_Content", covariant=True)
_NO_TAG = str.maketrans("<>{}", "‹›()")


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
        pieces = tagged(text.removeprefix(self._dash), _TAG, _tag_name)
        super().__init__(pieces, escaped=lambda text: text.translate(_NO_TAG), has_texts=False)

    def written(self, spans: Sequence[Fragment]) -> str:
        """Replace the text; the number of lines stays, if possible."""
        text = self._dash + super().written(spans)
        return self._line_end.join(wrapped(text, self._num_lines, _KEPT))


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
