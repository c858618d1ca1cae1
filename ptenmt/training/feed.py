"""The batches of an epoch on their way to the step: read ahead, grouped, shared out to the replicas."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from ptenmt.corpus.batches import Batch

_PREFETCHED_BATCHES = 4
_SPECS = (
    tf.TensorSpec([None, None], tf.int64),
    tf.TensorSpec([None, None], tf.int64),
    tf.TensorSpec([], tf.float32),
    tf.TensorSpec([], tf.int64),
)

Part = tuple[Any, Any, Any, Any]
"""Source ids [B, S], target ids [B, T + 1], the real labels of the whole step (float32), and which of
the step's batches this is (int64); a value a replica where there are several."""


class Plan(Protocol):
    """What a feed takes batches from: ``BatchPlan``."""

    def __len__(self) -> int: ...

    def batches(self, epoch: int, first: int, /) -> Iterator[Batch]:
        """The batches of an epoch, from one on."""
        ...


class Feed:
    """Groups a plan's batches into steps.

    Args:
        plan: The batches of an epoch.
        accumulate: Batches a step; an epoch's last step may have fewer.
    """

    def __init__(self, plan: Plan, accumulate: int) -> None:
        self._plan = plan
        self._accumulate = accumulate
        self._strategy = tf.distribute.get_strategy()
        self.steps_per_epoch = -(-len(plan) // accumulate)

    def steps(self, epoch: int, first: int) -> Iterator[list[Part]]:
        """The parts of each step of an epoch, from step ``first`` on, counted from 0."""
        dataset = self._strategy.distribute_datasets_from_function(
            lambda context: self._dataset(epoch, first, context)
        )
        parts = iter(dataset)
        for step in range(first, self.steps_per_epoch):
            size = min(self._accumulate, len(self._plan) - step * self._accumulate)
            yield list(islice(parts, size))

    def _dataset(self, epoch: int, first: int, context: Any) -> Any:
        """This worker's shares of the batches, those of its replicas one after the other."""
        replicas = self._strategy.num_replicas_in_sync
        local = replicas // context.num_input_pipelines
        shares = range(context.input_pipeline_id * local, (context.input_pipeline_id + 1) * local)

        def parts() -> Iterator[tuple[Any, ...]]:
            batches = self._plan.batches(epoch, first * self._accumulate)
            while group := list(islice(batches, self._accumulate)):
                tokens = sum(np.count_nonzero(target[:, 1:]) for _, target in group)
                for number, batch in enumerate(group):
                    for share in shares:
                        yield (*_share(batch, share, replicas), float(tokens), number)

        dataset = tf.data.Dataset.from_generator(parts, output_signature=_SPECS)
        return dataset.prefetch(_PREFETCHED_BATCHES * local)


def _share(batch: Batch, replica: int, num_replicas: int) -> Batch:
    """Every ``num_replicas``-th pair of a batch; where there is none, a pair of padding alone."""
    if num_replicas == 1:
        return batch
    source, target = (side[replica::num_replicas] for side in batch)
    if len(source):
        return source, target
    return np.zeros((1, 1), np.int64), np.zeros((1, 2), np.int64)
