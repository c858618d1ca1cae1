import keras
import numpy as np
import pytest
import tensorflow as tf

from ptenmt.config import ModelConfig
from ptenmt.corpus.batches import RaggedIds
from ptenmt.model import Transformer
from ptenmt.tokenizers import END, PAD, START, UNK
from ptenmt.translation.keras_engine import KerasEngine

FORBIDDEN = [PAD, UNK, START]
SIZE = 14


@pytest.fixture(scope="module")
def model() -> Transformer:
    """Random weights, so large that the translation depends on the source."""
    keras.utils.set_random_seed(5)
    config = ModelConfig(
        num_layers=2, d_model=16, num_heads=2, d_ff=24, key_size=5, value_size=7, max_positions=40
    )
    model = Transformer(config, SIZE, SIZE)
    model.build_weights()
    random_weights = np.random.default_rng(5)
    for weight in model.trainable_variables:
        scale = 0.2 if weight.path.endswith("embeddings") else 1.0
        if "cross_attention/value" in weight.path or "cross_attention/output" in weight.path:
            scale = 2.0
        if weight.path.endswith(("kernel", "embeddings")):
            weight.assign(random_weights.normal(scale=scale, size=weight.shape))
    return model


@pytest.fixture(scope="module")
def engine(model: Transformer) -> KerasEngine:
    return KerasEngine(model, FORBIDDEN)


@pytest.fixture(scope="module")
def sentences() -> list[list[int]]:
    random_ids = np.random.default_rng(7)
    lengths = random_ids.integers(1, 15, size=20)
    return [[START, *random_ids.integers(4, SIZE, size=length).tolist(), END] for length in lengths]


def padded(sentences: list[list[int]]) -> np.ndarray:
    return RaggedIds(sentences).padded(range(len(sentences)))


def test_it_equals_recomputing_everything_at_each_step(
    model: Transformer, engine: KerasEngine, sentences: list[list[int]]
):
    ids = tf.TensorSpec([None, None], tf.int64)
    forward = tf.function(lambda source, target: model((source, target)), input_signature=[ids, ids])

    def slowly(source: list[int], limit: int) -> list[int]:
        target = [START]
        while len(target) <= limit and target[-1] != END:
            logits = forward([source], [target])[0, -1].numpy()
            target.append(max((token for token in range(SIZE) if token not in FORBIDDEN), key=logits.item))
        return target

    limits = [5 + len(sentence) % 9 for sentence in sentences]
    expected = [slowly(sentence, limit) for sentence, limit in zip(sentences, limits, strict=True)]
    found = []
    for start in range(0, 20, 8):
        batch = slice(start, start + 8)
        found += [hypothesis.ids for hypothesis in engine.translate(padded(sentences[batch]), limits[batch])]
    assert found == expected
    assert len({tuple(ids) for ids in found}) > 10, "the sentences should differ in their translations"
    assert {ids[-1] == END for ids in found} == {True, False}, "some should end, some be cut"


def test_attention_is_that_of_the_model(model: Transformer, engine: KerasEngine):
    source, target = np.array([[2, 5, 6, 3]]), np.array([[2, 9]])
    expected = tf.function(model.attention)(
        tf.constant(source), tf.constant(target)
    )  # compiled, as the engine
    found = engine.attention(source, target)
    assert found.keys() == expected.keys()
    for name, weights in found.items():
        assert isinstance(weights, np.ndarray)
        np.testing.assert_allclose(weights, expected[name], atol=1e-6)


def test_it_follows_the_weights_as_they_change(model: Transformer, engine: KerasEngine):
    source = np.array([[START, 5, 6, END]])
    kernel, bias = model.final.get_weights()
    for favourite in (7, 9):
        model.final.set_weights([kernel, bias + 1000 * np.eye(SIZE)[favourite]])
        assert engine.translate(source, [3])[0].ids == [START, favourite, favourite, favourite]
    model.final.set_weights([kernel, bias + 1000 * np.eye(SIZE)[UNK]])
    assert UNK not in engine.translate(source, [3])[0].ids
    model.final.set_weights([kernel, bias])


def test_it_decodes_up_to_the_last_position(model: Transformer, engine: KerasEngine):
    kernel, bias = model.final.get_weights()
    model.final.set_weights([kernel, bias - 1000 * np.eye(SIZE)[END]])
    (hypothesis,) = engine.translate(np.array([[START, 5, END]]), [model.config.max_positions])
    model.final.set_weights([kernel, bias])
    assert len(hypothesis.ids) == 1 + model.config.max_positions
    assert not hypothesis.is_complete
