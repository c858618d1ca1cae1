from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import keras
import numpy as np
import pytest
from random_models import weights_of

from ptenmt.config import ModelConfig
from ptenmt.model.layers import Dropout
from ptenmt.model.numpy_transformer import NumpyTransformer
from ptenmt.model.transformer import Transformer

# Keras warns about the attention over one single key; that is how decoding begins.
pytestmark = pytest.mark.filterwarnings("ignore:You are using a softmax over axis -1")

SMALL = ModelConfig(num_layers=2, d_model=16, num_heads=2, d_ff=24, dropout=0.1, max_positions=20)
SOURCE = np.array([[2, 8, 9, 10, 11, 3], [2, 12, 3, 0, 0, 0], [2, 7, 6, 5, 3, 0]])
TARGET = np.array([[2, 5, 6, 7, 8], [2, 9, 10, 0, 0], [2, 4, 4, 4, 4]])


def build(config: ModelConfig, source_size: int = 13, target_size: int = 11) -> Transformer:
    keras.utils.set_random_seed(3)
    return Transformer(config, source_size, target_size)


@pytest.fixture(scope="module", params=["post", "pre"])
def model(request: pytest.FixtureRequest) -> Transformer:
    return build(replace(SMALL, norm=request.param))


@pytest.fixture
def _policy(request: pytest.FixtureRequest) -> Iterator[None]:
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(request.param)
    yield
    keras.config.set_dtype_policy(before)


def cached_logits(model: Transformer, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    state = model.start(source)
    steps = []
    for tokens in target.T:
        logits, state = model.decode_step(tokens, state)
        steps.append(np.array(keras.ops.cast(logits, "float32")))
    return np.stack(steps, axis=1)


@pytest.fixture(scope="module")
def base() -> Transformer:
    return build(ModelConfig(), 7765, 7010)


def test_base_has_the_published_number_of_parameters(base: Transformer):
    assert base.count_params() == 4_646_882
    parts = base.encoder, base.decoder, base.final
    assert [part.count_params() for part in parts] == [1_787_008, 1_955_584, 904_290]


@pytest.mark.parametrize(
    "options", [{"encoder_layers": 6, "decoder_layers": 1}, {"num_layers": 1, "encoder_layers": 6}]
)
def test_encoder_and_decoder_may_differ_in_depth(base: Transformer, options: dict[str, Any]):
    block, in_decoder = (part.blocks[0].count_params() for part in (base.encoder, base.decoder))
    model = build(ModelConfig(**options), 7765, 7010)
    assert [len(part.blocks) for part in (model.encoder, model.decoder)] == [6, 1]
    assert model.count_params() == base.count_params() + 2 * block - 3 * in_decoder
    again = Transformer.from_config(model.get_config())
    assert [weight.path for weight in again.weights] == [weight.path for weight in model.weights]


def test_attention_weights_have_the_published_names_and_shapes(base: Transformer):
    model = NumpyTransformer(base.config, weights_of(base))
    source, target = np.full((1, 7), 5), np.full((1, 8), 6)
    shapes = {name: weights.shape for name, weights in model.attention(source, target).items()}
    expected = {f"encoder_layer{number}": (1, 8, 7, 7) for number in range(1, 5)}
    for number in range(1, 5):
        expected[f"decoder_layer{number}_block1"] = (1, 8, 8, 8)
        expected[f"decoder_layer{number}_block2"] = (1, 8, 8, 7)
    assert shapes == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"key_size": 3, "value_size": 5},
        {"key_size": 20},
        {"value_size": 1},
        {"norm": "pre"},
        {"norm": "pre", "tied_embeddings": "all", "activation": "swiglu"},
        {"tied_embeddings": "target", "activation": "gelu"},
        {"encoder_layers": 1, "decoder_layers": 3},
        {"activation": "swish", "source_marks": "end", "norm_epsilon": 0.1},
        {"norm": "pre", "source_marks": "none"},
    ],
    ids=str,
)
def test_cached_decoding_equals_the_full_forward_pass(options: dict[str, Any]):
    config = ModelConfig(num_layers=2, d_model=16, num_heads=2, d_ff=24, max_positions=5, **options)
    model = build(config, 13, 13)
    random_ids = np.random.default_rng(4)
    source, target = random_ids.integers(1, 13, (3, 5)), random_ids.integers(1, 13, (3, 5))
    source[1, 3:] = 0
    expected = np.array(model((source, target)))
    np.testing.assert_allclose(cached_logits(model, source, target), expected, atol=1e-5)


def test_a_padded_batch_equals_its_sentences_alone(model: Transformer):
    together = np.array(model((SOURCE, TARGET)))
    for row in range(len(SOURCE)):
        source, target = SOURCE[row][SOURCE[row] != 0], TARGET[row][TARGET[row] != 0]
        alone = np.array(model((source[None], target[None])))
        np.testing.assert_allclose(together[row, : len(target)], alone[0], atol=1e-5)


@pytest.mark.parametrize("position", range(5))
def test_a_target_token_changes_no_logits_before_it(model: Transformer, position: int):
    target = TARGET[[0, 2]]
    changed = target.copy()
    changed[:, position] = 10
    before, after = (np.array(model((SOURCE[[0, 2]], ids))) for ids in (target, changed))
    np.testing.assert_array_equal(after[:, :position], before[:, :position])
    for later in range(position, 5):
        assert not np.allclose(after[:, later], before[:, later], atol=1e-6)


def test_every_real_source_token_reaches_every_logit(model: Transformer):
    before = np.array(model((SOURCE[:1], TARGET[:1])))
    for position in range(6):
        changed = SOURCE[:1].copy()
        changed[0, position] = 12
        after = np.array(model((changed, TARGET[:1])))
        assert (np.abs(after - before).max(axis=-1) > 1e-6).all()


def test_dropout_follows_both_embeddings_and_every_sublayer(model: Transformer):
    def dropouts(layer: Any) -> list[Any]:
        found = [layer] if isinstance(layer, Dropout) else []
        return found + [inner for part in layer._layers for inner in dropouts(part)]

    rates = [layer.rate for layer in dropouts(model) if layer.name == "dropout" and layer.rate]
    assert rates == [0.1] * (2 + SMALL.num_layers * (2 + 3))


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_sentence_longer_than_the_positions_is_an_error(model: Transformer, side: str):
    ids = {"source": SOURCE[:1], "target": TARGET[:1]} | {side: np.ones((1, 21), dtype=int)}
    with pytest.raises(ValueError, match="21 tokens are more than max_positions=20"):
        model((ids["source"], ids["target"]))


@pytest.mark.parametrize("_policy", ["mixed_bfloat16", "float16"], indirect=True)
@pytest.mark.usefixtures("_policy")
def test_half_precision_gives_finite_logits_cached_or_not():
    model = build(SMALL)
    logits = model((SOURCE, TARGET))
    assert logits.dtype in ("bfloat16", "float16")
    logits = np.array(keras.ops.cast(logits, "float32"))
    assert np.isfinite(logits).all()
    real = TARGET[[0, 2]]
    stepwise = cached_logits(model, SOURCE[[0, 2]], real)
    np.testing.assert_allclose(stepwise, logits[[0, 2]], atol=0.1)


def test_the_constructor_creates_all_weights(model: Transformer):
    paths = {weight.path for weight in build(model.config).trainable_variables}
    model((SOURCE, TARGET), training=True)
    assert {weight.path for weight in model.trainable_variables} == paths
    assert len(paths) == len(model.trainable_variables)
