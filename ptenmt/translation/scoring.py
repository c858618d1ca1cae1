"""Scoring: the probabilities of translations by teacher forcing, and the confidences that they give."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ptenmt.tokenizers import END, Tokenizer
from ptenmt.translation.confidence import Calibration, ScoredSentence, word_probabilities
from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.translator import Translator


def with_confidence(translator: Translator, translations: Sequence[Translation]) -> list[Translation]:
    """Add confidences and probabilities of words, for which the engine scores translations once more.

    A translation is unchanged if it has no words of the source language; all are if the run has no
    calibration (``ptenmt evaluate --calibrate``), or with the Keras engine.
    """
    calibration = translator.calibration()
    if calibration is None:
        return list(translations)
    scored = scored_sentences(translator, translations)
    return [
        _with_confidence(translation, sentences, calibration, translator.tokenizers.target)
        if sentences
        else translation
        for translation, sentences in zip(translations, scored, strict=True)
    ]


def _with_confidence(
    translation: Translation, scored: Sequence[ScoredSentence], calibration: Calibration, tokenizer: Tokenizer
) -> Translation:
    """A translation with the confidences of its sentences that have words, which are scored."""
    translated = [one for one in translation.sentences if not one.sentence.is_blank]
    confidences = iter([calibration.confidence([sentence]) for sentence in scored])
    tokens = [token for sentence in scored for token in sentence.target[1:]]
    return replace(
        translation,
        confidence=calibration.confidence(scored),
        words=word_probabilities(
            translation.text,
            " ".join(one.hypothesis.generated for one in translated),
            tokenizer.pieces(tokens),
            chain(*(sentence.log_probs for sentence in scored)),
        ),
        sentences=[
            one if one.sentence.is_blank else one._replace(confidence=next(confidences))
            for one in translation.sentences
        ],
    )


def scored_sentences(
    translator: Translator, translations: Sequence[Translation]
) -> list[list[ScoredSentence]]:
    """Score the tokens of each translation's sentences that have words, by teacher forcing."""
    max_positions = translator.config.model.max_positions
    pairs = [
        [
            (one.sentence.ids, _ended(one.hypothesis.ids, max_positions))
            for one in translation.sentences
            if not one.sentence.is_blank
        ]
        for translation in translations
    ]
    sources = [source for of_text in pairs for source, _ in of_text]
    targets = [target for of_text in pairs for _, target in of_text]
    scores = iter(translator.engine.score(sources, targets)() if sources else ())
    return [[ScoredSentence(source, target, next(scores)) for source, target in of_text] for of_text in pairs]


def _ended(ids: list[int], max_positions: int) -> list[int]:
    """The ids of a translation with [END], also of a truncated one."""
    return ids if END in ids else [*ids[:max_positions], END]
