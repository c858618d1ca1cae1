"""Splits texts into sentences that fit the model, and encodes them.

The model is trained on sentences. A text is split into sentences (by sentencex of the Wikimedia Foundation);
a sentence with more tokens than the model has positions is split at a clause boundary near its middle,
recursively. The white space between sentences is kept, so that a text keeps its layout, and so is a sentence
without a word of the source language.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from textwrap import shorten

from ptenmt.config import Config
from ptenmt.data.placeholders import find_entities, without_entities
from ptenmt.data.text import TextPreparation
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import UNK, TokenizerPair, encode_framed, frame
from ptenmt.tokenizers.base import script_of
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.safeguards import Safeguard
from ptenmt.translation.sentence import BLANK, SegmentedText, Sentence
from ptenmt.translation.spans import source_text

_ELLIPSIS = re.compile(r"…[\"'”’»)]*\s+(?=[\"'“‘«(]*[A-ZÀ-Þ])")
"""Ends a sentence before a capital; sentencex knows three full stops only."""
_CLAUSE_END = re.compile(r"[,;:.!?…)–—](?=\s)")
_WHITE_SPACE = re.compile(r"\s+")
_UNREADABLE = re.compile(r"[\s\ud800-\udfff]")
"""On some of these, such as a no-break space before a full stop, sentencex panics."""
_NUM_FRAME_TOKENS = 2
_MAX_CHARACTERS_PER_TOKEN = 8
"""More than any language needs; a longer text is split before it is tokenized."""


class TextEncoder:
    """Encodes user input the way the training corpus was encoded."""

    def __init__(
        self, tokenizers: TokenizerPair, config: Config, safeguards: Sequence[Safeguard] = ()
    ) -> None:
        self._tokenizers = tokenizers
        self._source_language, self._target_language = config.data.languages
        self._max_length = config.model.max_positions
        self._max_tokens = self._max_length - _NUM_FRAME_TOKENS
        self._splits_sentences = config.decoding.split_sentences
        self._preparation = TextPreparation(config.data)
        self._copies_unknown = config.tokenizer.kind == "words"
        self._befores = [guard.before for guard in safeguards if "before" in guard.methods]
        self._reads = [guard.read for guard in safeguards if "read" in guard.methods]

    def prepare_source(self, text: str) -> str:
        """A source sentence as its tokenizer reads it."""
        return self._preparation.prepare_input(text, self._source_language)

    def prepare_target(self, text: str) -> str:
        """A translation as its tokenizer reads it."""
        return self._preparation.prepare_input(text, self._target_language)

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
        self, texts: Sequence[str], *, is_prepared: bool = False, max_sentences: int | None = None
    ) -> list[SegmentedText]:
        """Split texts into sentences, at most ``max_sentences`` together; ConfigError if there are more.

        With ``is_prepared``, a text is a line of a prepared corpus: only what the model cannot read at once
        is split.
        """
        split = [self._sentences(text, is_line=is_prepared) for text in texts]
        segmented = self._encoded(split, self._befores, str if is_prepared else self.prepare_source)
        num_sentences = sum(not sentence.is_blank for text in segmented for sentence in text.sentences)
        if max_sentences is not None and num_sentences > max_sentences:
            raise ConfigError(
                f"the text has {num_sentences:,} sentences; {max_sentences:,} are allowed",
                "send fewer at a time",
            )
        for read in () if is_prepared else self._reads:
            segmented = read(texts, segmented)
        return segmented

    def single_sentence(self, text: str) -> SegmentedText:
        """A text that is a sentence, as the model reads it without safeguards.

        Raises:
            ConfigError: It is several lines, or too long for the model.
        """
        (segmented,) = self._encoded([_with_edges(text.splitlines(keepends=True))], (), self.prepare_source)
        if (count := len(segmented.sentences)) > 1:
            raise ConfigError(
                "alternatives and alignments need a single sentence, but there are "
                f"{count} sentences in {shorten(text, 60, placeholder='…')!r}",
                "give one sentence at a time",
            )
        return segmented

    def encode(self, sentence: Sentence) -> Sentence:
        """A sentence whose spans have changed, as the tokenizer reads it; blank if nothing is left."""
        sentence, text = self._read(sentence, self.prepare_source)
        (ids,) = self._tokenizers.source.encode([text])
        return self._with_ids(sentence, text, ids)

    def _read(self, sentence: Sentence, prepare: Callable[[str], str]) -> tuple[Sentence, str]:
        """A sentence with the attention that its spans need, and what the tokenizer reads of it."""
        text, aligned = source_text(sentence.original, sentence.spans)
        with_attention = self._copies_unknown or bool(aligned)
        search = sentence.search._replace(with_attention=with_attention)
        return replace(sentence, search=search), prepare(text)

    def _encoded(
        self,
        split: Sequence[tuple[list[tuple[str, str]], str]],
        befores: Sequence[Callable[[Sentence], Sentence]],
        prepare: Callable[[str], str],
    ) -> list[SegmentedText]:
        """Encode the sentences of texts; those that may fit in one call, which is fastest."""

        def read(sentence: Sentence) -> tuple[Sentence, str | None]:
            if not self._may_fit(sentence.original):
                return sentence, None
            for before in befores:
                sentence = before(sentence)
            return self._read(sentence, prepare)

        texts_read = [
            [read(Sentence(original=original, before=before)) for before, original in sentences]
            for sentences, _ in split
        ]
        prepared = [text or "" for of_text in texts_read for _, text in of_text]
        encoded = iter(self._tokenizers.source.encode(prepared))
        segmented = []
        for row, (texts, (_, after)) in enumerate(zip(texts_read, split, strict=True)):
            sentences: list[Sentence] = []
            for sentence, text in texts:
                ids = next(encoded)
                if text and ids and len(ids) <= self._max_tokens:
                    sentences.append(self._with_ids(sentence, text, ids))
                else:
                    sentences += self._fitting(sentence.before, sentence.original, read)
            numbered = [replace(one, row=row, number=number) for number, one in enumerate(sentences)]
            segmented.append(SegmentedText(numbered, after, is_split=len(numbered) > len(texts)))
        return segmented

    def _fitting(
        self, before: str, original: str, read: Callable[[Sentence], tuple[Sentence, str | None]]
    ) -> Iterator[Sentence]:
        """Split a sentence into some that the model can read."""
        sentence = Sentence(original=original, before=before)
        if not self._has_words(without_entities(original)):
            yield self._with_ids(sentence, original, [])
            return
        sentence, text = read(sentence)
        if text is not None:
            (ids,) = self._tokenizers.source.encode([text])
            # A single character cannot be split, even if it has more tokens than the model has positions.
            if len(ids) <= self._max_tokens or len(original) == 1:
                yield self._with_ids(sentence, text, ids)
                return
        place = _split_place(original)
        _, first, space = _split_edges(original[:place])
        between, second, _ = _split_edges(original[place:])
        yield from self._fitting(before, first, read)
        yield from self._fitting(space + between, second, read)

    def _may_fit(self, original: str) -> bool:
        """Whether a sentence has words, and not more characters than the model may read."""
        text = without_entities(original)
        return len(text) <= _MAX_CHARACTERS_PER_TOKEN * self._max_tokens and self._has_words(text)

    def _with_ids(self, sentence: Sentence, text: str, ids: Sequence[int]) -> Sentence:
        """An encoded sentence; blank, with its translation, if it has no ids."""
        if not ids:
            return replace(
                sentence,
                spans=(),
                text=sentence.original,
                ids=frame([], self._max_length),
                hypotheses=[BLANK],
            )
        return replace(sentence, text=text, ids=frame(ids, self._max_length))

    def _sentences(self, text: str, *, is_line: bool) -> tuple[list[tuple[str, str]], str]:
        """The sentences, at least one, each with the white space before it; and that after the last."""
        if is_line:
            return _with_edges([text])
        if not self._splits_sentences:
            return _with_edges(text.splitlines(keepends=True))
        lines = text.splitlines(keepends=True)
        return _with_edges([part for line in lines for part in self._sentences_of_line(line)])

    def _sentences_of_line(self, line: str) -> Iterator[str]:
        """The sentences of a line, each with the white space around it."""
        import sentencex

        readable = _UNREADABLE.sub(" ", line)
        start = end = 0
        for last in [*(found.end() for found in _ELLIPSIS.finditer(line)), len(line)]:
            for part in sentencex.segment(self._source_language, readable[end:last]):
                end += len(part)
                if part[-1:].isspace() or end == last:  # no sentence ends inside d.C. or 2.ª
                    yield line[start:end]
                    start = end

    def _has_words(self, text: str) -> bool:
        """Whether a text without entities has a letter of the source language."""
        scripts = self._tokenizers.source.scripts
        return any(char.isalpha() and script_of(char) in scripts for char in text)


def _with_edges(parts: Sequence[str]) -> tuple[list[tuple[str, str]], str]:
    """Parts of a text without the white space around them, at least one; see ``TextEncoder._sentences``."""
    cores: list[tuple[str, str]] = []
    before = ""
    for part in parts:
        space, core, after = _split_edges(part)
        if core:
            cores.append((before + space, core))
            before = after
        else:
            before += space
    return (cores, before) if cores else ([(before, "")], "")


def _split_edges(text: str) -> tuple[str, str, str]:
    """White space, text, white space."""
    core = text.strip()
    if len(core) == len(text):
        return "", text, ""
    begin = len(text) - len(text.lstrip())
    return text[:begin], core, text[begin + len(core) :]


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
