"""One compiled update of the weights: on one device, several, or several machines."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from keras import ops

from ptenmt.config import Config
from ptenmt.config.schedule import learning_rate
from ptenmt.errors import TrainingError
from ptenmt.model.layers import dropout_seed
from ptenmt.model.loss import TokenSums, real_positions, training_loss
from ptenmt.model.transformer import TrainableModel
from ptenmt.training.input_pipeline import MicroBatch, micro_batch_signature
from ptenmt.training.optimizer import zeros
from ptenmt.training.state import TrainingState


class TrainStep:
    """Updates the weights from the batches of one step.

    The objective is summed over the real tokens of all batches of the step, on all replicas, and divided by
    their number: neither padding, nor accumulation, nor the number of devices changes it. An update with a
    loss or gradients that are not finite is skipped and counted. ``total_steps`` are those of the whole
    training; the model's variables were created in the scope of ``strategy``.
    """

    def __init__(
        self, config: Config, state: TrainingState, total_steps: int, strategy: tf.distribute.Strategy
    ) -> None:
        self._config = config
        self._state = state
        self._model: TrainableModel = state.model
        self._total_steps = total_steps
        self._weights = [weight.value for weight in self._model.trainable_variables]
        self._strategy = strategy
        # Gradient accumulation: the sums of an update's earlier micro-batches.
        self._sums = TokenSums(*(tf.Variable(0.0, trainable=False) for _ in TokenSums._fields))
        self._gradients = []
        if config.batch.accumulate > 1:
            with strategy.scope():
                self._gradients = [zeros(weight) for weight in self._weights]
        self._uses_xla = _uses_xla(config)
        self._replica_step: Any = self._replica_gradients
        if self._uses_xla:
            self._replica_step = tf.function(self._replica_gradients, jit_compile=True, autograph=False)
        signature = micro_batch_signature(strategy)
        self._accumulate = tf.function(self._accumulate_graph, signature, autograph=False)
        self._update = tf.function(self._update_graph, signature, autograph=False)

    def __call__(self, micro_batches: Sequence[MicroBatch]) -> None:
        """Make one update from its micro-batches.

        Raises:
            TrainingError: The device is out of memory.
        """
        *first, last = micro_batches
        try:
            with self._strategy.scope():
                for micro_batch in first:
                    self._accumulate(*micro_batch)
                self._update(*last)
        except tf.errors.ResourceExhaustedError as error:
            step, reason = int(self._state.global_step) + 1, error.message.splitlines()[0]
            raise TrainingError(
                f"out of memory at step {step:,}: {reason}",
                "lower batch.tokens or batch.sentences (and raise batch.accumulate to compensate)",
            ) from error

    def learning_rate(self) -> float:
        """Return the learning rate of the last update."""
        return float(self._rate(self._state.global_step))

    def _rate(self, step: Any) -> Any:
        config = self._config
        step = ops.cast(step, "float32")
        return learning_rate(step, config.training, config.model.d_model, self._total_steps, ops)

    def _accumulate_graph(self, source: Any, target: Any, tokens: Any, number: Any) -> None:
        """Gradient accumulation (``batch.accumulate``): add a micro-batch's gradients and sums, no update."""
        sums, gradients = self._all_gradients(source, target, tokens, number)
        for accumulator, new in zip(self._sums, sums, strict=True):
            accumulator.assign_add(new)
        for accumulator, new in zip(self._gradients, gradients, strict=True):
            self._strategy.extended.update(accumulator, _add, args=(new,))

    def _update_graph(self, source: Any, target: Any, tokens: Any, number: Any) -> None:
        """Update the weights from the last micro-batch and the accumulators, and reset these."""
        sums, gradients = self._all_gradients(source, target, tokens, number)
        if self._gradients:
            pairs = zip(self._gradients, gradients, strict=True)
            gradients = [self._empty(accumulator, new) for accumulator, new in pairs]
            sums = TokenSums(*(old + new for old, new in zip(self._sums, sums, strict=True)))
            for accumulator in self._sums:
                accumulator.assign(0.0)
        norm = tf.linalg.global_norm([self._local(gradient) for gradient in gradients])
        is_finite = tf.math.is_finite(sums.loss) & tf.math.is_finite(norm)
        self._state.global_step.assign_add(1)
        rate = self._rate(self._state.global_step)

        def learn() -> Any:
            self._state.optimizer.apply(gradients, norm, rate)
            self._state.count_update(sums, norm)
            return tf.constant(True)

        def skip() -> Any:
            self._state.count_skipped()
            return tf.constant(False)

        tf.cond(is_finite, learn, skip)
        self._state.step_in_epoch.assign_add(1)

    def _all_gradients(
        self, source: Any, target: Any, tokens: Any, number: Any
    ) -> tuple[TokenSums, list[Any]]:
        """Return a micro-batch's sums and gradients, summed over all replicas."""
        sums, gradients = self._strategy.run(self._replica_step, args=(source, target, tokens, number))
        add = tf.distribute.ReduceOp.SUM
        gradients_to_weights = list(zip(gradients, self._weights, strict=True))
        reduced = self._strategy.extended.batch_reduce_to(add, gradients_to_weights)
        return TokenSums(*tf.unstack(self._strategy.reduce(add, sums, axis=None))), reduced

    def _replica_gradients(self, source: Any, target: Any, tokens: Any, number: Any) -> tuple[Any, list[Any]]:
        """Return the sums, as one vector, and the gradients of one replica's shard of a micro-batch."""
        config, state = self._config, self._state
        context = tf.distribute.get_replica_context()
        batch = state.global_step * config.batch.accumulate + number
        replica = tf.cast(context.replica_id_in_sync_group, tf.int64)
        draw = batch * context.num_replicas_in_sync + replica
        with tf.GradientTape() as tape, dropout_seed(config.seed, draw):
            objective, sums = self._objective(source, target)
            objective /= tokens
        # Densify IndexedSlices: Adam must square a token's summed gradient, not each occurrence's.
        gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(objective, self._weights)]
        return tf.stack([*sums]), gradients

    def _objective(self, source: Any, target: Any) -> tuple[Any, TokenSums]:
        """Teacher forcing: predict ``target[:, 1:]`` from ``target[:, :-1]``; returns objective and sums."""
        labels = target[:, 1:]
        hidden = self._model.hidden((source, target[:, :-1]), training=True)
        if not self._uses_xla:  # XLA needs fixed shapes
            hidden, labels = real_positions(hidden, labels)
        return training_loss(self._model.final(hidden), labels, self._config.training.label_smoothing)

    def _empty(self, accumulator: Any, new: Any) -> Any:
        """Add a last gradient to an accumulator, return the sum, and reset the accumulator to zero."""
        self._strategy.extended.update(accumulator, _add, args=(new,))
        total = tf.identity(self._local(accumulator))
        self._strategy.extended.update(accumulator, lambda variable: variable.assign(tf.zeros_like(variable)))
        return total

    def _local(self, value: Any) -> Any:
        """Return one of the equal copies on this process's replicas."""
        return self._strategy.experimental_local_results(value)[0]


def _uses_xla(config: Config) -> bool:
    """Whether to compile with XLA, which does so for every shape of a batch: ``batch.tokens`` makes few."""
    pays = bool(tf.config.list_logical_devices("GPU")) and config.batch.tokens is not None
    return config.machine.xla == "always" or (config.machine.xla == "auto" and pays)


def _add(accumulator: Any, new: Any) -> None:
    accumulator.assign_add(new)
