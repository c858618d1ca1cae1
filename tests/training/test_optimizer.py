import keras
import numpy as np
import pytest
import tensorflow as tf

from ptenmt.config import OptimizerConfig
from ptenmt.training.optimizer import Adam, averaged

START = {"kernel": np.array([[1.0, -2.0], [0.5, 4.0]]), "bias": np.array([3.0, -1.0])}
RATES = [0.1, 0.05, 0.2]


def gradients(step: int) -> list[np.ndarray]:
    numbers = np.random.default_rng(step)
    return [numbers.normal(size=value.shape) for value in START.values()]


def length(parts: list[np.ndarray]) -> float:
    return float(np.sqrt(sum((part**2).sum() for part in parts)))


class Weights:
    """A stand-in for a model: two named variables."""

    def __init__(self) -> None:
        self.trainable_variables = [
            keras.Variable(value.astype("float32"), name=name) for name, value in START.items()
        ]

    def values(self) -> list[np.ndarray]:
        return [variable.numpy() for variable in self.trainable_variables]


def trained(config: OptimizerConfig) -> tuple[Weights, Adam]:
    """Three updates by the optimizer."""
    weights = Weights()
    optimizer = Adam(weights.trainable_variables, config)
    for step, rate in enumerate(RATES):
        given = gradients(step)
        parts = [tf.constant(part, tf.float32) for part in given]
        optimizer.apply(parts, tf.constant(length(given), tf.float32), tf.constant(rate))
    return weights, optimizer


def by_hand(config: OptimizerConfig) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The weights and their averages after the same updates, after the papers' formulas."""
    values = [value.copy() for value in START.values()]
    averages = [value.copy() for value in values]
    means = [np.zeros_like(value) for value in values]
    squares = [np.zeros_like(value) for value in values]
    for step, rate in enumerate(RATES):
        given = gradients(step)
        if config.clip_norm is not None:
            given = [part * min(1, config.clip_norm / length(given)) for part in given]
        for i, part in enumerate(given):
            if config.kind == "adamw" and values[i].ndim == 2:
                values[i] -= rate * config.weight_decay * values[i]
            means[i] = config.beta_1 * means[i] + (1 - config.beta_1) * part
            squares[i] = config.beta_2 * squares[i] + (1 - config.beta_2) * part**2
            corrected = rate * np.sqrt(1 - config.beta_2 ** (step + 1)) / (1 - config.beta_1 ** (step + 1))
            values[i] -= corrected * means[i] / (np.sqrt(squares[i]) + config.epsilon)
            decay = min(config.ema, (2 + step) / (11 + step))
            averages[i] = decay * averages[i] + (1 - decay) * values[i]
    return values, averages


CONFIGS = {
    "adam": OptimizerConfig(),
    "other numbers": OptimizerConfig(beta_1=0.8, beta_2=0.9, epsilon=0.1),
    "adamw": OptimizerConfig(kind="adamw", weight_decay=0.3),
    "clipped": OptimizerConfig(clip_norm=1.5),
    "too short to clip": OptimizerConfig(clip_norm=1e9),
    "averaged": OptimizerConfig(ema=0.7),
    "averaged from the first": OptimizerConfig(ema=0.2),
    "all of it": OptimizerConfig(kind="adamw", weight_decay=0.3, clip_norm=0.5, ema=0.5),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_updates_are_those_of_the_papers(config: OptimizerConfig):
    weights, optimizer = trained(config)
    values, averages = by_hand(config)
    for found, expected in zip(weights.values(), values, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert len(optimizer.averages) == (2 if config.ema else 0)
    for found, expected in zip(optimizer.averages.values(), averages, strict=False):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)


def test_averages_take_the_weights_place_for_a_while():
    weights, optimizer = trained(OptimizerConfig(ema=0.7))
    before = weights.values()
    averages = [value.numpy() for value in optimizer.averages.values()]
    with averaged(weights, optimizer):
        for found, expected in zip(weights.values(), averages, strict=True):
            np.testing.assert_array_equal(found, expected)
    for found, expected in zip(weights.values(), before, strict=True):
        np.testing.assert_array_equal(found, expected)
