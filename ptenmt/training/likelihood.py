"""Teacher-forced loss on held-out data, with the batches shared out to the workers."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import tensorflow as tf

from ptenmt.data.batches import Batch
from ptenmt.model import TokenSums, TrainableModel, real_positions, token_sums
from ptenmt.training.workers import Workers


class Likelihood:
    """Sums loss and accuracy over batches.

    Args:
        score: Returns a batch's sums (see ``compile_token_sums``).
        workers: The processes that score one batch each at a time.
    """

    def __init__(self, score: Callable[[Any, Any], TokenSums], workers: Workers) -> None:
        self._score = score
        self._workers = workers
        self._sums = TokenSums(0.0, 0.0, 0.0)

    def add(self, batches: Iterator[Batch]) -> Iterator[int]:
        """Score batches, the same on all workers; yields how many are done."""
        done, workers = 0, self._workers
        while batches_of_all := list(islice(batches, workers.count)):
            own = TokenSums(0.0, 0.0, 0.0)
            for batch in batches_of_all[workers.index : workers.index + 1]:  # none for some in the last round
                own = own.plus(self._score(*batch))
            for each in workers.gather(own):
                self._sums = self._sums.plus(TokenSums(*each))
            done += len(batches_of_all)
            yield done

    @property
    def loss(self) -> float:
        """Cross-entropy per real label, in nats."""
        return self._sums.mean_loss

    @property
    def accuracy(self) -> float:
        """Share of real labels with the highest logit."""
        return self._sums.accuracy


def compile_token_sums(model: TrainableModel) -> Callable[[Any, Any], TokenSums]:
    """Compile the teacher-forced scoring of a batch.

    Args:
        model: Built; its weights may change afterwards.

    Returns:
        A function of source ids [B, S] and target ids [B, T + 1] that returns the sums over real labels.
    """
    ids = tf.TensorSpec([None, None], tf.int64)

    @tf.function(input_signature=[ids, ids])
    def score(source: Any, target: Any) -> Any:
        hidden, labels = real_positions(model.hidden((source, target[:, :-1])), target[:, 1:])
        return token_sums(model.final(hidden), labels)

    return score
