from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ptenmt.config import ModelConfig, TrainingConfig
from ptenmt.model.layers import PositionalEmbedding
from ptenmt.model.loss import TokenSums, divergence, real_positions, token_sums, training_loss
from ptenmt.model.transformer import Transformer

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


def test_more_padding_changes_nothing():
    logits = np.concatenate([LOGITS, 50 + LOGITS], axis=1)
    labels = np.concatenate([LABELS, np.zeros_like(LABELS)], axis=1)
    assert as_floats(token_sums(logits, labels)) == pytest.approx(as_floats(token_sums(LOGITS, LABELS)))


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
    options = TrainingConfig(label_smoothing=smoothing)
    logits = LOGITS.astype(dtype)
    slopes = gradient(lambda values: training_loss(values, LABELS, options)[0] / 4, logits)

    def textbook(values: Any) -> Any:
        target = tf.one_hot(LABELS, 6) * (1 - smoothing) + smoothing / 6
        losses = -tf.reduce_sum(target * tf.nn.log_softmax(tf.cast(values, "float32")), axis=-1)
        return tf.reduce_sum(losses * tf.cast(LABELS != 0, "float32")) / 4

    np.testing.assert_allclose(slopes, gradient(textbook, logits), atol=1e-3 if dtype == "float16" else 1e-6)
    assert slopes.dtype == dtype
    assert not slopes[:, 3:].any()


def test_smoothing_changes_the_objective_and_not_what_is_reported():
    objective, sums = training_loss(LOGITS, LABELS, TrainingConfig(label_smoothing=0.1))
    expected = sum(smoothed(log_softmax(LOGITS), place, 0.1) for place in REAL)
    assert float(objective) == pytest.approx(expected, rel=1e-5)
    assert as_floats(sums) == pytest.approx(as_floats(token_sums(LOGITS, LABELS)))
    assert float(objective) != pytest.approx(float(sums.loss), rel=1e-3)


def test_without_options_the_objective_is_the_plain_loss():
    objective, sums = training_loss(LOGITS, LABELS, TrainingConfig())
    assert float(objective) == float(sums.loss) == float(token_sums(LOGITS, LABELS).loss)


def test_two_passes_that_agree_do_not_diverge():
    logits, labels = np.concatenate([LOGITS, LOGITS + 3]), np.concatenate([LABELS, LABELS])
    for is_symmetric in (True, False):
        assert float(divergence(logits, labels, is_symmetric=is_symmetric)) == pytest.approx(0, abs=1e-5)
    objective, sums = training_loss(logits, labels, TrainingConfig(r_drop=5.0))
    assert float(objective) == pytest.approx(float(sums.loss), rel=1e-5)
    assert as_floats(sums) == pytest.approx(as_floats(token_sums(LOGITS, LABELS)), rel=1e-5)


def test_the_divergence_of_two_passes_by_hand():
    """p = (3/4, 1/4), q = (1/2, 1/2): (KL(p‖q) + KL(q‖p)) / 2 = ¼ · ln 3 / 2."""
    logits = np.log([[0.75, 0.25], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]])
    labels = np.array([1, 0, 1, 0])  # the second position is padding
    assert float(divergence(logits, labels, is_symmetric=True)) == pytest.approx(np.log(3) / 8, rel=1e-6)
    objective, sums = training_loss(logits, labels, TrainingConfig(r_drop=4.0))
    loss = (np.log(4) + np.log(2)) / 2
    assert as_floats(sums) == pytest.approx([loss, 0, 1])
    assert float(objective) == pytest.approx(loss + 4 / 2 * np.log(3) / 8, rel=1e-5)
    one_way = 3 / 4 * np.log(3 / 2) + 1 / 4 * np.log(1 / 2)
    assert float(divergence(logits, labels)) == pytest.approx(one_way, rel=1e-6)
    objective, sums = training_loss(logits, labels, TrainingConfig(simcut=3.0))
    assert as_floats(sums) == pytest.approx([np.log(4), 0, 1]), "of the first half"
    assert float(objective) == pytest.approx(np.log(4) + 3 * one_way, rel=1e-5)


def test_simcut_pulls_the_passes_together_from_both_sides():
    """∂KL(p‖q)/∂logits is p · (log p − log q − KL) for the first pass, and q − p for the second."""
    logits, labels = np.concatenate([LOGITS, LOGITS[:, ::-1]]), np.concatenate([LABELS, LABELS])
    slopes = gradient(
        lambda values: training_loss(values, labels, TrainingConfig(simcut=2.0, label_smoothing=0.1))[0],
        logits,
    )
    smoothed_only = TrainingConfig(label_smoothing=0.1)
    of_loss = gradient(lambda values: training_loss(values, LABELS, smoothed_only)[0], LOGITS)
    (log_p, log_q), real = log_softmax(logits).reshape(2, 2, 5, 6), (LABELS != 0)[..., None]
    p, q = np.exp(log_p), np.exp(log_q)
    kl = (p * (log_p - log_q)).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(slopes[:2], of_loss + 2 * real * p * (log_p - log_q - kl), atol=1e-5)
    np.testing.assert_allclose(slopes[2:], 2 * real * (q - p), atol=1e-5)


def test_the_gradient_of_simcut_is_the_slope_of_its_loss():
    """Of a whole model, along the gradient: a rise by ε raises the objective by ε times its length."""
    sizes = {"num_layers": 1, "d_model": 8, "num_heads": 2, "d_ff": 12, "max_positions": 6, "dropout": 0.0}
    keras.utils.set_random_seed(3)
    model = Transformer(ModelConfig(**sizes, norm="pre", tied_embeddings="all"), 9, 9)  # type: ignore[arg-type]
    weights = [weight.value for weight in model.trainable_variables]
    source, target = np.array([[2, 5, 6, 3], [2, 7, 3, 0]]), np.array([[2, 8, 5, 3], [2, 4, 3, 0]])

    def objective() -> Any:
        ids, into = np.tile(source, (2, 1)), np.tile(target, (2, 1))
        labels = into[:, 1:].copy()
        ids[2:, 1] = into[2:, 1] = -1
        hidden = model.hidden((ids, into[:, :-1]), training=True)
        return training_loss(model.final(hidden), labels, TrainingConfig(simcut=9.0))[0]

    with tf.GradientTape() as tape:
        value = objective()
    slopes = [tf.convert_to_tensor(slope) for slope in tape.gradient(value, weights)]
    length = tf.linalg.global_norm(slopes)
    values = []
    for step in (1e-2, -2e-2):
        for weight, slope in zip(weights, slopes, strict=True):
            weight.assign_add(step / length * slope)
        values.append(float(objective()))
    assert (values[0] - values[1]) / 2e-2 == pytest.approx(float(length), rel=1e-2)


def test_a_token_that_is_cut_off_leaves_its_position():
    layer = PositionalEmbedding(9, 8, max_positions=6)
    layer.build((None, None))
    whole, cut = np.array(layer(np.array([[5, 6, 7]]))), np.array(layer(np.array([[5, -1, 7]])))
    np.testing.assert_array_equal(cut[0, [0, 2]], whole[0, [0, 2]])
    np.testing.assert_array_equal(cut[0, 1], layer.encoding[1].astype("float32"))
    rows = layer.embedding.embeddings.numpy()[[5, 6, 7]]
    scaled = rows * np.float32(8**0.5) + layer.encoding[:3].astype("float32")
    np.testing.assert_array_equal(whole[0], scaled)


def test_r_drop_pulls_both_passes_together():
    logits = np.concatenate([LOGITS, LOGITS[:, ::-1]])
    labels = np.concatenate([LABELS, LABELS])
    slopes = gradient(lambda values: divergence(values, labels, is_symmetric=True), logits)
    assert slopes[:2][LABELS != 0].any()
    assert slopes[2:][LABELS != 0].any()
    assert not slopes[labels == 0].any()
    before, after = (
        float(divergence(at, labels, is_symmetric=True)) for at in (logits, logits - 0.05 * slopes)
    )
    assert after < before


@pytest.mark.parametrize(
    "options", [{}, {"label_smoothing": 0.1}, {"r_drop": 2.0, "label_smoothing": 0.1}, {"simcut": 3.0}]
)
def test_leaving_padding_out_changes_neither_loss_nor_gradients(options: dict[str, float]):
    config = TrainingConfig(**options)  # type: ignore[arg-type]
    final = keras.layers.Dense(6)
    final.build((None, 3))
    hidden = np.random.default_rng(1).normal(size=(4, 5, 3)).astype("float32")
    labels = np.concatenate([LABELS, LABELS])

    def padded(values: Any) -> Any:
        return training_loss(final(values), labels, config)[0]

    def gathered(values: Any) -> Any:
        states, real = real_positions(values, labels)
        return training_loss(final(states), real, config)[0]

    assert real_positions(tf.constant(hidden), labels)[1].numpy().tolist() == [3, 1, 4, 2] * 2
    assert float(padded(hidden)) == pytest.approx(float(gathered(hidden)), rel=1e-6)
    np.testing.assert_allclose(gradient(padded, hidden), gradient(gathered, hidden), atol=1e-6)


def test_it_compiles_for_fixed_shapes():
    options = TrainingConfig(label_smoothing=0.1)
    compiled = tf.function(lambda logits: training_loss(logits, LABELS, options), jit_compile=True)
    expected = training_loss(LOGITS, LABELS, options)
    for mine, plain in zip(tf.nest.flatten(compiled(LOGITS)), tf.nest.flatten(expected), strict=True):
        assert float(mine) == pytest.approx(float(plain), rel=1e-5)


def test_sums_add_up_to_floats():
    total = TokenSums(1.0, 2.0, 3.0).plus(token_sums(LOGITS, LABELS))
    loss, correct, tokens = as_floats(token_sums(LOGITS, LABELS))
    assert total == pytest.approx((1 + loss, 2 + correct, 3 + tokens))
    assert all(isinstance(value, float) for value in total)
