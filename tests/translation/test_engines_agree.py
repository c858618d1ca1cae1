"""Both engines on random models of every architecture: the same translations, scores and attention."""

from dataclasses import dataclass, replace

import ctranslate2
import numpy as np
import pytest
from random_models import (
    LIMIT,
    drawn,
    log_probs,
    made_up_words,
    random_model,
    random_sources,
    weights_of,
)

from ptenmt.config import DecodingConfig
from ptenmt.model.ctranslate2_model import CTranslate2Model, convert
from ptenmt.model.transformer import Transformer
from ptenmt.tokenizers import END, PAD, START, UNK, TokenizerPair
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.engine import Hypothesis, SearchRequest
from ptenmt.translation.keras_engine import KerasEngine

SUPPRESSED = [PAD, START, UNK]
FEW = [4, 14, 15, 44, 51]
"""Each value of an option, in models of a layer; relu without a tie is in ``UNEQUAL``."""
MORE = [number for number in (*range(36), *range(38, 54)) if number not in FEW]
UNEQUAL = [(3, 1), (1, 2)]
"""Blocks of the encoder and of the decoder."""


@dataclass(frozen=True)
class Both:
    """A model and the two engines that translate with it."""

    model: Transformer
    pair: TokenizerPair
    export: CTranslate2Model
    keras: KerasEngine
    ctranslate2: CTranslate2Engine
    sources: list[list[int]]

    def found(self, **options: object) -> tuple[list[list[Hypothesis]], list[list[Hypothesis]]]:
        """What each of them finds."""
        attention = bool(options.pop("with_attention", False))
        decoding = DecodingConfig(**options)  # type: ignore[arg-type]
        waits = [
            engine.submit(SearchRequest(self.sources, LIMIT, decoding, with_attention=attention))
            for engine in (self.keras, self.ctranslate2)
        ]
        return waits[0](), waits[1]()


@pytest.fixture(
    scope="module",
    params=[*FEW, *UNEQUAL, *(pytest.param(number, marks=pytest.mark.slow) for number in MORE)],
    ids=str,
)
def both(request: pytest.FixtureRequest) -> Both:
    is_unequal = request.param in UNEQUAL
    number = 18 if is_unequal else request.param
    config, source_size, target_size = drawn(number)
    if is_unequal or number in FEW:
        encoder_layers, decoder_layers = request.param if is_unequal else (1, 1)
        config = replace(config, encoder_layers=encoder_layers, decoder_layers=decoder_layers)
    pair = made_up_words(source_size, target_size)
    model = random_model(config, source_size, target_size or source_size, seed=number)
    export = convert(config, weights_of(model), pair, "", "float32")
    keras = KerasEngine(model, SUPPRESSED)
    ctranslate2 = CTranslate2Engine(export, pair, with_unknown=False, threads=1)
    return Both(model, pair, export, keras, ctranslate2, random_sources(12, source_size))


def test_they_find_the_same(both: Both):
    for beams, penalty in ((1, 0.6), (4, 0.0), (4, 0.6), (4, 1.0)):
        expected, found = both.found(beam_size=beams, num_hypotheses=beams, length_penalty=penalty)
        for mine, theirs in zip(found, expected, strict=True):
            assert [one.score for one in mine] == pytest.approx([one.score for one in theirs], abs=1e-3)
            assert untied(mine, theirs) == untied(theirs, theirs)


def untied(found: list[Hypothesis], expected: list[Hypothesis]) -> list[list[int]]:
    """The hypotheses whose place another could not have taken as well."""
    scores = np.array([one.score for one in expected])
    gaps = np.abs(np.diff(scores, prepend=np.inf, append=-np.inf))
    is_alone = np.minimum(gaps[:-1], gaps[1:]) > 1e-4
    return [one.ids for one, alone in zip(found, is_alone, strict=True) if alone]


@pytest.mark.parametrize("both", FEW, indirect=True)
def test_they_have_something_to_agree_on(both: Both):
    expected, _ = both.found(beam_size=4)
    assert len({tuple(each[0].ids) for each in expected}) > 5, "the sentences should differ"
    assert {each[0].is_complete for each in expected} == {True, False}, "some should end, some be cut"


def test_they_give_every_reference_the_same_probability(both: Both):
    """CTranslate2's are taken over all tokens here, suppressed ones included."""
    chance = np.random.default_rng(3)
    size = both.pair.target.vocabulary_size
    targets = [chance.integers(4, size, size=chance.integers(1, 9)).tolist() for _ in both.sources]
    scorer = ctranslate2.Translator("scorer", "cpu", compute_type="float32", files=both.export.files)
    marks = both.model.config.source_marks
    read = slice(marks != "both", -1 if marks == "none" else None)
    found = scorer.score_batch(
        [both.pair.source.pieces(ids[read]) for ids in both.sources],
        [both.pair.target.pieces(ids) for ids in targets],
    )
    by_keras = log_probs(both.model, both.sources, [[START, *ids] for ids in targets])
    for target, scores, rows in zip(targets, found, by_keras, strict=True):
        expected = rows[np.arange(len(rows)), [*target, END]]
        # Drawn weights make larger logits than learnt ones, with as many digits.
        np.testing.assert_allclose(scores.log_probs, expected, rtol=3e-4, atol=1e-3)


@pytest.mark.parametrize("both", [14, 44, 51, *UNEQUAL], indirect=True, ids=str)
def test_they_attend_to_the_same(both: Both):
    expected, found = both.found(beam_size=2, num_hypotheses=2, with_attention=True)
    for source, (mine, theirs) in zip(both.sources, zip(found, expected, strict=True), strict=True):
        for one, other in zip(mine, theirs, strict=True):
            assert one.attention is not None
            assert one.attention.shape == (len(one.ids) - 1, len(source))
            np.testing.assert_allclose(one.attention.sum(axis=1), 1, atol=1e-5)
            np.testing.assert_allclose(one.attention, other.attention, atol=1e-3)
