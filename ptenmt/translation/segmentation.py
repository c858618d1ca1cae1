"""Splits texts into sentences that fit the model, and encodes them.

The model is trained on sentences. A text is split into sentences (by sentencex of the Wikimedia Foundation);
a sentence with more tokens than the model has positions is split at a clause boundary near its middle,
recursively. The white space between sentences is kept, so that a text keeps its lines, and so is a sentence
without a word of the source language.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from textwrap import shorten

from ptenmt.config import Config
from ptenmt.data.placeholders import find_entities, without_entities
from ptenmt.data.text import TextPreparation
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import END, START, UNK, TokenizerPair, encode_framed
from ptenmt.tokenizers.base import script_of
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.safeguards import Safeguard
from ptenmt.translation.sentence import Search, SegmentedText, Sentence
from ptenmt.translation.spans import source_text

_ELLIPSIS = re.compile(r"…[\"'”’»)]*\s+(?=[\"'“‘«(]*[A-ZÀ-Þ])")
"""Ends a sentence before a capital; sentencex knows three full stops only."""
_INITIAL = re.compile(r"\s*[^\W\d_]\.\s+")
_FENCE = re.compile(r" {0,3}```[^`]*$")
"""The first or last line of a code fence."""
_CLAUSE_END = re.compile(r"[,;:.!?…)–—](?=\s)")
_WHITE_SPACE = re.compile(r"\s+")
_UNREADABLE = re.compile(r"[\s\ud800-\udfff]")
"""On some of these, such as a no-break space before a full stop, sentencex panics."""
_PLAIN = {**dict.fromkeys("«»“”„", '"'), **dict.fromkeys("‘’", "'"), **dict.fromkeys("–—", "-")}
"""What the model reads in place of a mark that its vocabulary lacks, or hardly saw in training."""
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
        self._options = config.decoding
        self._preparation = TextPreparation(config.data)
        source = tokenizers.source
        known = source.characters if config.tokenizer.characters else source.frequent_characters
        plain = {mark: sign for mark, sign in _PLAIN.items() if mark not in known and sign in known}
        self._plain = str.maketrans(plain)
        self._copies_unknown = config.tokenizer.kind == "words"
        self._safeguards = safeguards

    def prepare_source(self, text: str) -> str:
        """A source sentence as its tokenizer reads it."""
        return self._preparation.prepare_input(text.translate(self._plain), self._source_language)

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
        self,
        texts: Sequence[str],
        *,
        is_prepared: bool = False,
        target_prefix: Sequence[int] = (),
        max_sentences: int | None = None,
    ) -> list[SegmentedText]:
        """Split texts into encoded sentences.

        Args:
            texts: The texts.
            is_prepared: A text is a line of a prepared corpus: only what is too long for the model is split.
            target_prefix: What the translation of the first sentence of each text starts with.
            max_sentences: The most sentences that the texts may have together.

        Raises:
            ConfigError: They have more.
        """
        split = [self._sentences(text, is_line=is_prepared) for text in texts]
        encode = self._encode_with_safeguards
        segmented = self._segmented(split, encode, target_prefix, is_prepared=is_prepared)
        num_sentences = sum(not sentence.is_blank for text in segmented for sentence in text.sentences)
        if max_sentences is not None and num_sentences > max_sentences:
            raise ConfigError(
                f"the text has {num_sentences:,} sentences; {max_sentences:,} are allowed",
                "send fewer at a time",
            )
        if not is_prepared:
            for safeguard in self._safeguards:
                segmented = safeguard.read(texts, segmented)
        return segmented

    def single_sentence(self, text: str) -> SegmentedText:
        """A text that is a sentence, as the model reads it without safeguards.

        Raises:
            ConfigError: It is several lines, or too long for the model.
        """
        (segmented,) = self._segmented([_with_edges(text.splitlines(keepends=True))], self._encode_fitting)
        if (count := len(segmented.sentences)) > 1:
            raise ConfigError(
                "alternatives and alignments need a single sentence, but there are "
                f"{count} sentences in {shorten(text, 60, placeholder='…')!r}",
                "give one sentence at a time",
            )
        return segmented

    def encode(self, sentences: Sequence[Sentence]) -> None:
        """Encode sentences as their spans say, in one call, which is fastest.

        One with nothing left to translate becomes blank; one that is too long for the model gets no ids.
        """
        for sentence in sentences:
            text, aligned = source_text(sentence.original, sentence.spans)
            sentence.text = text if sentence.is_prepared else self.prepare_source(text)
            if aligned or self._copies_unknown:
                sentence.search = sentence.search._replace(with_attention=True)
        encoded = self._tokenizers.source.encode([sentence.text for sentence in sentences])
        for sentence, ids in zip(sentences, encoded, strict=True):
            # A single character cannot be split, even if it has more tokens than the model has positions.
            if not ids:
                sentence.leave()
            elif len(ids) <= self._max_tokens or len(sentence.original) == 1:
                sentence.ids = [START, *ids[: self._max_tokens], END]

    def _encode_fitting(self, sentences: Sequence[Sentence]) -> None:
        """Encode those of the sentences that may fit."""
        short = [sentence for sentence in sentences if self._is_short(sentence.original)]
        self.encode([sentence for sentence in short if self._has_words(sentence.original)])

    def _encode_with_safeguards(self, sentences: Sequence[Sentence]) -> None:
        """Encode those that may fit, with the spans that safeguards give them.

        Those without words get spans, too, for their numbers. A safeguard may leave a sentence as it is.
        """
        short = [sentence for sentence in sentences if self._is_short(sentence.original)]
        for sentence in short:
            for safeguard in self._safeguards:
                safeguard.before(sentence)
        self.encode(
            [sentence for sentence in short if not sentence.is_blank and self._has_words(sentence.original)]
        )

    def _segmented(
        self,
        split: Sequence[tuple[list[tuple[str, str]], str]],
        encode: Callable[[Sequence[Sentence]], None],
        target_prefix: Sequence[int] = (),
        *,
        is_prepared: bool = False,
    ) -> list[SegmentedText]:
        """Texts whose sentences are encoded by ``encode``; see ``_sentences`` and ``segment``."""
        texts = [
            [
                Sentence(
                    original=original,
                    search=Search(self._options),
                    before=before,
                    target_prefix=() if number else target_prefix,
                    is_prepared=is_prepared,
                )
                for number, (before, original) in enumerate(sentences)
            ]
            for sentences, _ in split
        ]
        encode(list(chain(*texts)))
        segmented = []
        for row, (whole, (_, after)) in enumerate(zip(texts, split, strict=True)):
            sentences = [part for sentence in whole for part in self._fitting(sentence, encode)]
            for number, sentence in enumerate(sentences):
                sentence.row, sentence.number = row, number
            segmented.append(SegmentedText(sentences, after, is_split=len(sentences) > len(whole)))
        return segmented

    def _fitting(
        self, sentence: Sentence, encode: Callable[[Sequence[Sentence]], None]
    ) -> Iterator[Sentence]:
        """The sentence, or the parts of it that the model can read."""
        original = sentence.original
        if not (sentence.ids or self._has_words(original)):
            sentence.leave()
        if sentence.ids:
            yield sentence
            return
        place = _split_place(original)
        _, first, space = _split_edges(original[:place])
        between, second, _ = _split_edges(original[place:])
        parts = [
            Sentence(
                original=first,
                search=Search(self._options),
                before=sentence.before,
                target_prefix=sentence.target_prefix,
                is_prepared=sentence.is_prepared,
            ),
            Sentence(
                original=second,
                search=Search(self._options),
                before=space + between,
                is_prepared=sentence.is_prepared,
            ),
        ]
        encode(parts)
        for part in parts:
            yield from self._fitting(part, encode)

    def _is_short(self, text: str) -> bool:
        """Whether a sentence has no more characters than the model may read."""
        return len(without_entities(text)) <= _MAX_CHARACTERS_PER_TOKEN * self._max_tokens

    def _sentences(self, text: str, *, is_line: bool) -> tuple[list[tuple[str, str]], str]:
        """The sentences, at least one, each with the white space before it; and that after the last."""
        if is_line:
            return _with_edges([text])
        lines = _lines(text)
        if not self._options.split_sentences:
            return _with_edges(lines)
        return _with_edges([part for line in lines for part in self._sentences_of_line(line)])

    def _sentences_of_line(self, line: str) -> Iterator[str]:
        """The sentences of a line, each with the white space around it."""
        import sentencex

        if _FENCE.match(line):
            yield line
            return
        readable = _UNREADABLE.sub(" ", line)
        start = end = 0
        for last in [*(ellipsis.end() for ellipsis in _ELLIPSIS.finditer(line)), len(line)]:
            for part in sentencex.segment(self._source_language, readable[end:last]):
                end += len(part)
                # No sentence ends inside d.C. or 2.ª, nor after the initial of D. Maria.
                is_end = part[-1:].isspace() and not _INITIAL.fullmatch(line, start, end)
                if is_end or end == last:
                    yield line[start:end]
                    start = end

    def _has_words(self, text: str) -> bool:
        """Whether a text has a letter of the source language outside its entities."""
        scripts = self._tokenizers.source.scripts
        return any(char.isalpha() and script_of(char) in scripts for char in without_entities(text))


def _lines(text: str) -> list[str]:
    """The lines of a text; those of a code fence are one."""
    lines = text.splitlines(keepends=True)
    fences = [row for row, line in enumerate(lines) if _FENCE.match(line)]
    joined: list[str] = []
    num_done = 0
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        joined += [*lines[num_done:first], "".join(lines[first : last + 1])]
        num_done = last + 1
    return joined + lines[num_done:]


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
    spans = [entity.span() for entity in find_entities(text)]
    for pattern in (_CLAUSE_END, _WHITE_SPACE):
        places = {match.end() for match in pattern.finditer(text, quarter, len(text) - quarter)}
        places.difference_update(*(range(begin + 1, end) for begin, end in spans))
        if places:
            return min(places, key=lambda place: abs(place - middle))
    return next((begin or end for begin, end in spans if begin < middle < end), middle)
