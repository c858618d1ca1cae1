"""What the layers refuse, in whose words."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ptenmt.model import (
    AddAndNorm,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    MultiHeadAttention,
    PositionalEmbedding,
)

X = np.random.default_rng(0).normal(size=(2, 4, 8)).astype("float32")
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
        (lambda: MultiHeadAttention(8, 2)(X, X[0]), "key of shape (4, 8) must have three axes, [B, S, D]"),
        (lambda: MultiHeadAttention(8, 2)(X, X, X[0]), "value of shape (4, 8) must have three axes"),
        (lambda: EncoderBlock(6, 2, 12)(X), "'inputs [B, T, d_model=6]' .*expected axis -1 .* value 6"),
        (lambda: DecoderBlock(6, 2, 12)(X, X), "'inputs [B, T, d_model=6]' .*expected axis -1 .* value 6"),
        (lambda: EncoderBlock(8, 2, 12)(X[0]), "'inputs [B, T, d_model=8]' .*expected ndim=3, found ndim=2"),
        (lambda: PositionalEmbedding(9, 8, max_positions=4)(IDS[0]), "'ids [B, T]' .*expected ndim=2"),
    ],
)
def test_inputs_of_another_shape_are_errors(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message).replace(re.escape(".*"), ".*")):
        call()


@pytest.mark.parametrize("mask", [np.array([0, 0, -1e9, -1e9]), np.array([0, 0, 1, 1]), [1.0, 1.0, 0.0, 0.0]])
def test_a_mask_that_is_not_boolean_is_an_error(mask: Any):
    with pytest.raises(ValueError, match="a mask must be boolean, True = may attend, not (float|int)"):
        MultiHeadAttention(8, 2)(X, mask=mask)


def test_a_mask_may_be_a_list():
    attention, mask = MultiHeadAttention(8, 2), [True, True, False, False]
    np.testing.assert_array_equal(attention(X, mask=mask), attention(X, mask=np.array(mask)))
    assert not np.allclose(attention(X, mask=mask), attention(X))


def test_where_a_sequence_begins_counts():
    layer = PositionalEmbedding(9, 8, max_positions=6)
    assert layer(IDS, first_position=2).shape == (1, 4, 8)
    with pytest.raises(ValueError, match="7 tokens are more than max_positions=6"):
        layer(IDS, first_position=3)
