from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ptenmt.model.loss import TokenSums, real_positions, token_sums, training_loss

LABELS = np.array([[3, 1, 4, 0, 0], [2, 0, 0, 0, 0]])
LOGITS = np.random.default_rng(0).normal(size=(2, 5, 6)).astype("float32")
REAL = [(0, 0, 3), (0, 1, 1), (0, 2, 4), (1, 0, 2)]


def as_floats(sums: TokenSums) -> list[float]:
    return [float(value) for value in sums]


def log_softmax(logits: np.ndarray) -> np.ndarray:
    logits = logits.astype("float64")
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def gradient(function: Callable[[Any], Any], at: np.ndarray) -> np.ndarray:
    """What autodiff says, through a compiled function as in training."""

    @tf.function
    def compiled(logits: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(logits)
            value = function(logits)
        return tape.gradient(value, logits)

    return compiled(tf.constant(at)).numpy()


def smoothed(log_probabilities: np.ndarray, place: tuple[int, int, int], smoothing: float) -> float:
    """Cross-entropy against the label's share and an even spread, term by term."""
    *position, label = place
    size = log_probabilities.shape[-1]
    target = np.full(size, smoothing / size)
    target[label] += 1 - smoothing
    return -float(target @ log_probabilities[tuple(position)])


def test_loss_and_accuracy_are_over_real_tokens_only():
    logits = LOGITS.copy()
    logits[0, 1, 1] = logits[0, 2, 4] = 9  # two of the four real labels are the argmax
    logits[0, 0, 5] = logits[1, 0, 5] = 9
    logits[:, 3:, 0] = 9  # right where padded: must not count
    loss = -sum(float(log_softmax(logits)[place]) for place in REAL)
    assert as_floats(token_sums(logits, LABELS)) == pytest.approx([loss, 2, 4], rel=1e-5)


def test_a_batch_without_real_tokens_sums_to_zero():
    nothing = np.zeros_like(LABELS)
    assert as_floats(token_sums(LOGITS, nothing)) == [0, 0, 0]
    gathered = tf.function(lambda: token_sums(*real_positions(tf.constant(LOGITS), nothing)))
    assert as_floats(gathered()) == [0, 0, 0]
    assert not gradient(lambda logits: token_sums(logits, nothing).loss, LOGITS).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_logits_are_summed_in_float32(dtype: str):
    labels = np.full((40, 100), 1)
    logits = tf.zeros((40, 100, 8), dtype=dtype)
    sums = token_sums(logits, labels)
    assert as_floats(sums) == pytest.approx([4000 * np.log(8), 0, 4000], rel=1e-5)
    assert {part.dtype for part in sums} == {tf.float32}


def test_of_equally_high_logits_the_first_counts():
    """As argmax has it: or a model that finds everything equally likely would be right always."""
    logits = tf.constant([[1.0, 7.0, 7.0], [7.0, 1.0, 7.0], [-0.0, -1.0, 0.0], [-9.0, -8.0, -7.0]])
    hits = [
        [float(token_sums(logits[row, None], [label]).correct) for label in (1, 2)]
        for row in range(len(logits))
    ]
    assert hits == [[1, 0], [0, 0], [0, 0], [0, 1]]


def test_extreme_logits_stay_exact():
    logits = tf.constant([[500.0, -500.0, 0.0], [-1e4, 1e4, 0.0]])
    assert as_floats(token_sums(logits, [2, 1])) == pytest.approx([500, 1, 2])
    slopes = gradient(lambda values: token_sums(values, [2, 1]).loss, logits.numpy())
    np.testing.assert_allclose(slopes, [[1, 0, -1], [0, 0, 0]], atol=1e-6)


def test_a_diverged_model_shows_in_the_loss():
    logits = LOGITS.copy()
    logits[0, 0, 0] = np.nan
    assert np.isnan(float(token_sums(logits, LABELS).loss))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gradients_are_those_of_the_textbook_formula(smoothing: float, dtype: str):
    logits = LOGITS.astype(dtype)
    slopes = gradient(lambda values: training_loss(values, LABELS, smoothing)[0] / 4, logits)

    def textbook(values: Any) -> Any:
        target = tf.one_hot(LABELS, 6) * (1 - smoothing) + smoothing / 6
        losses = -tf.reduce_sum(target * tf.nn.log_softmax(tf.cast(values, "float32")), axis=-1)
        return tf.reduce_sum(losses * tf.cast(LABELS != 0, "float32")) / 4

    np.testing.assert_allclose(slopes, gradient(textbook, logits), atol=1e-3 if dtype == "float16" else 1e-6)
    assert slopes.dtype == dtype
    assert not slopes[:, 3:].any()


def test_smoothing_changes_the_objective_and_not_what_is_reported():
    objective, sums = training_loss(LOGITS, LABELS, 0.1)
    expected = sum(smoothed(log_softmax(LOGITS), place, 0.1) for place in REAL)
    assert float(objective) == pytest.approx(expected, rel=1e-5)
    assert as_floats(sums) == pytest.approx(as_floats(token_sums(LOGITS, LABELS)))
    assert float(objective) != pytest.approx(float(sums.loss), rel=1e-3)


def test_without_options_the_objective_is_the_plain_loss():
    objective, sums = training_loss(LOGITS, LABELS, 0.0)
    assert float(objective) == float(sums.loss) == float(token_sums(LOGITS, LABELS).loss)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_leaving_padding_out_changes_neither_loss_nor_gradients(smoothing: float):
    final = keras.layers.Dense(6)
    final.build((None, 3))
    hidden = np.random.default_rng(1).normal(size=(4, 5, 3)).astype("float32")
    labels = np.concatenate([LABELS, LABELS])

    def padded(values: Any) -> Any:
        return training_loss(final(values), labels, smoothing)[0]

    def gathered(values: Any) -> Any:
        states, real = real_positions(values, labels)
        return training_loss(final(states), real, smoothing)[0]

    assert real_positions(tf.constant(hidden), labels)[1].numpy().tolist() == [3, 1, 4, 2] * 2
    assert float(padded(hidden)) == pytest.approx(float(gathered(hidden)), rel=1e-6)
    np.testing.assert_allclose(gradient(padded, hidden), gradient(gathered, hidden), atol=1e-6)
