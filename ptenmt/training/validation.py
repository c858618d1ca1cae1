"""Scoring the model between two epochs."""

from collections.abc import Iterator, Sequence

from ptenmt.config import Config
from ptenmt.corpus.batches import EncodedPairs, num_batches, sorted_batches
from ptenmt.corpus.pairs import SentencePair
from ptenmt.evaluation.evaluation import score_translations
from ptenmt.evaluation.likelihood import compile_token_sums
from ptenmt.events import Sample, Scores, ValidationStep
from ptenmt.model import TokenSums, Transformer
from ptenmt.tokenizers import TokenizerPair
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
    """

    def __init__(
        self,
        config: Config,
        model: Transformer,
        tokenizers: TokenizerPair,
        pairs: Sequence[SentencePair],
        encoded: EncodedPairs,
    ) -> None:
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
        for source, target in sorted_batches(self._encoded, self._sentences):
            sums = sums.plus(self._score(source, target))
            done += 1
            yield ValidationStep(done=done, total=total)
        sources = [source for source, _ in self._pairs]
        translations: dict[int, Translation] = {}
        for batch in self._translator.translate_batches(sources, sources):
            translations |= batch
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

    def _samples(self, translations: Sequence[Translation]) -> list[Sample]:
        chosen = zip(self._pairs[:NUM_SAMPLES], translations[:NUM_SAMPLES], strict=True)
        return [
            Sample(source=source, reference=reference, translation=translation.raw)
            for (source, reference), translation in chosen
        ]
