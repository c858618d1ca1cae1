"""Mixtures of training files: how many pairs of each an epoch reads, and which."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptenmt.atomic_files import json_checksum
from ptenmt.config import DataConfig
from ptenmt.errors import DataError


@dataclass(frozen=True)
class Mixture:
    """How many pairs of each source, that is a training file, an epoch reads.

    ``sizes`` are the numbers of pairs of the sources, ``counts`` those that an epoch reads: above its size,
    some or all are read several times.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def once(cls, size: int) -> "Mixture":
        """Every pair of a single source once."""
        return cls(("",), (size,), (size,))

    @classmethod
    def configured(cls, data: DataConfig, sizes: Sequence[int]) -> "Mixture":
        """The mixture of a config, by the number of pairs of each source that the filters left.

        Raises DataError if no pair of a source is left.
        """
        if not data.train:  # several files of one data set are one source
            return cls.once(sum(sizes))
        counts = []
        for file, size in zip(data.train, sizes, strict=True):
            if file.weight and not size:
                raise DataError(
                    f"the filters leave no pair of {file.label}",
                    "see what each filter removes with ptenmt data, or leave the file out",
                )
            counts.append(int(file.weight * size + 0.5) or int(file.weight > 0))
        return cls(tuple(file.label for file in data.train), tuple(sizes), tuple(counts))

    @property
    def pairs(self) -> dict[str, int]:
        """The number of pairs of each source that an epoch reads; empty with a single source."""
        named = {name: count for name, count in zip(self.names, self.counts, strict=True) if count}
        return named if len(self.names) > 1 else {}

    def fingerprint(self, pairs: str, *, by_source: bool) -> str:
        """Return a checksum of how often pairs are read, and of ``pairs``, their own checksum.

        That is ``pairs`` itself where every epoch reads every pair once, unless there are several sources and
        it matters which pairs are of one (``by_source``).
        """
        if self.counts == self.sizes and not (by_source and len(self.sizes) > 1):
            return pairs
        facts = [pairs, [[0, self.counts]]]  # the form of older runs, whose counts could change at an epoch
        return json_checksum([*facts, self.sizes] if by_source else facts)


class SourceRows:
    """The rows of one source, drawn for each epoch with fixed numbers of every length level.

    ``first`` is the row of its first pair, ``levels`` the length level of each of its pairs, [pairs], and
    ``count`` the number of pairs that an epoch reads.
    """

    def __init__(
        self, first: int, levels: np.ndarray, num_levels: int, seed: Sequence[int], count: int
    ) -> None:
        # NumPy sorts 16 bits by radix, ten times as fast as 32.
        is_narrow = num_levels <= 1 << 16
        order = np.argsort(levels.astype(np.uint16) if is_narrow else levels, kind="stable")
        self._rows = (first + order).astype(np.int32)
        size, ordered_levels = max(len(levels), 1), levels[order]
        if 0 < count < size:
            # Rare lengths would never be drawn: of every size / count pairs of similar length an epoch
            # reads one, and all of them have the level of the longest.
            ends = np.arange(1, count + 1) * size // count
            ordered_levels = np.repeat(ordered_levels[ends - 1], np.diff(ends, prepend=0))
        self._sizes = np.bincount(ordered_levels, minlength=num_levels)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._seed = seed
        self.counts = self._divided(*divmod(count, size))
        """How many pairs an epoch reads, int64 [levels]."""

    def _divided(self, whole: int, rest: int) -> np.ndarray:
        """Return how many pairs of each level are all of them so often, and ``rest`` more, [levels]."""
        exact, remainders = np.divmod(self._sizes * rest, max(len(self._rows), 1))
        missing = rest - int(exact.sum())
        exact[np.argsort(-remainders, kind="stable")[:missing]] += 1
        return np.asarray(self._sizes * whole + exact)

    def drawn(self, level: int, epoch: int) -> list[np.ndarray]:
        """Return the rows of a level that an epoch reads: all of them so often, and a random part.

        The random parts of consecutive epochs are consecutive parts of shuffled passes over the level, so
        that all pairs are read equally often in the end.
        """
        size, start = int(self._sizes[level]), int(self._starts[level])
        rows = self._rows[start : start + size]
        whole, rest = divmod(int(self.counts[level]), max(size, 1))
        drawn = [rows] * whole
        begin, end = epoch * rest, (epoch + 1) * rest
        for number in range(begin // max(size, 1), -(-end // max(size, 1))):
            shuffled = np.random.default_rng([*self._seed, level, number, 1]).permutation(rows)
            drawn.append(shuffled[max(begin - number * size, 0) : end - number * size])
        return drawn
