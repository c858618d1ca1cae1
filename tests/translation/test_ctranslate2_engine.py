"""What CTranslate2 makes of the options; that it translates as the Keras model does is tested elsewhere."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from random_models import LIMIT, SMALL, log_probs, made_up_words, random_model, random_sources, weights_of

from ptenmt.config import DecodingConfig
from ptenmt.errors import ExportError
from ptenmt.model.ctranslate2_model import CTranslate2Model, convert
from ptenmt.model.transformer import Transformer
from ptenmt.tokenizers import END, PAD, START, UNK
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.engine import Hypothesis, SearchRequest

MODEL = replace(SMALL, norm="pre")
SIZE = 30
SUPPRESSED = [PAD, START, UNK]
SOURCES = random_sources(12, SIZE)


@pytest.fixture(scope="module")
def model() -> Transformer:
    return random_model(MODEL, SIZE, SIZE, seed=5)


@pytest.fixture(scope="module")
def export(model: Transformer) -> CTranslate2Model:
    return convert(MODEL, weights_of(model), made_up_words(SIZE, SIZE), "", "float32")


@pytest.fixture(scope="module")
def engine(export: CTranslate2Model) -> CTranslate2Engine:
    return CTranslate2Engine(export, made_up_words(SIZE, SIZE), with_unknown=False)


def found(engine: CTranslate2Engine, limit: int = LIMIT, **options: object) -> list[list[Hypothesis]]:
    return engine.submit(SearchRequest(SOURCES, limit, DecodingConfig(**options)))()  # type: ignore[arg-type]


def ids(engine: CTranslate2Engine, **options: object) -> list[list[int]]:
    return [each[0].ids for each in found(engine, **options)]


def allowed_log_probs(
    model: Transformer, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> list[np.ndarray]:
    """Over the tokens that may be produced: [T, V]."""
    allowed = []
    for rows in log_probs(model, sources, targets):
        rows[:, SUPPRESSED] = -np.inf
        allowed.append(rows - np.log(np.exp(rows).sum(axis=1, keepdims=True)))
    return allowed


def scores(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    hypotheses: Sequence[Hypothesis],
    firsts: Sequence[int],
) -> list[float]:
    """With a length penalty of 0.6; each hypothesis' tokens count from its first one on."""
    by_keras = allowed_log_probs(model, sources, [each.ids[:-1] for each in hypotheses])
    return [
        rows[np.arange(len(rows)), each.ids[1:]][first:].sum() / len(rows) ** 0.6
        for each, rows, first in zip(hypotheses, by_keras, firsts, strict=True)
    ]


@pytest.mark.parametrize("beams", [1, 3])
def test_a_prefix_begins_the_translation_and_counts_in_its_length_alone(
    engine: CTranslate2Engine, model: Transformer, beams: int
):
    prefixes: list[Sequence[int]] = [(7, 8), (), (9,), (10, 11, 12)] * 3
    options = DecodingConfig(beam_size=beams, length_penalty=0.6)
    answers = engine.submit(SearchRequest(SOURCES, LIMIT, options, target_prefixes=prefixes))()
    best = [each[0] for each in answers]
    assert [one.ids[1 : 1 + len(prefix)] for one, prefix in zip(best, prefixes, strict=True)] == [
        list(prefix) for prefix in prefixes
    ]
    assert max(len(one.ids) - 1 for one in best) == LIMIT, "some should be cut"
    expected = scores(model, SOURCES, best, [len(prefix) for prefix in prefixes])
    assert [one.score for one in best] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("prefix", [(), (7, 8)])
def test_branches_differ_in_their_first_token(
    engine: CTranslate2Engine, model: Transformer, prefix: tuple[int, ...]
):
    options, sources = DecodingConfig(beam_size=2, length_penalty=0.6), SOURCES[:4]
    answers = engine.submit(
        SearchRequest(sources, LIMIT, options, target_prefixes=[prefix] * 4, next_token_alternatives=5)
    )()
    likely = allowed_log_probs(model, sources, [[START, *prefix, END]] * 4)
    place = 1 + len(prefix)
    for source, branches, rows in zip(sources, answers, likely, strict=True):
        assert {tuple(branch.ids[:place]) for branch in branches} == {(START, *prefix)}
        ends = rows[:, END].copy()
        rows[:, END] = -np.inf
        assert [branch.ids[place] for branch in branches] == np.argsort(-rows[place - 1])[:5].tolist()
        among_others = -np.log1p(-np.exp(ends[place - 1]))
        lengths = np.array([len(branch.ids) - 1 for branch in branches])
        expected = scores(model, [source] * 5, branches, [len(prefix)] * 5) + among_others / lengths**0.6
        assert [branch.score for branch in branches] == pytest.approx(expected, abs=1e-3)


def test_attention_covers_a_prefix_and_branches(engine: CTranslate2Engine):
    answers = engine.submit(
        SearchRequest(
            SOURCES, LIMIT, DecodingConfig(), target_prefixes=[(7, 8)] * len(SOURCES), with_attention=True
        )
    )()
    for source, (best,) in zip(SOURCES, answers, strict=True):
        assert best.attention is not None
        assert best.attention.shape == (len(best.ids) - 1, len(source))


@pytest.mark.parametrize("beam_size", [1, 3])
def test_without_scores_it_finds_the_same(engine: CTranslate2Engine, beam_size: int):
    options = DecodingConfig(beam_size=beam_size, num_hypotheses=beam_size)
    bare = engine.submit(SearchRequest(SOURCES, LIMIT, options, with_scores=False))()
    assert all(math.isnan(one.score) for each in bare for one in each)
    expected = found(engine, beam_size=beam_size, num_hypotheses=beam_size)
    assert [[one.ids for one in each] for each in bare] == [[one.ids for one in each] for each in expected]


def test_samples_are_a_function_of_the_seed(engine: CTranslate2Engine):
    drawn = {"beam_size": 1, "top_k": 0}
    first = ids(engine.seeded(1), **drawn)
    assert ids(engine.seeded(1), **drawn) == first
    assert ids(engine.seeded(0), **drawn) == ids(engine.seeded(0), **drawn) != first
    assert ids(engine.seeded(2), **drawn) != first
    assert first != ids(engine, beam_size=1)


def test_top_k_top_p_and_temperature_restrict_sampling(engine: CTranslate2Engine, model: Transformer):
    greedy = ids(engine, beam_size=1)
    assert ids(engine.seeded(1), beam_size=1, top_k=0, temperature=1e-5) == greedy
    assert ids(engine.seeded(1), beam_size=1, top_k=0, top_p=0.001) == greedy
    two = ids(engine.seeded(1), beam_size=1, top_k=2)
    assert two != greedy
    for sentence, rows in zip(two, allowed_log_probs(model, SOURCES, two), strict=True):
        likeliest = np.argsort(-rows, axis=1)[:, :2]
        assert all(token in pair for token, pair in zip(sentence[1:], likeliest[:-1], strict=True))


def test_several_samples(engine: CTranslate2Engine):
    answers = found(engine.seeded(3), beam_size=1, top_k=0, num_hypotheses=3)
    assert {len(each) for each in answers} == {3}
    assert any(len({tuple(one.ids) for one in each}) == 3 for each in answers)
    assert all(
        [one.score for one in each] == sorted((one.score for one in each), reverse=True) for each in answers
    )


def doubles(sentences: list[list[int]], length: int) -> int:
    """How many sequences of so many tokens come again in their sentence."""
    count = 0
    for sentence in sentences:
        grams = [tuple(sentence[first : first + length]) for first in range(1, len(sentence) - length + 1)]
        count += len(grams) - len(set(grams))
    return count


def test_repetition_is_guarded_against(engine: CTranslate2Engine):
    plain = ids(engine)
    assert doubles(plain, 1) > 3
    assert doubles(plain, 2) > 0
    assert doubles(ids(engine, no_repeat_ngram=1), 1) == 0
    assert doubles(ids(engine, no_repeat_ngram=2), 2) == 0
    assert doubles(ids(engine, repetition_penalty=5.0), 1) < doubles(plain, 1)


def test_unknown_words_are_produced_where_they_may_be(model: Transformer):
    bias = model.final.bias.numpy()
    weights = weights_of(model) | {"transformer/final/bias": bias + 100 * np.eye(SIZE, dtype="float32")[UNK]}
    pair = made_up_words(SIZE, SIZE)
    export = convert(MODEL, weights, pair, "", "float32")
    may, may_not = (CTranslate2Engine(export, pair, with_unknown=allowed) for allowed in (True, False))
    assert {token for sentence in ids(may, beam_size=1) for token in sentence[1:]} == {UNK}
    assert UNK not in {token for sentence in ids(may_not) for token in sentence}


def test_only_the_tokens_of_the_vocabulary_map_are_generated(model: Transformer):
    pair = made_up_words(SIZE, SIZE)
    full = CTranslate2Engine(convert(MODEL, weights_of(model), pair, "", "float32"), pair, with_unknown=False)
    generated = {token for sentence in ids(full, beam_size=1) for token in sentence}
    (dropped, *_), kept = sorted(generated - {START, END}), set(range(SIZE))
    for allowed in (kept - {dropped}, generated | {END}):
        export = convert(MODEL, weights_of(model), pair, "", "float32", output_ids=allowed)
        engine = CTranslate2Engine(export, pair, with_unknown=False)
        for beams in (1, 4):
            assert {token for sentence in ids(engine, beam_size=beams) for token in sentence[1:]} <= allowed
        prefixed = SearchRequest(SOURCES, LIMIT, DecodingConfig(), target_prefixes=[[dropped]] * len(SOURCES))
        assert {answer[0].ids[1] for answer in engine.submit(prefixed)()} == {dropped}
    assert ids(engine, beam_size=1) == ids(
        full, beam_size=1
    )  # the tokens of all its translations are allowed


def test_it_decodes_up_to_the_last_position(model: Transformer):
    bias = model.final.bias.numpy()
    weights = weights_of(model) | {"transformer/final/bias": bias - 100 * np.eye(SIZE, dtype="float32")[END]}
    pair = made_up_words(SIZE, SIZE)
    engine = CTranslate2Engine(convert(MODEL, weights, pair, "", "int8"), pair, with_unknown=False)
    for beams in (1, 4):
        answers = found(engine, SMALL.max_positions, beam_size=beams)
        assert {len(each[0].ids) - 1 for each in answers} == {SMALL.max_positions}


def test_an_export_that_is_no_model_is_refused(export: CTranslate2Model):
    nonsense = replace(export, files=export.files | {"model.bin": b"nonsense"})
    with pytest.raises(ExportError, match="CTranslate2 cannot use the model"):
        CTranslate2Engine(nonsense, made_up_words(SIZE, SIZE), with_unknown=False)
