"""The layers as others use them: alone, in graphs, in files, on any backend."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from ptenmt.config import ModelConfig
from ptenmt.model.layers import (
    AddAndNorm,
    FeedForward,
    MultiHeadAttention,
    PositionalEmbedding,
    decoder_mask,
    padding_mask,
)
from ptenmt.model.transformer import (
    DecoderBlock,
    Encoder,
    EncoderBlock,
    NextWordModel,
    Transformer,
    functional_transformer,
)

# Keras 3.15 hands its variables to h5py in a way of which NumPy 2 warns.
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy:DeprecationWarning"
)
PYTHON_PAGE = Path(__file__).parents[2] / "docs" / "python.md"
SMALL = ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=12, max_positions=10)
IDS = np.array([[5, 6, 7, 0], [8, 9, 4, 3]])
TARGET = np.array([[2, 6, 7], [2, 9, 0]])


def test_the_readmes_encoder_has_the_published_shapes_and_sizes(capsys: pytest.CaptureFixture[str]):
    (example,) = re.findall(r"```python\n([^`]*Encoder\([^`]*)```", PYTHON_PAGE.read_text(encoding="utf-8"))
    assert len(list(filter(None, example.splitlines()))) == 6
    names: dict[str, Any] = {}
    exec(example, names)
    assert capsys.readouterr().out.strip() == example.partition("  # ")[2].strip() == "(64, 5, 512) 18924544"
    encoder = names["encoder"]
    attention = encoder.blocks[5].self_attention
    assert (attention.num_heads, attention.key_size, attention.value_size) == (8, 64, 64)
    assert encoder.blocks[0].self_attention_norm.dropout.rate == 0.1
    ids = np.random.default_rng(0).integers(0, 20, size=(64, 5))
    for mask, training in ((None, False), (padding_mask(ids), True)):
        outputs = encoder(ids, attention_mask=mask, training=training)
        assert (outputs.shape, outputs.dtype) == ((64, 5, 512), "float32")
    table = encoder.embedding.count_params()
    assert (table, encoder.count_params() - table) == (10_240, 18_914_304)


def rebuilt(model: keras.Model, folder: Path) -> keras.Model:
    """Saved into a file and loaded from it."""
    model.save(folder / "model.keras")
    return keras.saving.load_model(folder / "model.keras")


Build = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("shape", "dtype", "build"),
    [
        ((None,), "int64", lambda ids: PositionalEmbedding(10, 8, max_positions=10, positions="none")(ids)),
        ((4, 8), "float32", FeedForward(8, 12, activation="swiglu")),
        ((4, 8), "float32", MultiHeadAttention(8, 3, key_size=5, value_size=3, dropout=0.1)),
        ((4, 8), "float32", lambda x: MultiHeadAttention(8, 2)(query=x, key=x + 1, value=x - 1)),
        ((4, 8), "float32", EncoderBlock(replace(SMALL, norm="pre"))),
        ((4, 8), "float32", lambda x: DecoderBlock(SMALL)(x, x * 2)),
        ((None,), "int64", lambda ids: Encoder(SMALL, 10)(ids, attention_mask=padding_mask(ids))),
        ((None,), "int64", lambda ids: NextWordModel(SMALL, 10)((ids, ids))),
    ],
)
def test_each_part_works_in_a_graph_that_is_saved_and_loaded(
    tmp_path: Path, shape: tuple[int | None, ...], dtype: str, build: Build
):
    inputs = keras.Input(shape, dtype=dtype)
    model = keras.Model(inputs, build(inputs))
    values = IDS if dtype == "int64" else np.random.default_rng(0).normal(size=(2, *shape)).astype("float32")
    expected = model(values)
    copy = rebuilt(model, tmp_path)
    np.testing.assert_array_equal(copy(values), expected)
    assert [weight.path for weight in copy.weights] == [weight.path for weight in model.weights]


@pytest.mark.parametrize("tied", ["none", "all"])
def test_the_functional_model_is_the_subclassed_one_with_explicit_masks(tmp_path: Path, tied: Any):
    config = replace(SMALL, norm="pre", tied_embeddings=tied)
    model = functional_transformer(config, 10, None if tied == "all" else 12)
    assert (model.name, [tensor.name for tensor in model.inputs]) == ("transformer", ["inputs", "dec_inputs"])
    assert [keras.backend.standardize_dtype(tensor.dtype) for tensor in model.inputs] == ["int64", "int64"]
    assert model.output.shape == (None, None, 10 if tied == "all" else 12)
    parts = model.get_layer("layers")
    hidden = parts.encoder.embedding(IDS)
    for block in parts.encoder.blocks:
        hidden = block(hidden, padding_mask(IDS))
    memory = parts.encoder.norm(hidden)
    hidden = parts.decoder.embedding(TARGET)
    for block in parts.decoder.blocks:
        hidden = block(hidden, memory, decoder_mask(TARGET), padding_mask(IDS))
    expected = parts.final(parts.decoder.norm(hidden))
    np.testing.assert_allclose(model([IDS, TARGET]), expected, atol=1e-6)
    copy = rebuilt(model, tmp_path)
    np.testing.assert_array_equal(copy([IDS, TARGET]), model([IDS, TARGET]))
    assert copy.count_params() == model.count_params()


def test_query_key_and_value_go_by_their_names():
    query, key, value = np.random.default_rng(0).normal(size=(3, 2, 4, 8)).astype("float32")
    attention = MultiHeadAttention(8, 2)
    found = attention(query=query, key=key, value=value)
    output, _ = attention.attend(query, *attention.keys_and_values(key, value))
    np.testing.assert_array_equal(found, output)
    np.testing.assert_array_equal(attention(query, key), attention(query=query, key=key, value=key))
    np.testing.assert_array_equal(attention(query), attention(query, query, query))
    assert not np.allclose(found, attention(query, key))


def test_a_mask_that_keras_attaches_is_not_taken_for_an_attention_mask():
    ids = np.array([[5, 6, 0], [1, 2, 3], [4, 0, 0]])  # B = S: a mask [B, S] would broadcast as [T, S]
    embedding = keras.layers.Embedding(10, 8, mask_zero=True)
    inputs, plain, mask = embedding(ids), np.array(embedding(ids)), padding_mask(ids)
    for layer in (MultiHeadAttention(8, 2), EncoderBlock(SMALL)):
        with pytest.warns(UserWarning, match="does not support masking"):
            found = layer(inputs, attention_mask=mask)
        np.testing.assert_array_equal(found, layer(plain, attention_mask=mask))
        assert not np.allclose(found, layer(plain))


@pytest.mark.parametrize("sizes", [{"key_size": 0}, {"d_model": -1}])
def test_sizes_below_one_are_errors(sizes: dict[str, int]):
    ((name, size),) = sizes.items()
    with pytest.raises(ValueError, match=f"{name}={size} must be 1 or more"):
        MultiHeadAttention(**{"d_model": 8, "num_heads": 2} | sizes)


# Errors


X = np.random.default_rng(0).normal(size=(2, 4, 8)).astype("float32")
ONE = IDS[:1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AddAndNorm(norm="middle"), "norm='middle' must be one of 'post', 'pre'"),
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
        (lambda: EncoderBlock(SMALL)(NARROW), "expected axis -1 .* value 8, .* (2, 4, 5)"),
        (lambda: Transformer(SMALL, 9, 9)(ONE), "expects 2 input(s), but it received 1 .*shape=(1, 4)"),
        (lambda: Transformer(SMALL, 9, 9)((ONE, ONE[0])), "expected ndim=2, found ndim=1.* (4,)"),
        (lambda: PositionalEmbedding(9, 8, max_positions=4)(ONE[0]), "expected ndim=2, found ndim=1"),
    ],
)
def test_inputs_of_another_shape_are_errors(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=re.escape(message).replace(re.escape(".*"), ".*")):
        call()


@pytest.mark.parametrize("mask", [np.array([0, 0, 1, 1]), [1.0, 1.0, 0.0, 0.0]])
def test_a_mask_that_is_not_boolean_is_an_error(mask: Any):
    with pytest.raises(ValueError, match="must be boolean, True = may attend, not (float|int)"):
        MultiHeadAttention(8, 2)(X, attention_mask=mask)


def test_where_a_sequence_begins_counts():
    layer = PositionalEmbedding(9, 8, max_positions=6)
    assert layer(ONE, first_position=2).shape == (1, 4, 8)
    with pytest.raises(ValueError, match="7 tokens are more than max_positions=6"):
        layer(ONE, first_position=3)
