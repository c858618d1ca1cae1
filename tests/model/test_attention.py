from typing import Any

import keras
import numpy as np
import pytest

from ptenmt.model.layers import MultiHeadAttention, causal_mask, decoder_mask, padding_mask


def hidden(mask) -> np.ndarray:
    """The mask as the sources print it: 1 = hidden."""
    return 1 - np.array(mask).astype(int)


def random_inputs(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def weights_of(attention: MultiHeadAttention, query: Any, memory: Any, mask: Any) -> np.ndarray:
    """The attention weights, of a layer that may be new."""
    attention(query, memory, attention_mask=mask)
    return np.array(attention.attend(query, *attention.keys_and_values(memory), mask)[1])


def test_padding_mask_hides_the_padding():
    mask = padding_mask(np.array([[1, 21, 777, 0, 0]]))
    assert mask.shape == (1, 1, 1, 5)
    np.testing.assert_array_equal(hidden(mask), [[[[0, 0, 0, 1, 1]]]])


def test_causal_mask_hides_what_comes_later():
    expected = [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    np.testing.assert_array_equal(hidden(causal_mask(4)), expected)


def test_decoder_mask_hides_padding_and_what_comes_later():
    mask = decoder_mask(np.array([[1, 2, 0, 4, 5, 0]]))
    assert mask.shape == (1, 1, 6, 6)
    rows = ["011111", "001111", "001111", "001011", "001001", "001001"]
    np.testing.assert_array_equal(hidden(mask)[0, 0], [list(map(int, row)) for row in rows])


def with_the_weights_of(ours: MultiHeadAttention, theirs: keras.layers.MultiHeadAttention) -> None:
    """Give our projections (2-D) the weights of Keras' (one axis for the heads)."""
    heads, key_size, value_size = ours.num_heads, ours.key_size, ours.value_size
    query, query_bias, key, key_bias, value, value_bias, output, output_bias = theirs.get_weights()
    width = query.shape[0]
    ours.query_projection.set_weights([query.reshape(width, heads * key_size), query_bias.reshape(-1)])
    ours.key_projection.set_weights([key.reshape(width, heads * key_size), key_bias.reshape(-1)])
    ours.value_projection.set_weights([value.reshape(width, heads * value_size), value_bias.reshape(-1)])
    ours.output_projection.set_weights([output.reshape(heads * value_size, -1), output_bias])


@pytest.mark.parametrize(("key_size", "value_size"), [(4, 4), (3, 5), (7, 1)])
def test_it_equals_the_attention_of_keras(key_size: int, value_size: int):
    query, memory = random_inputs(2, 5, 12), random_inputs(2, 6, 12)
    mask = np.random.default_rng(1).random((2, 5, 6)) < 0.6
    mask[:, :, 0] = True
    ours = MultiHeadAttention(12, 3, key_size=key_size, value_size=value_size)
    theirs = keras.layers.MultiHeadAttention(3, key_size, value_size, bias_initializer="normal")
    theirs(query, memory)
    ours(query, memory)
    with_the_weights_of(ours, theirs)
    expected, expected_weights = theirs(
        query, memory, attention_mask=mask, return_attention_scores=True, training=False
    )
    np.testing.assert_allclose(ours(query, memory, attention_mask=mask[:, None]), expected, atol=1e-5)
    weights = weights_of(ours, query, memory, mask[:, None])
    np.testing.assert_allclose(weights, expected_weights, atol=1e-6)
    np.testing.assert_allclose(ours(query, memory), theirs(query, memory), atol=1e-5)


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "mixed_float16", "float16"])
def test_a_row_that_is_wholly_hidden_stays_finite(policy: str):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        attention = MultiHeadAttention(8, 2)
        inputs = random_inputs(1, 3, 8)
        mask = np.zeros((1, 1, 3, 3), dtype=bool)
        outputs = np.array(keras.ops.cast(attention(inputs, attention_mask=mask), "float32"))
        weights = weights_of(attention, inputs, inputs, mask)
    finally:
        keras.config.set_dtype_policy(before)
    assert np.isfinite(outputs).all()
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights, 1 / 3, atol=1e-6)


def test_head_sizes_follow_from_d_model_and_may_be_set():
    plain = MultiHeadAttention(12, 3)
    assert (plain.key_size, plain.value_size) == (4, 4)
    with pytest.raises(ValueError, match="d_model=10 is not divisible by num_heads=3"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match="not divisible"):
        MultiHeadAttention(10, 3, key_size=4)
    odd = MultiHeadAttention(10, 3, key_size=4, value_size=5)
    assert odd(random_inputs(1, 2, 10), random_inputs(1, 2, 10)).shape == (1, 2, 10)
    assert odd.count_params() == 2 * (10 * 12 + 12) + (10 * 15 + 15) + (15 * 10 + 10)
