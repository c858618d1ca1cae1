"""Plain text (.txt), and SubRip subtitles (.srt), whose times and tags are kept; they are read with srt."""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain, pairwise

import srt

from ptenmt.documents.inline import check_tags, is_prose, limited, merged
from ptenmt.errors import DocumentError
from ptenmt.translation.markup import Elements, Fragment, num_shared, text_of

MAX_TAGS = 50_000
MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 16  # of tags in each other; what follows a further one is not inside it

_TIMES = r"\d+:\d\d:\d\d[,.]\d+ ?--> ?\d+:\d\d:\d\d[,.]\d+"
_SUBTITLE = re.compile(rf"(?:^|\n)((?:\d+\n)?{_TIMES})")
_LONG_NUMBER = re.compile(r"[0-9]{10}")
"""srt's patterns take time cubic in the digits of a number."""
_TAG = r"<[^<>]*>|\{[^{}]*\}"
_DASH = re.compile(rf"^ \s* (?: (?: {_TAG} ) \s* )* [-–—]+ \s*", re.VERBOSE)
"""The dash that starts each speaker's lines in a dialogue."""
_KEPT = re.compile(rf"( {_DASH.pattern} | {_TAG} )", re.VERBOSE)
_LINE = re.compile(r"[^\r\n]+")
_NO_BREAK = "\ue000"
_NO_TAG = str.maketrans("<>{}", "‹›()")


class PlainText:
    """Plain text: each line with a letter in it is a text; line ends and blank lines stay."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines = limited(line.span() for line in _LINE.finditer(source) if is_prose(line[0]))
        self.texts: list[list[Fragment]] = [[(source[slice(*line)], ())] for line in self._lines]

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> str:
        """The file with other texts, one for each of ``texts``."""
        parts, last_end = [], 0
        for (begin, end), spans in zip(self._lines, texts, strict=True):
            parts += [self._source[last_end:begin], text_of(spans)]
            last_end = end
        return "".join([*parts, self._source[last_end:]])


class _Turn:
    """The lines of one speaker in a subtitle, or all of its lines if it is no dialogue.

    A tag is an element around the text up to its end tag, or up to the end without one.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        text = " ".join(lines)
        dash = _DASH.match(text)
        self._dash = dash[0] if dash else ""
        self._tags: list[list[str]] = []  # what begins and ends each element
        path, names, spans = Elements(), list[str](), list[Fragment]()
        for at, part in enumerate(re.split(f"({_TAG})", text.removeprefix(self._dash))):
            tag = re.fullmatch(r"<(/?\w+)[^<>]*>", part)
            name = tag[1].lower() if tag else ""
            if at % 2 == 0:
                if part:
                    spans.append((part, path))
            elif name[:1] == "/" and name[1:] in names:
                names = names[: -1 - names[::-1].index(name[1:])]
                self._tags[path[len(names)]][1] = part
                path = path[: len(names)]
            else:
                self._tags.append([part, ""])
                inner = (*path, len(self._tags) - 1)
                spans.append(("", inner))
                if len(path) < MAX_DEPTH:
                    path, names = inner, [*names, name]
        self.spans = merged(
            span
            for span, (_, following) in pairwise([*spans, ("", Elements())])
            if span[0] or following[: len(span[1])] != span[1]
        )

    def fill(self, spans: Sequence[Fragment]) -> None:
        """Replace the text; the number of lines stays."""
        parts, last = [self._dash], Elements()
        for text, path in [*spans, ("", Elements())]:
            same = num_shared(last, path)
            parts += [self._tags[number][1] for number in reversed(last[same:])]
            parts += [self._tags[number][0] for number in path[same:]]
            parts.append(text.translate(_NO_TAG))
            last = path
        self.lines = _wrapped("".join(parts), len(self.lines))


class Subtitles:
    """A file of subtitles; refused without any, or if it is too long or has too many tags or texts."""

    def __init__(self, source: str) -> None:
        if len(source) > MAX_CHARACTERS:
            raise DocumentError(
                f"the subtitles have more than {MAX_CHARACTERS:,} characters", is_too_large=True
            )
        check_tags(source.count("<") + source.count("{"), MAX_TAGS)
        self._line_end = "\r\n" if "\r\n" in source else "\n"
        try:
            self._subtitles = list(srt.parse(_normalized(source)))
        except (srt.SRTParseError, srt.TimestampParseError, OverflowError) as error:
            raise DocumentError(f"the file has subtitles that cannot be read: {error}") from error
        self._turns = [_turns(subtitle.content.splitlines()) for subtitle in self._subtitles]
        turns = chain.from_iterable(self._turns)
        self._translated = limited(turn for turn in turns if is_prose(text_of(turn.spans)))
        self.texts = [turn.spans for turn in self._translated]

    def with_texts(self, texts: Sequence[Sequence[Fragment]]) -> str:
        """The file with other texts, one for each of ``texts``."""
        for turn, spans in zip(self._translated, texts, strict=True):
            turn.fill(spans)
        for number, (subtitle, turns) in enumerate(zip(self._subtitles, self._turns, strict=True), 1):
            subtitle.index = subtitle.index or number
            subtitle.content = "\n".join(line for turn in turns for line in turn.lines)
        return str(srt.compose(self._subtitles, reindex=False, eol=self._line_end))


def _normalized(source: str) -> str:
    """The subtitles with one blank line between each two, and single spaces.

    srt expects a blank line before each time, and takes time quadratic in the length of white space.
    """
    text = re.sub(r"[^\S\n]+", " ", source)
    text = re.sub(r" ?\n ?", "\n", text).strip(" ")
    if _LONG_NUMBER.search(text):
        raise DocumentError("the subtitles have a number of ten digits or more")
    first = _SUBTITLE.search(text)
    if first is None:
        raise DocumentError("the file has no subtitles: no line such as 00:00:01,000 --> 00:00:02,500")
    return re.sub(r"\n{3,}", "\n\n", _SUBTITLE.sub(r"\n\n\1", text[first.start() :])).strip("\n") + "\n"


def _turns(lines: Sequence[str]) -> list[_Turn]:
    """A dialogue's lines by speaker: each begins with a dash."""
    turns: list[list[str]] = []
    is_dialogue = any(map(_DASH.match, lines[:1]))
    for line in filter(None, lines):
        if not turns or (is_dialogue and _DASH.match(line)):
            turns.append([])
        turns[-1].append(line)
    return list(map(_Turn, turns))


def _wrapped(text: str, num_lines: int) -> list[str]:
    """Wrap into at most ``num_lines`` lines of balanced length; tags are not broken."""
    kept = _KEPT.sub(lambda part: part[0].replace(" ", _NO_BREAK), text)

    def lines(width: int) -> list[str]:
        return textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)

    widths = range(max(1, len(kept) // num_lines), len(kept) + 1)
    place = bisect_left(widths, True, key=lambda width: len(lines(width)) <= num_lines)
    wrapped = lines(widths[place]) if place < len(widths) else [kept]
    return [line.replace(_NO_BREAK, " ") for line in wrapped]
