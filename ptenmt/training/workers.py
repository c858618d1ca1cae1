"""What the processes of one training tell each other."""

import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from ptenmt.errors import TrainingError
from ptenmt.training.cluster import Cluster, Watch, differing, gone


class Workers:
    """The processes that train together; mostly it is one alone, which then has nobody to ask.

    All of them call the same methods in the same order.

    Args:
        strategy: Under which they train.
        cluster: Who they are; None where there is one.
    """

    def __init__(self, strategy: tf.distribute.Strategy, cluster: Cluster | None = None) -> None:
        self.strategy = strategy
        self.count = 1 if cluster is None else len(cluster.addresses)
        self.index = 0 if cluster is None else cluster.index
        self._cluster = cluster
        self._watch = None if cluster is None else Watch(cluster)
        self._total = tf.function(self._add_up, [tf.TensorSpec([None], tf.int32)], autograph=False)

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's folder."""
        return self.index == 0

    def gather(self, value: Any) -> list[Any]:
        """Every worker's value, in their order; who has it, knows that all have come this far.

        Args:
            value: What JSON can hold.
        """
        if self.count == 1:
            return [value]
        mine = np.frombuffer(json.dumps(value).encode(), np.uint8).astype(np.int32)
        sizes = np.zeros(self.count, np.int32)
        sizes[self.index] = len(mine)
        ends = np.cumsum(self._total(sizes).numpy())
        text = np.zeros(ends[-1], np.int32)  # where one has its text, the others have zeros: the sum has all
        text[ends[self.index] - len(mine) : ends[self.index]] = mine
        texts = np.split(self._total(text).numpy().astype(np.uint8), ends[:-1])
        return [json.loads(part.tobytes()) for part in texts]

    def agree(self, **facts: Any) -> None:
        """Make sure that all workers have the same.

        Raises:
            TrainingError: Some have not.
        """
        if differences := differing(self.gather(facts)):
            raise TrainingError(
                f"the workers differ: {'; '.join(differences)}",
                "give all of them the same config and data, and one run folder that all can read",
            )

    @contextmanager
    def together(self) -> Iterator[None]:
        """Train; the end waits for all, and who is left alone is told.

        Raises:
            TrainingError: Another worker is gone.
        """
        try:
            yield
            self.gather(None)  # nobody leaves while another counts on it
            with contextlib.suppress(tf.errors.OpError):  # nobody leaves before all have heard of that
                self.gather(None)
        except tf.errors.OpError as error:
            lost = [] if self._watch is None else self._watch.lost()
            if self._cluster is None or not lost:
                raise
            raise gone(self._cluster, lost) from error
        finally:
            if self._watch is not None:
                self._watch.end()

    def _add_up(self, mine: Any) -> Any:
        """The sum over the workers; the first replica of each speaks for it."""
        each = self.strategy.num_replicas_in_sync // self.count

        def speak() -> Any:
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            return tf.where(tf.equal(replica, self.index * each), mine, tf.zeros_like(mine))

        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, self.strategy.run(speak), axis=None)
