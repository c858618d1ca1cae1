"""Scoring the model between two epochs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice

import tensorflow as tf

from ptenmt.config import Config
from ptenmt.corpus.batches import Batch, EncodedPairs, num_batches, sorted_batches
from ptenmt.corpus.pairs import SentencePair
from ptenmt.evaluation.evaluation import score_translations
from ptenmt.evaluation.likelihood import compile_token_sums
from ptenmt.events import Sample, Scores, ValidationStep
from ptenmt.model import TokenSums, Transformer
from ptenmt.tokenizers import TokenizerPair
from ptenmt.training.workers import Workers
from ptenmt.translation import Translation, Translator

NUM_SAMPLES = 2


class Validator:
    """Scores a live model on the validation pairs: loss, accuracy, BLEU and chrF of greedy translations.

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
        self._score = compile_token_sums(model)
        self._translator = Translator.from_model(model, tokenizers, config)

    def validate(self) -> Iterator[ValidationStep | Scores]:
        """Score the model as it is now.

        Yields:
            How far it is, counted in batches scored and pairs translated; ``Scores`` at the end.
        """
        total = num_batches(self._encoded, self._sentences) + len(self._pairs)
        sums = TokenSums(0.0, 0.0, 0.0)
        done = 0
        for batches in self._rounds():
            for each in self._workers.gather(self._score_own(batches)):
                sums = sums.plus(TokenSums(*each))
            done += len(batches)
            yield ValidationStep(done=done, total=total)
        sources = [source for source, _ in self._pairs]
        translations: dict[int, Translation] = {}
        share = self._workers.index, self._workers.count
        for batch in self._translator.translate_batches(sources, sources, share):
            for each in self._workers.gather([(row, asdict(found)) for row, found in batch.items()]):
                translations |= {row: Translation(**fields) for row, fields in each}
            yield ValidationStep(done=done + len(translations), total=total)
        ordered = [translations[row] for row in range(len(sources))]
        bleu, chrf, *_ = score_translations(ordered, self._pairs, self._translator)
        yield Scores(
            loss=sums.loss / sums.tokens,
            accuracy=sums.correct / sums.tokens,
            bleu=bleu.value,
            chrf=chrf.value,
            samples=self._samples(ordered),
        )

    def _rounds(self) -> Iterator[list[Batch]]:
        """The batches, as many at a time as there are workers."""
        batches = sorted_batches(self._encoded, self._sentences)
        while batches_of_all := list(islice(batches, self._workers.count)):
            yield batches_of_all

    def _score_own(self, batches: Sequence[Batch]) -> TokenSums:
        """The sums of this worker's batch; the last round may have none for it."""
        own = batches[self._workers.index : self._workers.index + 1]
        sums = TokenSums(0.0, 0.0, 0.0)
        return sums.plus(self._score(*own[0])) if own else sums

    def _samples(self, translations: Sequence[Translation]) -> list[Sample]:
        chosen = zip(self._pairs[:NUM_SAMPLES], translations[:NUM_SAMPLES], strict=True)
        return [
            Sample(source=source, reference=reference, translation=translation.raw)
            for (source, reference), translation in chosen
        ]
