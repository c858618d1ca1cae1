"""Splits texts into segments that fit the model, and joins their translations again.

The model is trained on sentences. A longer text is split into sentences (by sentencex of the Wikimedia
Foundation); a sentence with more tokens than the model has positions is split at a clause boundary near its
middle, recursively. The white space between segments is kept, so that a text keeps its layout.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from textwrap import shorten

from ptenmt.config import Config
from ptenmt.data.text import TextPreparation
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import UNK, TokenizerPair, encode_framed, frame
from ptenmt.tokenizers.words import WordTokenizer

_UNUSUAL_SPACE = re.compile(r"[^\S \t\n\u00a0\u3000]")
_CLAUSE_END = re.compile(r"[,;:.!?…)–—](?=\s)")
_WHITE_SPACE = re.compile(r"\s+")
_NUM_FRAME_TOKENS = 2
_MAX_CHARACTERS_PER_TOKEN = 8
"""More than any language needs; a longer text is split before it is tokenized."""


@dataclass(frozen=True)
class Segment:
    """The unit of translation."""

    before: str
    """The white space between the previous segment, or the start of the text, and this one."""
    text: str
    """The segment as the tokenizer reads it."""
    ids: list[int]
    """[START] … [END]."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return len(self.ids) == _NUM_FRAME_TOKENS


@dataclass
class SegmentedText:
    """A text in segments."""

    segments: list[Segment]
    after: str = ""
    """The white space at the end of the text."""
    is_split: bool = False
    """Whether a sentence had to be split because it is longer than the model can read."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return all(segment.is_blank for segment in self.segments)

    def join(self, translations: Sequence[str]) -> str:
        """Join a translation for each segment with the white space of the source."""
        if not any(translations):
            return ""
        parts = [segment.before + text for segment, text in zip(self.segments, translations, strict=True)]
        return "".join(parts) + self.after


class TextEncoder:
    """Encodes user input the way the training corpus was encoded."""

    def __init__(self, tokenizers: TokenizerPair, config: Config) -> None:
        self._tokenizers = tokenizers
        self._data = config.data
        self._max_length = config.model.max_positions
        self._long_text = config.decoding.long_text
        self._preparation = TextPreparation(config.data)

    def prepare_source(self, text: str) -> str:
        """A source sentence as its tokenizer reads it."""
        return self._preparation.prepare_input(text, self._data.languages[0])

    def prepare_target(self, text: str) -> str:
        """A translation as its tokenizer reads it."""
        return self._preparation.prepare_input(text, self._data.languages[1])

    def sources(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """Encode sentences as [START] … [END]; returns also how many were truncated to the positions."""
        prepared = list(map(self.prepare_source, texts))
        return encode_framed(self._tokenizers.source, prepared, self._max_length)

    def targets(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        """Encode translations; see ``sources``."""
        prepared = list(map(self.prepare_target, texts))
        return encode_framed(self._tokenizers.target, prepared, self._max_length)

    def target_prefix(self, text: str) -> list[int]:
        """Encode a target prefix, without [START] and [END].

        Raises:
            ConfigError: It leaves no room for a translation, or is not spelled in the model's vocabulary.
        """
        (ids,) = self._tokenizers.target.encode([self.prepare_target(text)])
        if UNK in ids and not isinstance(self._tokenizers.target, WordTokenizer):
            raise ConfigError(
                f"the prefix {text!r} contains characters outside the model's vocabulary",
                "spell it as a translation of this model would be",
            )
        if len(ids) >= self._max_length:
            raise ConfigError(
                f"the prefix has {len(ids)} tokens; the model has {self._max_length} positions", "shorten it"
            )
        return ids

    def segment(
        self, texts: Sequence[str], *, is_prepared: bool = False, max_segments: int | None = None
    ) -> list[SegmentedText]:
        """Split texts of more than ``decoding.long_text`` tokens, or several lines, into sentences.

        Args:
            texts: Any texts.
            is_prepared: They are sentences of a prepared corpus: split only what the model cannot read at
                once.
            max_segments: The most sentences that the texts may have together.

        Raises:
            ConfigError: They have more.
        """
        fits = self._max_length - _NUM_FRAME_TOKENS
        max_tokens = fits if is_prepared else min(self._long_text, fits)
        max_characters = _MAX_CHARACTERS_PER_TOKEN * max_tokens
        prepare = str if is_prepared else self.prepare_source
        edges = [_split_edges(text) for text in texts]
        # Texts that may be short are encoded in one call, which is fastest.
        may_fit = [len(core) <= max_characters and "\n" not in core for _, core, _ in edges]
        prepared = [prepare(core) if may else "" for (_, core, _), may in zip(edges, may_fit, strict=True)]
        encoded = self._tokenizers.source.encode(prepared)
        segmented = []
        for (before, core, after), may, text, ids in zip(edges, may_fit, prepared, encoded, strict=True):
            if may and len(ids) <= max_tokens:
                whole = Segment(before, text, frame(ids, self._max_length))
                segmented.append(SegmentedText([whole], after))
                continue
            sentences = [(before, core)] if is_prepared else self._sentences(before, core)
            parts = [list(self._fit(space, sentence, prepare)) for space, sentence in sentences]
            is_split = any(len(part) > 1 for part in parts)
            segmented.append(SegmentedText(list(chain(*parts)), after, is_split))
        num_segments = sum(not part.is_blank for text in segmented for part in text.segments)
        if max_segments is not None and num_segments > max_segments:
            raise ConfigError(
                f"the text has {num_segments:,} sentences; {max_segments:,} are allowed",
                "send fewer at a time",
            )
        return segmented

    def segment_single(self, texts: Sequence[str]) -> list[SegmentedText]:
        """Segment texts; raises ConfigError for one that is not a single sentence."""
        segmented = self.segment(texts)
        for text, each in zip(texts, segmented, strict=True):
            if (count := len(each.segments)) > 1:
                raise ConfigError(
                    "alternatives and alignments need a single sentence, but there are "
                    f"{count} segments in {shorten(text, 60, placeholder='…')!r}",
                    "give one sentence at a time, or raise decoding.long_text",
                )
        return segmented

    def _sentences(self, before: str, text: str) -> Iterator[tuple[str, str]]:
        """The sentences, each with the white space before it."""
        import sentencex

        for line in text.splitlines(keepends=True):
            for sentence in sentencex.segment(self._data.languages[0], line):
                space, core, after = _split_edges(sentence)
                if core:
                    yield before + space, core
                    before = after
                else:
                    before += space + after

    def _fit(self, before: str, text: str, prepare: Callable[[str], str]) -> Iterator[Segment]:
        """Split a sentence into segments that the model can read."""
        max_tokens = self._max_length - _NUM_FRAME_TOKENS
        if len(text) <= _MAX_CHARACTERS_PER_TOKEN * max_tokens:
            prepared = prepare(text)
            (ids,) = self._tokenizers.source.encode([prepared])
            # A single character cannot be split, even if it has more tokens than the model has positions.
            if len(ids) <= max_tokens or len(text) == 1:
                yield Segment(before, prepared, frame(ids, self._max_length))
                return
        place = _split_place(text)
        _, first, space = _split_edges(text[:place])
        between, second, _ = _split_edges(text[place:])
        yield from self._fit(before, first, prepare)
        yield from self._fit(space + between, second, prepare)


def _split_edges(text: str) -> tuple[str, str, str]:
    """White space, text, white space."""
    core = text.strip()
    if len(core) == len(text):
        return "", text, ""
    begin = len(text) - len(text.lstrip())
    before, after = text[:begin], text[begin + len(core) :]
    return _UNUSUAL_SPACE.sub(" ", before), core, _UNUSUAL_SPACE.sub(" ", after)


def _split_place(text: str) -> int:
    """Where to split a text: after a clause, else at a space, in its middle half; else in its middle."""
    middle, quarter = len(text) // 2, len(text) // 4
    for pattern in (_CLAUSE_END, _WHITE_SPACE):
        places = [found.end() for found in pattern.finditer(text, quarter, len(text) - quarter)]
        if places:
            return min(places, key=lambda place: abs(place - middle))
    return middle
