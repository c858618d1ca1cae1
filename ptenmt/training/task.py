"""The interface of a training task."""

from collections.abc import Iterator
from typing import Any, Protocol

import tensorflow as tf

from ptenmt.data.batches import Batch, TrainingPairs
from ptenmt.data.mixing import Mixture
from ptenmt.model.loss import TokenSums, real_positions, token_sums
from ptenmt.model.transformer import TrainableModel
from ptenmt.runs.directory import SplitRecord
from ptenmt.tokenizers import TokenizerPair
from ptenmt.training.events import CorpusReady
from ptenmt.training.model_selection import Validator


class Task(Protocol):
    """A training task: its data and validation.

    In every task, a batch has sources [B, S] and targets [B, T + 1], and the model predicts
    ``targets[:, 1:]``: ``model.hidden((source, target[:, :-1]))`` gives [B, T, D], ``model.final`` logits.
    """

    tokenizers: TokenizerPair
    mixture: Mixture
    """Which training examples an epoch reads."""

    @property
    def splits(self) -> dict[str, SplitRecord]:
        """The data, ``train`` and ``validation`` among them."""

    def encode(self) -> tuple[TrainingPairs, CorpusReady]:
        """The training examples as ids, and the event that describes the data."""

    def validator(self, model: Any) -> Validator:
        """Scores the live model on the validation split."""


class HeldOutLoss:
    """Teacher-forced loss and accuracy of a live model on held-out batches."""

    def __init__(self, model: TrainableModel) -> None:
        self._model = model
        self.sums = TokenSums(0.0, 0.0, 0.0)
        """Of all batches scored."""

    def add(self, batches: Iterator[Batch]) -> Iterator[int]:
        """Score batches from zero; yields how many are done."""
        self.sums = TokenSums(0.0, 0.0, 0.0)
        for done, batch in enumerate(batches, 1):
            self.sums = self.sums.plus(self._score(*batch))
            yield done

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int64)] * 2)
    def _score(self, source: Any, target: Any) -> Any:
        """The sums of source ids [B, S] and target ids [B, T + 1]."""
        model = self._model
        hidden, labels = real_positions(model.hidden((source, target[:, :-1])), target[:, 1:])
        return token_sums(model.final(hidden), labels)
