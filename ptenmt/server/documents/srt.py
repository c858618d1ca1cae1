"""SubRip subtitles (.srt): the text is translated, times and tags are kept; read and written with srt."""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import srt

from ptenmt.server.documents.plain import check_tags, is_prose, limited
from ptenmt.server.limits import Refusal
from ptenmt.translation.markup import Span, text_of

MAX_TAGS = 50_000
MAX_CHARACTERS = 2_000_000

_TIMES = r"\d+:\d\d:\d\d[,.]\d+ ?--> ?\d+:\d\d:\d\d[,.]\d+"
_SUBTITLE = re.compile(rf"(?:^|\n)((?:\d+\n)?{_TIMES})")
_LONG_NUMBER = re.compile(r"[0-9]{10}")
"""srt's patterns take time cubic in the digits of a number."""
_TAG = r"<[^<>]*>|\{[^{}]*\}"
_DASH = re.compile(rf"^ (?: \s | {_TAG} )*+ [-–—]++ \s*+", re.VERBOSE)
"""The dash that starts each speaker's lines in a dialogue."""
_KEPT = re.compile(rf"( {_DASH.pattern} | {_TAG} )", re.VERBOSE)
_NO_BREAK = "\ue000"
_NO_TAG = str.maketrans("<>{}", "‹›()")


@dataclass
class _Turn:
    """The lines of one speaker in a subtitle, or all of its lines if it is no dialogue."""

    lines: list[str]

    @property
    def parts(self) -> list[str]:
        """The lines joined, then split: text at even places, tags and the speaker's dash at odd ones."""
        return _KEPT.split(" ".join(self.lines))

    @property
    def texts(self) -> list[str]:
        return [part for part in self.parts[::2] if is_prose(part)]

    def translated(self, translations: Iterator[str]) -> list[str]:
        """As many lines as before, with the next of the translations for each of ``texts``."""
        if not self.texts:
            return self.lines
        parts = (
            next(translations).translate(_NO_TAG) if number % 2 == 0 and is_prose(part) else part
            for number, part in enumerate(self.parts)
        )
        return _wrapped("".join(parts), len(self.lines))


class Subtitles:
    """A file of subtitles; refused without any, or if it is too long or has too many tags or texts."""

    def __init__(self, source: str) -> None:
        if len(source) > MAX_CHARACTERS:
            raise Refusal(f"the subtitles have more than {MAX_CHARACTERS:,} characters", 413)
        check_tags(source.count("<") + source.count("{"), MAX_TAGS)
        self._line_end = "\r\n" if "\r\n" in source else "\n"
        try:
            self._subtitles = list(srt.parse(_normalized(source)))
        except (srt.SRTParseError, srt.TimestampParseError, OverflowError) as error:
            raise Refusal(f"the file has subtitles that cannot be read: {error}") from error
        self._turns = [_turns(subtitle.content.splitlines()) for subtitle in self._subtitles]
        # Without tags and line breaks.
        texts = limited(text for turns in self._turns for turn in turns for text in turn.texts)
        self.texts: list[list[Span]] = [[(text, ())] for text in texts]

    def with_texts(self, texts: Sequence[Sequence[Span]]) -> str:
        """The file with other texts, one for each of ``texts``."""
        remaining = map(text_of, texts)
        for number, (subtitle, turns) in enumerate(zip(self._subtitles, self._turns, strict=True), 1):
            subtitle.index = subtitle.index or number
            subtitle.content = "\n".join(line for turn in turns for line in turn.translated(remaining))
        return str(srt.compose(self._subtitles, reindex=False, eol=self._line_end))


def _normalized(source: str) -> str:
    """The subtitles with one blank line between each two, and single spaces.

    srt expects a blank line before each time, and takes time quadratic in the length of white space.
    """
    text = re.sub(r"[^\S\n]+", " ", source)
    text = re.sub(r" ?\n ?", "\n", text).strip(" ")
    if _LONG_NUMBER.search(text):
        raise Refusal("the subtitles have a number of ten digits or more")
    first = _SUBTITLE.search(text)
    if first is None:
        raise Refusal("the file has no subtitles: no line such as 00:00:01,000 --> 00:00:02,500")
    return re.sub(r"\n{3,}", "\n\n", _SUBTITLE.sub(r"\n\n\1", text[first.start() :])).strip("\n") + "\n"


def _turns(lines: Sequence[str]) -> list[_Turn]:
    """A dialogue's lines by speaker: each begins with a dash."""
    turns: list[_Turn] = []
    is_dialogue = any(map(_DASH.match, lines[:1]))
    for line in filter(None, lines):
        if not turns or (is_dialogue and _DASH.match(line)):
            turns.append(_Turn([]))
        turns[-1].lines.append(line)
    return turns


def _wrapped(text: str, num_lines: int) -> list[str]:
    """Wrap into at most ``num_lines`` lines of balanced length; tags are not broken."""
    kept = _KEPT.sub(lambda part: part[0].replace(" ", _NO_BREAK), text)

    def lines(width: int) -> list[str]:
        return textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)

    widths = range(max(1, len(kept) // num_lines), len(kept) + 1)
    place = bisect_left(widths, True, key=lambda width: len(lines(width)) <= num_lines)
    found = lines(widths[place]) if place < len(widths) else [kept]
    return [line.replace(_NO_BREAK, " ") for line in found]
