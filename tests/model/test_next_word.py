"""The next-word model: what sees what, and what the prediction is made of."""

from dataclasses import replace
from typing import Any

import keras
import numpy as np
import pytest
from random_models import weights_of

from ptenmt.config import ModelConfig
from ptenmt.model.numpy_transformer import NumpyNextWord
from ptenmt.model.transformer import NextWordModel

CONFIG = ModelConfig(num_layers=2, d_model=16, num_heads=4, d_ff=24, max_positions=12)
WORDS = np.array([[5, 6, 7, 8, 9, 4], [9, 4, 4, 6, 5, 8]])
NOTHING = np.full((2, 1), 2)


def build(**options: Any) -> NextWordModel:
    keras.utils.set_random_seed(4)
    model = NextWordModel(replace(CONFIG, **options), 10)
    chance = np.random.default_rng(1)
    for weight in model.trainable_variables:
        weight.assign(chance.normal(weight.path.endswith("gamma"), 0.3, weight.shape))
    return model


def logits(model: NextWordModel, words: np.ndarray, **options: Any) -> np.ndarray:
    return np.array(model((words, NOTHING[: len(words)]), **options))


def test_the_prediction_is_made_of_the_mean_over_the_window():
    model = build()
    encoded = np.array(model.encoder(WORDS))
    expected = encoded.mean(axis=1, keepdims=True) @ model.final.kernel.numpy() + model.final.bias.numpy()
    assert expected.shape == (2, 1, 10)
    np.testing.assert_allclose(logits(model, WORDS), expected, atol=1e-5)


@pytest.mark.parametrize("prediction", ["pooled", "causal"])
def test_padding_is_neither_attended_to_nor_part_of_the_mean(prediction: Any):
    model = build(prediction=prediction)
    padded = np.array([[5, 6, 7, 0, 0, 0]])
    np.testing.assert_allclose(logits(model, padded)[:, :3], logits(model, padded[:, :3]), atol=1e-5)
    assert np.isfinite(logits(model, padded * 0)).all()


def test_without_positions_it_is_blind_to_the_order_and_with_them_it_is_not():
    turned = WORDS[:, ::-1]
    blind, seeing = build(positions="none"), build()
    np.testing.assert_allclose(logits(blind, turned), logits(blind, WORDS), atol=1e-5)
    assert not np.allclose(logits(seeing, turned), logits(seeing, WORDS), atol=1e-2)


def test_without_positions_embeddings_are_not_scaled():
    layer = build(positions="none").encoder.embedding
    (table,) = layer.get_weights()
    np.testing.assert_array_equal(layer(WORDS), table[WORDS])


def test_a_causal_model_predicts_after_every_word_from_those_up_to_it():
    model = build(prediction="causal")
    found = logits(model, WORDS)
    assert found.shape == (2, 6, 10)
    changed = WORDS.copy()
    changed[:, 3] = 6
    np.testing.assert_array_equal(logits(model, changed)[:, :3], found[:, :3])
    assert not np.allclose(logits(model, changed)[:, 3:], found[:, 3:], atol=1e-3)
    np.testing.assert_allclose(logits(model, WORDS[:, :4]), found[:, :4], atol=1e-5)


@pytest.mark.parametrize("prediction", ["pooled", "causal"])
def test_attention_is_returned_by_layer(prediction: Any):
    model = build(prediction=prediction)
    weights = NumpyNextWord(model.config, weights_of(model)).attention(WORDS)
    assert [*weights] == ["encoder_layer1", "encoder_layer2"]
    for each in weights.values():
        assert each.shape == (2, 4, 6, 6)
        np.testing.assert_allclose(each.sum(axis=-1), 1, atol=1e-5)
        assert (each[..., 0, 1:] == 0).all() == (prediction == "causal")


def test_words_may_be_predicted_with_the_table_they_are_read_with():
    apart, tied = build(), build(tied_embeddings="all")
    assert apart.count_params() - tied.count_params() == 16 * 10
    np.testing.assert_allclose(
        logits(tied, WORDS),
        np.array(tied.hidden((WORDS, NOTHING))) @ tied.encoder.embedding.get_weights()[0].T + tied.final.bias,
        atol=1e-5,
    )
