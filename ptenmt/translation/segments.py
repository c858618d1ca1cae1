"""Cutting a text into what the model can read, so that the translations can be put together again.

A model learns from sentences. A text that is longer than those is cut into its sentences (by sentencex, which
the Wikimedia Foundation keeps); a sentence that is longer than the model's positions, at a mark near its
middle, its halves again if need be. White space between the parts is kept, so that a text keeps its shape.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ptenmt.tokenizers import Tokenizer, frame

_STRANGE_BLANK = re.compile(r"[^\S \t\n\u00a0\u3000]")
_CLAUSE_END = re.compile(r"[,;:.!?…)–—](?=\s)")
_BLANK = re.compile(r"\s+")
_FRAME_LENGTH = 2
_CHARACTERS_A_TOKEN = 8
"""More than any language has; what is longer is cut before it is tokenised as a whole."""


@dataclass(frozen=True)
class Segment:
    """What is translated at a time."""

    before: str
    """The white space between the segment before, or the text's beginning, and this."""
    text: str
    """As the tokenizer sees it."""
    ids: list[int]
    """[START] and [END] included; nothing else in them if there is nothing to translate."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return len(self.ids) == _FRAME_LENGTH


@dataclass
class Segments:
    """A text in segments."""

    segments: list[Segment]
    after: str = ""
    """The white space at the text's end."""
    is_split: bool = False
    """Whether a sentence had to be cut because it is longer than the model can read."""

    def joined(self, translations: Sequence[str]) -> str:
        """A translation a segment, with the white space of the source."""
        if not any(translations):
            return ""
        parts = [segment.before + text for segment, text in zip(self.segments, translations, strict=True)]
        return "".join(parts) + self.after


@dataclass(frozen=True)
class Segmenter:
    """Cuts texts of one language.

    Args:
        tokenizer: Of the language.
        language: ISO 639-1 code.
        longest: The most ids that the model can read, [START] and [END] counted.
        long_text: A text of more tokens than this is cut into sentences; None: only what is too long to read.
        prepare: What is done to a text before the tokenizer sees it.
    """

    tokenizer: Tokenizer
    language: str
    longest: int
    long_text: int | None
    prepare: Callable[[str], str]

    def cut(self, texts: Sequence[str]) -> list[Segments]:
        """Cut texts; what is short enough, which is nearly everything, is a segment of its own."""
        edges = [_edges(text) for text in texts]
        whole = [row for row, (_, core, _) in enumerate(edges) if self._may_be_whole(core)]
        prepared = [self.prepare(edges[row][1]) for row in whole]
        encoded = dict(zip(whole, zip(prepared, self.tokenizer.encode(prepared), strict=True), strict=True))
        cut = []
        for row, (before, core, after) in enumerate(edges):
            text, ids = encoded.get(row, ("", []))
            if row in encoded and len(ids) <= self._most:
                cut.append(Segments([Segment(before, text, frame(ids, self.longest))], after))
            else:
                cut.append(self._in_parts(before, core, after))
        return cut

    @cached_property
    def _room(self) -> int:
        """The most tokens that the model can read, without [START] and [END]."""
        return self.longest - _FRAME_LENGTH

    @cached_property
    def _most(self) -> int:
        """The most tokens of a text that stays whole."""
        return self._room if self.long_text is None else min(self.long_text, self._room)

    def _may_be_whole(self, core: str) -> bool:
        return len(core) <= _CHARACTERS_A_TOKEN * self._most and "\n" not in core

    def _in_parts(self, before: str, core: str, after: str) -> Segments:
        segments, is_split = [], False
        sentences = [(before, core)] if self.long_text is None else self._sentences(before, core)
        for blank, sentence in sentences:
            parts = list(self._fitting(blank, sentence))
            is_split |= len(parts) > 1
            segments += parts
        return Segments(segments, after, is_split)

    def _sentences(self, before: str, text: str) -> Iterator[tuple[str, str]]:
        """The sentences, each with the white space before it; no letter is lost."""
        import sentencex

        for line in text.splitlines(keepends=True):
            for sentence in sentencex.segment(self.language, line):
                blank, core, after = _edges(sentence)
                if core:
                    yield before + blank, core
                    before = after
                else:
                    before += blank + after

    def _fitting(self, before: str, text: str) -> Iterator[Segment]:
        """A sentence in parts that the model can read."""
        if len(text) <= _CHARACTERS_A_TOKEN * self._room:
            prepared = self.prepare(text)
            (ids,) = self.tokenizer.encode([prepared])
            # Of one character nothing can be cut, even if it has more tokens than the model has positions.
            if len(ids) <= self._room or len(text) == 1:
                yield Segment(before, prepared, frame(ids, self.longest))
                return
        place = _place_to_cut(text)
        _, first, blank = _edges(text[:place])
        between, second, _ = _edges(text[place:])
        yield from self._fitting(before, first)
        yield from self._fitting(blank + between, second)


def _edges(text: str) -> tuple[str, str, str]:
    """White space, text, white space."""
    core = text.strip()
    if len(core) == len(text):
        return "", text, ""
    begin = len(text) - len(text.lstrip())
    before, after = text[:begin], text[begin + len(core) :]
    return _STRANGE_BLANK.sub(" ", before), core, _STRANGE_BLANK.sub(" ", after)


def _place_to_cut(text: str) -> int:
    """Where a text falls into two: behind a mark, or at a blank, in its middle half; else in its middle."""
    middle, quarter = len(text) // 2, len(text) // 4
    for pattern in (_CLAUSE_END, _BLANK):
        places = [found.end() for found in pattern.finditer(text, quarter, len(text) - quarter)]
        if places:
            return min(places, key=lambda place: abs(place - middle))
    return middle
