"""From batch plan to train step: batches are prefetched, grouped into updates and split over replicas."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from ptenmt.data.batches import Batch
from ptenmt.data.mixing import Mixture
from ptenmt.epochs import EpochSteps

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
    """The batches of an epoch: ``BatchPlan``."""

    mixture: Mixture
    """The sources of the pairs; all epochs of a stage have as many batches."""

    def num_batches(self, epoch: int) -> int:
        """Number of batches of an epoch."""
        ...

    def batches(self, epoch: int, first: int, /) -> Iterator[Batch]:
        """The batches of an epoch, from one on."""
        ...


class InputPipeline:
    """Groups a plan's batches into steps of ``accumulate`` each; an epoch's last step may have fewer.

    The strategy's replicas share each batch.
    """

    def __init__(self, plan: Plan, accumulate: int, strategy: tf.distribute.Strategy) -> None:
        self._plan = plan
        self._accumulate = accumulate
        self._strategy = strategy
        self._replicas = _local_replicas(strategy)

    def steps(self, epoch: int, first: int) -> Iterator[list[Part]]:
        """The parts of each step of an epoch, from step ``first`` on, counted from 0."""
        parts = self._parts(epoch, first)
        left = self._plan.num_batches(epoch) - first * self._accumulate
        while left > 0:
            yield list(islice(parts, min(self._accumulate, left)))
            left -= self._accumulate

    def _parts(self, epoch: int, first: int) -> Iterator[Part]:
        """This process's share of the batches, a value for each of its replicas.

        Its replicas' values are put together here and not by a distributed data set, since that asks all
        workers before each batch whether any of them has one.
        """
        shares = iter(self._shares(epoch, first))
        if self._strategy.num_replicas_in_sync == 1:
            yield from shares
            return
        while batch := dict(zip(self._replicas, shares, strict=False)):
            yield self._strategy.experimental_distribute_values_from_function(
                lambda context, batch=batch: batch[context.replica_id_in_sync_group]
            )

    def _shares(self, epoch: int, first: int) -> Any:
        """The same, read ahead, those of its replicas one after the other."""
        replicas = self._strategy.num_replicas_in_sync

        def parts() -> Iterator[tuple[Any, ...]]:
            batches = self._plan.batches(epoch, first * self._accumulate)
            while group := list(islice(batches, self._accumulate)):
                tokens = sum(np.count_nonzero(target[:, 1:]) for _, target in group)
                for number, batch in enumerate(group):
                    for share in self._replicas:
                        yield (*_share(batch, share, replicas), float(tokens), number)

        dataset = tf.data.Dataset.from_generator(parts, output_signature=_SPECS)
        dataset = dataset.prefetch(_PREFETCHED_BATCHES * len(self._replicas))
        options = tf.data.Options()
        options.autotune.enabled = False  # its thread sleeps for a minute, and who ends an epoch early waits
        return dataset.with_options(options)


def epoch_steps(plan: Plan, accumulate: int) -> EpochSteps:
    """The number of steps of each epoch, of which the last may have fewer batches than the others."""
    return EpochSteps(
        tuple((first, -(-plan.num_batches(first) // accumulate)) for first in plan.mixture.first_epochs)
    )


def part_signature(strategy: tf.distribute.Strategy) -> Any:
    """Of what kind and shape the values of a part are."""
    if strategy.num_replicas_in_sync == 1:
        return _SPECS
    empty = tf.data.Dataset.from_generator(tuple, output_signature=_SPECS)
    return strategy.distribute_datasets_from_function(lambda _context: empty).element_spec


def _local_replicas(strategy: tf.distribute.Strategy) -> list[int]:
    """The numbers of this process's replicas among those of all workers."""
    numbers = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(context.replica_id_in_sync_group)
    )
    return [int(number) for number in strategy.experimental_local_results(numbers)]


def _share(batch: Batch, replica: int, num_replicas: int) -> Batch:
    """Every ``num_replicas``-th pair of a batch; where there is none, a pair of padding alone."""
    if num_replicas == 1:
        return batch
    source, target = (side[replica::num_replicas] for side in batch)
    if len(source):
        return source, target
    return np.zeros((1, 1), np.int64), np.zeros((1, 2), np.int64)
