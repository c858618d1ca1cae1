"""Mixtures of sources: how many pairs of each source an epoch reads, by stage of the training.

A source is a file of pairs, or a file with the sides of its pairs swapped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from ptenmt.atomic_files import json_checksum
from ptenmt.config import DataConfig
from ptenmt.data.augmentation import tag_of
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import Chunk, TextPairs
from ptenmt.errors import DataError


@dataclass(frozen=True)
class Mixture:
    """How many pairs of each source an epoch reads.

    ``sizes`` are the numbers of pairs of the sources. ``stages`` has the first epoch of each stage, from
    0, and the number of pairs of each source per epoch: above its size, some or all are read several times.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    stages: tuple[tuple[int, tuple[int, ...]], ...]

    @classmethod
    def once(cls, size: int) -> "Mixture":
        """Every pair of a single source once."""
        return cls(("",), (size,), ((0, (size,)),))

    @classmethod
    def configured(cls, data: DataConfig, sizes: Sequence[int]) -> "Mixture":
        """The mixture of a config, by the number of pairs of each source that the filters left.

        Raises DataError if no pair of a source is left.
        """
        if not data.train:  # several files of one data set are one source
            return cls.once(sum(sizes))
        available = {file.label: size for file, size in zip(data.train, sizes, strict=True)}
        weights = {file.label: file.weight for file in data.train if file.weight}
        for name in chain.from_iterable([stage.mix for stage in data.stages] or [weights]):
            if not available[name]:
                raise DataError(
                    f"the filters leave no pair of {name}",
                    "see what each filter removes with ptenmt data, or leave the file out",
                )
        if data.stages:
            first_epochs = [0, *accumulate(stage.epochs or 0 for stage in data.stages[:-1])]
            counts = [_counts(stage.mix, available) for stage in data.stages]
        else:
            first_epochs = [0]
            mix = [(weights.get(name, 0), size) for name, size in available.items()]
            counts = [tuple(int(weight * size + 0.5) or int(weight > 0) for weight, size in mix)]
        return cls(tuple(available), tuple(sizes), tuple(zip(first_epochs, counts, strict=True)))

    def bidirectional(self, languages: tuple[str, str], epochs: int) -> "Mixture":
        """The mixture of ``BidirectionalPairs``, whose first ``epochs`` read half of their pairs swapped.

        An epoch then has as many pairs of each file as before. Of a file that it reads once, two epochs read
        every pair once in each direction. ``languages``: that the model translates from, and into.
        """
        directions = "→".join(languages), "→".join(languages[::-1])
        stages = []
        for number, (first, counts) in enumerate(self.stages):
            if first < epochs:
                halves = [count - count // 2 for count in counts], [count // 2 for count in counts]
                stages.append((first, (*halves[0], *halves[1])))
            if number == len(self.stages) - 1 or self.stages[number + 1][0] > epochs:
                stages.append((max(first, epochs), (*counts, *[0] * len(counts))))
        names = [f"{name} {direction}".strip() for direction in directions for name in self.names]
        return Mixture(tuple(names), self.sizes * 2, tuple(stages))

    @property
    def first_epochs(self) -> list[int]:
        """The first epoch of each stage, from 0."""
        return [first for first, _ in self.stages]

    def stage(self, epoch: int) -> int:
        """Return the index of the stage to which an epoch belongs."""
        return sum(first <= epoch for first in self.first_epochs) - 1

    def pairs(self, epoch: int) -> dict[str, int]:
        """Return the number of pairs of each source that an epoch reads; empty with a single source."""
        counts = self.stages[self.stage(epoch)][1]
        named = {name: count for name, count in zip(self.names, counts, strict=True) if count}
        return named if len(self.names) > 1 else {}

    def shares(self, epoch: int) -> dict[str, float]:
        """Return the share of each source in an epoch; empty with a single source."""
        pairs = self.pairs(epoch)
        return {name: round(count / sum(pairs.values()), 4) for name, count in pairs.items()}

    def fingerprint(self, pairs: str, *, by_source: bool) -> str:
        """Return a checksum of how often pairs are read, and of ``pairs``, their own checksum.

        That is ``pairs`` itself where every epoch reads every pair once, unless there are several sources and
        it matters which pairs are of one (``by_source``).
        """
        if self.stages == ((0, self.sizes),) and not (by_source and len(self.sizes) > 1):
            return pairs
        facts = [pairs, self.stages]
        return json_checksum([*facts, self.sizes] if by_source else facts)


def _counts(mix: Mapping[str, float], available: Mapping[str, int]) -> tuple[int, ...]:
    """The number of pairs of each source that an epoch of a stage reads."""
    first = next(iter(mix))
    num_per_share = available[first] / mix[first]
    return tuple(max(1, int(mix[name] * num_per_share + 0.5)) if name in mix else 0 for name in available)


class BidirectionalPairs(TextPairs):
    """For bidirectional training: the pairs of every file, then those of every file with their sides swapped.

    A file's tag stays before the source.
    """

    def __init__(self, pairs: TextPairs, data: DataConfig) -> None:
        self._pairs = pairs
        self._data = data
        self.fingerprint = f"{pairs.fingerprint} in both directions"
        self.sizes = pairs.sizes * 2

    def __len__(self) -> int:
        return 2 * len(self._pairs)

    def __getitem__(self, row: int) -> SentencePair:  # type: ignore[override]
        if not self.is_swapped(row):
            return self._pairs[row]
        return self._swapped(self._pairs[row - len(self._pairs)])

    def is_swapped(self, row: int) -> bool:
        """Whether the sides of a pair are swapped: those of the second half are."""
        return row >= len(self._pairs)

    def chunks(self, file: int | None = None) -> Iterator[Chunk]:
        """Yield the pairs of one file, or of all, in chunks."""
        for number in range(len(self.sizes)) if file is None else [file]:
            is_swapped, original = divmod(number, len(self._pairs.sizes))
            for chunk in self._pairs.chunks(original):
                yield [self._swapped(pair) for pair in chunk] if is_swapped else chunk

    def _swapped(self, pair: SentencePair) -> SentencePair:
        source, target = pair
        tag = tag_of(source, self._data)
        return tag + target, source.removeprefix(tag)


Stages = Sequence[tuple[int, int]]
"""The first epoch of each stage, from 0, and how many pairs of a source its epochs read."""


class SourceRows:
    """The rows of one source, drawn for each epoch with fixed numbers of every length level.

    ``first`` is the row of its first pair, ``levels`` the length level of each of its pairs, [pairs].
    """

    def __init__(
        self, first: int, levels: np.ndarray, num_levels: int, seed: Sequence[int], stages: Stages
    ) -> None:
        # NumPy sorts 16 bits by radix, ten times as fast as 32.
        is_narrow = num_levels <= 1 << 16
        order = np.argsort(levels.astype(np.uint16) if is_narrow else levels, kind="stable")
        self._rows = (first + order).astype(np.int32)
        size, ordered_levels = max(len(levels), 1), levels[order]
        if fewest := min((count for _, count in stages if 0 < count < size), default=0):
            # Rare lengths would never be drawn: of every size / fewest pairs of similar length an epoch
            # reads one, and all of them have the level of the longest.
            ends = np.arange(1, fewest + 1) * size // fewest
            ordered_levels = np.repeat(ordered_levels[ends - 1], np.diff(ends, prepend=0))
        self._sizes = np.bincount(ordered_levels, minlength=num_levels)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._seed = seed
        self.counts = np.stack([self._divided(*divmod(count, size)) for _, count in stages])
        """How many pairs an epoch reads, int64 [stages, levels]."""
        self._rests = self.counts % np.maximum(self._sizes, 1)
        drawn = self._rests[:-1] * np.diff([first_epoch for first_epoch, _ in stages])[:, np.newaxis]
        self._begins = np.cumsum(np.vstack([np.zeros_like(self._sizes), drawn]), axis=0)

    def _divided(self, whole: int, rest: int) -> np.ndarray:
        """Return how many pairs of each level are all of them so often, and ``rest`` more, [levels]."""
        exact, remainders = np.divmod(self._sizes * rest, max(len(self._rows), 1))
        missing = rest - int(exact.sum())
        exact[np.argsort(-remainders, kind="stable")[:missing]] += 1
        return np.asarray(self._sizes * whole + exact)

    def drawn(self, level: int, stage: int, epoch: int) -> list[np.ndarray]:
        """Return the rows of a level that an epoch reads: all of them so often, and a random part.

        The random parts of consecutive epochs, from 0 at the start of the stage, are consecutive parts of
        shuffled passes over the level, which the next stage continues, so that all pairs are read equally
        often in the end.
        """
        size, start = int(self._sizes[level]), int(self._starts[level])
        rest = int(self._rests[stage, level])
        rows = self._rows[start : start + size]
        drawn = [rows] * (int(self.counts[stage, level]) // max(size, 1))
        begin = int(self._begins[stage, level]) + epoch * rest
        end = begin + rest
        for number in range(begin // max(size, 1), -(-end // max(size, 1))):
            shuffled = np.random.default_rng([*self._seed, level, number, 1]).permutation(rows)
            drawn.append(shuffled[max(begin - number * size, 0) : end - number * size])
        return drawn
