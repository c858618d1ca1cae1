"""What an update does with the gradients: Adam and AdamW, clipping, averaging."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ptenmt.config import OptimizerConfig


class Adam:
    """Adam (Kingma & Ba 2015), and AdamW, which takes the weight decay out of the gradients.

    A weight's update is one fused kernel, where Keras' own Adam makes a dozen; and clipping sees the
    gradients of all replicas together, which Keras' clips one by one.

    Args:
        weights: Keras variables, built.
        config: The section ``optimizer``.
    """

    def __init__(self, weights: Sequence[Any], config: OptimizerConfig) -> None:
        self._config = config
        self._weights = [weight.value for weight in weights]
        self._paths = [weight.path for weight in weights]
        self._means = [zeros(weight) for weight in self._weights]
        self._squares = [zeros(weight) for weight in self._weights]
        self._averages = [_copy(weight) for weight in self._weights] if config.ema else []
        self._count = tf.Variable(0, dtype=tf.int64, trainable=False)

    @property
    def variables(self) -> dict[str, Any]:
        """What a checkpoint is to hold beside the averages, by name."""
        groups = {"mean": self._means, "square": self._squares}
        return {"count": self._count} | {
            f"{group}/{path}": variable
            for group, variables in groups.items()
            for path, variable in zip(self._paths, variables, strict=True)
        }

    @property
    def averages(self) -> dict[str, Any]:
        """The moving average of each weight by the weight's path; empty if ``optimizer.ema`` is 0."""
        return dict(zip(self._paths, self._averages, strict=False))

    def apply(self, gradients: Sequence[Any], norm: Any, rate: Any, scale: Any = 1.0) -> None:
        """Update every weight, outside of any replica.

        Args:
            gradients: Of each weight, summed over the replicas, times ``scale``.
            norm: Their length without the scale, scalar.
            rate: The learning rate, scalar.
            scale: That of the loss, a tensor where there is one.
        """
        self._count.assign_add(1)
        clip = self._config.clip_norm
        factor = None if clip is None else clip / tf.maximum(norm, clip)
        if tf.is_tensor(scale):
            factor = 1 / scale if factor is None else factor / scale
        count = tf.cast(self._count, tf.float32)
        powers = [beta**count for beta in self._betas]
        # As long as the weights are young, so is their average.
        decay = tf.minimum(self._config.ema, (1 + count) / (10 + count))
        averages = self._averages or self._weights
        replicas = tf.distribute.get_strategy().extended
        for weight, *slots in zip(
            self._weights, self._means, self._squares, averages, gradients, strict=True
        ):
            replicas.update(weight, self._update, args=(*slots, factor, *powers, rate, decay))

    @property
    def _betas(self) -> tuple[float, float]:
        return self._config.beta_1, self._config.beta_2

    def _update(
        self,
        weight: Any,
        mean: Any,
        square: Any,
        average: Any,
        gradient: Any,
        factor: Any,
        power_1: Any,
        power_2: Any,
        rate: Any,
        decay: Any,
    ) -> None:
        """Update one weight on one device."""
        config = self._config
        if factor is not None:
            gradient = gradient * factor
        if config.kind == "adamw" and weight.shape.rank > 1:  # not biases, not the norms' scales
            weight.assign_sub(rate * config.weight_decay * weight)
        tf.raw_ops.ResourceApplyAdam(
            var=weight.handle,
            m=mean.handle,
            v=square.handle,
            beta1_power=power_1,
            beta2_power=power_2,
            lr=rate,
            beta1=config.beta_1,
            beta2=config.beta_2,
            epsilon=config.epsilon,
            grad=gradient,
        )
        if config.ema:
            average.assign_sub((1 - decay) * (average - weight))


@contextmanager
def averaged(model: Any, optimizer: Adam) -> Iterator[None]:
    """Put the moving averages, if the optimizer keeps any, in the weights' place for a while."""
    weights = {weight.path: weight.value for weight in model.trainable_variables}
    averages = optimizer.averages
    kept = {path: tf.identity(weights[path]) for path in averages}
    for path, average in averages.items():
        weights[path].assign(average)
    try:
        yield
    finally:
        for path, value in kept.items():
            weights[path].assign(value)


def zeros(weight: Any) -> Any:
    """A variable beside a weight, of its shape and kind."""
    return tf.Variable(tf.zeros(weight.shape, weight.dtype), trainable=False)


def _copy(weight: Any) -> Any:
    return tf.Variable(tf.convert_to_tensor(weight), trainable=False)
