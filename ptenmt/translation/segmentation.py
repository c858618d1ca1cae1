"""Splits texts into sentences that fit the model, and encodes them.

The model is trained on sentences. A text is split into sentences (by sentencex of the Wikimedia Foundation);
a sentence with more tokens than the model has positions is split at a clause boundary near its middle,
recursively. The white space between sentences is kept, so that a text keeps its lines, and so is a sentence
without a word of the source language.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from textwrap import shorten

from ptenmt.config import Config, DecodingConfig
from ptenmt.data.kept_parts import find_kept_parts, without_kept_parts
from ptenmt.data.text import TextPreparation
from ptenmt.errors import ConfigError
from ptenmt.tokenizers import END, START, UNK, TokenizerPair, encode_framed
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.placement import source_text
from ptenmt.translation.safeguards import Safeguards, term_in_case
from ptenmt.translation.sentence import SegmentedText, Sentence

_ELLIPSIS = re.compile(r"…[\"'”’»)]*\s+(?=[\"'“‘«(]*[A-ZÀ-Þ])")
"""Ends a sentence before a capital; sentencex knows three full stops only."""
_FENCE = re.compile(r" {0,3}```[^`\n]*$", re.MULTILINE)
"""The first or last line of a code fence, or all of its lines."""
_INITIAL = re.compile(r"\W*[^\W\d_]\.\s+")
_NUMERAL = re.compile(r"(?<=\.)\s+(?=\d|(?:[IVXLC]{2,}|[VX])\b)")
_CLAUSE_END = re.compile(r"[,;:.!?…)–—](?=\s)")
_WHITE_SPACE = re.compile(r"\s+")
_CELL_END = re.compile(r"(?<=\t)|(?<=<br>)|(?<=<br/>)|(?<=<br />)", re.IGNORECASE)
_UNREADABLE = re.compile(r"[\s\ud800-\udfff]")
"""On some of these, such as a no-break space before a full stop, sentencex panics."""
_PLAIN = {**dict.fromkeys("«»“”„", '"'), **dict.fromkeys("‘’", "'"), **dict.fromkeys("–—", "-")}
"""What the model reads in place of a mark that its vocabulary lacks."""
_NUM_FRAME_TOKENS = 2
_MAX_CHARACTERS_PER_TOKEN = 8
"""More than any language needs; a longer text is split before it is tokenized."""


SplitText = tuple[list[tuple[str, str]], str]
"""The sentences of a text, each with the white space before it; and that after the last."""


class TextEncoder:
    """Encodes user input the way the training corpus was encoded."""

    def __init__(self, tokenizers: TokenizerPair, config: Config) -> None:
        self._tokenizers = tokenizers
        self._source_language, self._target_language = config.data.languages
        self._max_length = config.model.max_positions
        self._max_tokens = self._max_length - _NUM_FRAME_TOKENS
        self._preparation = TextPreparation(config.data)
        self.safeguards = Safeguards(tokenizers, config)
        known = tokenizers.source.characters
        plain = {mark: sign for mark, sign in _PLAIN.items() if mark not in known and sign in known}
        self._plain = str.maketrans(plain)

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

    def target_prefix(self, text: str, *, with_kept_parts: bool = False) -> list[int]:
        """Encode a target prefix, without [START] and [END].

        ``with_kept_parts``: those in it, such as emoji, may be [UNK].

        Raises:
            ConfigError: It leaves no room for a translation, or is not spelled in the model's vocabulary.
        """
        known = without_kept_parts(text) if with_kept_parts else text
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

    def split(
        self, texts: Sequence[str], options: DecodingConfig, *, is_prepared: bool = False
    ) -> list[SplitText]:
        """Split texts into sentences, at least one; prepared ones are sentences already."""
        return [_with_edges([text]) if is_prepared else self._sentences(text, options) for text in texts]

    def single_sentence(self, text: str) -> SegmentedText:
        """A text that is a sentence, as the model reads it without safeguards.

        Raises:
            ConfigError: It is several lines, or too long for the model.
        """
        lines = _with_edges(text.splitlines(keepends=True))
        (segmented,) = self.encode([lines], DecodingConfig(safeguards=False))
        if (count := len(segmented.sentences)) > 1:
            raise ConfigError(
                "alternatives and alignments need a single sentence, but there are "
                f"{count} sentences in {shorten(text, 60, placeholder='…')!r}",
                "give one sentence at a time",
            )
        return segmented

    def encode(
        self,
        texts: Sequence[SplitText],
        options: DecodingConfig,
        glossary: Glossary | None = None,
        *,
        target_prefix: Sequence[int] = (),
        is_prepared: bool = False,
    ) -> list[SegmentedText]:
        """Find the kept parts and terms of sentences, and encode them; those that are too long are split.

        Args:
            texts: Of ``split``.
            options: Whether safeguards read the sentences.
            glossary: Terms whose translations are given.
            target_prefix: What the translation of the first sentence of each text starts with.
            is_prepared: Whether sentences are read as they are.
        """
        typed = [
            [
                Sentence(original=original, before=before, target_prefix=() if number else target_prefix)
                for number, (before, original) in enumerate(sentences)
            ]
            for sentences, _ in texts
        ]

        longest = _MAX_CHARACTERS_PER_TOKEN * self._max_tokens

        def tokenized(sentences: Sequence[Sentence]) -> list[Sentence | None]:
            read = [
                self._with_spans(sentence, glossary, options.safeguards, is_prepared=is_prepared)
                if len(without_kept_parts(sentence.original)) <= longest
                else None
                for sentence in sentences
            ]
            return self._with_ids(read)

        def fitting(sentence: Sentence, read: Sentence | None) -> list[Sentence]:
            """The sentence as it is read, or its parts."""
            if read is not None:
                return [read]
            halves = _halves(sentence)
            return list(chain(*map(fitting, halves, tokenized(halves))))

        whole = iter(tokenized(list(chain(*typed))))
        segmented = []
        for sentences, (_, after) in zip(typed, texts, strict=True):
            parts = list(chain(*(fitting(sentence, next(whole)) for sentence in sentences)))
            segmented.append(SegmentedText(parts, after, is_split=len(parts) > len(sentences)))
        return segmented

    def _with_spans(
        self, sentence: Sentence, glossary: Glossary | None, is_guarded: bool, *, is_prepared: bool
    ) -> Sentence:
        """A sentence with its spans, and as the tokenizer reads it: nothing, if it has nothing to translate.

        Prepared text is read as it is.
        """
        original = sentence.original
        spans = self.safeguards.spans(original, glossary, is_guarded=is_guarded)
        if self.safeguards.is_blank(original, spans):
            return replace(sentence, text="")
        case = self.safeguards.case_of(original, spans) if is_guarded else None
        if case is not None:
            spans = tuple(
                replace(span, target=term_in_case(span.target, case)) if span.is_term else span
                for span in spans
            )
        text, _ = source_text(original, spans, lower=case is not None)
        text = text if is_prepared else self.prepare_source(text)
        return replace(sentence, spans=spans, case=case, text=text)

    def _with_ids(self, sentences: Sequence[Sentence | None]) -> list[Sentence | None]:
        """Encode sentences in one call, which is fastest; None for one that is too long for the model."""
        texts = [sentence.text for sentence in sentences if sentence is not None and sentence.text]
        encoded = iter(self._tokenizers.source.encode(texts))
        fitting: list[Sentence | None] = []
        for sentence in sentences:
            ids = next(encoded) if sentence is not None and sentence.text else []
            # A single character cannot be split, even if it has more tokens than the model has positions.
            if sentence is None or (len(ids) > self._max_tokens and len(sentence.original) > 1):
                fitting.append(None)
            elif ids:
                fitting.append(replace(sentence, ids=[START, *ids[: self._max_tokens], END]))
            else:
                fitting.append(replace(sentence, spans=(), case=None, text=""))
        return fitting

    def _sentences(self, text: str, options: DecodingConfig) -> SplitText:
        lines = _lines(text)
        if not options.split_sentences:
            return _with_edges(lines)
        cells = (cell for line in lines for cell in ([line] if _FENCE.match(line) else _CELL_END.split(line)))
        return _with_edges([part for cell in cells for part in self._sentences_of_cell(cell)])

    def _sentences_of_cell(self, line: str) -> Iterator[str]:
        """The sentences of a line, or of its part up to a tab or ``<br>``, with white space around it."""
        import sentencex

        if _FENCE.match(line):
            yield line
            return
        readable = _UNREADABLE.sub(" ", line)
        numerals = {space.end() for space in _NUMERAL.finditer(line)}
        start = end = 0
        for last in [*(ellipsis.end() for ellipsis in _ELLIPSIS.finditer(line)), len(line)]:
            for part in sentencex.segment(self._source_language, readable[end:last]):
                end += len(part)
                # No sentence ends inside d.C. or 2.ª, before a numeral (séc. XX), after an initial: J. Silva.
                is_inside = _INITIAL.fullmatch(line[start:end]) or end in numerals
                if end == last or (part[-1:].isspace() and not is_inside):
                    yield line[start:end]
                    start = end


def check_number(texts: Sequence[SegmentedText], most: int | None) -> None:
    """Raise ConfigError if texts have too many sentences."""
    count = sum(not sentence.is_blank for text in texts for sentence in text.sentences)
    if most is not None and count > most:
        raise ConfigError(f"the text has {count:,} sentences; {most:,} are allowed", "send fewer at a time")


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


def _with_edges(parts: Sequence[str]) -> SplitText:
    """Parts of a text without the white space around them, at least one."""
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
    begin = len(text) - len(text.lstrip())
    return text[:begin], core, text[begin + len(core) :]


def _halves(sentence: Sentence) -> list[Sentence]:
    """Two parts of a sentence that is too long for the model."""
    place = _split_place(sentence.original)
    _, first, space = _split_edges(sentence.original[:place])
    between, second, _ = _split_edges(sentence.original[place:])
    return [
        Sentence(original=first, before=sentence.before, target_prefix=sentence.target_prefix),
        Sentence(original=second, before=space + between),
    ]


def _split_place(text: str) -> int:
    """Where to split a text: after a clause, else at a space, in its middle half; else in its middle.

    Kept parts are not split.
    """
    middle, quarter = len(text) // 2, len(text) // 4
    spans = [part.span() for part in find_kept_parts(text)]
    for pattern in (_CLAUSE_END, _WHITE_SPACE):
        places = {match.end() for match in pattern.finditer(text, quarter, len(text) - quarter)}
        places.difference_update(*(range(begin + 1, end) for begin, end in spans))
        if places:
            return min(places, key=lambda place: abs(place - middle))
    return next((begin or end for begin, end in spans if begin < middle < end), middle)
