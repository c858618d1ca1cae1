from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from random_models import SMALL, attention_of, random_model, random_sources

from ptenmt.config import DecodingConfig
from ptenmt.errors import ConfigError
from ptenmt.model.transformer import Transformer
from ptenmt.tokenizers import END, PAD, START, UNK
from ptenmt.translation.engine import SearchRequest
from ptenmt.translation.keras_engine import KerasEngine

SUPPRESSED = [PAD, UNK, START]
SIZE = 20
GREEDY = DecodingConfig(beam_size=1)


@pytest.fixture(scope="module")
def model() -> Transformer:
    return random_model(
        replace(SMALL, norm="pre", key_size=5, value_size=7, max_positions=40), SIZE, SIZE, seed=1
    )


@pytest.fixture(scope="module")
def engine(model: Transformer) -> KerasEngine:
    return KerasEngine(model, SUPPRESSED)


def translated(engine: KerasEngine, sources: list[list[int]], limit: int) -> list[list[int]]:
    return [best.ids for (best,) in engine.submit(SearchRequest(sources, limit, GREEDY))()]


def test_it_equals_recomputing_everything_at_each_step(model: Transformer, engine: KerasEngine):
    ids = tf.TensorSpec([None, None], tf.int64)
    forward = tf.function(lambda source, target: model((source, target)), input_signature=[ids, ids])

    def slowly(source: list[int], limit: int) -> list[int]:
        target = [START]
        while len(target) <= limit and target[-1] != END:
            logits = forward([source], [target])[0, -1].numpy()
            target.append(max((token for token in range(SIZE) if token not in SUPPRESSED), key=logits.item))
        return target

    sentences = random_sources(16, SIZE, longest=15)
    expected, found = [], []
    for start, limit in ((0, 5), (8, 13)):
        batch = sentences[start : start + 8]
        expected += [slowly(sentence, limit) for sentence in batch]
        found += translated(engine, batch, limit)
    assert found == expected
    assert len({tuple(ids) for ids in found}) > 10, "the sentences should differ in their translations"
    assert {ids[-1] == END for ids in found} == {True, False}, "some should end, some be cut"


def test_attention_is_that_of_the_models_last_layer(model: Transformer, engine: KerasEngine):
    sources = [[START, 5, 6, END], [START, 7, END]]
    found = engine.submit(
        SearchRequest(sources, 6, DecodingConfig(beam_size=2, num_hypotheses=2), with_attention=True)
    )()
    for source, hypotheses in zip(sources, found, strict=True):
        assert len(hypotheses) == 2
        for each in hypotheses:
            weights = attention_of(model, np.array([source]), np.array([each.ids[:-1]]))
            expected = weights[f"decoder_layer{model.config.num_layers}_block2"][0].mean(axis=0)
            np.testing.assert_allclose(each.attention, expected, atol=5e-5)


def test_it_follows_the_weights_as_they_change(model: Transformer, engine: KerasEngine):
    source = [START, 5, 6, END]
    kernel, bias = model.final.get_weights()
    for favourite in (7, 9):
        model.final.set_weights([kernel, bias + 1000 * np.eye(SIZE)[favourite]])
        assert translated(engine, [source], 3) == [[START, favourite, favourite, favourite]]
    model.final.set_weights([kernel, bias + 1000 * np.eye(SIZE)[UNK]])
    assert UNK not in translated(engine, [source], 3)[0]
    model.final.set_weights([kernel, bias])


def test_it_decodes_up_to_the_last_position(model: Transformer, engine: KerasEngine):
    kernel, bias = model.final.get_weights()
    model.final.set_weights([kernel, bias - 1000 * np.eye(SIZE)[END]])
    for options in (GREEDY, DecodingConfig(beam_size=4)):
        ((best,),) = engine.submit(SearchRequest([[START, 5, END]], model.config.max_positions, options))()
        assert len(best.ids) == 1 + model.config.max_positions
        assert not best.is_complete
    model.final.set_weights([kernel, bias])


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"repetition_penalty": 2.0}, {}, r"not support decoding.repetition_penalty \(2.0\)"),
        ({"no_repeat_ngram": 2}, {}, "not support decoding.no_repeat_ngram"),
        ({}, {"target_prefixes": [(5,)]}, "does not support target prefixes"),
        ({}, {"next_token_alternatives": 3}, "does not support target prefixes"),
    ],
)
def test_what_it_does_not_do_is_refused(engine: KerasEngine, options: dict, arguments: dict, message: str):
    with pytest.raises(ConfigError, match=message) as failure:
        engine.submit(SearchRequest([[START, 5, END]], 9, DecodingConfig(**options), **arguments))
    assert failure.value.hint == "leave it out, or use the engine ctranslate2 if it can express the model"
