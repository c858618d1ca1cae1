"""Tokenised sentence pairs, and an epoch of them cut into padded batches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ptenmt.config import BatchConfig

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


class BatchPlan:
    """How an epoch of training pairs is cut into batches.

    With ``batch.sentences`` random pairs meet in a batch. With ``batch.tokens`` pairs of similar length do,
    as many as fit, which pads far less. Either way the order of an epoch is a function of (seed, epoch).

    Args:
        pairs: What to batch.
        batch: The size of a batch.
        seed: Of the whole training.
    """

    def __init__(self, pairs: EncodedPairs, batch: BatchConfig, seed: int) -> None:
        self._pairs = pairs
        self._seed = seed
        self._sizes = np.stack([pairs.source.lengths, pairs.target.lengths], axis=1)  # -> [pairs, 2]
        self._longest = self._sizes.max(axis=1, initial=0)  # the longer side of each pair
        self._by_length = batch.tokens is not None
        self._cuts = (
            list(range(0, len(pairs), batch.sentences))
            if batch.tokens is None
            else _cuts_by_tokens(np.sort(self._longest), batch.tokens)
        )

    def __len__(self) -> int:
        """Batches an epoch, the same for every epoch."""
        return len(self._cuts)

    def batches(self, epoch: int, first: int = 0) -> Iterator[Batch]:
        """The batches of one epoch.

        Args:
            epoch: Which one, from 0.
            first: The batch to begin with; those before it are passed over at no cost.

        Yields:
            Source and target ids of each batch.
        """
        for rows in self._rows(epoch)[first:]:
            yield self._pairs.source.padded(rows), self._pairs.target.padded(rows)

    def _rows(self, epoch: int) -> list[np.ndarray]:
        """Which pairs each batch of an epoch holds."""
        random = np.random.default_rng([self._seed, epoch])
        order = random.permutation(len(self._pairs))
        if not self._by_length:
            return np.split(order, self._cuts[1:])
        order = order[np.argsort(self._longest[order], kind="stable")]  # random among equals
        rows = np.split(order, self._cuts[1:])
        # The batch that needs the most memory comes first: if it does not fit, that shows at once.
        needs = [len(row) * int(self._sizes[row].max(axis=0).sum()) for row in rows]
        largest = int(np.argmax(needs))
        others = [number for number in random.permutation(len(rows)) if number != largest]
        return [rows[number] for number in (largest, *others)]


def sorted_batches(pairs: EncodedPairs, sentences: int) -> Iterator[Batch]:
    """All pairs once, batched by length so that little is padded."""
    order = np.lexsort((pairs.source.lengths, pairs.target.lengths))
    for start in range(0, len(order), sentences):
        rows = order[start : start + sentences]
        yield pairs.source.padded(rows), pairs.target.padded(rows)


def num_batches(pairs: EncodedPairs, sentences: int) -> int:
    """How many batches of so many sentences all pairs make, a last partial one included."""
    return -(-len(pairs) // sentences)


def _cuts_by_tokens(lengths: np.ndarray, tokens: int) -> list[int]:
    """Where to cut pairs of rising length so that sentences × the longest stay within ``tokens``."""
    cuts: list[int] = []
    start = 0
    for position, length in enumerate(lengths.tolist()):
        if position == 0 or (position + 1 - start) * length > tokens:
            start = position
            cuts.append(position)
    return cuts
