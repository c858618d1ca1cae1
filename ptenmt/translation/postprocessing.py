"""Post-processing: from the token ids of hypotheses to text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ptenmt.config import Config
from ptenmt.data.text import TextPreparation, detokenize_tokens, repair_wordpiece
from ptenmt.tokenizers import END, PAD, START, UNK, Tokenizer, TokenizerPair
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.segmentation import Segment, SegmentedText


class TranslatedSegment(NamedTuple):
    """A segment and its translation."""

    segment: Segment
    text: str
    ids: list[int]
    confidence: float | None = None
    """See ``Translation.confidence``."""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """A translation of a text."""

    text: str
    raw: str
    """The translation with the spacing of the training corpus."""
    tokens: list[str]
    """[START] first, [END] last if it was generated; the same for each segment of a long text."""
    ids: list[int] = field(default_factory=list, repr=False)
    """The ids of the tokens; where ``tokens`` has a word copied from the source, [UNK]."""
    is_complete: bool
    """False if the translation was truncated: [END] was not generated within the maximum length."""
    score: float
    """The sum of the tokens' log-probabilities / length ** ``decoding.length_penalty``; at most 0, higher is
    better. NaN if it was not requested."""
    probability: float | None = None
    """Of a next-token alternative: the probability of that token."""
    segments: list[TranslatedSegment] = field(default_factory=list, repr=False, compare=False)
    """The segments of the text and their translations, in order."""


@dataclass(frozen=True, kw_only=True)
class Translation(Alternative):
    """A text and its best translation."""

    source: str
    confidence: float | None = None
    """The expected sentence chrF / 100; None: see ``Translator.with_confidence``."""
    words: list[tuple[str, float | None]] = field(default_factory=list)
    """With a confidence, the words and marks of the translation, each with the product of the probabilities
    of its tokens, given those before them; None for one that the model did not generate, e.g. an entity."""
    alternatives: list[Alternative] = field(default_factory=list)
    """The other translations, best first: ``decoding.num_hypotheses`` - 1."""
    is_retried: bool = False
    """Whether a sentence was translated a second time: the first translation looped, reached the length limit
    or lost an entity."""
    is_split: bool = False
    """Whether a sentence was longer than the model can read, and was translated in parts."""
    detected: str | None = None
    """The text's language, if it is surely another one than the run's source language."""
    unknown: list[str] = field(default_factory=list)
    """The words of the text outside the vocabulary of a model of whole words; sub-word models have none."""
    milliseconds: float = field(default=0.0, compare=False)
    """The text's share of the time its batches took."""


def mean_log_probability(translation: Alternative, length_penalty: float) -> float:
    """The mean log-probability of a translation's tokens, [END] included, from a score with this penalty."""
    num_tokens = max(len(translation.ids) - translation.ids.count(START), 1)
    return float(translation.score * num_tokens ** (length_penalty - 1))


class Postprocessor:
    """Detokenizes hypotheses and joins the segments of a text."""

    def __init__(self, tokenizers: TokenizerPair, config: Config) -> None:
        self._tokenizer: Tokenizer = tokenizers.target
        self._source = source = tokenizers.source
        self._source_words = source.split if isinstance(source, WordTokenizer) else None
        self._preparation = TextPreparation(config.data)
        self._language = config.data.languages[1]
        self._is_wordpiece = config.tokenizer.kind == "wordpiece"
        split = self._tokenizer.splits_punctuation
        self._join_tokens = detokenize_tokens if split else self._preparation.detokenize
        self._length_penalty = config.decoding.length_penalty

    def n_best(
        self, texts: Sequence[SegmentedText], hypotheses: Sequence[Sequence[Sequence[Hypothesis]]]
    ) -> list[list[Alternative]]:
        """Turn the hypotheses of each segment of each text into the n-best list of each text.

        It is as long as that of the segment with the most hypotheses; the others repeat their last.
        """
        pairs = [
            (segment, hypothesis)
            for text, of_text in zip(texts, hypotheses, strict=True)
            for segment, of_segment in zip(text.segments, of_text, strict=True)
            for hypothesis in of_segment
        ]
        detokenized = iter(self._detokenize(pairs))
        found = []
        for text, of_text in zip(texts, hypotheses, strict=True):
            parts = [[next(detokenized) for _ in of_segment] for of_segment in of_text]
            if len(parts) == 1 and not (text.segments[0].before or text.after):
                found.append(parts[0])
                continue
            ranks = range(max(map(len, parts)))
            found.append([self._join(text, [part[min(at, len(part) - 1)] for part in parts]) for at in ranks])
        return found

    def unknown_words(self, text: SegmentedText) -> list[str]:
        """The distinct source words outside the vocabulary of a model of whole words."""
        if self._source_words is None:
            return []
        unknown: dict[str, None] = {}
        for segment in text.segments:
            if UNK in segment.ids:
                # A truncated segment has fewer ids than words.
                words = zip(self._source_words(segment.text), segment.ids[1:-1], strict=False)
                unknown |= {word: None for word, token in words if token == UNK}
        return list(unknown)

    def unconstrained(self, hypothesis: Hypothesis) -> str:
        """The text of a hypothesis without what constraints put into it."""
        (raw,) = self._tokenizer.decode([hypothesis.ids])
        return self._join_tokens(repair_wordpiece(raw) if self._is_wordpiece else raw, self._language)

    def _detokenize(self, pairs: Sequence[tuple[Segment, Hypothesis]]) -> list[Alternative]:
        """Decode and detokenize hypotheses; copy unknown words."""
        decoded = self._tokenizer.decode([hypothesis.ids for _, hypothesis in pairs])
        join = self._join_tokens
        alternatives = []
        for (segment, hypothesis), decoded_text in zip(pairs, decoded, strict=True):
            raw = decoded_text
            tokens = self._tokenizer.pieces(hypothesis.ids)
            if self._source_words and UNK in hypothesis.ids:
                tokens = _copy_unknown(self._source_words(segment.text), hypothesis, tokens)
                spelled = zip(tokens, hypothesis.ids, strict=True)
                raw = " ".join(token for token, id in spelled if id not in (PAD, START, END))
            if self._is_wordpiece:
                raw = repair_wordpiece(raw)
            text = join(raw, self._language)
            if segment.is_blank:
                text = raw = segment.text
            elif segment.constraints is not None:
                source_tokens, pieces = self._source.pieces(segment.ids), tokens[1:]
                restored = {
                    each: segment.constraints.restore(each, hypothesis.attention, source_tokens, pieces)
                    for each in {text, raw}  # mostly the same
                }
                text, raw = restored[text], restored[raw]
            alternatives.append(
                Alternative(
                    text=text,
                    raw=raw,
                    tokens=tokens,
                    ids=hypothesis.ids,
                    is_complete=hypothesis.is_complete,
                    score=hypothesis.score,
                    segments=[TranslatedSegment(segment, text, hypothesis.ids)],
                )
            )
        return alternatives

    def _join(self, text: SegmentedText, parts: Sequence[Alternative]) -> Alternative:
        """Join the translations of a text's segments; blank ones do not count in the score."""
        pairs = zip(text.segments, parts, strict=True)
        non_blank = [part for segment, part in pairs if not segment.is_blank] or parts[:1]
        lengths = [max(len(part.tokens) - 1, 1) for part in non_blank]
        penalty = self._length_penalty
        total = sum(part.score * length**penalty for part, length in zip(non_blank, lengths, strict=True))
        return Alternative(
            text=text.join([part.text for part in parts]),
            raw=" ".join(part.raw for part in parts if part.raw),
            tokens=[token for part in non_blank for token in part.tokens],
            ids=[token for part in non_blank for token in part.ids],
            is_complete=all(part.is_complete for part in parts),
            score=total / sum(lengths) ** penalty,
            segments=[segment for part in parts for segment in part.segments],
        )


def _copy_unknown(words: Sequence[str], hypothesis: Hypothesis, tokens: Sequence[str]) -> list[str]:
    """UNK replacement: the tokens with each [UNK] replaced by the source word that it attends to most."""
    if hypothesis.attention is None or not words:
        return list(tokens)
    nearest = hypothesis.attention[:, 1 : len(words) + 1].argmax(axis=1)  # without [START] and [END]: [T]
    return [
        words[nearest[place - 1]] if token == UNK and 0 < place <= len(nearest) else piece
        for place, (token, piece) in enumerate(zip(hypothesis.ids, tokens, strict=True))
    ]
