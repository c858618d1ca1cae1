"""Learning to translate from sentence pairs."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import keras

from ptenmt.config import Config
from ptenmt.data.batches import EncodedPairs, TrainingPairs
from ptenmt.data.cache import CorpusCache
from ptenmt.data.corpus import Corpus, SentencePair, fingerprint, load_corpus
from ptenmt.data.download import OnProgress
from ptenmt.data.encoding import encode_pairs, encode_training_pairs, learn_tokenizers
from ptenmt.data.sources import fetch_sources
from ptenmt.events import CorpusReady
from ptenmt.model import Transformer
from ptenmt.tokenizers import TokenizerPair, load_tokenizers
from ptenmt.training.task import Split
from ptenmt.training.validation import TranslationValidator
from ptenmt.training.workers import Workers
from ptenmt.translation.batching import BATCH_SENTENCES

NUM_SHOWN_PAIRS = 3
_REHEARSED_BATCHES = 3


class TranslationTask:
    """Learns a Transformer from sentence pairs.

    Args:
        config: The run's options.
        corpus: The pairs.
        tokenizers: Of both languages.
        cache: Where token ids are kept.
    """

    reads: ClassVar[str] = "sentence pairs"
    unit: ClassVar[str] = "pairs"

    def __init__(self, config: Config, corpus: Corpus, tokenizers: TokenizerPair, cache: CorpusCache) -> None:
        self.tokenizers = tokenizers
        self._config = config
        self._corpus = corpus
        self._cache = cache

    @classmethod
    def load(
        cls, config: Config, known: Path | None, cache: CorpusCache, on_download: OnProgress | None
    ) -> "TranslationTask":
        """Read the sentence pairs, and make or find their tokenizers.

        Args:
            config: The run's options.
            known: The folder of tokenizers that there are already, if there are.
            cache: Where what is made of the pairs is kept.
            on_download: Told about downloads.
        """
        options = fetch_sources(config, on_download)
        corpus = load_corpus(config.data, config.seed)
        if known is not None:
            return cls(config, corpus, load_tokenizers(known), cache)
        languages = (config.data.source_language, config.data.target_language)
        return cls(config, corpus, learn_tokenizers(options, corpus.train, languages, cache), cache)

    @cached_property
    def splits(self) -> dict[str, Split]:
        """The pairs of all splits."""
        train, held_out = (
            self._corpus.train,
            {"validation": self._corpus.validation, "test": self._corpus.test},
        )
        return {"train": Split(size=len(train), fingerprint=train.fingerprint)} | {
            name: Split(size=len(pairs), fingerprint=fingerprint(pairs)) for name, pairs in held_out.items()
        }

    @property
    def removed(self) -> dict[str, int]:
        """How many training pairs each filter removed."""
        return self._corpus.removed

    def encode(self) -> tuple[TrainingPairs, CorpusReady]:
        """The training pairs as ids, and what is to be told of all pairs."""
        train, config = self._corpus.train, self._config
        longest, sampling = config.model.max_positions, config.tokenizer.sampling
        pairs, cut = encode_training_pairs(self.tokenizers, train, longest, sampling, self._cache)
        ready = CorpusReady(
            train=len(train),
            validation=len(self._corpus.validation),
            removed=self.removed,
            num_truncated=cut + self._encoded_validation[1],
            vocabulary_sizes=self._sizes,
            samples=[train[row] for row in range(min(NUM_SHOWN_PAIRS, len(train)))],
        )
        return pairs, ready

    def new_model(self) -> Transformer:
        """The Transformer, its weights made."""
        policy = keras.DTypePolicy(self._config.machine.precision)
        return Transformer(self._config.model, *self._sizes, dtype=policy)

    def scorer(self, model: Transformer, workers: Workers | None = None) -> TranslationValidator:
        """What scores a live model on the validation pairs."""
        encoded, _ = self._encoded_validation
        return TranslationValidator(
            self._config, model, self.tokenizers, self._corpus.validation, encoded, workers
        )

    def rehearsal(self, model: Transformer) -> tuple[TranslationValidator, float]:
        """A scorer of some validation pairs, the longest among them, and their share of all."""
        pairs = self._corpus.validation
        chosen = _spread(sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1])))
        encoded, _ = encode_pairs(self.tokenizers, chosen, self._config.model.max_positions)
        return TranslationValidator(self._config, model, self.tokenizers, chosen, encoded), len(chosen) / len(
            pairs
        )

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.tokenizers.source.vocabulary_size, self.tokenizers.target.vocabulary_size

    @cached_property
    def _encoded_validation(self) -> tuple[EncodedPairs, int]:
        """The validation pairs as ids, and how many sentences had to be cut."""
        return encode_pairs(self.tokenizers, self._corpus.validation, self._config.model.max_positions)


def _spread(by_length: Sequence[SentencePair]) -> list[SentencePair]:
    """The longest pairs of each part of all: as many as are translated at a time."""
    ends = [len(by_length) * part // _REHEARSED_BATCHES for part in range(_REHEARSED_BATCHES + 1)]
    return [
        pair for start, end in pairwise(ends) for pair in by_length[max(start, end - BATCH_SENTENCES) : end]
    ]
