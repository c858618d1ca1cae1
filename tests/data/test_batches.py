import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ptenmt.config import BatchConfig
from ptenmt.data.batches import (
    Batch,
    BatchPlan,
    EncodedPairs,
    sorted_batches,
)
from ptenmt.data.store import Ragged, RaggedIds, packed_ids, ragged_writer


def numbered_pairs(count: int) -> EncodedPairs:
    """Pair n has source [2, n + 4, 3] and a target of its own length that names n, too."""
    sources = ([2, number + 4, 3] for number in range(count))
    targets = ([2, *[number + 4] * (1 + number % 7), 3] for number in range(count))
    return EncodedPairs(RaggedIds(sources), RaggedIds(targets))


def numbers_of(batches: Sequence[Batch]) -> list[int]:
    return [int(row[1]) - 4 for source, _ in batches for row in source]


def test_a_training_epoch_of_ted_is_810_batches_that_drop_nothing():
    pairs = numbered_pairs(51_785)
    plan = BatchPlan(pairs, BatchConfig(sentences=64), 42)
    batches = list(plan.batches(0))
    assert plan.num_batches == len(batches) == 810
    assert Counter(len(source) for source, _ in batches) == {64: 809, 9: 1}
    assert sorted(numbers_of(batches)) == list(range(51_785))


def test_the_validation_pairs_of_ted_are_19_batches_that_drop_nothing():
    pairs = numbered_pairs(1_193)
    batches = list(sorted_batches(pairs, 64))
    assert len(batches) == 19
    assert sorted(numbers_of(batches)) == list(range(1_193))


def test_the_order_follows_from_seed_and_epoch_alone():
    pairs = numbered_pairs(100)

    def order(seed: int, epoch: int) -> list[int]:
        return numbers_of(list(BatchPlan(pairs, BatchConfig(sentences=7), seed).batches(epoch)))

    np.random.default_rng(0).permutation(5)
    first = order(1, 0)
    assert order(1, 0) == first
    assert order(1, 1) != first
    assert order(2, 0) != first
    assert order(1, 0) != order(0, 1)
    assert first != list(range(100))


@pytest.mark.parametrize("first", [0, 1, 7, 20])
def test_first_passes_over_exactly_so_many_batches(first: int):
    pairs = numbered_pairs(50)
    whole = list(BatchPlan(pairs, BatchConfig(sentences=7), 5).batches(1))
    rest = list(BatchPlan(pairs, BatchConfig(sentences=7), 5).batches(1, first))
    assert len(rest) == max(8 - first, 0)
    for expected, batch in zip(whole[first:], rest, strict=True):
        for expected_side, side in zip(expected, batch, strict=True):
            np.testing.assert_array_equal(side, expected_side)


def test_each_side_is_padded_to_its_own_longest():
    pairs = EncodedPairs(RaggedIds([[2, 5, 3], [2, 5, 6, 7, 3]]), RaggedIds([[2, 8, 9, 3], [2, 3]]))
    ((source, target),) = sorted_batches(pairs, 2)
    np.testing.assert_array_equal(source, [[2, 5, 6, 7, 3], [2, 5, 3, 0, 0]])
    np.testing.assert_array_equal(target, [[2, 3, 0, 0], [2, 8, 9, 3]])
    assert source.dtype == target.dtype == np.int64


def test_ragged_ids_hold_sequences_of_any_length():
    ids = RaggedIds([[5, 6], [], [7], []])
    assert len(ids) == 4
    assert [ids[row].tolist() for row in range(4)] == [[5, 6], [], [7], []]
    assert ids.lengths.tolist() == [2, 0, 1, 0]
    np.testing.assert_array_equal(ids.padded([2, 1, 0]), [[7, 0], [0, 0], [5, 6]])
    assert ids.padded([1, 3]).shape == (2, 0)
    assert ids.padded(np.array([], dtype=int)).shape == (0, 0)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_ragged_ids_from_files_are_those_written(tmp_path: Path, dtype: type):
    random = np.random.default_rng(3)
    rows = [random.integers(0, 60_000, length).tolist() for length in random.integers(0, 9, 50)]
    with ragged_writer(tmp_path, "source") as append:
        for start in (0, 20, 20):
            append(packed_ids(rows[start : start + 20], dtype))
        append(packed_ids([], dtype))
        append(packed_ids(rows[40:], dtype))
    rows[40:40] = rows[20:40]
    mapped = Ragged.mapped(tmp_path, "source", dtype)
    assert [mapped[row].tolist() for row in range(len(mapped))] == rows
    some = random.permutation(len(rows))[:30]
    np.testing.assert_array_equal(mapped.padded(some), RaggedIds(rows).padded(some))
    assert mapped.padded(some, 12).shape == (30, 12)
    assert mapped.padded(some).dtype == np.int64
    assert isinstance(mapped.values.base, np.memmap)


def lengthy_pairs(count: int) -> EncodedPairs:
    """Pair n names itself first on both sides, whose lengths vary on their own."""
    random = np.random.default_rng(7)
    sides = [
        RaggedIds([number + 4, *[3] * int(length)] for number, length in enumerate(lengths))
        for lengths in random.integers(1, 60, size=(2, count))
    ]
    return EncodedPairs(*sides)


def firsts(batch: Batch) -> list[int]:
    return [int(row[0]) - 4 for row in batch[0]]


def test_batches_by_tokens_stay_within_them_and_drop_nothing():
    pairs = lengthy_pairs(1_000)
    plan = BatchPlan(pairs, BatchConfig(tokens=600), 1)
    batches = list(plan.batches(0))
    assert len(batches) == plan.num_batches
    assert all(len(source) * max(source.shape[1], target.shape[1]) <= 600 for source, target in batches)
    assert sorted(number for batch in batches for number in firsts(batch)) == list(range(1_000))
    assert all(firsts(batch) == [int(row[0]) - 4 for row in batch[1]] for batch in batches)


def test_batches_by_tokens_have_few_shapes_and_little_padding():
    pairs = lengthy_pairs(20_000)
    longest = np.maximum(pairs.source.lengths, pairs.target.lengths)
    batches = list(BatchPlan(pairs, BatchConfig(tokens=2_000), 1).batches(0))
    assert all(source.shape == target.shape for source, target in batches)
    shapes = {source.shape for source, _ in batches}
    widths = {width for _, width in shapes}
    assert widths <= {*range(17), *range(18, 33, 2), *range(36, 61, 4)}
    assert len(shapes) <= len(widths) + 1  # the last batch may be a partial one
    assert sum(source.size for source, _ in batches) < 1.06 * longest.sum()


@pytest.mark.parametrize("batch", [BatchConfig(tokens=600), BatchConfig(sentences=16)])
def test_the_first_batch_needs_the_most_memory(batch: BatchConfig):
    plan = BatchPlan(lengthy_pairs(1_000), batch, 1)
    for epoch in range(3):
        widths = [
            (len(source), max(source.shape[1], target.shape[1])) for source, target in plan.batches(epoch)
        ]
        needs = [count * width * (256 + width) for count, width in widths]
        assert needs[0] == max(needs)
        assert needs[1:] != sorted(needs[1:], reverse=True)


def test_many_short_sentences_may_need_more_memory_than_few_long_ones():
    side = RaggedIds([[3] * length for length in (*[4] * 32, *[7] * 18)])
    (source, _), *_ = BatchPlan(EncodedPairs(side, side), BatchConfig(tokens=64), 1).batches(0)
    assert source.shape == (16, 4), "16 · 4 · (256 + 4) values are more than 9 · 7 · (256 + 7)"


@pytest.mark.parametrize(
    ("batch", "expected"),
    [(BatchConfig(tokens=600), "00a574323e1b3a10"), (BatchConfig(sentences=16), "597dc6d44fa4b2f5")],
)
def test_the_batches_of_a_seed_stay_what_they_were(batch: BatchConfig, expected: str):
    """Every version of ptenmt can resume the trainings of the ones before."""
    plan, found = BatchPlan(lengthy_pairs(500), batch, 11), hashlib.sha256()
    for epoch in range(3):
        for source, target in plan.batches(epoch):
            found.update(repr((source.tolist(), target.tolist())).encode())
    assert found.hexdigest()[:16] == expected
