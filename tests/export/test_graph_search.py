"""Search inside a graph finds what search outside of it finds."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from random_models import LIMIT, SMALL, random_model, random_sources

from ptenmt.config import DecodingConfig, ModelConfig
from ptenmt.data.batches import RaggedIds
from ptenmt.export.graph.search import best_translations, likeliest
from ptenmt.model import Transformer
from ptenmt.tokenizers import END, PAD, START
from ptenmt.translation.keras_engine import KerasEngine

SIZE = 30
FORBIDDEN = [0, 1, 2]
TWO_BEAMS = DecodingConfig(beam_size=2)


@pytest.fixture(scope="module")
def model() -> Transformer:
    """One whose translations end early and late, and at the limit."""
    return random_model(SMALL, SIZE, SIZE, seed=8)


@cache
def compiled(model: Transformer, options: DecodingConfig) -> Any:
    """The search as a graph."""

    def next_tokens(tokens, state, count):
        logits, state = model.decode_step(tokens, state)
        return *likeliest(logits, FORBIDDEN, count), state

    def search(source, limits):
        is_blank = tf.reduce_sum(tf.cast(source != PAD, tf.int32), 1) == 2
        return best_translations(next_tokens, model.start(source), limits, is_blank, options)

    signature = [tf.TensorSpec([None, None], tf.int64), tf.TensorSpec([None], tf.int32)]
    return tf.function(search, input_signature=signature, autograph=False)


def in_graph(model: Transformer, sources: list[list[int]], limits: list[int], options: DecodingConfig):
    """Ids and score of each sentence's best translation."""
    search = compiled(model, options)
    best = search(RaggedIds(sources).padded(np.arange(len(sources))), np.array(limits, np.int32))
    ids = [[token for token in row if token != PAD] for row in best.ids.numpy().tolist()]
    return list(zip(ids, best.scores.numpy().tolist(), strict=True))


@pytest.mark.parametrize(
    "options",
    [
        DecodingConfig(beam_size=1),
        DecodingConfig(beam_size=3, length_penalty=0.2),
        DecodingConfig(beam_size=4, length_penalty=0.0, num_hypotheses=3),
        DecodingConfig(beam_size=20, length_penalty=2.0),
    ],
    ids=lambda options: f"{options.beam_size}-{options.length_penalty}-{options.num_hypotheses}",
)
def test_it_finds_what_the_keras_engine_finds(model: Transformer, options: DecodingConfig):
    sources = random_sources(24, SIZE)
    found = KerasEngine(model, FORBIDDEN).submit(sources, LIMIT, options)()
    ids, scores = zip(*in_graph(model, sources, [LIMIT] * len(sources), options), strict=True)
    assert list(ids) == [hypotheses[0].ids for hypotheses in found]
    assert scores == pytest.approx([hypotheses[0].score for hypotheses in found], rel=1e-5)
    assert len({len(row) for row in ids}) > 1, "translations of several lengths"


def test_each_sentence_has_a_limit_of_its_own(model: Transformer):
    sources, options = random_sources(6, SIZE), TWO_BEAMS
    limits = [1, 3, LIMIT, 2, 5, 4]
    engine = KerasEngine(model, FORBIDDEN)
    alone = [
        engine.submit([source], limit, options)()[0][0].ids
        for source, limit in zip(sources, limits, strict=True)
    ]
    assert [ids for ids, _ in in_graph(model, sources, limits, options)] == alone


def test_where_there_is_nothing_to_translate(model: Transformer):
    sources, limits = [[START, END], *random_sources(2, SIZE)], [LIMIT] * 3
    found = in_graph(model, sources, limits, TWO_BEAMS)
    assert found[0][0] == [START]
    alone = in_graph(model, sources[1:], limits[1:], TWO_BEAMS)
    assert found[1:] == [(ids, pytest.approx(score)) for ids, score in alone]
    assert in_graph(model, sources[:1], limits[:1], TWO_BEAMS)[0][0] == [START]


def test_a_vocabulary_smaller_than_the_beams_need():
    tiny = random_model(ModelConfig(num_layers=1, d_model=8, num_heads=2, d_ff=8, max_positions=16), 6, 6)
    sources, options = random_sources(5, 6), DecodingConfig(beam_size=8)
    found = KerasEngine(tiny, FORBIDDEN).submit(sources, 6, options)()
    assert [ids for ids, _ in in_graph(tiny, sources, [6] * 5, options)] == [each[0].ids for each in found]
