"""Weights and stages: what an epoch reads."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ptenmt.config import BatchConfig, CorpusFile, DataConfig, StageConfig
from ptenmt.data.batches import BatchPlan, EncodedPairs
from ptenmt.data.mixing import BidirectionalPairs, Mixture
from ptenmt.data.store import RaggedIds, write_texts
from ptenmt.errors import DataError

FIRST, SECOND = 400, 1_000
"""Pairs of the files ``ted`` and ``web``."""
BATCHES = [BatchConfig(sentences=32), BatchConfig(tokens=500)]


def files(*weights: float) -> tuple[CorpusFile, ...]:
    return tuple(
        CorpusFile(path=f"/{name}.tsv", weight=weight)
        for name, weight in zip(("ted", "web"), weights, strict=True)
    )


@pytest.fixture(scope="module")
def pairs() -> EncodedPairs:
    """Pair n names itself first on both sides, whose lengths vary."""
    lengths = np.random.default_rng(3).integers(1, 40, FIRST + SECOND)
    side = RaggedIds([number + 4, *[3] * int(length)] for number, length in enumerate(lengths))
    return EncodedPairs(side, side)


def rows(plan: BatchPlan, epoch: int) -> list[int]:
    """The pairs of an epoch, in its order."""
    batches = list(plan.batches(epoch))
    assert len(batches) == plan.num_batches(epoch)
    return [int(row[0]) - 4 for source, _ in batches for row in source]


def times_read(found: list[int]) -> dict[str, int]:
    return dict(Counter("ted" if row < FIRST else "web" for row in found))


@pytest.mark.parametrize("batch", BATCHES)
def test_an_epoch_reads_each_file_by_its_weight(pairs: EncodedPairs, batch: BatchConfig) -> None:
    mixture = Mixture.configured(DataConfig(train=files(2.5, 0.3)), (FIRST, SECOND))
    assert mixture.pairs(0) == {"ted": 1_000, "web": 300}
    assert mixture.shares(7) == {"ted": 0.7692, "web": 0.2308}
    plan = BatchPlan(pairs, batch, 1, mixture)
    shapes = []
    for epoch in range(3):
        found = rows(plan, epoch)
        assert times_read(found) == mixture.pairs(epoch)
        counts = Counter(found)
        assert {counts[row] for row in range(FIRST)} <= {2, 3, 4}
        shapes.append(Counter(source.shape for source, _ in plan.batches(epoch)))
    if batch.tokens:  # which pairs are drawn changes from epoch to epoch, how many of each length does not
        assert shapes[0] == shapes[1] == shapes[2]
    assert rows(plan, 1) == rows(BatchPlan(pairs, batch, 1, mixture), 1) != rows(plan, 2)


def test_a_weight_of_a_half_reads_the_other_half_in_the_next_epoch(pairs: EncodedPairs) -> None:
    mixture = Mixture.configured(DataConfig(train=files(1, 0.5)), (FIRST, SECOND))
    plan = BatchPlan(pairs, BatchConfig(sentences=32), 1, mixture)
    halves = [{row for row in rows(plan, epoch) if row >= FIRST} for epoch in range(4)]
    for first, second in (halves[:2], halves[2:]):
        assert first | second == set(range(FIRST, FIRST + SECOND))
        assert not first & second
    assert halves[0] not in halves[2:]


@pytest.mark.parametrize("batch", BATCHES)
def test_a_fifth_reads_every_pair_equally_often_whatever_its_length(
    pairs: EncodedPairs, batch: BatchConfig
) -> None:
    mixture = Mixture.configured(DataConfig(train=files(1, 0.2)), (FIRST, SECOND))
    plan = BatchPlan(pairs, batch, 1, mixture)
    counts = Counter(row for epoch in range(5) for row in rows(plan, epoch) if row >= FIRST)
    assert counts == dict.fromkeys(range(FIRST, FIRST + SECOND), 1)


@pytest.mark.parametrize("batch", BATCHES)
def test_a_stage_continues_where_the_one_before_it_ended(pairs: EncodedPairs, batch: BatchConfig) -> None:
    mixture = Mixture(("ted", "web"), (FIRST, SECOND), ((0, (400, 250)), (2, (200, 250))))
    plan = BatchPlan(pairs, batch, 1, mixture)
    counts = Counter(row for epoch in range(4) for row in rows(plan, epoch) if row >= FIRST)
    assert counts == dict.fromkeys(range(FIRST, FIRST + SECOND), 1)


def test_files_without_weights_are_one_corpus(pairs: EncodedPairs) -> None:
    mixture = Mixture.configured(DataConfig(train=files(1, 1)), (FIRST, SECOND))
    for batch in BATCHES:
        plain, mixed = BatchPlan(pairs, batch, 5), BatchPlan(pairs, batch, 5, mixture)
        assert rows(plain, 2) == rows(mixed, 2)
    assert mixture.fingerprint("abc", by_source=False) == "abc"
    weighted = Mixture.configured(DataConfig(train=files(1, 2)), (FIRST, SECOND))
    assert weighted.fingerprint("abc", by_source=False) != "abc"
    other = Mixture.configured(DataConfig(train=files(1, 1)), (FIRST + 1, SECOND - 1))
    assert mixture.fingerprint("abc", by_source=True) != other.fingerprint("abc", by_source=True) != "abc"
    assert Mixture.once(9).fingerprint("abc", by_source=True) == "abc"
    assert Mixture.once(9).shares(0) == {}


@pytest.mark.parametrize("batch", BATCHES)
def test_a_stage_reads_its_first_file_once_and_the_others_by_their_shares(
    pairs: EncodedPairs, batch: BatchConfig
) -> None:
    stages = (
        StageConfig(mix={"ted": 0.6, "web": 0.4}, epochs=2),
        StageConfig(mix={"web": 1, "ted": 3}, epochs=1),
        StageConfig(mix={"ted": 5}),
    )
    mixture = Mixture.configured(DataConfig(train=files(1, 1), stages=stages), (FIRST, SECOND))
    assert mixture.first_epochs == [0, 2, 3]
    plan = BatchPlan(pairs, batch, 1, mixture)
    expected = [
        {"ted": 400, "web": 267},
        {"ted": 400, "web": 267},
        {"web": 1_000, "ted": 3_000},
        {"ted": 400},
        {"ted": 400},
    ]
    assert [times_read(rows(plan, epoch)) for epoch in range(5)] == expected
    assert [mixture.pairs(epoch) for epoch in range(5)] == expected
    assert mixture.shares(2) == {"web": 0.25, "ted": 0.75}
    assert mixture.shares(9) == {"ted": 1}
    assert plan.num_batches(2) > plan.num_batches(0) > plan.num_batches(3)
    once = [row for row in rows(plan, 0) if row < FIRST]
    assert sorted(once) == list(range(FIRST))


@pytest.fixture(scope="module")
def both(pairs: EncodedPairs) -> EncodedPairs:
    """The pairs, then as many others: those with their sides swapped."""
    count = len(pairs)
    sides = [
        RaggedIds([side[row][0] + shift, *side[row][1:]] for shift in (0, count) for row in range(count))
        for side in (pairs.source, pairs.target)
    ]
    return EncodedPairs(*sides)


def test_two_bidirectional_epochs_read_every_pair_once_in_each_direction(both: EncodedPairs) -> None:
    mixture = Mixture.configured(DataConfig(train=files(1, 1)), (FIRST, SECOND)).bidirectional(
        ("pt", "en"), 4
    )
    plan = BatchPlan(both, BatchConfig(sentences=32), 1, mixture)
    epochs = [rows(plan, epoch) for epoch in range(6)]
    for first in (0, 2):
        assert sorted(epochs[first] + epochs[first + 1]) == list(range(2 * (FIRST + SECOND)))
    assert epochs[0] != epochs[2]
    for epoch in (4, 5):
        assert sorted(epochs[epoch]) == list(range(FIRST + SECOND))
    halves = {"ted pt→en": 200, "web pt→en": 500, "ted en→pt": 200, "web en→pt": 500}
    assert [mixture.pairs(epoch) for epoch in (0, 3)] == [halves] * 2
    assert mixture.pairs(4) == {"ted pt→en": 400, "web pt→en": 1000}
    assert Mixture.once(9).bidirectional(("pt", "en"), 2).pairs(1) == {"pt→en": 5, "en→pt": 4}


def test_a_stage_may_change_within_the_bidirectional_epochs_and_after_them() -> None:
    stages = (StageConfig(mix={"ted": 1, "web": 1}, epochs=2), StageConfig(mix={"web": 1}))
    mixture = Mixture.configured(DataConfig(train=files(1, 1), stages=stages), (FIRST, SECOND))
    expected = {
        1: [(0, (200, 200, 200, 200)), (1, (400, 400, 0, 0)), (2, (0, 1000, 0, 0))],
        2: [(0, (200, 200, 200, 200)), (2, (0, 1000, 0, 0))],
        5: [(0, (200, 200, 200, 200)), (2, (0, 500, 0, 500)), (5, (0, 1000, 0, 0))],
    }
    for epochs, wanted in expected.items():
        assert list(mixture.bidirectional(("pt", "en"), epochs).stages) == wanted


def test_swapped_pairs_keep_their_tag_before_the_source(tmp_path: Path) -> None:
    chunks = [(0, [("um", "one"), ("dois", "two")]), (1, [("<bt> três", "three")])]
    texts = write_texts(tmp_path, chunks, 2)
    tagged = CorpusFile(path="/web.tsv", tag="<bt>")
    found = BidirectionalPairs(texts, DataConfig(train=(CorpusFile(path="/ted.tsv"), tagged)))
    swapped = [("one", "um"), ("two", "dois"), ("<bt> three", "três")]
    assert list(found) == [*texts, *swapped] == [found[row] for row in range(len(found))]
    assert found.sizes == (2, 1, 2, 1)
    assert [list(found.chunks(file)) for file in range(4)] == [
        [chunks[0][1]],
        [chunks[1][1]],
        [swapped[:2]],
        [swapped[2:]],
    ]
    assert found.fingerprint != texts.fingerprint


def test_a_file_of_which_no_pair_is_left_is_an_error() -> None:
    assert Mixture.configured(DataConfig(train=files(0.001, 1)), (FIRST, 1)).pairs(0) == {"ted": 1, "web": 1}
    never = Mixture.configured(DataConfig(train=files(0, 1)), (0, 1))
    assert repr(never.stages) == "((0, (0, 1)),)"  # numbers, which the checksum of the mixture is of
    stages = (StageConfig(mix={"web": 1, "ted": 1}),)
    with pytest.raises(DataError, match=r"the filters leave no pair of ted$"):
        Mixture.configured(DataConfig(train=files(1, 1), stages=stages), (0, SECOND))
