from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from ptenmt.corpus.batches import (
    Batch,
    EncodedPairs,
    RaggedIds,
    epoch_batches,
    num_batches,
    sorted_batches,
)


def numbered_pairs(count: int) -> EncodedPairs:
    """Pair n has source [2, n + 4, 3] and a target of its own length that names n, too."""
    sources = ([2, number + 4, 3] for number in range(count))
    targets = ([2, *[number + 4] * (1 + number % 7), 3] for number in range(count))
    return EncodedPairs(RaggedIds(sources), RaggedIds(targets))


def numbers_of(batches: Sequence[Batch]) -> list[int]:
    return [int(row[1]) - 4 for source, _ in batches for row in source]


def test_a_training_epoch_of_ted_is_810_batches_that_drop_nothing():
    pairs = numbered_pairs(51_785)
    batches = list(epoch_batches(pairs, 64, seed=42, epoch=0))
    assert num_batches(pairs, 64) == len(batches) == 810
    assert Counter(len(source) for source, _ in batches) == {64: 809, 9: 1}
    assert len(batches[-1][0]) == 9
    assert sorted(numbers_of(batches)) == list(range(51_785))


def test_the_validation_pairs_of_ted_are_19_batches_that_drop_nothing():
    pairs = numbered_pairs(1_193)
    batches = list(sorted_batches(pairs, 64))
    assert num_batches(pairs, 64) == len(batches) == 19
    assert sorted(numbers_of(batches)) == list(range(1_193))


def test_sorted_batches_pad_less_than_random_ones():
    pairs = numbered_pairs(500)

    def padding(batches: Sequence[Batch]) -> int:
        return sum(int((target == 0).sum()) for _, target in batches)

    assert padding(list(sorted_batches(pairs, 20))) * 5 < padding(
        list(epoch_batches(pairs, 20, seed=1, epoch=0))
    )


def test_the_order_follows_from_seed_and_epoch_alone():
    pairs = numbered_pairs(100)

    def order(seed: int, epoch: int) -> list[int]:
        return numbers_of(list(epoch_batches(pairs, 7, seed=seed, epoch=epoch)))

    np.random.default_rng(0).permutation(5)
    first = order(1, 0)
    assert order(1, 0) == first
    assert order(1, 1) != first
    assert order(2, 0) != first
    assert order(1, 0) != order(0, 1)
    assert first != list(range(100))


def test_the_order_does_not_depend_on_the_size_of_a_batch():
    pairs = numbered_pairs(50)
    orders = [numbers_of(list(epoch_batches(pairs, size, seed=3, epoch=2))) for size in (1, 7, 50, 64)]
    assert all(order == orders[0] for order in orders)


@pytest.mark.parametrize("first", [0, 1, 6, 7, 8, 20])
def test_first_passes_over_exactly_so_many_batches(first: int):
    pairs = numbered_pairs(50)
    whole = list(epoch_batches(pairs, 7, seed=5, epoch=1))
    rest = list(epoch_batches(pairs, 7, seed=5, epoch=1, first=first))
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


def test_labels_are_the_target_tokens_but_start():
    pairs = EncodedPairs(RaggedIds([[2, 3], [2, 3]]), RaggedIds([[2, 8, 9, 3], [2, 3]]))
    assert pairs.num_target_tokens == 4


def test_ragged_ids_hold_sequences_of_any_length():
    ids = RaggedIds([[5, 6], [], [7], []])
    assert len(ids) == 4
    assert [ids[row].tolist() for row in range(4)] == [[5, 6], [], [7], []]
    assert ids.lengths.tolist() == [2, 0, 1, 0]
    np.testing.assert_array_equal(ids.padded([2, 1, 0]), [[7, 0], [0, 0], [5, 6]])
    assert ids.padded([1, 3]).shape == (2, 0)
    assert ids.padded(np.array([], dtype=int)).shape == (0, 0)


def test_ragged_ids_may_be_empty():
    ids = RaggedIds([])
    assert len(ids) == 0
    assert list(sorted_batches(EncodedPairs(ids, ids), 4)) == []
    assert num_batches(EncodedPairs(ids, ids), 4) == 0
