"""From batch plan to train step: batches are prefetched, grouped into updates and sharded over replicas."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.data.batches import Batch, BatchPlan

_PREFETCHED_BATCHES = 4
_SPECS = (
    tf.TensorSpec([None, None], tf.int64),
    tf.TensorSpec([None, None], tf.int64),
    tf.TensorSpec([], tf.float32),
    tf.TensorSpec([], tf.int64),
)

MicroBatch = tuple[Any, Any, Any, Any]
"""Source ids [B, S], target ids [B, T + 1], number of real labels in the whole update (float32), index within
the update (int64): per-replica values if there are several replicas."""


class InputPipeline:
    """Groups a plan's batches into updates of ``accumulate`` micro-batches (gradient accumulation).

    An epoch's last update may have fewer. Each batch is sharded over the replicas.
    """

    def __init__(self, plan: BatchPlan, accumulate: int, strategy: tf.distribute.Strategy) -> None:
        self._plan = plan
        self._accumulate = accumulate
        self._strategy = strategy
        numbers = strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(context.replica_id_in_sync_group)
        )
        self._replicas = [int(number) for number in strategy.experimental_local_results(numbers)]
        """The ids of this process's replicas among those of all workers."""

    def steps(self, epoch: int, first: int) -> Iterator[list[MicroBatch]]:
        """The micro-batches of each update of an epoch, starting at update ``first``, counted from 0."""
        micro_batches = self._micro_batches(epoch, first)
        while step := list(islice(micro_batches, self._accumulate)):
            yield step

    def _micro_batches(self, epoch: int, first: int) -> Iterator[MicroBatch]:
        """Yield this process's shard of each batch as per-replica values.

        A distributed dataset would synchronize all workers before every batch to detect the end of the data.
        """
        shards = iter(self._shards(epoch, first))
        while batch := dict(zip(self._replicas, shards, strict=False)):
            yield self._strategy.experimental_distribute_values_from_function(
                lambda context, batch=batch: batch[context.replica_id_in_sync_group]
            )

    def _shards(self, epoch: int, first: int) -> Any:
        replicas = self._strategy.num_replicas_in_sync

        def shards() -> Iterator[tuple[Any, ...]]:
            batches = self._plan.batches(epoch, first * self._accumulate)
            while group := list(islice(batches, self._accumulate)):
                tokens = sum(np.count_nonzero(target[:, 1:]) for _, target in group)
                for number, batch in enumerate(group):
                    for replica in self._replicas:
                        yield (*_shard(batch, replica, replicas), float(tokens), number)

        dataset = tf.data.Dataset.from_generator(shards, output_signature=_SPECS)
        dataset = dataset.prefetch(_PREFETCHED_BATCHES * len(self._replicas))
        options = tf.data.Options()
        # Its thread sleeps for up to a minute, which would delay a stop in mid-epoch.
        options.autotune.enabled = False
        return dataset.with_options(options)


def num_epoch_steps(plan: BatchPlan, accumulate: int) -> int:
    """Number of updates per epoch: batches / accumulate, rounded up."""
    return -(-plan.num_batches // accumulate)


def micro_batch_signature(strategy: tf.distribute.Strategy) -> Any:
    """Return the ``tf.function`` input signature of a micro-batch."""
    empty = tf.data.Dataset.from_generator(tuple, output_signature=_SPECS)
    return strategy.distribute_datasets_from_function(lambda _context: empty).element_spec


def _shard(batch: Batch, replica: int, num_replicas: int) -> Batch:
    """Every ``num_replicas``-th pair of a batch; an empty shard is one pair of padding."""
    source, target = (side[replica::num_replicas] for side in batch)
    if len(source):
        return source, target
    return np.zeros((1, 1), np.int64), np.zeros((1, 2), np.int64)
