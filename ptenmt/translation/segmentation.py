"""Splits texts into sentences that fit the model, and encodes them.

The model is trained on sentences. A text is split into sentences (by sentencex of the Wikimedia Foundation);
a sentence with more tokens than the model has positions is split at a clause boundary near its middle,
recursively. The cells of a line are sentences of their own. The white space between sentences is kept, so
that a text keeps its layout, and so is a sentence without a word of the source language.
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
_ABBREVIATION = re.compile(
    r"\b(?i:sécs?|págs?|caps?|vols?|núm|nr|n|av|aprox|tels?|tlm|ref|máx|mín|r|pp?|cfr?|tab|arts|figs|obs|qtde?|temp|hab|c[óo]d"
    r"|ed|dep|arq|sta|srs|(?:ex|il)m[oa]s?|(?:prof|sr|dr)as?)\.\s+"
    r"|\b(?i:exas?|univ|fac|inst|est|lg|pç|resp)\.\s+(?=[a-zà-ÿ])"
    r"|(?<=\d )(?:uni?|cx|pct|c)\.\s+(?=[a-z])"
    r"|\b(?i:als?|apt?o?|bl|qd|lt|fls?|docs?|inc|und?|cx|proc|min)\.\s+(?=\d|[A-Za-z](?:[),]|$)|n\.)"
    r"|(?:^|[.!?…] |\b(?i:o|ao|à|de|do|da|com|por|rei|rainha) |(?<![A-Z] )\b(?i:a|e|em) )"
    r"(?:D\.\s+|[A-Z]\.\s+(?=[A-ZÀ-Þ][a-zà-ÿ]{2}))"  # D. Maria, J. Silva, not vitamin D
    r"|\b(?i:seg|ter|qua|qui|sex|s[áa]b|dom)\.\s+(?=(?:a|à|até|e|ou|das|de|(?:encerr|fech)ad\w+)\b|\d)"
    r"|\b(?i:jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez)\.\s+(?=(?:de )?\d{4})"
    r"|\b(?:Ltda|Cia|[ad]\.\s?C)\.\s+(?=[a-zà-ÿ(]|Ltda\b)"
)
"""Portuguese abbreviations within a sentence, where sentencex ends it."""
_FENCE = re.compile(r" {0,3}```[^`]*$")
"""The first or last line of a code fence."""
_ROMAN = "(?:x{1,3}|x{0,3}(?:ix|iv|v?i{1,3}|v))"
_LABEL = re.compile(
    rf"(?:\(?(?:[A-Za-z]|(?i:{_ROMAN}))\)|(?:[a-h]|{_ROMAN}|(?=[IVX]{{2}})(?i:{_ROMAN}))\.|[*•]|#{{1,6}}"
    r"|[IVX]{1,4} [-–—])(?:\s+(?=\S)|\Z)"
)
"""Of a list or heading: a), iii), (IV), ii., XII., V -, not D. or V., which begin names and titles."""
_BAR = re.compile(r"((?<!\S)(?:[·→➔➜⇒]|[-=]>|/\*{1,2}|\*/|<!--|-->)(?!\S)|(?<!\|)\|(?!\|))(?![^()]*\))")
"""Between cells, not in ``P(a | b)``, or around a comment."""
_STEP = re.compile(r"(?<!\S)(>)(?!\S)")
_QUOTED_STEP = re.compile('["”»] > ["“«]')
_ARROW = re.compile(r"(?<!\S)([»›«‹])(?!\S)")
_FIELD = re.compile(r"(;)(?=[^\s;])")
"""Between fields of a table, without a space after it, several in a line."""
_QUOTATION = re.compile("«.*»|‹.*›", re.DOTALL)
_COLUMNS = re.compile(r"(\t|\s{3,}|\.{4,}|_{4,})")
"""With dot leaders, and lines to be written on."""
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
        self._options = config.decoding
        self._preparation = TextPreparation(config.data)
        self._copies_unknown = config.tokenizer.kind == "words"
        self._safeguards = safeguards

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
        """Encode those that may fit, and their rivals, with the spans that safeguards give them.

        Those without words get spans, too, for their numbers. A safeguard may leave a sentence as it is.
        """
        short = [sentence for sentence in sentences if self._is_short(sentence.original)]
        for sentence in short:
            for safeguard in self._safeguards:
                safeguard.before(sentence)
        fitting = [
            sentence for sentence in short if not sentence.is_blank and self._has_words(sentence.original)
        ]
        for sentence in fitting:
            for safeguard in self._safeguards:
                rival = safeguard.rival(sentence)
                if rival is not None:
                    sentence.rivals[safeguard.name] = rival
                    sentence.search = sentence.search._replace(with_scores=True)
        readings = [reading for sentence in fitting for reading in (sentence, *sentence.rivals.values())]
        self.encode(readings)
        for sentence in fitting:
            for name, rival in list(sentence.rivals.items()):
                if rival.is_blank or not rival.ids:
                    del sentence.rivals[name]

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
                for reading in (sentence, *sentence.rivals.values()):
                    reading.row, reading.number = row, number
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
        cells = chain.from_iterable(map(_cells, lines))
        parts = [part for cell in cells for part in self._sentences_of_line(cell)]
        sentences, after = _with_edges(parts)
        return [_without_label(*sentence) for sentence in sentences], after

    def _sentences_of_line(self, line: str) -> Iterator[str]:
        """The sentences of a line, each with the white space around it."""
        import sentencex

        if _FENCE.match(line):
            yield line
            return
        readable = _UNREADABLE.sub(" ", line)
        within: set[int] = set()
        if self._source_language == "pt":
            within = {abbreviation.end() for abbreviation in _ABBREVIATION.finditer(readable)}
        start = end = 0
        for last in [*(ellipsis.end() for ellipsis in _ELLIPSIS.finditer(line)), len(line)]:
            for part in sentencex.segment(self._source_language, readable[end:last]):
                end += len(part)
                # No sentence ends inside d.C. or 2.ª.
                if (part[-1:].isspace() and end not in within) or end == last:
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


def _cells(line: str) -> list[str]:
    """What tabs, wide spaces, bars, arrows, several ``>`` or marks of comments separate, and those.

    A ``»`` between spaces is an arrow, as in ``Ficheiro » Guardar``, where no quotation is.
    """
    patterns = [_COLUMNS, _BAR]
    if len(_STEP.findall(line)) + len(_BAR.findall(line)) > 1 or _QUOTED_STEP.search(line):
        patterns.append(_STEP)
    if len(_FIELD.findall(line)) > 1:
        patterns.append(_FIELD)
    if not _QUOTATION.search(line):
        patterns.append(_ARROW)
    separators = re.compile("|".join(pattern.pattern for pattern in patterns))
    if _FENCE.match(line) or not separators.search(line):
        return [line]
    if any(len(entity[0]) > 1 and separators.search(entity[0]) for entity in find_entities(line)):
        return [line]
    return [part for part in separators.split(line) if part]


def _without_label(before: str, sentence: str) -> tuple[str, str]:
    """A sentence and what stands before it, its label ``iii)``, bullet or ``#`` included: it is no word."""
    label = _LABEL.match(sentence)
    end = label.end() if label else 0
    return before + sentence[:end], sentence[end:]


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
