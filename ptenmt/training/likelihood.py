"""How likely a live model finds what it has not learnt from, the work shared out to the workers."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import tensorflow as tf

from ptenmt.data.batches import Batch
from ptenmt.model import TokenSums, TrainableModel, real_positions, token_sums
from ptenmt.training.workers import Workers


class Likelihood:
    """Adds up what a model makes of batches.

    Args:
        score: Gives a batch's sums (see ``compile_token_sums``).
        workers: That take a batch each.
    """

    def __init__(self, score: Callable[[Any, Any], TokenSums], workers: Workers) -> None:
        self._score = score
        self._workers = workers
        self._sums = TokenSums(0.0, 0.0, 0.0)

    def add(self, batches: Iterator[Batch]) -> Iterator[int]:
        """Score batches, the same for all workers; tell from time to time how many are done."""
        done, workers = 0, self._workers
        while batches_of_all := list(islice(batches, workers.count)):
            own = TokenSums(0.0, 0.0, 0.0)
            for batch in batches_of_all[workers.index : workers.index + 1]:  # the last round may have none
                own = own.plus(self._score(*batch))
            for each in workers.gather(own):
                self._sums = self._sums.plus(TokenSums(*each))
            done += len(batches_of_all)
            yield done

    @property
    def loss(self) -> float:
        """Mean over all labels, in nats."""
        return float(self._sums.loss / self._sums.tokens)

    @property
    def accuracy(self) -> float:
        """Share of the labels that were predicted right."""
        return float(self._sums.correct / self._sums.tokens)


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
