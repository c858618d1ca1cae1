"""The NumPy models against the Keras models: the same numbers for every option of the architecture."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_models import SMALL, attention_of, random_model, random_sources, weights_of

from ptenmt.data.store import RaggedIds
from ptenmt.model.loss import token_sums
from ptenmt.model.numpy_transformer import NumpyNextWord, NumpyTransformer
from ptenmt.model.transformer import NextWordModel, Transformer

SIZE = 30
WHOLE = RaggedIds(random_sources(4, SIZE)).padded(np.arange(4))
FED = RaggedIds([ids[:-1] for ids in random_sources(4, SIZE, seed=5)]).padded(np.arange(4))


@pytest.mark.parametrize(
    "options",
    [
        {"dropout": 0.5, "attention_dropout": 0.5, "activation_dropout": 0.5, "word_dropout": 0.5},
        {"tied_embeddings": "target", "activation": "gelu", "num_heads": 3, "key_size": 5, "value_size": 7},
        {"tied_embeddings": "all", "activation": "swiglu", "norm": "pre"},
        {"encoder_layers": 3, "decoder_layers": 1},
        {"encoder_layers": 1, "norm": "pre"},
        {"activation": "swish", "source_marks": "end", "norm_epsilon": 0.5},
        {"norm": "pre", "source_marks": "none", "norm_epsilon": 1e-3},
    ],
    ids=["post", "other widths", "pre", "3+1", "1+2", "as Marian's", "as OpenNMT's"],
)
def test_it_computes_what_keras_computes(options: dict[str, Any]):
    model = random_model(replace(SMALL, **options), SIZE, SIZE)
    mine = NumpyTransformer(model.config, weights_of(model))
    assert (WHOLE == 0).any()
    assert (FED == 0).any(), "or the masks are not tried"
    logits = mine.logits(WHOLE, FED)
    assert logits.dtype == np.float32
    # In float32 with AVX-512, Keras is up to 5.2e-5 and NumPy 2.4e-5 from the result in float64.
    np.testing.assert_allclose(logits, model((WHOLE, FED)), atol=1e-4)
    theirs = attention_of(model, WHOLE, FED)
    found = mine.attention(WHOLE, FED)
    assert found.keys() == theirs.keys()
    for name, weights in found.items():
        np.testing.assert_allclose(weights, theirs[name], atol=5e-5, err_msg=name)


@pytest.fixture(scope="module")
def model() -> NumpyTransformer:
    return NumpyTransformer(SMALL, weights_of(random_model(SMALL, SIZE, SIZE)))


def test_what_is_longer_than_the_positions_is_refused(model: NumpyTransformer):
    with pytest.raises(ValueError, match="25 tokens are more than max_positions=24"):
        model.logits(np.ones((1, 25), int), np.ones((1, 2), int))


@pytest.mark.parametrize("tied", ["none", "target"])
def test_token_losses_are_those_of_keras(tied: Any):
    """Of more labels than are projected at once."""
    keras_model: Transformer = random_model(replace(SMALL, tied_embeddings=tied), SIZE, SIZE)
    source, target = (
        RaggedIds(random_sources(300, SIZE, seed=seed)).padded(np.arange(300)) for seed in (2, 5)
    )
    losses, correct = NumpyTransformer(keras_model.config, weights_of(keras_model)).token_losses(
        source, target
    )
    expected = token_sums(keras_model((source, target[:, :-1])), target[:, 1:])
    assert len(losses) == len(correct) == float(expected.tokens) > 1024
    assert losses.sum() == pytest.approx(float(expected.loss), rel=1e-5)
    assert correct.sum() == float(expected.correct)


@pytest.mark.parametrize("prediction", ["pooled", "causal"])
@pytest.mark.parametrize("tied", ["none", "all"])
def test_next_word_losses_are_those_of_keras(prediction: Any, tied: Any):
    config = replace(SMALL, prediction=prediction, tied_embeddings=tied)
    keras_model = NextWordModel(config, SIZE)
    labels = WHOLE if prediction == "causal" else WHOLE[:, :1]
    target = np.concatenate([WHOLE[:, :1], labels], axis=1)
    mine = NumpyNextWord(config, weights_of(keras_model))
    losses, correct = mine.token_losses(WHOLE, target)
    expected = token_sums(keras_model((WHOLE, target[:, :-1])), target[:, 1:])
    assert losses.sum() == pytest.approx(float(expected.loss), rel=1e-5)
    assert correct.sum() == float(expected.correct)
    unpadded = WHOLE[:, :2]
    np.testing.assert_allclose(mine.logits(unpadded), keras_model((unpadded, unpadded))[:, -1], atol=1e-5)
