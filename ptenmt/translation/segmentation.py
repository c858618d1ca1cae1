"""Splits texts into segments that fit the model, and joins their translations again.

The model is trained on sentences. A text is split into sentences (by sentencex of the Wikimedia Foundation);
a sentence with more tokens than the model has positions is split at a clause boundary near its middle,
recursively. The white space between segments is kept, so that a text keeps its layout, and so is a segment
without a word of the source language.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from textwrap import shorten

from ptenmt.config import Config
from ptenmt.data.placeholders import find_entities, without_entities
from ptenmt.data.text import TextPreparation
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import SPECIAL_PIECES, UNK, Tokenizer, TokenizerPair, encode_framed, frame
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.constraints import ConstrainedSource, Constrainer
from ptenmt.translation.glossary import Glossary

_ELLIPSIS = re.compile(r"…[\"'”’»)]*\s+(?=[\"'“‘«(]*[A-ZÀ-Þ])")
"""Ends a sentence before a capital; sentencex knows three full stops only."""
_CLAUSE_END = re.compile(r"[,;:.!?…)–—](?=\s)")
_WHITE_SPACE = re.compile(r"\s+")
_UNREADABLE = re.compile(r"[\s\ud800-\udfff]")
"""On some of these, such as a no-break space before a full stop, sentencex panics."""
_NUM_FRAME_TOKENS = 2
_MAX_CHARACTERS_PER_TOKEN = 8
"""More than any language needs; a longer text is split before it is tokenized."""
_MIN_SCRIPT_SHARE = 0.01
"""Of the letters in a vocabulary. Rarer scripts are those of names in other languages."""


@dataclass(frozen=True)
class Segment:
    """The unit of translation."""

    before: str
    """The white space between the previous segment, or the start of the text, and this one."""
    text: str
    """The segment as the tokenizer reads it; the original, if there is nothing to translate."""
    ids: list[int]
    """[START] … [END]."""
    constraints: ConstrainedSource | None = None
    """What its translation must keep, if anything."""
    is_retried: bool = False
    """Whether it was translated a second time, because of a fault of the first translation."""
    original: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate: the translation is ``text``."""
        return len(self.ids) == _NUM_FRAME_TOKENS


@dataclass
class SegmentedText:
    """A text in segments."""

    segments: list[Segment]
    after: str = ""
    """The white space at the end of the text."""
    is_split: bool = False
    """Whether a sentence had to be split because it is longer than the model can read."""
    detected: str | None = None
    """The text's language, if it is surely another one than the run's source language."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return all(segment.is_blank for segment in self.segments)

    def join(self, translations: Sequence[str]) -> str:
        """Join a translation for each segment with the white space of the source."""
        parts = [segment.before + text for segment, text in zip(self.segments, translations, strict=True)]
        return "".join(parts) + self.after


class TextEncoder:
    """Encodes user input the way the training corpus was encoded."""

    def __init__(self, tokenizers: TokenizerPair, config: Config, glossary: Glossary | None = None) -> None:
        self._tokenizers = tokenizers
        self._data = config.data
        self._max_length = config.model.max_positions
        self._splits_sentences = config.decoding.split_sentences
        self._preparation = TextPreparation(config.data)
        self._constrainer = Constrainer(tokenizers.source, config, glossary)

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

    def target_prefix(self, text: str, *, with_entities: bool = False) -> list[int]:
        """Encode a target prefix, without [START] and [END]; ``with_entities``, such as emoji, may be [UNK].

        Raises:
            ConfigError: It leaves no room for a translation, or is not spelled in the model's vocabulary.
        """
        known = without_entities(text) if with_entities else text
        ids, known_ids = self._tokenizers.target.encode([*map(self.prepare_target, (text, known))])
        if UNK in known_ids and not isinstance(self._tokenizers.target, WordTokenizer):
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
        self,
        texts: Sequence[str],
        *,
        is_prepared: bool = False,
        is_sentence: bool = False,
        max_segments: int | None = None,
    ) -> list[SegmentedText]:
        """Split texts into sentences, at most ``max_segments`` together; ConfigError if there are more.

        With ``is_prepared``, a text is a line of a prepared corpus: only what the model cannot read at once
        is split; with ``is_sentence``, only that and lines.
        """
        prepare = str if is_prepared else self.prepare_source
        splits_sentences = self._splits_sentences and not (is_prepared or is_sentence)
        split = [self._sentences(text, splits_sentences, is_line=is_prepared) for text in texts]
        most = self._max_length - _NUM_FRAME_TOKENS

        def read(sentence: str) -> tuple[str, ConstrainedSource | None]:
            text = without_entities(sentence)
            if len(text) > _MAX_CHARACTERS_PER_TOKEN * most or not self._has_words(text):
                return "", None
            constraints = None if is_sentence else self._constrainer.constrain(sentence)
            return prepare(constraints.text if constraints else sentence), constraints

        # Sentences that may fit are encoded in one call, which is fastest.
        prepared = [read(sentence) for of_text, _ in split for _, sentence in of_text]
        encoded = iter(self._tokenizers.source.encode([text for text, _ in prepared]))
        may_fit = iter(prepared)
        segmented = []
        for of_text, after in split:
            parts: list[list[Segment]] = []
            for before, sentence in of_text:
                ids, (text, constraints) = next(encoded), next(may_fit)
                if ids and len(ids) <= most:
                    framed = frame(ids, self._max_length)
                    parts.append([Segment(before, text, framed, constraints, original=sentence)])
                else:
                    parts.append(list(self._fit(before, sentence, prepare)))
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
        """Segment sentences; raises ConfigError for one that is several lines or too long for the model."""
        segmented = self.segment(texts, is_sentence=True)
        for text, each in zip(texts, segmented, strict=True):
            if (count := len(each.segments)) > 1:
                raise ConfigError(
                    "alternatives and alignments need a single sentence, but there are "
                    f"{count} segments in {shorten(text, 60, placeholder='…')!r}",
                    "give one sentence at a time",
                )
        return segmented

    def _sentences(
        self, text: str, splits_sentences: bool, *, is_line: bool
    ) -> tuple[list[tuple[str, str]], str]:
        """The sentences, at least one, each with the white space before it; and that after the last."""
        found: list[tuple[str, str]] = []
        before = ""
        for line in [text] if is_line else text.splitlines(keepends=True):
            for part in self._sentences_of_line(line) if splits_sentences else [line]:
                space, core, after = _split_edges(part)
                if core:
                    found.append((before + space, core))
                    before = after
                else:
                    before += space
        return (found, before) if found else ([(before, "")], "")

    def _sentences_of_line(self, line: str) -> Iterator[str]:
        """The sentences of a line, each with the white space around it."""
        import sentencex

        readable = _UNREADABLE.sub(" ", line)
        start = end = 0
        for last in [*(found.end() for found in _ELLIPSIS.finditer(line)), len(line)]:
            for part in sentencex.segment(self._data.languages[0], readable[end:last]):
                end += len(part)
                if part[-1:].isspace() or end == last:  # no sentence ends inside d.C. or 2.ª
                    yield line[start:end]
                    start = end

    def without_entities(self, segment: Segment) -> Segment:
        """The segment without its entities, which its translation gets in the end."""
        constraints = self._constrainer.constrain(segment.original, removes_entities=True)
        assert constraints is not None
        (ids,) = self._tokenizers.source.encode([text := self.prepare_source(constraints.text)])
        framed = frame(ids, self._max_length)
        constraints = constraints if ids else None
        return replace(segment, text=text if ids else segment.original, ids=framed, constraints=constraints)

    def _has_words(self, text: str) -> bool:
        """Whether a text without entities has a letter of the source language."""
        scripts = _scripts(self._tokenizers.source)
        return any(char.isalpha() and _script(char) in scripts for char in text)

    def _fit(self, before: str, text: str, prepare: Callable[[str], str]) -> Iterator[Segment]:
        """Split a sentence into segments that the model can read."""
        known = without_entities(text)
        if not self._has_words(known):
            yield Segment(before, text, frame([], self._max_length), original=text)
            return
        max_tokens = self._max_length - _NUM_FRAME_TOKENS
        if len(known) <= _MAX_CHARACTERS_PER_TOKEN * max_tokens:
            constraints = self._constrainer.constrain(text)
            prepared = prepare(constraints.text if constraints else text)
            (ids,) = self._tokenizers.source.encode([prepared])
            # A single character cannot be split, even if it has more tokens than the model has positions.
            if len(ids) <= max_tokens or len(text) == 1:
                yield Segment(before, prepared, frame(ids, self._max_length), constraints, original=text)
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
    return text[:begin], core, text[begin + len(core) :]


@lru_cache
def _scripts(tokenizer: Tokenizer) -> frozenset[str]:
    """The scripts of a language, by the letters of its vocabulary."""
    counts: Counter[str] = Counter()
    pieces = tokenizer.vocabulary[len(SPECIAL_PIECES) :]
    for char, count in Counter("".join(pieces)).items():
        if char.isalpha():
            counts[_script(char)] += count
    return frozenset(name for name, count in counts.items() if count >= _MIN_SCRIPT_SHARE * counts.total())


@lru_cache(maxsize=1 << 14)
def _script(letter: str) -> str:
    """The script of a letter, such as LATIN, by its name in Unicode."""
    return unicodedata.name(letter, "").partition(" ")[0]


def _split_place(text: str) -> int:
    """Where to split a text: after a clause, else at a space, in its middle half; else in its middle.

    Entities are not split.
    """
    middle, quarter = len(text) // 2, len(text) // 4
    spans = [found.span() for found in find_entities(text)]
    for pattern in (_CLAUSE_END, _WHITE_SPACE):
        places = {found.end() for found in pattern.finditer(text, quarter, len(text) - quarter)}
        places.difference_update(*(range(begin + 1, end) for begin, end in spans))
        if places:
            return min(places, key=lambda place: abs(place - middle))
    return next((begin or end for begin, end in spans if begin < middle < end), middle)
