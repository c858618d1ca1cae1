import keras
import numpy as np
import pytest
import tensorflow as tf

from ptenmt.config import ModelConfig
from ptenmt.model.layers import Dropout, PositionalEmbedding, dropout_seed
from ptenmt.model.transformer import Transformer

ONES = np.ones((50, 40, 16), dtype="float32")
IDS = np.array([[2, 5, 6, 7, 8, 3]])


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_it_zeroes_a_share_and_scales_up_the_others(policy: str):
    layer = Dropout(0.2, dtype=policy)
    outputs = np.array(keras.ops.cast(layer(ONES, training=True), "float32"))
    assert (outputs == 0).mean() == pytest.approx(0.2, abs=0.01)  # 32,000 draws: 4 standard deviations
    np.testing.assert_allclose(outputs[outputs != 0], 1.25)
    np.testing.assert_array_equal(keras.ops.cast(layer(ONES), "float32"), ONES)


@pytest.mark.parametrize("width", [16, 15])
def test_neighbours_and_halves_do_not_share_their_fate(width: int):
    """Two decisions come of one random number; they must not show it."""
    with dropout_seed(1, 0):  # the same draws each time
        kept = np.array(Dropout(0.3)(np.ones((20_000, width), "float32"), training=True)) != 0
    assert kept.mean(axis=0) == pytest.approx(np.full(width, 0.7), abs=0.015)  # 4.6 standard deviations
    correlations = np.corrcoef(kept.T) - np.eye(width)
    assert np.abs(correlations).max() < 0.035  # 5 standard deviations


def test_whole_vectors_share_their_fate():
    outputs = np.array(Dropout(0.3, whole_vectors=True)(ONES, training=True))
    kept = outputs[:, :, 0] != 0
    np.testing.assert_array_equal(outputs != 0, np.broadcast_to(kept[..., None], ONES.shape))
    assert (~kept).mean() == pytest.approx(0.3, abs=0.04)  # 2,000 draws


def test_the_gradient_passes_where_the_input_did():
    layer, inputs = Dropout(0.5), tf.constant(ONES)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer(inputs, training=True)
    np.testing.assert_array_equal(tape.gradient(outputs, inputs), outputs)


def mask(layer: Dropout, seed: int, draw: int) -> bytes:
    with dropout_seed(seed, draw):
        return np.array(layer(ONES, training=True)).tobytes()


def test_masks_are_a_function_of_seed_draw_and_layer():
    one, other = Dropout(0.5), Dropout(0.5)
    assert mask(one, 1, 7) == mask(one, 1, 7)
    different = [mask(one, 1, 7), mask(one, 1, 8), mask(one, 2, 7), mask(other, 1, 7), mask(other, 1, 8)]
    assert len(set(different)) == 5


def test_what_a_layer_draws_follows_from_its_place_in_the_model():
    """Not from what the process has drawn or built before."""
    masks = []
    for seed in (4, 5):
        keras.utils.set_random_seed(seed)
        layers = [Dropout(0.5, name=name) for name in ("one", "other")]
        masks.append([mask(layer, 1, 1) for layer in layers])
    assert masks[0] == masks[1]
    assert masks[0][0] != masks[0][1]


@pytest.fixture(scope="module")
def model() -> Transformer:
    sizes = {"num_layers": 1, "d_model": 16, "num_heads": 2, "d_ff": 24, "max_positions": 8}
    rates = {"dropout": 0.2, "attention_dropout": 0.2, "activation_dropout": 0.2, "word_dropout": 0.2}
    return Transformer(ModelConfig(**sizes, **rates), 9, 9)


def test_a_compiled_step_takes_the_draw_as_a_value(model: Transformer):
    """As a replica does: one trace, no variable, the same masks as outside of it."""
    variables = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
    def step(draw: tf.Tensor) -> tf.Tensor:
        noted = tf.variable_creator_scope(lambda create, **how: variables.append(create(**how)))
        with noted, dropout_seed(3, draw):
            return model((IDS, IDS), training=True)

    logits = [np.array(step(tf.constant(draw, tf.int64))) for draw in (1, 2, 1)]
    np.testing.assert_array_equal(logits[0], logits[2])
    assert not np.allclose(logits[0], logits[1])
    with dropout_seed(3, 2):
        np.testing.assert_allclose(model((IDS, IDS), training=True), logits[1], atol=1e-5)
    assert variables == []
    assert model.non_trainable_variables == []


@pytest.mark.parametrize("compiled", [False, True])
def test_without_a_seed_every_call_draws_new_masks(compiled: bool):
    layer = Dropout(0.5)
    call = lambda: layer(ONES, training=True)  # noqa: E731
    call = tf.function(call) if compiled else call
    assert not np.allclose(call(), call())


@pytest.mark.parametrize("rate", [1.0, 1.5, -0.5, float("nan")])
def test_what_is_no_rate_is_an_error(rate: float):
    with pytest.raises(ValueError, match=f"^word_dropout: rate={rate} must be at least 0 and below 1$"):
        PositionalEmbedding(10, 8, max_positions=10, word_dropout=rate)


def test_the_seed_ends_with_its_block():
    layer = Dropout(0.5)
    with pytest.raises(KeyError), dropout_seed(1, 1):
        raise KeyError
    assert np.any(layer(ONES, training=True) != layer(ONES, training=True))
