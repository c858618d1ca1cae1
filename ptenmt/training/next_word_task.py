"""The next-word task: word windows of a text, and the validation of its model."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.config import Config
from ptenmt.data.corpus import fetch_sources
from ptenmt.data.mixing import Mixture
from ptenmt.data.store import CorpusCache
from ptenmt.data.word_windows import Predicts, WordWindows, read_prose, split_for_windows
from ptenmt.errors import DataError, OnDownload
from ptenmt.model.transformer import NextWordModel
from ptenmt.runs.directory import SplitRecord
from ptenmt.tokenizers import SPECIAL_PIECES, START, Tokenizer, TokenizerPair, load_tokenizers
from ptenmt.tokenizers.pair import train_tokenizer
from ptenmt.training.events import CorpusReady, Sample, Scores, ValidationStep
from ptenmt.training.task import HeldOutLoss, Task

NUM_SAMPLES = 2
SCORED_WINDOWS = 256
"""At a time."""


class NextWordTask(Task):
    """Trains a next-word model on the windows of a text."""

    def __init__(self, config: Config, words: tuple[list[str], list[str]], tokenizers: TokenizerPair) -> None:
        self.tokenizers = tokenizers
        self._config = config
        self._words = words
        self._training = self._windows("training", words[0], "every", config.data.stride)
        self._held_out = self._windows("held-out", words[1], "last")  # from the whole window
        self.mixture = Mixture.once(len(self._training))

    @classmethod
    def load(
        cls, config: Config, known: Path | None, _cache: CorpusCache, on_download: OnDownload | None
    ) -> "NextWordTask":
        """Read the text; load the vocabulary from the folder ``known``, or build it from the training part.

        Raises DataError if the text cannot be read, or is too short for a training window and one held out.
        """
        options, window = fetch_sources(config, on_download), config.data.window
        words = read_prose(config.data, options.punctuation)
        if len(words) < window + 2:
            raise DataError(
                f"the text has {len(words):,} words, too few for windows of {window}: one to train on and "
                f"one held out, each with a word after it, take {window + 2:,}",
                "give a longer text, or shorten the windows with --set data.window=N",
            )
        training, held_out = split_for_windows(words, window)
        if known is not None:
            return cls(config, (training, held_out), load_tokenizers(known))
        tokenizer = train_tokenizer(options, [" ".join(training)])
        return cls(config, (training, held_out), TokenizerPair(tokenizer, tokenizer))

    @cached_property
    def splits(self) -> dict[str, SplitRecord]:
        """The windows of both parts."""
        parts = zip(("train", "validation"), (self._training, self._held_out), self._words, strict=True)
        return {
            name: SplitRecord(size=len(windows), fingerprint=sha256("\n".join(words).encode()).hexdigest())
            for name, windows, words in parts
        }

    def encode(self) -> tuple[WordWindows, CorpusReady]:
        """The training windows, and the event that describes the text."""
        # Windows without any known word to predict are left out.
        left_out = {"in training": self._training.num_left_out, "held out": self._held_out.num_left_out}
        shown = map(self._training.window, range(min(NUM_SAMPLES, len(self._training))))
        decode = self.tokenizers.source.decode
        ready = CorpusReady(
            unit="windows",
            train=len(self._training),
            validation=len(self._held_out),
            removed=left_out,
            num_truncated=0,
            vocabulary_sizes=self.tokenizers.vocabulary_sizes,
            samples=[(decode([words])[0], decode([[after]])[0]) for words, after in shown],
        )
        return self._training, ready

    def validator(self, model: NextWordModel) -> "NextWordValidator":
        """Scores a live model on the held-out windows."""
        return NextWordValidator(model, self._held_out, self.tokenizers.source)

    def _windows(self, which: str, words: Sequence[str], causal: Predicts, stride: int = 1) -> WordWindows:
        """Windows of a text; ``causal`` is what those of a causal model predict."""
        predicts: Predicts = causal if self._config.model.prediction == "causal" else "window"
        (ids,) = self.tokenizers.source.encode([" ".join(words)])
        windows = WordWindows(ids, self._config.data.window, stride=stride, predicts=predicts)
        if not len(windows):
            raise DataError(
                f"every word that the {which} windows are to predict is unknown: "
                f"all {windows.num_left_out:,} windows are left out",
                "give a longer text, or raise tokenizer.vocabulary_size",
            )
        return windows


class NextWordValidator:
    """Scores a live model on windows: loss and accuracy of the word after each window."""

    def __init__(self, model: NextWordModel, windows: WordWindows, tokenizer: Tokenizer) -> None:
        self._model = model
        self._windows = windows
        self._tokenizer = tokenizer
        self._held_out = HeldOutLoss(model)

    def validate(self) -> Iterator[ValidationStep | Scores]:
        """Score the current weights; yields the progress in batches, and ``Scores`` at the end."""
        num_windows = len(self._windows)
        total = -(-num_windows // SCORED_WINDOWS)
        for done in self._held_out.add(self._windows.batches(SCORED_WINDOWS)):
            yield ValidationStep(done=done, total=total)
        samples = [self._sample(row) for row in range(0, num_windows, -(-num_windows // NUM_SAMPLES))]
        sums = self._held_out.sums
        yield Scores(loss=sums.mean_loss, accuracy=sums.accuracy, samples=samples)

    def _sample(self, row: int) -> Sample:
        words, after = self._windows.window(row)
        logits: Any = self._model((np.array([words]), np.array([[START]])))
        likeliest = int(np.argmax(logits[0, -1, len(SPECIAL_PIECES) :])) + len(SPECIAL_PIECES)
        source, reference, predicted = self._tokenizer.decode([words, [after], [likeliest]])
        return Sample(source=source, reference=reference, translation=predicted)
