"""SubRip subtitles (.srt): numbers, times and tags stay to the byte, and so does the number of lines.

Libraries that read them write all of them anew, numbers and times included; here only what is said changes.
"""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ptenmt.server.prose import check_tags, gathered, is_prose, replaced
from ptenmt.server.refusal import Refusal

_TIMES = re.compile(
    r"""
    ^[^\S\n]*+ \d+:\d\d:\d\d[,.]\d+ [^\S\n]*+ --> [^\S\n]*+ \d+:\d\d:\d\d[,.]\d+ [^\n]* (?:\n|\Z)
    """,
    re.MULTILINE | re.VERBOSE,
)
_NEXT = re.compile(rf"(?: [^\S\n]*+ \d++ [^\S\n]*+ \n )?+ {_TIMES.pattern}", _TIMES.flags)
"""A time and its number, which may be missing; so may the blank line before them."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_TAG = r"<[^<>]*>|\{[^{}]*\}"
_DASH = re.compile(rf"^ (?: \s | {_TAG} )*+ [-–—]++ \s*+", re.VERBOSE)
"""What somebody's words begin with where several speak."""
_KEPT = re.compile(rf"( {_DASH.pattern} | {_TAG} )", re.VERBOSE)
_NO_BREAK = "\ue000"
_NO_TAG = str.maketrans("<>{}", "‹›()")
MOST_TAGS = 50_000
"""Lines are made anew with all of them."""


@dataclass
class _Spoken:
    """What is said at a time, by one of those who speak."""

    begin: int
    """Where it is in the file."""
    lines: list[str]
    """Line ends included."""

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.begin + sum(map(len, self.lines))

    @property
    def texts(self) -> list[str]:
        """What of it is to be translated."""
        return [part for part in self.parts[::2] if is_prose(part)]

    @property
    def parts(self) -> list[str]:
        """Text and what stays (tags, the dash before it) by turns; lines are joined."""
        return _KEPT.split(" ".join(line.strip() for line in self.lines))

    def translated(self, given: Iterator[str]) -> str:
        """The same with the next of the translations, one for each of ``texts``."""
        parts = (
            next(given).translate(_NO_TAG) if number % 2 == 0 and is_prose(part) else part
            for number, part in enumerate(self.parts)
        )
        return self._wrapped("".join(parts))

    def _wrapped(self, text: str) -> str:
        """Another text in as many lines, about equally long."""
        ending = re.search(r"\r?\n?\Z", self.lines[0])
        assert ending is not None
        joint = ending[0] or "\n"
        last = self.lines[-1][len(self.lines[-1].rstrip("\r\n")) :]
        return joint.join(_balanced(text, len(self.lines))) + last


class Subtitles:
    """Subtitles, cut where translations go.

    Args:
        source: The file.

    Raises:
        Refusal: There is no time in it, there are too many tags, or too much is said.
    """

    def __init__(self, source: str) -> None:
        check_tags(source.count("<") + source.count("{"), MOST_TAGS)
        self._source = source
        self._spoken = gathered(each for each in _spoken(source) if each.texts)
        if not self._spoken and not any(_spoken(source)):
            raise Refusal(
                "the file has no subtitles: no line such as 00:00:01,000 --> 00:00:02,500 and a text"
            )
        self._texts = gathered(text for each in self._spoken for text in each.texts)

    @property
    def texts(self) -> list[str]:
        """The texts that are to be translated, without tags."""
        return self._texts

    def with_texts(self, translations: Sequence[str]) -> str:
        """The file with other texts, one for each of ``texts``."""
        given = iter(translations)
        places = [(each.begin, each.end) for each in self._spoken]
        return replaced(self._source, places, [each.translated(given) for each in self._spoken])


def _spoken(source: str) -> Iterator[_Spoken]:
    """What is said, in order: the lines that follow a time."""
    place = 0
    while (times := _TIMES.search(source, place)) is not None:
        place = times.end()
        for lines in _by_speaker(gathered(_lines(source, place))):
            spoken = _Spoken(place, lines)
            place = spoken.end
            yield spoken


def _lines(source: str, place: int) -> Iterator[str]:
    """The lines from a place to the next blank one or the next time."""
    while _NEXT.match(source, place) is None:
        line = _LINE.match(source, place)
        if line is None or not line[0].strip():
            return
        yield line[0]
        place = line.end()


def _by_speaker(lines: Sequence[str]) -> list[list[str]]:
    """Lines of a dialogue, in which each who speaks has a dash before the first; of others, all of them."""
    turns: list[list[str]] = []
    is_dialogue = any(map(_DASH.match, lines[:1]))
    for line in lines:
        if not turns or (is_dialogue and _DASH.match(line)):
            turns.append([])
        turns[-1].append(line)
    return turns


def _balanced(text: str, count: int) -> list[str]:
    """A text in so many lines at the most, the longest of them as short as can be; nothing kept is broken."""
    kept = _KEPT.sub(lambda part: part[0].replace(" ", _NO_BREAK), text)

    def lines(width: int) -> list[str]:
        return textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)

    widths = range(max(1, len(kept) // count), len(kept) + 1)
    place = bisect_left(widths, True, key=lambda width: len(lines(width)) <= count)
    found = lines(widths[place]) if place < len(widths) else [kept]
    return [line.replace(_NO_BREAK, " ") for line in found]
