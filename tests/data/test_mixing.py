"""Weights of files: what an epoch reads."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest

from ptenmt.config import BatchConfig, CorpusFile, DataConfig
from ptenmt.data.batches import BatchPlan, EncodedPairs
from ptenmt.data.mixing import Mixture
from ptenmt.data.store import RaggedIds
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
    assert len(batches) == plan.num_batches
    return [int(row[0]) - 4 for source, _ in batches for row in source]


def times_read(found: list[int]) -> dict[str, int]:
    return dict(Counter("ted" if row < FIRST else "web" for row in found))


@pytest.mark.parametrize("batch", BATCHES)
def test_an_epoch_reads_each_file_by_its_weight(pairs: EncodedPairs, batch: BatchConfig) -> None:
    mixture = Mixture.configured(DataConfig(train=files(2.5, 0.3)), (FIRST, SECOND))
    assert mixture.pairs == {"ted": 1_000, "web": 300}
    plan = BatchPlan(pairs, batch, 1, mixture)
    shapes = []
    for epoch in range(3):
        found = rows(plan, epoch)
        assert times_read(found) == mixture.pairs
        counts = Counter(found)
        assert {counts[row] for row in range(FIRST)} <= {2, 3, 4}
        shapes.append(Counter(source.shape for source, _ in plan.batches(epoch)))
    if batch.tokens:  # which pairs are drawn changes from epoch to epoch, how many of each length does not
        assert shapes[0] == shapes[1] == shapes[2]
    assert rows(plan, 1) == rows(BatchPlan(pairs, batch, 1, mixture), 1) != rows(plan, 2)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(("weight", "epochs"), [(0.5, 2), (0.2, 5)])
def test_a_share_reads_every_pair_once_in_its_epochs(
    pairs: EncodedPairs, batch: BatchConfig, weight: float, epochs: int
) -> None:
    """Whatever its length, and other ones together the next time."""
    mixture = Mixture.configured(DataConfig(train=files(1, weight)), (FIRST, SECOND))
    plan = BatchPlan(pairs, batch, 1, mixture)
    parts = [sorted(row for row in rows(plan, epoch) if row >= FIRST) for epoch in range(2 * epochs)]
    for once in (parts[:epochs], parts[epochs:]):
        assert sorted(chain(*once)) == list(range(FIRST, FIRST + SECOND))
    assert parts[0] not in parts[epochs:]


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
    assert Mixture.once(9).pairs == {}


def test_a_file_of_which_no_pair_is_left_is_an_error() -> None:
    assert Mixture.configured(DataConfig(train=files(0.001, 1)), (FIRST, 1)).pairs == {"ted": 1, "web": 1}
    never = Mixture.configured(DataConfig(train=files(0, 1)), (0, 1))
    assert never.counts == (0, 1)
    with pytest.raises(DataError, match=r"the filters leave no pair of ted$"):
        Mixture.configured(DataConfig(train=files(1, 1)), (0, SECOND))
