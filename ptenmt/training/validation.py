"""Scoring the model between two epochs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

import tensorflow as tf

from ptenmt.config import Config, DecodingConfig
from ptenmt.ctranslate2_export import convert, why_not_ctranslate2
from ptenmt.data.batches import EncodedPairs, num_batches, sorted_batches
from ptenmt.data.corpus import SentencePair
from ptenmt.errors import OutputError
from ptenmt.evaluation.scores import Scorer
from ptenmt.evaluation.test_set import TestSet
from ptenmt.events import Sample, Scores, ValidationStep
from ptenmt.model import Transformer
from ptenmt.tokenizers import UNK, TokenizerPair, forbidden
from ptenmt.training.likelihood import Likelihood, compile_token_sums
from ptenmt.training.workers import Workers
from ptenmt.translation import Translation, Translator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

NUM_SAMPLES = 2
PAIRS_A_ROUND = 256
"""That each of several workers translates before they hear of each other."""


class TranslationValidator:
    """Scores a live model on the validation pairs: loss, accuracy, BLEU and chrF of greedy translations.

    It is CTranslate2 that translates, with the weights as an export would have them, or the Keras engine if
    CTranslate2 cannot express the model.

    Args:
        config: The run's options.
        model: Built; its weights go on changing between two validations.
        tokenizers: Of both languages.
        pairs: The validation pairs as text.
        encoded: The same, tokenised.
        workers: That share the work; by default this process does it alone.
    """

    def __init__(
        self,
        config: Config,
        model: Transformer,
        tokenizers: TokenizerPair,
        pairs: Sequence[SentencePair],
        encoded: EncodedPairs,
        workers: Workers | None = None,
    ) -> None:
        self._workers = workers or Workers(tf.distribute.get_strategy())
        self._sentences = config.batch.sentences
        self._pairs = pairs
        self._encoded = encoded
        self._test_set = TestSet.from_pairs(pairs, config.data)
        self._score = compile_token_sums(model)
        self._model = model
        self._tokenizers = tokenizers
        greedy = DecodingConfig(max_length=config.decoding.max_length, beam_size=1)
        self._config = replace(config, decoding=greedy)
        is_expressible = not why_not_ctranslate2(config.model)
        self._keras = None if is_expressible else Translator.from_model(model, tokenizers, self._config)

    def validate(self) -> Iterator[ValidationStep | Scores]:
        """Score the model as it is now.

        Yields:
            How far it is, counted in batches scored and pairs translated; ``Scores`` at the end.
        """
        total = num_batches(self._encoded, self._sentences) + len(self._pairs)
        batches = sorted_batches(self._encoded, self._sentences)
        likelihood, done = Likelihood(self._score, self._workers), 0
        for done in likelihood.add(batches):
            yield ValidationStep(done=done, total=total)
        translator = self._translator()
        translations: dict[int, Translation] = {}
        for found in self._translated(translator):
            translations |= found
            yield ValidationStep(done=done + len(translations), total=total)
        ordered = [translations[row] for row in range(len(self._pairs))]
        scorer = Scorer("detokenised", self._test_set.references, ("BLEU", "chrF"))
        scores = scorer.values([translation.text for translation in ordered])
        yield Scores(
            loss=likelihood.loss,
            accuracy=likelihood.accuracy,
            bleu=scores["BLEU"],
            chrf=scores["chrF"],
            samples=self._samples(ordered),
        )

    def _translator(self) -> Translator:
        """What translates greedily with the weights as they are now."""
        if self._keras is not None:
            return self._keras
        weights = {weight.path: weight.numpy() for weight in self._model.trainable_variables}
        try:
            model = convert(self._config.model, weights, self._tokenizers, "live")
        except OutputError:  # the folder of temporary files is full; that is no reason to end a training
            return Translator.from_model(self._model, self._tokenizers, self._config)
        engine = CTranslate2Engine(
            model,
            self._tokenizers,
            with_unknown=UNK not in forbidden(self._config.tokenizer),
            threads=self._config.machine.threads,
        )
        return Translator(engine, self._tokenizers, self._config)

    def _translated(self, translator: Translator) -> Iterator[dict[int, Translation]]:
        """The translations of some pairs by their number, until all are done; all workers' at a time."""
        sources = [source for source, _ in self._pairs]
        if self._workers.count == 1:
            yield from translator.translate_prepared(sources, with_scores=False)
            return
        size = PAIRS_A_ROUND * self._workers.count
        for first in range(0, len(sources), size):
            rows = range(first, min(first + size, len(sources)))[self._workers.index :: self._workers.count]
            mine: dict[int, Translation] = {}
            own = [sources[row] for row in rows]
            for found in translator.translate_prepared(own, with_scores=False):
                mine |= {rows[number]: translation for number, translation in found.items()}
            shared = self._workers.gather([(row, asdict(translation)) for row, translation in mine.items()])
            yield {row: Translation(**fields) for each in shared for row, fields in each}

    def _samples(self, translations: Sequence[Translation]) -> list[Sample]:
        chosen = zip(self._pairs[:NUM_SAMPLES], translations[:NUM_SAMPLES], strict=True)
        return [
            Sample(source=source, reference=reference, translation=translation.raw)
            for (source, reference), translation in chosen
        ]
