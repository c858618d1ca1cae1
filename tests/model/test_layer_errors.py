"""The layers' errors."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import pytest

from ptenmt.config import ModelConfig
from ptenmt.model.layers import AddAndNorm, FeedForward, MultiHeadAttention, PositionalEmbedding
from ptenmt.model.next_word import NextWordModel
from ptenmt.model.transformer import DecoderBlock, EncoderBlock, Transformer

SMALL = ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=12, max_positions=10)
X = np.random.default_rng(0).normal(size=(2, 4, 8)).astype("float32")
IDS = np.array([[5, 6, 7, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AddAndNorm(norm="middle"), "norm='middle' must be one of 'post', 'pre'"),
        (lambda: EncoderBlock(replace(SMALL, norm="Pre")), "norm='Pre' must be one of 'post', 'pre'"),
        (
            lambda: FeedForward(8, 12, activation="tanh"),
            "activation='tanh' must be one of 'relu', 'gelu', 'swish', 'swiglu'",
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


NARROW = X[:, :, :5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultiHeadAttention(8, 2)(X[0]), "expected ndim=3, found ndim=2"),
        (lambda: EncoderBlock(SMALL)(X[0]), "expected ndim=3, found ndim=2"),
        (lambda: EncoderBlock(SMALL)(NARROW), "expected axis -1 .* value 8, .* (2, 4, 5)"),
        (lambda: DecoderBlock(SMALL)(NARROW, X), "expected axis -1 .* value 8, .* (2, 4, 5)"),
        (lambda: Transformer(SMALL, 9, 9)(IDS), "expects 2 input(s), but it received 1 .*shape=(1, 4)"),
        (lambda: NextWordModel(SMALL, 9)(IDS), "expects 2 input(s), but it received 1 .*shape=(1, 4)"),
        (lambda: Transformer(SMALL, 9, 9)((IDS, IDS[0])), "expected ndim=2, found ndim=1.* (4,)"),
        (lambda: PositionalEmbedding(9, 8, max_positions=4)(IDS[0]), "expected ndim=2, found ndim=1"),
    ],
)
def test_inputs_of_another_shape_are_errors(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message).replace(re.escape(".*"), ".*")):
        call()


@pytest.mark.parametrize(
    ("layer", "right", "wrong", "name"),
    [
        (MultiHeadAttention(8, 2), [X], [X, NARROW], "key"),
        (MultiHeadAttention(8, 2), [X], [X, X, NARROW], "value"),
        (MultiHeadAttention(8, 2), [X], [NARROW, X], "query"),
        (DecoderBlock(SMALL), [X, NARROW], [X, X], "key"),
    ],
)
def test_inputs_of_another_width_than_before_are_errors(
    layer: keras.Layer, right: list[np.ndarray], wrong: list[np.ndarray], name: str
):
    layer(*right)
    with pytest.raises(ValueError, match=f"layer '{name}' is incompatible with the layer: expected axis -1"):
        layer(*wrong)


@pytest.mark.parametrize("mask", [np.array([0, 0, -1e9, -1e9]), np.array([0, 0, 1, 1]), [1.0, 1.0, 0.0, 0.0]])
def test_a_mask_that_is_not_boolean_is_an_error(mask: Any):
    with pytest.raises(ValueError, match="must be boolean, True = may attend, not (float|int)"):
        MultiHeadAttention(8, 2)(X, attention_mask=mask)


def test_where_a_sequence_begins_counts():
    layer = PositionalEmbedding(9, 8, max_positions=6)
    assert layer(IDS, first_position=2).shape == (1, 4, 8)
    with pytest.raises(ValueError, match="7 tokens are more than max_positions=6"):
        layer(IDS, first_position=3)
