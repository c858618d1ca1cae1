"""Post-processing: from the token ids of hypotheses to text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ptenmt.config import Config
from ptenmt.data.text import detokenize_tokens, repair_wordpiece, spacing
from ptenmt.tokenizers import END, PAD, START, UNK, TokenizerPair
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.safeguards import Safeguard
from ptenmt.translation.sentence import SegmentedText, Sentence
from ptenmt.translation.spans import placed, source_text
from ptenmt.translation.word_alignment import word_weights, words_of


class TranslatedSentence(NamedTuple):
    """A sentence, a hypothesis of it, and the translation that it became."""

    sentence: Sentence
    hypothesis: Hypothesis
    text: str
    confidence: float | None = None
    """See ``Translation.confidence``."""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A text and a translation of it."""

    source: str
    text: str
    raw: str
    """The translation with the spacing of the training corpus."""
    tokens: list[str]
    """[START] first, [END] last if it was generated; the same for each sentence of a text."""
    ids: list[int] = field(default_factory=list, repr=False)
    """The ids of the tokens; where ``tokens`` has a word copied from the source, [UNK]."""
    is_complete: bool
    """False if the translation was truncated: [END] was not generated within the maximum length."""
    score: float
    """The sum of the tokens' log-probabilities / length ** ``decoding.length_penalty``; at most 0, higher is
    better. NaN if it was not requested."""
    probability: float | None = None
    """Of a next-token alternative: the probability of that token."""
    sentences: list[TranslatedSentence] = field(default_factory=list, repr=False, compare=False)
    """The sentences of the text and their translations, in order."""
    alternatives: "list[Translation]" = field(default_factory=list)
    """The other translations, best first: ``decoding.num_hypotheses`` - 1."""
    confidence: float | None = None
    """The expected sentence chrF / 100; None: see ``with_confidence``."""
    words: list[tuple[str, float | None]] = field(default_factory=list)
    """With a confidence, the words and marks of the translation, each with the product of the probabilities
    of its tokens, given those before them; None for one that the model did not generate, e.g. an entity."""
    is_retried: bool = False
    """Whether a sentence was translated a second time: the first translation looped, reached the length limit
    or lost an entity."""
    is_split: bool = False
    """Whether a sentence was longer than the model can read, and was translated in parts."""
    detected: str | None = None
    """The text's language, if it is surely another one than the run's source language."""
    unknown: list[str] = field(default_factory=list)
    """The words of the text outside the vocabulary of a model of whole words; of a sub-word model, those with
    letters that it does not spell well, which stay as they are."""
    milliseconds: float = field(default=0.0, compare=False)
    """The text's share of the time its batches took."""


class Postprocessor:
    """Decodes hypotheses, puts what becomes of spans into them, and joins the sentences of a text."""

    def __init__(
        self, tokenizers: TokenizerPair, config: Config, safeguards: Sequence[Safeguard] = ()
    ) -> None:
        self._tokenizers = tokenizers
        source, target = tokenizers.source, tokenizers.target
        self._source_words = source.split if isinstance(source, WordTokenizer) else None
        self._language = config.data.languages[1]
        self._is_wordpiece = config.tokenizer.kind == "wordpiece"
        self._detokenizes = target.splits_punctuation or spacing(config.data) != "none"
        self._length_penalty = config.decoding.length_penalty
        self._safeguards = safeguards

    def decode(self, sentences: Sequence[Sentence]) -> None:
        """Give each hypothesis of the sentences its text; decoding is fastest in one call."""
        hypotheses = [hypothesis for sentence in sentences for hypothesis in sentence.hypotheses]
        decoded = iter(self._tokenizers.target.decode([hypothesis.ids for hypothesis in hypotheses]))
        for sentence in sentences:
            for hypothesis in sentence.hypotheses:
                raw = next(decoded)
                if self._source_words and UNK in hypothesis.ids:
                    spelled = zip(self.tokens(sentence, hypothesis), hypothesis.ids, strict=True)
                    raw = " ".join(token for token, id in spelled if id not in (PAD, START, END))
                hypothesis.raw = repair_wordpiece(raw) if self._is_wordpiece else raw
                hypothesis.generated = hypothesis.raw
                if self._detokenizes:
                    hypothesis.generated = detokenize_tokens(hypothesis.raw, self._language)

    def tokens(self, sentence: Sentence, hypothesis: Hypothesis) -> list[str]:
        """The tokens of a hypothesis, with UNK replacement if the model has whole words."""
        tokens = self._tokenizers.target.pieces(hypothesis.ids)
        if not (self._source_words and UNK in hypothesis.ids):
            return tokens
        return _copy_unknown(self._source_words(sentence.text), hypothesis, tokens)

    def _restored(self, sentence: Sentence, hypothesis: Hypothesis, text: str) -> str:
        """The text of a hypothesis with the entities, terms and capitals of the sentence."""
        if sentence.is_blank:
            return sentence.text
        for safeguard in self._safeguards:
            text = safeguard.restore(sentence, text)
        if not sentence.spans:
            return text
        source, aligned = source_text(sentence.original, sentence.spans)
        if sentence.target_prefix:  # which may have some already
            aligned = [
                span for span in aligned if not (span.is_removed and span.target and span.target in text)
            ]
        if aligned and hypothesis.attention is not None:
            source_words, words = words_of(source), words_of(text)
            weights = word_weights(
                hypothesis.attention,
                (source_words, self._tokenizers.source.pieces(sentence.ids)),
                (words, self._tokenizers.target.pieces(hypothesis.ids[1:])),
            )
            text = placed(words, source_words, weights, aligned)
        for safeguard in self._safeguards:
            text = safeguard.finish(sentence, text)
        return text

    def n_best(self, source: str, text: SegmentedText) -> list[Translation]:
        """The n-best list of a translated text: as long as that of the sentence with the most hypotheses.

        The other sentences repeat their last hypothesis.
        """
        num_ranks = max(len(sentence.hypotheses) for sentence in text.sentences)
        return [
            self._join(
                source,
                text,
                [
                    (sentence, sentence.hypotheses[min(rank, len(sentence.hypotheses) - 1)])
                    for sentence in text.sentences
                ],
            )
            for rank in range(num_ranks)
        ]

    def unknown_words(self, text: SegmentedText) -> list[str]:
        """The distinct source words outside the vocabulary, or which it does not spell well."""
        unknown: dict[str, None] = {}
        for sentence in text.sentences:
            for safeguard in self._safeguards:
                unknown |= dict.fromkeys(safeguard.unknown_words(sentence))
            if self._source_words is not None and UNK in sentence.ids:
                # A truncated sentence has fewer ids than words.
                words = zip(self._source_words(sentence.text), sentence.ids[1:-1], strict=False)
                unknown |= {word: None for word, token in words if token == UNK}
        return list(unknown)

    def _join(
        self, source: str, text: SegmentedText, pairs: Sequence[tuple[Sentence, Hypothesis]]
    ) -> Translation:
        """Join the translations of a text's sentences; blank ones do not count in the score."""
        texts = [self._restored(sentence, hypothesis, hypothesis.generated) for sentence, hypothesis in pairs]
        raws = [
            text
            if hypothesis.raw == hypothesis.generated
            else self._restored(sentence, hypothesis, hypothesis.raw)
            for text, (sentence, hypothesis) in zip(texts, pairs, strict=True)
        ]
        counted = [pair for pair in pairs if not pair[0].is_blank] or pairs[:1]
        lengths = [max(len(hypothesis.ids) - 1, 1) for _, hypothesis in counted]
        penalty = self._length_penalty
        scores = [hypothesis.score for _, hypothesis in counted]
        total = sum(score * length**penalty for score, length in zip(scores, lengths, strict=True))
        return Translation(
            source=source,
            text=text.join(texts),
            raw=" ".join(raw for raw in raws if raw),
            tokens=[token for pair in counted for token in self.tokens(*pair)],
            ids=[token for _, hypothesis in counted for token in hypothesis.ids],
            is_complete=all(hypothesis.is_complete for _, hypothesis in pairs),
            score=scores[0] if len(counted) == 1 else total / sum(lengths) ** penalty,
            sentences=[
                TranslatedSentence(*pair, translation) for pair, translation in zip(pairs, texts, strict=True)
            ],
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
