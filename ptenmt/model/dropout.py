"""Dropout whose masks follow from numbers that one can hold on to."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import keras
from keras import ops

_given_seed: ContextVar[tuple[int, Any] | None] = ContextVar("_given_seed", default=None)


@contextmanager
def dropout_seed(seed: int, draw: Any) -> Iterator[None]:
    """Let every dropout inside draw its mask from these numbers and nothing else.

    A mask is a function of ``seed``, ``draw`` and a constant of its layer. No variable is read or
    written, so this works in a replica of a distributed step, and no random state needs to be saved::

        with dropout_seed(config.seed, step * num_replicas + replica):
            logits = model((source, target), training=True)

    Without it, every call draws fresh masks: from Keras' global seed generator; under JAX, the layer's own.

    Args:
        seed: At least 0; the same throughout a training.
        draw: A whole number or int64 scalar tensor, at least 0; another one at each forward pass. Under JAX
            below 2³², since there the generator starts from numbers of 32 bits.
    """
    token = _given_seed.set((seed, draw))
    try:
        yield
    finally:
        _given_seed.reset(token)


@keras.saving.register_keras_serializable(package="ptenmt")
class Dropout(keras.layers.Layer):
    """Zero a share of the inputs while training, and scale the others up so that the mean stays.

    Args:
        rate: The share, at least 0 and below 1.
        whole_vectors: Zero vectors (along the last axis) instead of single numbers.
        **kwargs: ``name``, ``dtype``, as for any Keras layer.

    Raises:
        ValueError: The rate is none.
    """

    def __init__(self, rate: float, *, whole_vectors: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if not 0 <= rate < 1:
            raise ValueError(f"{self.name}: a rate of {rate} is not at least 0 and below 1")
        self.rate = rate
        self.whole_vectors = whole_vectors
        # What JAX compiles may draw only from a state that it is given.
        self._seeds = keras.random.SeedGenerator() if keras.config.backend() == "jax" else None

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Map a tensor of any shape to one of the same shape."""
        if not training or not self.rate:
            return inputs
        shape = ops.shape(inputs)
        kept = self._kept((*shape[:-1], 1) if self.whole_vectors else shape)
        return inputs * (ops.cast(kept, inputs.dtype) * ops.cast(1 / (1 - self.rate), inputs.dtype))

    def _kept(self, shape: tuple[Any, ...]) -> Any:
        """Decide for each number whether it stays; boolean of this shape.

        Random numbers are most of what dropout costs, so each makes two decisions. A float32 below 1 has 23
        random bits, whatever the precision of the model: the second decision is made by the lowest 11, which
        are as good as independent of where the whole number lies.
        """
        *outer, width = shape
        draws = keras.random.uniform((*outer, (width + 1) // 2), dtype="float32", seed=self._seed())
        lower = draws * 4096
        lower = lower - ops.floor(lower)
        return ops.concatenate([draws >= self.rate, lower >= self.rate], axis=-1)[..., :width]

    def _seed(self) -> keras.random.SeedGenerator | None:
        given = _given_seed.get()
        if given is None:
            return self._seeds
        seed, draw = given
        # Layers differ in the first number, by their place in the model, and draws in the second.
        constant = zlib.crc32(self.path.encode())
        if keras.config.backend() == "jax":  # takes no other integers
            return _Seed(ops.stack([ops.cast((seed + constant) % 2**32, "uint32"), ops.cast(draw, "uint32")]))
        return _Seed(ops.stack([ops.cast(seed + constant, "int64"), ops.cast(draw, "int64")]))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, for saving with Keras."""
        return super().get_config() | {"rate": self.rate, "whole_vectors": self.whole_vectors}


class _Seed(keras.random.SeedGenerator):
    """Two numbers in the form in which ``keras.random`` takes them from outside, with no state."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers  # and no variable, which is why the parent's constructor is left out

    def next(self, ordered: bool = True) -> Any:  # noqa: ARG002 — of the parent's signature
        """The numbers, int64 [2], or uint32 under JAX."""
        return self._numbers
