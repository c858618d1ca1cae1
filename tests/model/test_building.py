"""Weights are made at the first use of a layer, whichever of its methods that is."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

from ptenmt.config import ModelConfig
from ptenmt.model import (
    AddAndNorm,
    Decoder,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    MultiHeadAttention,
    NextWordModel,
    Transformer,
    padding_mask,
)

CONFIG = ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=12, max_positions=10, norm="pre")
IDS = np.array([[5, 6, 7, 0], [8, 9, 4, 3]])
TARGET = np.array([[2, 6, 7], [2, 9, 0]])
X, MEMORY = np.random.default_rng(0).normal(size=(2, 2, 4, 8)).astype("float32")
HEADS = MEMORY.reshape(2, 4, 2, 4).transpose(0, 2, 1, 3)


@pytest.mark.parametrize(
    ("make", "use", "call"),
    [
        (
            lambda: MultiHeadAttention(8, 2),
            lambda it: it.attention_weights(X, MEMORY),
            lambda it: it(X, MEMORY),
        ),
        (lambda: MultiHeadAttention(8, 2), lambda it: it.keys_and_values(MEMORY), lambda it: it(X, MEMORY)),
        (lambda: MultiHeadAttention(8, 2), lambda it: it.attend(X, HEADS, HEADS), lambda it: it(X)),
        (lambda: AddAndNorm(norm="pre"), lambda it: it.before(X), lambda it: it(X, X)),
        (lambda: EncoderBlock(8, 2, 12), lambda it: it.attention(X), lambda it: it(X)),
        (lambda: EncoderBlock(8, 2, 12), lambda it: it.self_attention(X), lambda it: it(X)),
        (lambda: DecoderBlock(8, 2, 12), lambda it: it.attention(X, MEMORY), lambda it: it(X, MEMORY)),
        (
            lambda: DecoderBlock(8, 2, 12),
            lambda it: it.step(X[:, :1], (HEADS, HEADS), (HEADS, HEADS)),
            lambda it: it(X, MEMORY),
        ),
        (lambda: Encoder(CONFIG, 10), lambda it: it.attention(IDS, padding_mask(IDS)), lambda it: it(IDS)),
        (lambda: Encoder(CONFIG, 10), lambda it: it.attention(IDS), lambda it: it(IDS)),
        (
            lambda: Decoder(CONFIG, 10),
            lambda it: it.attention(TARGET, MEMORY),
            lambda it: it(TARGET, MEMORY),
        ),
        (
            lambda: Decoder(CONFIG, 10),
            lambda it: it.attention(TARGET, MEMORY, padding_mask(IDS)),
            lambda it: it(TARGET, MEMORY),
        ),
        (lambda: Transformer(CONFIG, 10, 10), lambda it: it.encode(IDS), lambda it: it((IDS, TARGET))),
        (
            lambda: Transformer(CONFIG, 10, 10),
            lambda it: it.hidden((IDS, TARGET)),
            lambda it: it((IDS, TARGET)),
        ),
        (lambda: Transformer(CONFIG, 10, 10), lambda it: it.encoder(IDS), lambda it: it((IDS, TARGET))),
        (lambda: NextWordModel(CONFIG, 10), lambda it: it.attention(IDS), lambda it: it((IDS, IDS))),
        (lambda: NextWordModel(CONFIG, 10), lambda it: it.hidden((IDS, IDS)), lambda it: it((IDS, IDS))),
    ],
)
def test_any_method_may_come_before_the_call(
    make: Callable[[], keras.Layer], use: Callable[[Any], Any], call: Callable[[Any], Any]
):
    layer, called = make(), make()
    first = use(layer)
    call(layer)
    for one, other in zip(keras.tree.flatten(first), keras.tree.flatten(use(layer)), strict=True):
        np.testing.assert_array_equal(one, other)
    call(called)
    assert [weight.shape for weight in layer.weights] == [weight.shape for weight in called.weights]
