"""What is asked about a single sentence: word alignments, and next-token alternatives after a target prefix.

The sentence is translated without safeguards: what is shown is what the model does.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from ptenmt.config import DecodingConfig
from ptenmt.config.schema import MAX_ALTERNATIVES, require
from ptenmt.tokenizers import UNK, suppressed_ids
from ptenmt.translation.batching import max_length
from ptenmt.translation.engine import Hypothesis, SearchRequest
from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.sentence import BLANK, SegmentedText
from ptenmt.translation.translator import Translator
from ptenmt.translation.word_alignment import Alignment

_LEAST_LOG_ODDS = math.log(0.01)
"""Of a next-token alternative against the most probable one."""
_TOKENS_PER_ALTERNATIVE = 4
"""How many tokens to rank for each alternative: those that continue a word are left out."""


def align(translator: Translator, text: str, prefix: str = "") -> Alignment:
    """Translate a sentence, and return which source tokens each target token attends to.

    Raises:
        ConfigError: The text is not a single sentence.
    """
    segmented = translator.encoder.single_sentence(text)
    (sentence,) = segmented.sentences
    options = translator.config.decoding
    best, prefix_ids = BLANK, list[int]()
    if not sentence.is_blank:
        prefix_ids = translator.encoder.target_prefix(prefix, with_kept_parts=True)
        request = SearchRequest(
            [sentence.ids],
            max_length(options, translator.config.model, len(sentence.ids), len(prefix_ids)),
            options,
            target_prefixes=[prefix_ids],
            with_attention=True,
        )
        best = translator.seeded_engine(options).submit(request)()[0][0]
    weights = best.attention
    if weights is None:
        import numpy as np

        weights = np.zeros((len(best.ids) - 1, len(sentence.ids)))
    (translation,) = _translations(translator, segmented, [best], text)
    return Alignment(
        source=text,
        translation=_with_typed_prefix(translator, translation, prefix, prefix_ids).text,
        source_tokens=translator.tokenizers.source.pieces(sentence.ids),
        target_tokens=translator.tokenizers.target.pieces(best.ids[1:]),
        weights=weights,
    )


def next_token_alternatives(translator: Translator, text: str, prefix: str, count: int) -> list[Translation]:
    """Translations of a sentence that differ in the first token after a target prefix.

    The prefix ends where a word ends: no token continues its last word.

    Returns:
        At most ``count`` translations, 1 to ``MAX_ALTERNATIVES``, the most probable token first, none of less
        than 1 % of its probability; the text itself if it has no words; none if every token would continue
        the last word of the prefix.

    Raises:
        ConfigError: Not with this engine, a text that is not one sentence, or this ``count``.
    """
    require(1 <= count <= MAX_ALTERNATIVES, f"{count} alternatives: give 1 to {MAX_ALTERNATIVES:,}")
    segmented = translator.encoder.single_sentence(text)
    (sentence,) = segmented.sentences
    if sentence.is_blank:
        return _translations(translator, segmented, [BLANK], text)
    prefix_ids = translator.encoder.target_prefix(prefix, with_kept_parts=True)
    tokens = _next_tokens(translator, sentence.ids, prefix_ids, count)
    hypotheses = _completions(translator, sentence.ids, [[*prefix_ids, token] for token, _ in tokens])
    penalty = translator.config.decoding.length_penalty
    return [
        replace(
            _with_typed_prefix(translator, translation, prefix, prefix_ids),
            probability=math.exp(log_probability),
            score=translation.score + log_probability / max(len(translation.ids) - 1, 1) ** penalty,
        )
        for translation, (_, log_probability) in zip(
            _translations(translator, segmented, hypotheses, text), tokens, strict=True
        )
    ]


def _completions(
    translator: Translator, source: Sequence[int], prefixes: Sequence[Sequence[int]]
) -> list[Hypothesis]:
    """The best hypothesis of a sentence after each prefix; the prefixes are of one length."""
    hypotheses: list[Hypothesis] = []
    options = replace(translator.config.decoding, num_hypotheses=1)
    engine = translator.seeded_engine(options)
    size = max(1, engine.batch_sentences)
    for batch in (prefixes[first : first + size] for first in range(0, len(prefixes), size)):
        request = SearchRequest(
            [source] * len(batch),
            max_length(options, translator.config.model, len(source), len(batch[0])),
            options,
            target_prefixes=batch,
            with_attention=translator.copies_unknown,
        )
        hypotheses += [best for best, *_ in engine.submit(request)()]
    return hypotheses


def _next_tokens(
    translator: Translator, source: Sequence[int], prefix: Sequence[int], count: int
) -> list[tuple[int, float]]:
    """The most probable tokens after a prefix that begin a word, with their log-probabilities."""
    target = translator.tokenizers.target
    # [END] is not among the alternatives.
    num_tokens = target.vocabulary_size - len(suppressed_ids(translator.config.tokenizer)) - 1
    length = len(prefix) + 1
    request = SearchRequest(
        [source],
        length,
        DecodingConfig(beam_size=1),
        target_prefixes=[prefix],
        next_token_alternatives=min(_TOKENS_PER_ALTERNATIVE * count, num_tokens),
    )
    (ranked,) = translator.seeded_engine(translator.config.decoding).submit(request)()
    before, *texts = target.decode([prefix, *([*prefix, hypothesis.ids[-1]] for hypothesis in ranked)])
    tokens = [
        (hypothesis.ids[-1], hypothesis.score * length)
        for hypothesis, text in zip(ranked, texts, strict=True)
        if not (before[-1:].isalnum() and text[len(before) :][:1].isalnum())
    ]
    least = tokens[0][1] + _LEAST_LOG_ODDS if tokens else 0.0
    return [(token, log_probability) for token, log_probability in tokens[:count] if log_probability >= least]


def _translations(
    translator: Translator, segmented: SegmentedText, hypotheses: Sequence[Hypothesis], text: str
) -> list[Translation]:
    """The translations that hypotheses of a sentence become."""
    (sentence,) = segmented.sentences
    translator.postprocessor.decode([(sentence, hypotheses)])
    texts = [(text, segmented, [(sentence, hypothesis)]) for hypothesis in hypotheses]
    return translator.postprocessor.translations(texts, translator.config.decoding.length_penalty)


def _with_typed_prefix(
    translator: Translator, translation: Translation, prefix: str, prefix_ids: Sequence[int]
) -> Translation:
    """A translation that begins with the prefix as typed, if the vocabulary lacks a kept part in it."""
    if UNK not in prefix_ids or translator.copies_unknown:
        return translation
    begun, whole = translator.tokenizers.target.decode([prefix_ids, translation.ids])
    return replace(translation, text=prefix + whole[len(begun) :])
