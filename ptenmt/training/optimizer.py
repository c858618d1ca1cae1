"""Adam and AdamW, with gradient clipping and an exponential moving average (EMA) of the weights."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ptenmt.config import OptimizerConfig


class Adam:
    """Adam (Kingma & Ba 2015), or AdamW with decoupled weight decay (Loshchilov & Hutter 2019).

    Unlike Keras' Adam it updates a weight, a Keras variable, with one fused kernel instead of a dozen (9% of
    a base model's step), and clips the sum of all replicas' gradients instead of each replica's.
    """

    def __init__(self, weights: Sequence[Any], config: OptimizerConfig) -> None:
        self._config = config
        self._weights = [weight.value for weight in weights]
        self._paths = [weight.path for weight in weights]
        self._means = [zeros(weight) for weight in self._weights]
        self._squares = [zeros(weight) for weight in self._weights]
        self._averages = []
        if config.ema:
            self._averages = [
                tf.Variable(tf.convert_to_tensor(weight), trainable=False) for weight in self._weights
            ]
        self._count = tf.Variable(0, dtype=tf.int64, trainable=False)

    @property
    def variables(self) -> dict[str, Any]:
        """The variables that a checkpoint stores besides the averages, by name."""
        means = {f"mean/{path}": mean for path, mean in zip(self._paths, self._means, strict=True)}
        squares = {f"square/{path}": square for path, square in zip(self._paths, self._squares, strict=True)}
        return {"count": self._count} | means | squares

    @property
    def averages(self) -> dict[str, Any]:
        """The EMA of each weight by the weight's path; empty if ``optimizer.ema`` is 0."""
        return dict(zip(self._paths, self._averages, strict=False))

    def apply(self, gradients: Sequence[Any], norm: Any, rate: Any) -> None:
        """Update every weight; call it in the cross-replica context.

        Args:
            gradients: One for each weight, summed over the replicas.
            norm: Global norm of the gradients, scalar.
            rate: Learning rate, scalar.
        """
        config = self._config
        self._count.assign_add(1)
        count = tf.cast(self._count, tf.float32)
        beta_1_power, beta_2_power = config.beta_1**count, config.beta_2**count
        # EMA warm-up: a lower decay at first, or the initial weights would dominate.
        decay = tf.minimum(config.ema, (1 + count) / (10 + count))
        factor = None if config.clip_norm is None else config.clip_norm / tf.maximum(norm, config.clip_norm)

        def update(weight: Any, mean: Any, square: Any, average: Any, gradient: Any) -> None:
            if factor is not None:
                gradient = gradient * factor
            if config.kind == "adamw" and weight.shape.rank > 1:  # neither biases nor layer norms decay
                weight.assign_sub(rate * config.weight_decay * weight)
            tf.raw_ops.ResourceApplyAdam(
                var=weight.handle,
                m=mean.handle,
                v=square.handle,
                beta1_power=beta_1_power,
                beta2_power=beta_2_power,
                lr=rate,
                beta1=config.beta_1,
                beta2=config.beta_2,
                epsilon=config.epsilon,
                grad=gradient,
            )
            if config.ema:
                average.assign_sub((1 - decay) * (average - weight))

        replicas = tf.distribute.get_strategy().extended
        slots = zip(self._means, self._squares, self._averages or self._weights, gradients, strict=True)
        for weight, arguments in zip(self._weights, slots, strict=True):
            replicas.update(weight, update, args=arguments)


@contextmanager
def averaged(model: Any, optimizer: Adam) -> Iterator[None]:
    """Replace the model's weights by their EMA, if the optimizer keeps one, within the block."""
    weights = {weight.path: weight.value for weight in model.trainable_variables}
    originals = {path: tf.identity(weights[path]) for path in optimizer.averages}
    for path, average in optimizer.averages.items():
        weights[path].assign(average)
    try:
        yield
    finally:
        for path, original in originals.items():
            weights[path].assign(original)


def zeros(weight: Any) -> Any:
    """Create a variable of a weight's shape and type, filled with zeros."""
    return tf.Variable(tf.zeros(weight.shape, weight.dtype), trainable=False)
