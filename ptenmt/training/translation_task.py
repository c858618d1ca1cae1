"""The translation task: sentence pairs, and the validation of its Transformer."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ptenmt.config import Config, DecodingConfig
from ptenmt.data.batches import (
    EncodedPairs,
    TrainingPairs,
    encode_pairs,
    encode_training_pairs,
    learn_tokenizers,
    sorted_batches,
)
from ptenmt.data.corpus import Corpus, Sources, fetch_data, fetch_sources, load_corpus
from ptenmt.data.mixing import Mixture
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import CorpusCache, fingerprint
from ptenmt.data.text import TextPreparation
from ptenmt.errors import OnDownload, OutputError
from ptenmt.model.ctranslate2_model import convert, why_not_ctranslate2
from ptenmt.model.transformer import Transformer
from ptenmt.runs.directory import SplitRecord
from ptenmt.scores import Scorer
from ptenmt.tokenizers import UNK, TokenizerPair, load_tokenizers, suppressed_ids
from ptenmt.training.events import CorpusReady, Sample, Scores, ValidationStep
from ptenmt.training.task import HeldOutLoss, Task
from ptenmt.translation import Translation, Translator
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

NUM_SHOWN_PAIRS = 3
NUM_SAMPLES = 2
PAIRS_PER_STEP = 512
"""Pairs that are translated between two reports of a validation's progress."""


class TranslationValidator:
    """Scores a live model on the validation pairs: loss, accuracy, BLEU and chrF of greedy translations.

    CTranslate2 translates in int8, as users do; the Keras engine where it cannot express the model.
    ``encoded`` are the ids of ``pairs``.
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
        self._held_out = HeldOutLoss(model)
        self._model = model
        self._tokenizers = tokenizers
        greedy = DecodingConfig(max_length=config.decoding.max_length, beam_size=1, safeguards=False)
        self._config = replace(config, decoding=greedy)
        is_expressible = not why_not_ctranslate2(config.model)
        self._keras = None if is_expressible else Translator.from_model(model, tokenizers, self._config)

    @cached_property
    def _references(self) -> list[str]:
        data = self._config.data
        detokenize, language = TextPreparation(data).detokenize, data.languages[1]
        return [detokenize(target, language) for _, target in self._pairs]

    def validate(self) -> Iterator[ValidationStep | Scores]:
        """Score the current weights; yields the progress in batches and pairs, and ``Scores`` at the end."""
        total = -(-len(self._encoded) // self._sentences) + len(self._pairs)
        batches = sorted_batches(self._encoded, self._sentences)
        held_out, done = self._held_out, 0
        for done in held_out.add(batches):
            yield ValidationStep(done=done, total=total)
        translations: list[Translation] = []
        buffers = self._translator().translate_buffers(
            [source for source, _ in self._pairs],
            buffer_size=PAIRS_PER_STEP,
            is_prepared=True,
            with_scores=False,
        )
        for translated in buffers:
            translations += translated
            yield ValidationStep(done=done + len(translations), total=total)
        scorer = Scorer("detokenized", [self._references], ("BLEU", "chrF"))
        scores = scorer.values([translation.text for translation in translations])
        samples = [
            Sample(source=source, reference=reference, translation=translation.raw)
            for (source, reference), translation in zip(self._pairs, translations[:NUM_SAMPLES], strict=False)
        ]
        loss, accuracy = held_out.sums.mean_loss, held_out.sums.accuracy
        yield Scores(loss=loss, accuracy=accuracy, bleu=scores["BLEU"], chrf=scores["chrF"], samples=samples)

    def _translator(self) -> Translator:
        """A greedy translator with the current weights: the model alone, without second tries."""
        if self._keras is not None:
            return self._keras
        weights = {weight.path: weight.numpy() for weight in self._model.trainable_variables}
        try:
            model = convert(self._config.model, weights, self._tokenizers, "live")
        except OutputError:  # the folder of temporary files is full, which must not end a training
            return Translator.from_model(self._model, self._tokenizers, self._config)
        engine = CTranslate2Engine(
            model,
            self._tokenizers,
            with_unknown=UNK not in suppressed_ids(self._config.tokenizer),
            threads=self._config.machine.threads,
        )
        return Translator(engine, self._tokenizers, self._config)


class TranslationTask(Task):
    """Trains a Transformer on sentence pairs."""

    def __init__(self, config: Config, corpus: Corpus, tokenizers: TokenizerPair, cache: CorpusCache) -> None:
        self.tokenizers = tokenizers
        self._config = config
        self._corpus = corpus
        self._cache = cache
        self.mixture = Mixture.configured(config.data, corpus.train.sizes)

    @classmethod
    def load(
        cls, config: Config, known: Path | None, cache: CorpusCache, on_download: OnDownload | None
    ) -> "TranslationTask":
        """Read the sentence pairs; load the tokenizers from the folder ``known``, or train them."""
        fetch_data(config.data, on_download)
        Sources(config.data).key(config.seed)  # a missing file is known before the next download
        options = fetch_sources(config, on_download)
        corpus = load_corpus(config.data, config.seed)
        if known is None:
            tokenizers = learn_tokenizers(options, corpus.train, config.data, cache)
        else:
            tokenizers = load_tokenizers(known)
        return cls(config, corpus, tokenizers, cache)

    @cached_property
    def splits(self) -> dict[str, SplitRecord]:
        """The pairs of all splits."""
        train = self._corpus.train
        others = {"validation": self._corpus.validation, "test": self._corpus.test}
        # Noise may take other pairs of the same source.
        mixed = self.mixture.fingerprint(train.fingerprint, by_source=self._config.data.augment.is_used)
        splits = {
            name: SplitRecord(size=len(pairs), fingerprint=fingerprint(pairs))
            for name, pairs in others.items()
        }
        return {"train": SplitRecord(size=len(train), fingerprint=mixed)} | splits

    def encode(self) -> tuple[TrainingPairs, CorpusReady]:
        """The training pairs as ids, and the event that describes the corpus."""
        train, config = self._corpus.train, self._config
        longest = config.model.max_positions
        pairs, num_truncated = encode_training_pairs(
            self.tokenizers, train, config.data, longest, self._cache
        )
        ready = CorpusReady(
            train=len(train),
            validation=len(self._corpus.validation),
            removed=self._corpus.removed,
            num_truncated=num_truncated + self._encoded_validation[1],
            vocabulary_sizes=self.tokenizers.vocabulary_sizes,
            samples=[train[row] for row in range(min(NUM_SHOWN_PAIRS, len(train)))],
        )
        return pairs, ready

    def validator(self, model: Transformer) -> TranslationValidator:
        """Scores a live model on the validation pairs."""
        pairs, (encoded, _) = self._corpus.validation, self._encoded_validation
        return TranslationValidator(self._config, model, self.tokenizers, pairs, encoded)

    @cached_property
    def _encoded_validation(self) -> tuple[EncodedPairs, int]:
        """The validation pairs as ids, and how many sentences were truncated."""
        return encode_pairs(self.tokenizers, self._corpus.validation, self._config.model.max_positions)
