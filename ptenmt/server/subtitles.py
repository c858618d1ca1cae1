"""SubRip subtitles (.srt): numbers, times and tags stay to the byte, and so does the number of lines.

Libraries that read them write all of them anew, numbers and times included; here only what is said changes.
"""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ptenmt.server.refusal import Refusal

_TIMES = re.compile(r"\s*\d+:\d\d:\d\d[,.]\d+\s*-->\s*\d+:\d\d:\d\d[,.]\d+")
_TAG = re.compile(r"(<[^<>]*>|\{[^{}]*\})")
_SPEAKER = re.compile(r"\s*[-–—]")
_NO_BREAK = "\ue000"
_NO_TAG = str.maketrans("<>{}", "‹›()")


@dataclass
class _Spoken:
    """What is said at a time."""

    lines: list[str] = field(default_factory=list)
    """Line ends included."""

    @property
    def parts(self) -> list[str]:
        """Text and tags by turns; lines are joined, but for those of a dialogue."""
        ends = "\n" if self.is_dialogue else " "
        return _TAG.split(ends.join(line.strip() for line in self.lines))

    @property
    def is_dialogue(self) -> bool:
        """Whether each line is somebody else's."""
        return len(self.lines) > 1 and all(_SPEAKER.match(_TAG.sub("", line)) for line in self.lines)

    def wrapped(self, text: str) -> str:
        """Another text in as many lines, about equally long."""
        ending = re.search(r"\r?\n?\Z", self.lines[0])
        assert ending is not None
        joint = ending[0] or "\n"
        last = self.lines[-1][len(self.lines[-1].rstrip("\r\n")) :]
        lines = text.split("\n") if self.is_dialogue else _balanced(text, len(self.lines))
        return joint.join(lines) + last


class Subtitles:
    """Subtitles, cut where translations go.

    Args:
        source: The file.

    Raises:
        Refusal: There is no time in it.
    """

    def __init__(self, source: str) -> None:
        self._tokens = list(_tokens(source))
        if not any(isinstance(token, _Spoken) for token in self._tokens):
            raise Refusal(
                "the file has no subtitles: no line such as 00:00:01,000 --> 00:00:02,500 and a text"
            )

    @property
    def texts(self) -> list[str]:
        """The texts that are to be translated, without tags."""
        return [part for token in self._spoken for part in token.parts[::2] if _is_prose(part)]

    def with_texts(self, translations: Sequence[str]) -> str:
        """The file with other texts, one for each of ``texts``."""
        given = iter(translations)
        return "".join(
            token.wrapped(
                "".join(
                    next(given).translate(_NO_TAG) if number % 2 == 0 and _is_prose(part) else part
                    for number, part in enumerate(token.parts)
                )
            )
            if isinstance(token, _Spoken)
            else token
            for token in self._tokens
        )

    @property
    def _spoken(self) -> Iterator[_Spoken]:
        return (token for token in self._tokens if isinstance(token, _Spoken))


def _tokens(source: str) -> Iterator[str | _Spoken]:
    """What is spoken, and every other line."""
    spoken: _Spoken | None = None
    for line in re.findall(r"[^\n]*\n|[^\n]+", source):
        if spoken is not None and line.strip():
            spoken.lines.append(line)
            continue
        if spoken is not None and spoken.lines:
            yield spoken
        yield line
        spoken = _Spoken() if _TIMES.match(line) else None
    if spoken is not None and spoken.lines:
        yield spoken


def _is_prose(text: str) -> bool:
    return any(char.isalpha() for char in text)


def _balanced(text: str, count: int) -> list[str]:
    """A text in so many lines at the most, the longest of them as short as can be; no tag is broken."""
    kept = _TAG.sub(lambda tag: tag[0].replace(" ", _NO_BREAK), text)

    def lines(width: int) -> list[str]:
        return textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)

    widths = range(max(1, len(kept) // count), len(kept) + 1)
    place = bisect_left(widths, True, key=lambda width: len(lines(width)) <= count)
    found = lines(widths[place]) if place < len(widths) else [kept]
    return [line.replace(_NO_BREAK, " ") for line in found]
