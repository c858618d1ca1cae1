"""Post-processing: from the token ids of hypotheses to text, with kept parts and terms in their places."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ptenmt.config import Config
from ptenmt.data.text import detokenize_tokens, repair_wordpiece, spacing
from ptenmt.tokenizers import END, PAD, START, UNK, TokenizerPair
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.placement import checked, missing_spans, placed, source_text, with_kept_parts
from ptenmt.translation.safeguards import in_case, keeps_digits
from ptenmt.translation.sentence import SegmentedText, Sentence
from ptenmt.translation.word_alignment import word_weights, words_of

if TYPE_CHECKING:
    import numpy as np


class TranslatedSentence(NamedTuple):
    """A sentence, a hypothesis of it, and the translation that it became."""

    sentence: Sentence
    hypothesis: Hypothesis
    text: str


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
    is_retried: bool = False
    """Whether a sentence was searched once more: the first translation looped or reached the length limit."""
    is_split: bool = False
    """Whether a sentence was longer than the model can read, and was translated in parts."""
    detected: str | None = None
    """The text's language, if it is surely another one than the run's source language."""
    unknown: list[str] = field(default_factory=list)
    """The words of the text outside the vocabulary of a model of whole words; of a sub-word model, those with
    characters that its tokenizer lacks, which stay as they are."""


Ranked = list[tuple[Sentence, Hypothesis]]
"""The sentences of a text, each with a hypothesis of it."""


class Postprocessor:
    """Decodes hypotheses, puts kept parts and terms into them, and joins the sentences of a text.

    ``attention`` computes the attention with which the decoder is fed targets; see ``Engine``.
    """

    def __init__(
        self,
        tokenizers: TokenizerPair,
        config: Config,
        attention: "Callable[[list[Sequence[int]], list[list[int]]], list[np.ndarray]]",
    ) -> None:
        self._tokenizers, self._attention = tokenizers, attention
        source, target = tokenizers.source, tokenizers.target
        self._source_words = source.split if isinstance(source, WordTokenizer) else None
        self._language = config.data.languages[1]
        self._is_wordpiece = config.tokenizer.kind == "wordpiece"
        self._detokenizes = target.splits_punctuation or spacing(config.data) != "none"

    def decode(self, pairs: Sequence[tuple[Sentence, Sequence[Hypothesis]]]) -> None:
        """Give each hypothesis of the sentences its text; decoding is fastest in one call."""
        ids = [hypothesis.ids for _, hypotheses in pairs for hypothesis in hypotheses]
        decoded = iter(self._tokenizers.target.decode(ids))
        for sentence, hypotheses in pairs:
            for hypothesis in hypotheses:
                raw = next(decoded)
                if self._source_words and UNK in hypothesis.ids:
                    spelled = zip(self.tokens(sentence, hypothesis), hypothesis.ids, strict=True)
                    raw = " ".join(token for token, id in spelled if id not in (PAD, START, END))
                hypothesis.raw = repair_wordpiece(raw) if self._is_wordpiece else raw
                hypothesis.generated = hypothesis.raw
                if self._detokenizes:
                    hypothesis.generated = detokenize_tokens(hypothesis.raw, self._language)

    def tokens(self, sentence: Sentence, hypothesis: Hypothesis) -> list[str]:
        """The tokens of a hypothesis; a model of whole words copies for [UNK] the word it attends to most."""
        tokens = self._tokenizers.target.pieces(hypothesis.ids)
        if self._source_words and UNK in hypothesis.ids and hypothesis.attention is not None:
            words = self._source_words(sentence.text)
            attention = hypothesis.attention[:, 1 : len(words) + 1]  # [T, words]: not to [START] and [END]
            for place, word in zip(range(1, len(tokens)), attention.argmax(axis=1), strict=False):
                if hypothesis.ids[place] == UNK:
                    tokens[place] = words[word]
        return tokens

    def translations(
        self, texts: Sequence[tuple[str, SegmentedText, Ranked]], length_penalty: float
    ) -> list[Translation]:
        """The translations of texts, given their sentences, each with a hypothesis of it.

        Blank sentences do not count in the score.
        """
        placed = iter(self._place(list(chain(*(pairs for _, _, pairs in texts)))))
        joined: list[Translation] = []
        for source, text, pairs in texts:
            sentences = [next(placed) for _ in pairs]
            counted = [pair for pair in pairs if not pair[0].is_blank] or pairs[:1]
            hypotheses = [hypothesis for _, hypothesis in counted]
            lengths = [max(len(hypothesis.ids) - 1, 1) for hypothesis in hypotheses]
            scores = [hypothesis.score for hypothesis in hypotheses]
            total = sum(score * length**length_penalty for score, length in zip(scores, lengths, strict=True))
            translation = Translation(
                source=source,
                text=text.join([own for own, _ in sentences]),
                raw=" ".join(raw for _, raw in sentences if raw),
                tokens=[token for pair in counted for token in self.tokens(*pair)],
                ids=[token for hypothesis in hypotheses for token in hypothesis.ids],
                is_complete=all(hypothesis.is_complete for hypothesis in hypotheses),
                score=scores[0] if len(counted) == 1 else total / sum(lengths) ** length_penalty,
                sentences=[
                    TranslatedSentence(*pair, own) for pair, (own, _) in zip(pairs, sentences, strict=True)
                ],
            )
            joined.append(translation)
        return joined

    def _place(self, pairs: Ranked) -> list[tuple[str, str]]:
        """The translations that hypotheses become, each also with the spacing of the training corpus.

        They have the capitals, kept parts and terms of the sentences. Those for which word alignments are
        needed are fed to the decoder in one call.
        """
        written: list[list[str]] = []
        for sentence, hypothesis in pairs:
            generated = dict.fromkeys((hypothesis.generated, hypothesis.raw))
            in_its_case = [in_case(text, sentence.case) for text in generated]
            written.append([checked(text, sentence.original, sentence.spans) for text in in_its_case])
        rows = [
            row
            for row, ((sentence, _), (text, *_)) in enumerate(zip(pairs, written, strict=True))
            if missing_spans(text, sentence.spans) or any(span.is_term for span in sentence.spans)
        ]
        sources = [pairs[row][0].ids for row in rows]
        matrices = self._attention(sources, [pairs[row][1].ids for row in rows]) if rows else []
        for row, matrix in zip(rows, matrices, strict=True):
            written[row] = [self._placed(*pairs[row], text, matrix) for text in written[row]]
        translations = []
        for (sentence, _), texts in zip(pairs, written, strict=True):
            text, *others = [with_kept_parts(text, sentence.spans) for text in texts]
            if sentence.is_blank or not keeps_digits(sentence, text):
                text, others = sentence.original, []
            translations.append((text, (others or [text])[0]))
        return translations

    def _placed(self, sentence: Sentence, hypothesis: Hypothesis, text: str, attention: "np.ndarray") -> str:
        """A translation with the spans of its sentence that need a word alignment, [T, S]."""
        source, begins = source_text(sentence.original, sentence.spans, lower=sentence.case is not None)
        spans = list(zip(sentence.spans, begins, strict=True))
        if sentence.target_prefix:  # which may have some already
            spans = [(span, begin) for span, begin in spans if span.is_term or span.target not in text]
        source_words, words = words_of(source), words_of(text)
        weights = word_weights(
            attention,
            (source_words, self._tokenizers.source.pieces(sentence.ids)),
            (words, self._tokenizers.target.pieces(hypothesis.ids[1:])),
        )
        return placed(text, sentence.original, (source_words, weights), spans)
