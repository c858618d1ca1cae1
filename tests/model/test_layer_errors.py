"""What the layers refuse, in whose words."""

import re
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ptenmt.config import ModelConfig
from ptenmt.model import (
    AddAndNorm,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    MultiHeadAttention,
    NextWordModel,
    PositionalEmbedding,
    TiedProjection,
    Transformer,
    padding_mask,
)

SMALL = ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=12, max_positions=10)
X = np.random.default_rng(0).normal(size=(2, 4, 8)).astype("float32")
NARROW, SHORT, THREE = X[:, :, :5], X[:, :3], X[[0, 1, 0]]
IDS = np.array([[5, 6, 7, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AddAndNorm(norm="middle"), "norm='middle' must be one of 'post', 'pre'"),
        (lambda: EncoderBlock(8, 2, 12, norm="Pre"), "norm='Pre' must be one of 'post', 'pre'"),
        (
            lambda: FeedForward(8, 12, activation="tanh"),
            "activation='tanh' must be one of 'relu', 'gelu', 'swiglu'",
        ),
        (
            lambda: PositionalEmbedding(9, 8, max_positions=4, positions="learned"),
            "positions='learned' must be one of 'sinusoidal', 'none'",
        ),
        (lambda: PositionalEmbedding(9, 7, max_positions=4), "d_model=7 must be even"),
    ],
)
def test_options_that_do_not_exist_are_errors(make: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_without_positions_any_width_will_do():
    assert PositionalEmbedding(9, 7, max_positions=4, positions="none")(IDS).shape == (1, 4, 7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultiHeadAttention(8, 2)(X[0]), "'query [B, T, D]' .*expected ndim=3, found ndim=2"),
        (lambda: MultiHeadAttention(8, 2)(X, X[0]), "a key of shape (4, 8) must be [B, S, 8]"),
        (lambda: MultiHeadAttention(8, 2)(X, X, X[0]), "a value of shape (4, 8) must be [2, 4, 8]"),
        (
            lambda: MultiHeadAttention(8, 2)(X, value=SHORT),
            "beside a key of shape (2, 4, 8) a value of shape (2, 3, 8) must be [2, 4, 8]",
        ),
        (
            lambda: MultiHeadAttention(8, 2)(X, SHORT, X),
            "beside a key of shape (2, 3, 8) a value of shape (2, 4, 8) must be [2, 3, 8]",
        ),
        (lambda: MultiHeadAttention(8, 2)(THREE, X), "a query of shape (3, 4, 8) must be [2, T, 8]"),
        (
            lambda: MultiHeadAttention(8, 2).attention_weights(X[0], X),
            "a query of shape (4, 8) must be [2, T, 8]",
        ),
        (lambda: EncoderBlock(8, 2, 12).attention(NARROW), "inputs of shape (2, 4, 5) must be [B, T, 8]"),
        (lambda: DecoderBlock(8, 2, 12).attention(NARROW, X), "inputs of shape (2, 4, 5) must be [B, T, 8]"),
        (
            lambda: AddAndNorm()(X, SHORT),
            "beside inputs of shape (2, 4, 8) a sub-layer's output of shape (2, 3, 8) must be [2, 4, 8]",
        ),
        (
            lambda: TiedProjection(keras.layers.Embedding(10, 8))(NARROW),
            "'hidden states [..., D=8]' .*expected axis -1 .* value 8.* (2, 4, 5)",
        ),
        (lambda: Transformer(SMALL, 9, 9)(IDS), "expects 2 input(s), but it received 1 .*shape=(1, 4)"),
        (lambda: NextWordModel(SMALL, 9)(IDS), "expects 2 input(s), but it received 1 .*shape=(1, 4)"),
        (lambda: Transformer(SMALL, 9, 9)((IDS, IDS[0])), "expected ndim=2, found ndim=1.* (4,)"),
        (lambda: Transformer(SMALL, 9, 9).encode(IDS[0]), "ids of shape (4,) must be [B, S]"),
        (lambda: EncoderBlock(6, 2, 12)(X), "'inputs [B, T, d_model=6]' .*expected axis -1 .* value 6"),
        (lambda: DecoderBlock(6, 2, 12)(X, X), "'inputs [B, T, d_model=6]' .*expected axis -1 .* value 6"),
        (lambda: EncoderBlock(8, 2, 12)(X[0]), "'inputs [B, T, d_model=8]' .*expected ndim=3, found ndim=2"),
        (lambda: PositionalEmbedding(9, 8, max_positions=4)(IDS[0]), "'ids [B, T]' .*expected ndim=2"),
    ],
)
def test_inputs_of_another_shape_are_errors(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message).replace(re.escape(".*"), ".*")):
        call()


@pytest.mark.parametrize(
    ("layer", "right", "wrong", "message"),
    [
        (MultiHeadAttention(8, 2), [X], [X, NARROW], "a key of shape (2, 4, 5) must be [B, S, 8]"),
        (MultiHeadAttention(8, 2), [X], [X, X, NARROW], "a value of shape (2, 4, 5) must be [2, 4, 8]"),
        (MultiHeadAttention(8, 2), [X], [NARROW, X], "a query of shape (2, 4, 5) must be [2, T, 8]"),
        (
            DecoderBlock(8, 2, 12),
            [X, NARROW],
            [X, X],
            "cross_attention: a key of shape (2, 4, 8) must be [B, S, 5]",
        ),
        (AddAndNorm(), [X, X], [NARROW, NARROW], "'inputs [B, T, D=8]' .*expected axis -1 .* (2, 4, 5)"),
    ],
)
def test_inputs_of_another_width_than_before_are_errors(
    layer: keras.Layer, right: list[np.ndarray], wrong: list[np.ndarray], message: str
):
    layer(*right)
    with pytest.raises(ValueError, match=re.escape(message).replace(re.escape(".*"), ".*")):
        layer(*wrong)


@pytest.mark.parametrize("mask", [np.array([0, 0, -1e9, -1e9]), np.array([0, 0, 1, 1]), [1.0, 1.0, 0.0, 0.0]])
def test_a_mask_that_is_not_boolean_is_an_error(mask: Any):
    with pytest.raises(ValueError, match="a mask must be boolean, True = may attend, not (float|int)"):
        MultiHeadAttention(8, 2)(X, mask=mask)


def test_a_mask_may_be_a_list():
    attention, mask = MultiHeadAttention(8, 2), [True, True, False, False]
    np.testing.assert_array_equal(attention(X, mask=mask), attention(X, mask=np.array(mask)))
    assert not np.allclose(attention(X, mask=mask), attention(X))


def test_one_memory_serves_many_queries():
    attention = MultiHeadAttention(8, 2)
    np.testing.assert_allclose(attention(X, X[:1]), attention(X, X[[0, 0]]), atol=1e-6)


def test_what_is_not_known_yet_is_not_refused():
    spec = tf.TensorSpec(None, tf.int64)
    mask = tf.function(padding_mask, input_signature=[spec])(np.array([[5, 0]]))
    np.testing.assert_array_equal(mask, [[[[True, False]]]])


def test_where_a_sequence_begins_counts():
    layer = PositionalEmbedding(9, 8, max_positions=6)
    assert layer(IDS, first_position=2).shape == (1, 4, 8)
    with pytest.raises(ValueError, match="7 tokens are more than max_positions=6"):
        layer(IDS, first_position=3)
