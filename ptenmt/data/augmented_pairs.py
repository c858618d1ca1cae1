"""Training pairs that are tokenized for each batch: with noise, placeholders and sampled segmentations."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from random import Random

import numpy as np

from ptenmt.config import DataConfig
from ptenmt.data.augmentation import draw_noises, noisy_pair
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import Ragged, RaggedIds, TextPairs
from ptenmt.tokenizers import END, START, TokenizerPair
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

_MEASURED_PAIRS = 1_000
_SHARE_THAT_FITS = 0.9
_ATTEMPTS = 3
_SHORTEST_FILL = 0.75

_Ids = list[list[int]]
"""Source and target ids of a pair, [START] and [END] included."""


class AugmentedPairs:
    """Training pairs with other noise and other segmentations in every epoch (see ``TrainingPairs``).

    Both are functions of the seed of a batch and of a pair's place in it. ``source`` and ``target`` are the
    ids of ``texts`` in their best segmentation.

    No batch is larger than planned. Sampled segmentations are longer than the best one by a factor that
    hardly differs between sentences, so batches are planned for it; a sentence that is still too long keeps
    its best segmentation. Noises grow a few pairs by very different factors: capitals double a sentence, a
    typo adds one token. A pair that outgrows its batch gives up its place to a shorter pair of the same file
    with the same noises, drawn at random among those that should then fill the place. So the lengths in a
    batch and the mixture of files stay as planned, and no length goes without noise. A place for which three
    pairs in a row are too long keeps its own without noise.
    """

    def __init__(
        self,
        source: Ragged,
        target: Ragged,
        texts: TextPairs,
        tokenizers: TokenizerPair,
        sampling: float,
        data: DataConfig,
        max_positions: int,
    ) -> None:
        self._clean = (source, target)
        self._lengths = np.asarray(np.maximum(source.lengths, target.lengths))
        self._texts = texts
        self._tokenizers = (tokenizers.source, tokenizers.target)
        self._sampling = sampling
        self._data, self._augment = data, data.augment
        self._max_positions = max_positions
        self._ends = np.cumsum(texts.sizes, dtype=np.int64)
        self._starts = self._ends - texts.sizes
        self._growth = self._measured_growth() if sampling else 1.0

    def __len__(self) -> int:
        return len(self._lengths)

    def longest(self) -> np.ndarray:
        """Return the expected length of the longer side of each pair, int32 [pairs]."""
        grown = np.ceil(self._lengths * np.float32(self._growth)).astype(np.int32)
        return np.asarray(np.minimum(grown, self._max_positions))

    def batch(
        self, rows: np.ndarray, width: int | None, seed: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs as ids, which follow from ``seed``; see ``TrainingPairs``."""
        planned = int(self._lengths[rows].max())
        room = width or min(math.ceil(planned * self._growth), self._max_positions)
        ids: list[_Ids] = [[side[row].tolist() for side in self._clean] for row in rows.tolist()]
        if self._sampling:
            sampled = self._encoded([self._texts[row] for row in rows.tolist()], seed)
            for best, pair in zip(ids, sampled, strict=True):
                best[:] = [new if len(new) <= room else old for old, new in zip(best, pair, strict=True)]
        if any(vars(self._augment).values()):
            for place, pair in self._with_noise(rows.tolist(), room, seed):
                ids[place] = pair
        source, target = (RaggedIds(side).padded(width=width) for side in zip(*ids, strict=True))
        return source, target

    def _with_noise(self, rows: Sequence[int], room: int, seed: Sequence[int]) -> Iterator[tuple[int, _Ids]]:
        """Yield the places of pairs that get noise, and the ids, all of which fit."""
        waiting = {}
        for place, row in enumerate(rows):
            random = Random(repr((*map(int, seed), place)))
            if names := draw_noises(self._augment, random):
                waiting[place] = names, random, row
        for attempt in range(_ATTEMPTS):
            texts = {}
            for place, (names, random, chosen) in waiting.items():
                pair = self._texts[chosen]
                noisy = noisy_pair(names, pair, random, self._data)
                if noisy != pair:
                    texts[place] = noisy
            outgrown = {}
            for place, ids in zip(texts, self._encoded([*texts.values()], (*seed, attempt)), strict=True):
                names, random, chosen = waiting[place]
                length = max(map(len, ids))
                if length <= room:
                    yield place, ids
                    continue
                limit = int(self._lengths[chosen]) * room / length
                shorter = self._shorter(rows[place], limit, random)
                if shorter is not None:
                    outgrown[place] = names, random, shorter
            waiting = outgrown

    def _encoded(self, pairs: Sequence[SentencePair], seed: Sequence[int]) -> list[_Ids]:
        sides = []
        for side, tokenizer in enumerate(self._tokenizers):
            texts = [pair[side] for pair in pairs]
            if self._sampling and isinstance(tokenizer, SentencePieceTokenizer):
                encoded = tokenizer.sample(texts, self._sampling, (*seed, side))
            else:
                encoded = tokenizer.encode(texts)
            sides.append([[START, *ids, END] for ids in encoded])
        return [list(pair) for pair in zip(*sides, strict=True)]

    @cached_property
    def _by_length(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows, file by file and by length within each, and their lengths; both int32 [pairs]."""
        files = np.repeat(np.arange(len(self._ends), dtype=np.int16), self._texts.sizes)
        rows = np.lexsort((self._lengths, files)).astype(np.int32)
        return rows, self._lengths[rows]

    def _shorter(self, row: int, limit: float, random: Random) -> int | None:
        """A random row of the same file, of at most ``limit`` tokens and if possible not much fewer."""
        file = int(np.searchsorted(self._ends, row, side="right"))
        start, end = int(self._starts[file]), int(self._ends[file])
        rows, lengths = (column[start:end] for column in self._by_length)
        first, last = np.searchsorted(lengths, (_SHORTEST_FILL * limit, limit), side="right").tolist()
        if first == last:
            first = 0
        return int(rows[random.randrange(first, last)]) if last else None

    def _measured_growth(self) -> float:
        """The 90% quantile of the ratio of the sampled length to the best length."""
        rows = np.arange(min(_MEASURED_PAIRS, len(self))) * len(self) // min(_MEASURED_PAIRS, len(self))
        drawn = self._encoded([self._texts[row] for row in rows.tolist()], (0,))
        growth = np.array([max(map(len, ids)) for ids in drawn]) / self._lengths[rows]
        return max(1.0, float(np.quantile(growth, _SHARE_THAT_FITS)))
