"""The options of the section ``model``; post-norm, ReLU and untied embeddings are tested elsewhere."""

import math
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import pytest

from ptenmt.config import Config, ModelConfig, TokenizerConfig
from ptenmt.errors import ConfigError
from ptenmt.model.layers import AddAndNorm, FeedForward, PositionalEmbedding
from ptenmt.model.transformer import DecoderBlock, Transformer

SMALL = ModelConfig(num_layers=1, d_model=16, num_heads=2, d_ff=24, dropout=0.0, max_positions=20)
BLOCK = ModelConfig(d_model=8, num_heads=2, d_ff=16, dropout=0.0)
SIZE = 13
SOURCE = np.array([[2, 8, 9, 10, 11, 3], [2, 12, 3, 0, 0, 0]])
TARGET = np.array([[2, 5, 6, 7, 8], [2, 9, 10, 0, 0]])


def build(policy: str = "float32", **options: Any) -> Transformer:
    keras.utils.set_random_seed(3)
    return Transformer(replace(SMALL, **options), SIZE, SIZE, dtype=policy)


def random_inputs(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_pre_norm_drops_the_sublayers_output_and_never_the_residual():
    inputs, sublayer_output = random_inputs(1, 40, 8), random_inputs(1, 40, 8, seed=1)
    outputs = np.array(AddAndNorm(0.5, norm="pre")(inputs, sublayer=lambda _: sublayer_output, training=True))
    kept = outputs != inputs
    assert 0.3 < kept.mean() < 0.7
    np.testing.assert_allclose(outputs[kept], (inputs + 2 * sublayer_output)[kept], rtol=1e-5)


def test_pre_norm_has_one_more_norm_after_each_stack():
    model, plain = build(norm="pre"), build()
    for stack in (model.encoder, model.decoder):
        stack.norm.set_weights([np.full(16, 2.0), np.full(16, 0.5)])
    memory, _ = model.encode(SOURCE)
    np.testing.assert_allclose(np.mean(memory, axis=-1), 0.5, atol=1e-5)
    np.testing.assert_allclose(np.std(memory, axis=-1), 2, atol=1e-3)
    hidden = model.decoder(TARGET, memory)
    np.testing.assert_allclose(np.std(hidden, axis=-1), 2, atol=1e-3)
    paths = {weight.path for weight in model.trainable_variables}
    norms = {
        f"transformer/{side}/norm/{name}" for side in ("encoder", "decoder") for name in ("gamma", "beta")
    }
    assert paths == {weight.path for weight in plain.trainable_variables} | norms


@pytest.mark.parametrize(("tied", "tables"), [("none", 3), ("target", 2), ("all", 1)])
def test_tied_tables_are_there_once(tied: str, tables: int):
    model = build(tied_embeddings=tied)
    body = build().count_params() - 3 * SIZE * 16
    assert model.count_params() == body + tables * SIZE * 16
    paths = [weight.path for weight in model.trainable_variables]
    assert len(set(paths)) == len(paths)
    assert sum(SIZE in weight.shape and 16 in weight.shape for weight in model.trainable_variables) == tables
    assert "transformer/final/bias" in paths


@pytest.mark.parametrize("tied", ["target", "all"])
def test_the_decoders_table_makes_the_logits(tied: str):
    model = build(tied_embeddings=tied)
    bias = random_inputs(SIZE)
    (variable,) = [weight for weight in model.trainable_variables if weight.path == "transformer/final/bias"]
    variable.assign(bias)
    (table,) = model.decoder.embedding.get_weights()
    hidden = model.decoder(TARGET, *model.encode(SOURCE))
    np.testing.assert_allclose(model((SOURCE, TARGET)), hidden @ table.T + bias, atol=1e-4)


def test_only_all_lets_the_encoder_read_with_the_decoders_table():
    for tied in ("target", "all"):
        model = build(tied_embeddings=tied)
        before = np.array(model.encode(SOURCE)[0])
        model.decoder.embedding.set_weights([random_inputs(SIZE, 16)])
        assert np.allclose(model.encode(SOURCE)[0], before) == (tied == "target")


def test_tied_tables_start_with_logits_of_variance_one():
    sizes = {"num_layers": 1, "d_model": 64, "num_heads": 2, "d_ff": 64}
    for tied, normal in (("none", []), ("target", ["decoder"]), ("all", ["encoder", "decoder"])):
        model = Transformer(ModelConfig(**sizes, tied_embeddings=tied), 500, 500)
        for side in ("encoder", "decoder"):
            (table,) = getattr(model, side).embedding.get_weights()
            expected = 64**-0.5 if side in normal else 0.1 / math.sqrt(12)
            assert np.std(table) == pytest.approx(expected, rel=0.03)


def test_one_table_needs_one_vocabulary():
    with pytest.raises(ConfigError, match=r"model.tied_embeddings=all .* tokenizer.shared=false"):
        Config(model=ModelConfig(tied_embeddings="all"))
    shared = TokenizerConfig(kind="sentencepiece", shared=True)
    assert Config(model=ModelConfig(tied_embeddings="all"), tokenizer=shared).tokenizer.shared
    with pytest.raises(ValueError, match="needs one vocabulary, not two of 13 and 14"):
        Transformer(replace(SMALL, tied_embeddings="all"), 13, 14)


def test_gelu_is_the_exact_one():
    layer, inputs = FeedForward(4, 6, activation="gelu"), random_inputs(2, 3, 4)
    layer(inputs)
    layer.set_weights([2 * random_inputs(*weight.shape, seed=5) for weight in layer.get_weights()])
    kernel1, bias1, kernel2, bias2 = layer.get_weights()
    hidden = inputs @ kernel1 + bias1
    activated = hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) / 2
    np.testing.assert_allclose(layer(inputs), activated @ kernel2 + bias2, rtol=1e-4, atol=1e-5)


def test_swiglu_multiplies_by_a_gate():
    layer, inputs = FeedForward(4, 6, activation="swiglu"), random_inputs(2, 3, 4)
    layer(inputs)
    for part in (layer.expand, layer.gate, layer.contract):
        part.set_weights([random_inputs(*weight.shape, seed=5) for weight in part.get_weights()])
    layer.gate.bias.assign(random_inputs(6, seed=7))
    parts = [part.get_weights() for part in (layer.gate, layer.expand, layer.contract)]
    (gate, gate_bias), (expand, expand_bias), (contract, contract_bias) = parts
    gates, hidden = inputs @ gate + gate_bias, inputs @ expand + expand_bias
    expected = (hidden * gates / (1 + np.exp(-gates))) @ contract + contract_bias
    np.testing.assert_allclose(layer(inputs), expected, rtol=1e-4, atol=1e-5)
    assert layer.count_params() == 2 * (4 * 6 + 6) + (6 * 4 + 4)


@pytest.mark.parametrize("rate", ["dropout", "attention_dropout", "activation_dropout", "word_dropout"])
def test_each_dropout_acts_in_training_only(rate: str):
    model = build(**{rate: 0.5})
    still = np.array(model((SOURCE, TARGET)))
    np.testing.assert_array_equal(still, model((SOURCE, TARGET)))
    assert not np.allclose(model((SOURCE, TARGET), training=True), still, atol=1e-3)


def test_attention_dropout_is_of_the_weights():
    """With equal weights and values of one, an output is the share of them that stayed, scaled up."""
    block = DecoderBlock(replace(BLOCK, attention_dropout=0.5))
    inputs, memory = random_inputs(1, 200, 8), random_inputs(1, 2, 8)
    block(inputs, memory)
    for attention in (block.self_attention, block.cross_attention):
        assert attention.dropout.rate == 0.5
        attention.query_projection.set_weights([np.zeros((8, 8)), np.zeros(8)])
        attention.value_projection.set_weights([np.zeros((8, 8)), np.ones(8)])
        attention.output_projection.set_weights([np.eye(8), np.zeros(8)])
        outputs = np.array(attention(inputs, memory, training=True))
        assert {0.0, 1.0, 2.0} == set(np.unique(outputs.round(5)))
        np.testing.assert_array_equal(outputs[..., :3], outputs[..., 1:4])  # all of one head


def test_activation_dropout_is_inside_the_feed_forward():
    layer, inputs = FeedForward(4, 4, dropout=0.5), random_inputs(5, 40, 4) ** 2
    layer(inputs)
    layer.set_weights([np.eye(4), np.zeros(4), np.eye(4), np.full(4, 100.0)])
    outputs = np.array(layer(inputs, training=True)) - 100
    gone = np.isclose(outputs, 0, atol=1e-6)
    assert 0.4 < gone.mean() < 0.6
    np.testing.assert_allclose(outputs[~gone], 2 * inputs[~gone], atol=1e-3)


def test_word_dropout_leaves_the_position_alone():
    layer, ids = PositionalEmbedding(9, 8, max_positions=100, word_dropout=0.5), np.full((1, 100), 5)
    layer(ids)
    (table,) = layer.get_weights()
    words = np.array(layer(ids, training=True)) - layer.encoding
    gone = np.isclose(words, 0, atol=1e-6).all(axis=-1)
    assert 25 < gone.sum() < 75
    np.testing.assert_allclose(
        words[~gone], np.broadcast_to(2 * table[5] * 8**0.5, words[~gone].shape), atol=1e-5
    )


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("mixed_bfloat16", {"activation": "gelu", "tied_embeddings": "target"}),
        ("mixed_bfloat16", {"norm": "pre", "activation": "swiglu"}),
        ("mixed_float16", {}),
    ],
    ids=str,
)
def test_half_precision_gives_nearly_the_logits_of_float32(policy: str, options: dict[str, Any]):
    exact, half = build(**options), build(policy, **options, attention_dropout=0.2, word_dropout=0.2)
    half.set_weights(exact.get_weights())
    expected, logits = exact((SOURCE, TARGET)), half((SOURCE, TARGET))
    assert logits.dtype == policy.removeprefix("mixed_")
    assert {weight.dtype for weight in half.weights} == {"float32"}
    np.testing.assert_allclose(keras.ops.cast(logits, "float32"), expected, atol=0.05 * np.std(expected))
    dropped = keras.ops.cast(half((SOURCE, TARGET), training=True), "float32")
    assert np.isfinite(dropped).all()
    assert not np.allclose(dropped, expected, atol=0.1 * np.std(expected))
