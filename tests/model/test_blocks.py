from collections.abc import Callable
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import pytest

from ptenmt.config import ModelConfig
from ptenmt.model.layers import AddAndNorm, FeedForward, PositionalEmbedding
from ptenmt.model.numpy_transformer import positional_encoding
from ptenmt.model.transformer import DecoderBlock, EncoderBlock

SMALL = ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=16, max_positions=10)


@pytest.fixture(autouse=True)
def _seeded():
    keras.utils.set_random_seed(1)


def random_inputs(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def layer_norm(inputs: np.ndarray) -> np.ndarray:
    mean = inputs.mean(axis=-1, keepdims=True)
    variance = inputs.var(axis=-1, keepdims=True)
    return (inputs - mean) / np.sqrt(variance + 1e-6)


def test_positional_encoding_has_the_published_values():
    table = positional_encoding(4, 8)
    assert table.dtype == np.float32
    np.testing.assert_array_equal(table[0], [0, 1, 0, 1, 0, 1, 0, 1])
    row1 = [0.841471, 0.540302, 0.099833, 0.995004, 0.01, 0.99995, 0.001, 1]
    row3 = [0.14112, -0.989992, 0.29552, 0.955336, 0.029996, 0.99955, 0.003, 0.999996]
    np.testing.assert_allclose(table[1], row1, atol=1e-6)
    np.testing.assert_allclose(table[3], row3, atol=1e-6)


def test_embeddings_are_scaled_and_get_their_position():
    layer = PositionalEmbedding(20, 8, max_positions=10)
    ids = np.array([[5, 7, 7]])
    outputs = layer(ids)
    (table,) = layer.get_weights()
    expected = table[[5, 7, 7]] * np.sqrt(8) + positional_encoding(10, 8)[:3]
    np.testing.assert_allclose(outputs[0], expected, atol=1e-6)
    later = layer(ids, first_position=4)
    expected = table[[5, 7, 7]] * np.sqrt(8) + positional_encoding(10, 8)[4:7]
    np.testing.assert_allclose(later[0], expected, atol=1e-6)


def test_embeddings_are_dropped_in_training_only():
    layer, ids = PositionalEmbedding(50, 64, max_positions=100, dropout=0.25), np.full((4, 100), 5)
    still, dropped = np.array(layer(ids)), np.array(layer(ids, training=True))
    gone = (dropped == 0) & (still != 0)
    assert gone.mean() == pytest.approx(0.25, abs=0.02)  # 25,600 draws: 7 standard deviations
    np.testing.assert_allclose(dropped[~gone], still[~gone] / 0.75, rtol=1e-5)


def test_add_and_norm_drops_the_sublayers_output_and_never_the_residual():
    inputs, sublayer_output = random_inputs(1, 40, 8), random_inputs(1, 40, 8, seed=1)
    layer = AddAndNorm(dropout=0.999)
    dropped = np.array(layer(inputs, sublayer=lambda _: sublayer_output, training=True))
    untouched = np.isclose(dropped, layer_norm(inputs), atol=1e-5).all(axis=-1)
    assert untouched.mean() > 0.8


def test_feed_forward_is_two_dense_layers_with_a_relu_between():
    layer = FeedForward(4, 6)
    inputs = random_inputs(2, 3, 4)
    outputs = layer(inputs)
    layer.set_weights([random_inputs(*weight.shape, seed=5) for weight in layer.get_weights()])
    kernel1, bias1, kernel2, bias2 = layer.get_weights()
    assert (kernel1.shape, kernel2.shape, outputs.shape) == ((4, 6), (6, 4), (2, 3, 4))
    expected = np.maximum(inputs @ kernel1 + bias1, 0) @ kernel2 + bias2
    np.testing.assert_allclose(layer(inputs), expected, atol=1e-5)


def added(norm: str, x: np.ndarray, sublayer: Callable[[Any], Any]) -> np.ndarray:
    """The residual connection and layer norm around a sub-layer, by hand."""
    if norm == "pre":
        return x + np.array(sublayer(layer_norm(x)))
    return layer_norm(x + np.array(sublayer(x)))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_an_encoder_block_is_its_two_sublayers(norm: Any):
    block, inputs = EncoderBlock(replace(SMALL, norm=norm, dropout=0.5)), 3 * random_inputs(1, 5, 8)
    mask = np.array([True, True, True, False, False])[None, None, None]
    outputs = block(inputs, mask)
    middle = added(norm, inputs, lambda x: block.self_attention(x, attention_mask=mask))
    np.testing.assert_allclose(outputs, added(norm, middle, block.feed_forward), atol=1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_decoder_block_is_its_three_sublayers_and_reads_the_memory_as_it_is(norm: Any):
    block = DecoderBlock(replace(SMALL, norm=norm, dropout=0.5))
    inputs, memory = 3 * random_inputs(1, 4, 8), 3 * random_inputs(1, 5, 8, seed=1)
    self_mask = np.tril(np.ones((4, 4), dtype=bool))[None, None]
    cross_mask = np.array([True, True, True, False, False])[None, None, None]
    outputs = block(inputs, memory, self_mask, cross_mask)
    first = added(norm, inputs, lambda x: block.self_attention(x, attention_mask=self_mask))
    second = added(norm, first, lambda x: block.cross_attention(x, memory, attention_mask=cross_mask))
    np.testing.assert_allclose(outputs, added(norm, second, block.feed_forward), atol=1e-5)


def test_precision_reaches_every_inner_layer() -> None:
    block = DecoderBlock(SMALL, dtype="mixed_bfloat16")
    output = block(np.ones((1, 2, 8), "float32"), np.ones((1, 3, 8), "float32"))
    assert output.dtype == "bfloat16"
    policies = {layer.dtype_policy.name for layer in block._flatten_layers()}
    assert policies == {"mixed_bfloat16"}
