"""Tokenised sentence pairs, and an epoch of them cut into padded batches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Batch = tuple[np.ndarray, np.ndarray]
"""Source ids [B, S] and target ids [B, T + 1], int64, padded with 0, each to its longest."""


class RaggedIds:
    """Id sequences of any lengths in one flat array, so that half a million cost no Python objects.

    Args:
        sequences: The ids, a sequence a sentence.
    """

    def __init__(self, sequences: Iterable[Sequence[int]]) -> None:
        rows = [np.asarray(sequence, dtype=np.int32) for sequence in sequences]
        self.lengths = np.array([len(row) for row in rows], dtype=np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self.values = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> np.ndarray:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def padded(self, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """The given rows as int64 [B, longest], padded with 0."""
        table = np.zeros((len(rows), int(self.lengths[rows].max(initial=0))), dtype=np.int64)
        for position, row in enumerate(rows):
            table[position, : self.lengths[row]] = self[row]
        return table


@dataclass(frozen=True)
class EncodedPairs:
    """Tokenised sentence pairs, [START] and [END] included."""

    source: RaggedIds
    target: RaggedIds

    def __len__(self) -> int:
        return len(self.source)

    @property
    def num_target_tokens(self) -> int:
        """Labels in all: every target token but [START]."""
        return int(self.target.lengths.sum()) - len(self)


def epoch_batches(
    pairs: EncodedPairs, sentences: int, *, seed: int, epoch: int, first: int = 0
) -> Iterator[Batch]:
    """The batches of one epoch, in an order that follows from seed and epoch alone.

    Args:
        pairs: What to batch.
        sentences: Pairs a batch; the last one may hold fewer.
        seed: Of the whole training.
        epoch: Which epoch, from 0.
        first: The batch to begin with; those before it are passed over at no cost.

    Yields:
        Source and target ids of each batch.
    """
    order = np.random.default_rng([seed, epoch]).permutation(len(pairs))
    return _cut(pairs, order, sentences, first)


def sorted_batches(pairs: EncodedPairs, sentences: int) -> Iterator[Batch]:
    """All pairs once, batched by length so that little is padded."""
    order = np.lexsort((pairs.source.lengths, pairs.target.lengths))
    return _cut(pairs, order, sentences, 0)


def num_batches(pairs: EncodedPairs, sentences: int) -> int:
    """How many batches all pairs make, a last partial one included."""
    return -(-len(pairs) // sentences)


def _cut(pairs: EncodedPairs, order: np.ndarray, sentences: int, first: int) -> Iterator[Batch]:
    for start in range(first * sentences, len(order), sentences):
        rows = order[start : start + sentences]
        yield pairs.source.padded(rows), pairs.target.padded(rows)
