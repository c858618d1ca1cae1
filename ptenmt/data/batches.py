"""Tokenized sentence pairs, and the padded batches of an epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ptenmt.config import BatchConfig
from ptenmt.data.store import Ragged, RaggedIds

__all__ = [
    "Batch",
    "BatchPlan",
    "EncodedPairs",
    "RaggedIds",
    "TrainingPairs",
    "num_batches",
    "sorted_batches",
]

Batch = tuple[np.ndarray, np.ndarray]
"""Source ids [B, S] and target ids [B, T + 1], int64, padded with 0."""

# A batch of long sentences needs more memory than one of as many tokens in short ones, since attention
# weights grow with the square of the length. At this length they need about as much as all the rest.
_LENGTH_OF_EQUAL_SHARES = 256
_EXACT_LENGTHS = 16
_STEPS_AN_OCTAVE = 8


class TrainingPairs(Protocol):
    """The interface of training examples for a :class:`BatchPlan`."""

    def __len__(self) -> int: ...

    def longest(self) -> np.ndarray:
        """Return the length of the longer side of each pair, int32 [pairs]."""

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:
        """Return pairs as ids.

        Args:
            rows: Indices of the pairs.
            width: The length to pad both sides to; None pads each side to its own longest sentence.
            seed: Random seed, if the ids are sampled.
        """


@dataclass(frozen=True)
class EncodedPairs:
    """Tokenized sentence pairs, [START] and [END] included."""

    source: Ragged
    target: Ragged
    rows: np.ndarray | None = None
    """Indices of the pairs of an epoch, int32 [pairs]; by default every pair once."""

    def __len__(self) -> int:
        return len(self.source) if self.rows is None else len(self.rows)

    def longest(self) -> np.ndarray:
        """Return the length of the longer side of each pair, int32 [pairs]."""
        longest = np.maximum(self.source.lengths, self.target.lengths)
        return np.asarray(longest if self.rows is None else longest[self.rows])

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:  # noqa: ARG002
        """Return pairs as ids; the seed is not used."""
        stored = rows if self.rows is None else self.rows[rows]
        return self.source.padded(stored, width), self.target.padded(stored, width)


class BatchPlan:
    """The division of an epoch of training pairs into batches.

    With ``batch.sentences`` a batch has random pairs. With ``batch.tokens`` it has pairs of similar length,
    as many as fit, which needs far less padding; lengths are rounded up, so that there are a few dozen shapes
    of batches. Either way the order of an epoch is a function of (seed, epoch).

    Args:
        pairs: The training pairs.
        batch: The options of the section.
        seed: The option ``seed``.
    """

    def __init__(self, pairs: TrainingPairs, batch: BatchConfig, seed: int) -> None:
        self._pairs = pairs
        self._seed = seed
        if batch.tokens is None:
            self._sorted = np.arange(len(pairs), dtype=np.int32)
            self._groups = [len(pairs)]
            self._cuts = np.arange(0, len(pairs), batch.sentences)
            self._widths = None
            self._longest = pairs.longest()
            return
        levels = _rounded_up(pairs.longest())
        self._sorted = np.argsort(levels, kind="stable").astype(np.int32)
        counts = np.bincount(levels)
        self._groups = np.cumsum(counts[counts > 0]).tolist()
        self._cuts, self._widths = _cuts_by_tokens(counts, batch.tokens)

    def __len__(self) -> int:
        """Number of batches per epoch, the same for every epoch."""
        return len(self._cuts)

    def batches(self, epoch: int, first: int = 0) -> Iterator[Batch]:
        """Yield the batches of one epoch.

        Args:
            epoch: From 0.
            first: The first batch to yield; skipping those before it is free.

        Yields:
            Source and target ids of each batch.
        """
        random = np.random.default_rng([self._seed, epoch])
        order = self._sorted.copy()
        start = 0
        for end in self._groups:
            random.shuffle(order[start:end])
            start = end
        for number in self._numbers(random, order)[first:].tolist():
            end = self._cuts[number + 1] if number + 1 < len(self) else len(order)
            width = None if self._widths is None else int(self._widths[number])
            yield self._pairs.batch(order[self._cuts[number] : end], width, (self._seed, epoch, number))

    def _numbers(self, random: np.random.Generator, order: np.ndarray) -> np.ndarray:
        """Return the order of the batches."""
        sizes = np.diff(self._cuts, append=len(order))
        if self._widths is None:
            widths = np.maximum.reduceat(self._longest[order], self._cuts)
            numbers = np.arange(len(self))
        else:
            widths = self._widths
            numbers = random.permutation(len(self))
        # The batch that needs the most memory comes first: if it does not fit, that shows at once.
        largest = np.argmax(sizes * widths * (widths + _LENGTH_OF_EQUAL_SHARES))
        return np.concatenate([[largest], numbers[numbers != largest]])


def sorted_batches(pairs: EncodedPairs, sentences: int) -> Iterator[Batch]:
    """Yield all pairs once, sorted by length to minimise padding."""
    order = np.lexsort((pairs.source.lengths, pairs.target.lengths))
    for start in range(0, len(order), sentences):
        rows = order[start : start + sentences]
        yield pairs.source.padded(rows), pairs.target.padded(rows)


def num_batches(pairs: EncodedPairs, sentences: int) -> int:
    """Number of batches of ``sentences`` pairs, including a last partial one."""
    return -(-len(pairs) // sentences)


def _rounded_up(lengths: np.ndarray) -> np.ndarray:
    """Lengths to which pairs are padded: 1 to 16, then eight per octave (18, 20 … 32, 36 … 64, 72 …).

    The longest is not rounded, since the model may have no more positions.
    """
    longest = int(lengths.max(initial=0))
    every = np.arange(longest + 1, dtype=np.int32)
    octaves = np.ceil(np.log2(np.maximum(every, _EXACT_LENGTHS) / _EXACT_LENGTHS)).astype(np.int32)
    steps = np.maximum(_EXACT_LENGTHS // _STEPS_AN_OCTAVE * 2**octaves // 2, 1)
    return np.asarray(np.minimum(-(-every // steps) * steps, longest)[lengths])


def _cuts_by_tokens(counts: np.ndarray, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide pairs sorted by length into batches of ``tokens // length`` pairs.

    The pairs of a length that fill no batch are batched with the next longer ones.

    Args:
        counts: Number of pairs of each length, [longest + 1].
        tokens: Maximum of sentences × longest.

    Returns:
        The start of each batch, and the length its pairs are padded to.
    """
    lengths = np.flatnonzero(counts)
    cuts, widths = [np.empty(0, int)], [np.empty(0, int)]
    start = end = 0
    for length in lengths.tolist():
        end += int(counts[length])
        size = tokens // max(length, 1)
        num_full = (end - start) // size
        num = -(-(end - start) // size) if length == lengths[-1] else num_full
        cuts.append(start + size * np.arange(num))
        widths.append(np.full(num, length))
        start += size * num_full
    return np.concatenate(cuts), np.concatenate(widths)
