"""One update of the weights, compiled: on one device, on several, on several machines."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from keras import ops

from ptenmt.config import Config
from ptenmt.errors import TrainingError
from ptenmt.model import TokenSums, TrainableModel, dropout_seed, real_positions, training_loss
from ptenmt.schedule import learning_rate
from ptenmt.training.input_pipeline import Part, part_signature
from ptenmt.training.optimizer import zeros
from ptenmt.training.state import TrainingState

STEPS_BETWEEN_SCALES = 2000


class TrainStep:
    """Learns from the batches of one update.

    The objective is the sum over the real tokens of all batches of the update, on all replicas, divided
    by the number of those tokens, so that neither padding, nor accumulation, nor the number of devices
    changes it. An update whose loss or gradients are not finite is skipped and counted.

    Args:
        config: The run's options.
        state: Of the model and optimizer; counts the updates.
        total_steps: Updates in the whole training, which the learning rate may depend on.
        strategy: That the model's variables were made in.
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
        self._scales_loss = config.machine.precision == "mixed_float16"
        accumulates = config.batch.accumulate > 1
        self._wants_stop, self._stops = (tf.Variable(False, trainable=False) for _ in range(2))
        self._sums = TokenSums(*(tf.Variable(0.0, trainable=False) for _ in TokenSums._fields))
        with strategy.scope():
            self._gradients = [zeros(weight) for weight in self._weights] if accumulates else []
        self._compiles = _uses_xla(config)
        self._replica_step: Any = self._replica_gradients
        if self._compiles:
            self._replica_step = tf.function(self._replica_gradients, jit_compile=True, autograph=False)
        signature = part_signature(strategy)
        self._collect = tf.function(self._collect_eagerly, signature, autograph=False)
        self._update = tf.function(self._update_eagerly, signature, autograph=False)

    def __call__(self, parts: Sequence[Part], wants_stop: bool = False) -> None:
        """Make one update from all batches of a step.

        Args:
            parts: The batches.
            wants_stop: Whether this process is asked to stop, which the step tells all workers.

        Raises:
            TrainingError: The device has not memory enough for them.
        """
        if wants_stop:
            self._wants_stop.assign(True)
        *first, last = parts
        try:
            with self._strategy.scope():
                for part in first:
                    self._collect(*part)
                self._update(*last)
        except tf.errors.ResourceExhaustedError as error:
            step, reason = int(self._state.global_step) + 1, error.message.splitlines()[0]
            raise TrainingError(
                f"out of memory at step {step:,}: {reason}",
                "lower batch.tokens or batch.sentences (and raise batch.accumulate to compensate)",
            ) from error

    @property
    def stops(self) -> bool:
        """Whether any worker was asked to stop before the last step."""
        return bool(self._stops)

    def learning_rate(self) -> float:
        """The rate of the update that was made last."""
        return float(self._rate(self._state.global_step))

    def _rate(self, step: Any) -> Any:
        config = self._config
        step = ops.cast(step, "float32")
        return learning_rate(step, config.training, config.model.d_model, self._total_steps, ops)

    def _collect_eagerly(self, source: Any, target: Any, tokens: Any, number: Any) -> None:
        """Add a batch's gradients and sums to those that the update will use."""
        sums, gradients = self._all_gradients(source, target, tokens, number)
        for mine, new in zip(self._sums, sums, strict=True):
            mine.assign_add(new)
        for mine, new in zip(self._gradients, gradients, strict=True):
            self._strategy.extended.update(mine, _add, args=(new,))

    def _update_eagerly(self, source: Any, target: Any, tokens: Any, number: Any) -> None:
        """Update the weights from this batch and those collected before it."""
        sums, gradients = self._all_gradients(source, target, tokens, number)
        if self._gradients:
            gradients = [self._take(mine, new) for mine, new in zip(self._gradients, gradients, strict=True)]
            sums = TokenSums(*(mine + new for mine, new in zip(self._sums, sums, strict=True)))
            for mine in self._sums:
                mine.assign(0.0)
        scale = tf.cast(self._state.loss_scale, tf.float32) if self._scales_loss else 1.0
        norm = tf.linalg.global_norm([self._local(gradient) for gradient in gradients]) / scale
        is_finite = tf.math.is_finite(sums.loss) & tf.math.is_finite(norm)
        self._state.global_step.assign_add(1)
        rate = self._rate(self._state.global_step)

        def learn() -> Any:
            self._state.optimizer.apply(gradients, norm, rate, scale)
            self._state.learnt(sums, norm)
            return tf.constant(True)

        def skip() -> Any:
            self._state.skip(not self._scales_loss or self._state.loss_scale <= 1)
            return tf.constant(False)

        tf.cond(is_finite, learn, skip)
        if self._scales_loss:
            self._state.adapt_loss_scale(is_finite, STEPS_BETWEEN_SCALES)
        self._state.step_in_epoch.assign_add(1)

    def _all_gradients(
        self, source: Any, target: Any, tokens: Any, number: Any
    ) -> tuple[TokenSums, list[Any]]:
        """A batch's sums, and its gradients by weight, over all replicas."""
        sums, gradients = self._strategy.run(self._replica_step, args=(source, target, tokens, number))
        whole = tf.distribute.ReduceOp.SUM
        pairs = list(zip(gradients, self._weights, strict=True))
        reduced = self._strategy.extended.batch_reduce_to(whole, pairs)
        totals = self._strategy.reduce(whole, sums, axis=None)
        *sums, stops = tf.unstack(totals)
        self._stops.assign(stops > 0)
        return TokenSums(*sums), reduced

    def _replica_gradients(self, source: Any, target: Any, tokens: Any, number: Any) -> tuple[Any, list[Any]]:
        """What one replica makes of its share of a batch: its sums as one vector, and gradients.

        The vector's last number says whether this process is asked to stop.
        """
        config, state = self._config, self._state
        place = tf.distribute.get_replica_context()
        batch = state.global_step * config.batch.accumulate + number
        replica = tf.cast(place.replica_id_in_sync_group, tf.int64)
        draw = batch * place.num_replicas_in_sync + replica
        with tf.GradientTape() as tape, dropout_seed(config.seed, draw):
            objective, sums = self._objective(source, target)
            objective /= tokens
            if self._scales_loss:
                objective *= tf.cast(state.loss_scale, tf.float32)
        # A word's occurrences come as rows of their own; Adam squares the sum of them all.
        gradients = [tf.convert_to_tensor(part) for part in tape.gradient(objective, self._weights)]
        return tf.stack([*sums, tf.cast(self._wants_stop, tf.float32)]), gradients

    def _objective(self, source: Any, target: Any) -> tuple[Any, TokenSums]:
        """What to minimise, summed over the real tokens, and the sums that are reported."""
        options = self._config.training
        if options.r_drop:
            source, target = tf.tile(source, [2, 1]), tf.tile(target, [2, 1])
        hidden, labels = self._model.hidden((source, target[:, :-1]), training=True), target[:, 1:]
        if not self._compiles:
            hidden, labels = real_positions(hidden, labels)
        return training_loss(self._model.final(hidden), labels, options)

    def _take(self, mine: Any, new: Any) -> Any:
        """What was collected and this; the collection starts again from zero."""
        self._strategy.extended.update(mine, _add, args=(new,))
        taken = tf.identity(self._local(mine))
        self._strategy.extended.update(mine, _reset)
        return taken

    def _local(self, value: Any) -> Any:
        """One of the equal copies that replicas hold."""
        return self._strategy.experimental_local_results(value)[0]


def _uses_xla(config: Config) -> bool:
    """Whether to compile for every shape of a batch: they are few with ``batch.tokens`` alone."""
    pays = bool(tf.config.list_logical_devices("GPU")) and config.batch.tokens is not None
    return config.machine.xla == "always" or (config.machine.xla == "auto" and pays)


def _add(mine: Any, new: Any) -> None:
    mine.assign_add(new)


def _reset(mine: Any) -> None:
    mine.assign(tf.zeros_like(mine))
