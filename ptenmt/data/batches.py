"""Tokenized sentence pairs, cached on disk or drawn for each batch with noise, and their padded batches."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any, Protocol

import numpy as np

from ptenmt.config import BatchConfig, DataConfig, TokenizerConfig
from ptenmt.data.augmentation import NoisyTexts, draw_noises, noisy_pair, tokenizer_symbols
from ptenmt.data.mixing import Mixture, SourceRows
from ptenmt.data.quantities import name_groups
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import CorpusCache, Packed, Ragged, RaggedIds, TextPairs, packed_ids, ragged_writer
from ptenmt.processes import parallel_map
from ptenmt.tokenizers import (
    END,
    START,
    Tokenizer,
    TokenizerPair,
    build_tokenizers,
    encode_framed,
    load_tokenizers,
)

Batch = tuple[np.ndarray, np.ndarray]
"""Source ids [B, S] and target ids [B, T + 1], int64, padded with 0."""

# A batch of long sentences needs more memory than one of as many tokens in short ones, since attention
# weights grow with the square of the length. At this length they need about as much as all the rest.
_LENGTH_OF_EQUAL_SHARES = 256
_EXACT_LENGTHS = 16
_STEPS_AN_OCTAVE = 8
_ATTEMPTS = 3
_SHORTEST_FILL = 0.75
_Ids = list[list[int]]
"""Source and target ids of a pair, [START] and [END] included."""


class TrainingPairs(Protocol):
    """The interface of training examples for a :class:`BatchPlan`."""

    def __len__(self) -> int: ...

    def longest(self) -> np.ndarray:
        """Return the length of the longer side of each pair, int32 [pairs]."""

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:
        """Return the pairs with these indices as ids; ``seed`` is for ids that are sampled.

        Both sides are padded to ``width``; if it is None, each to its own longest sentence.
        """


@dataclass
class EncodedPairs:
    """Tokenized sentence pairs, [START] and [END] included."""

    source: Ragged
    target: Ragged

    def __len__(self) -> int:
        return len(self.source)

    def longest(self) -> np.ndarray:
        """Return the length of the longer side of each pair, int32 [pairs]."""
        return np.asarray(np.maximum(self.source.lengths, self.target.lengths))

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:  # noqa: ARG002
        """Return pairs as ids; the seed is not used."""
        return self.source.padded(rows, width), self.target.padded(rows, width)


def encode_pairs(
    tokenizers: TokenizerPair, pairs: Sequence[SentencePair], max_positions: int
) -> tuple[EncodedPairs, int]:
    """Tokenize sentence pairs; also return the number of sentences truncated to ``max_positions``."""
    source, target, num_truncated = _packed_pairs(tokenizers, max_positions, pairs)
    return EncodedPairs(Ragged(*source), Ragged(*target)), num_truncated


def learn_tokenizers(
    config: TokenizerConfig, train: TextPairs, data: DataConfig, cache: CorpusCache
) -> TokenizerPair:
    """Build the tokenizers of a config, or load those trained on the same pairs before.

    With ``wordpiece``, ``config.path`` names a folder on this machine. ``data`` has the languages, and the
    noise and tags that the tokenizers must know. Raises TokenizerError if there are too few pairs, or the
    published tokenizer cannot be used, and OutputError if the cache cannot be written.
    """
    if config.kind == "wordpiece":
        return build_tokenizers(config, train, data.languages)
    symbols = tokenizer_symbols(data)

    def build(folder: Path) -> dict[str, Any]:
        texts = NoisyTexts(train, data) if data.augment.is_used else train
        build_tokenizers(config, texts, data.languages, symbols).save(folder / "tokenizer")
        return {}

    key = {
        "pairs": train.fingerprint,
        "options": asdict(config),
        "symbols": symbols,
        "augment": asdict(data.augment) if data.augment.is_used else None,
        "version": metadata.version("sentencepiece"),
    }
    return load_tokenizers(cache.entry("tokenizer", key, build).folder / "tokenizer")


def encode_training_pairs(
    tokenizers: TokenizerPair, train: TextPairs, data: DataConfig, max_positions: int, cache: CorpusCache
) -> tuple[TrainingPairs, int]:
    """Tokenize the training pairs, or load the ids from an earlier run with the same tokenizers.

    With ``data.augment`` what gets noise is tokenized again in every batch. Also returns the number of
    sentences truncated to ``max_positions``. Raises OutputError.
    """
    key = {
        "pairs": train.fingerprint,
        "tokenizers": tokenizers.checksums,
        "version": metadata.version("sentencepiece"),
        "max_positions": max_positions,
    }

    def build(folder: Path) -> dict[str, Any]:
        num_truncated, encode = 0, partial(_packed_pairs, tokenizers, max_positions)
        with ragged_writer(folder, "source") as add_source, ragged_writer(folder, "target") as add_target:
            for sources, targets, num_new in parallel_map(encode, train.chunks()):
                add_source(sources)
                add_target(targets)
                num_truncated += num_new
        return {"num_truncated": num_truncated}

    entry = cache.entry("tokens", key, build)
    clean = EncodedPairs(
        Ragged.mapped(entry.folder, "source", _dtype(tokenizers.source)),
        Ragged.mapped(entry.folder, "target", _dtype(tokenizers.target)),
    )
    pairs = AugmentedPairs(clean, train, tokenizers, data) if data.augment.is_used else clean
    return pairs, entry.facts["num_truncated"]


def _packed_pairs(
    tokenizers: TokenizerPair, max_positions: int, pairs: Sequence[SentencePair]
) -> tuple[Packed, Packed, int]:
    """Return the ids of both sides as they are stored, and the number of truncated sentences."""
    sources, num_sources = encode_framed(tokenizers.source, [source for source, _ in pairs], max_positions)
    targets, num_targets = encode_framed(tokenizers.target, [target for _, target in pairs], max_positions)
    source, target = _dtype(tokenizers.source), _dtype(tokenizers.target)
    return packed_ids(sources, source), packed_ids(targets, target), num_sources + num_targets


def _dtype(tokenizer: Tokenizer) -> type[np.integer[Any]]:
    return np.uint16 if tokenizer.vocabulary_size <= 1 << 16 else np.int32


class BatchPlan:
    """The division of an epoch of training pairs into batches.

    With ``batch.sentences`` a batch has random pairs. With ``batch.tokens`` it has pairs of similar length,
    as many as fit, which needs far less padding; lengths are rounded up, so that there are a few dozen shapes
    of batches. Either way the order of an epoch is a function of (seed, epoch).

    Which pairs an epoch reads is the ``mixture``; by default every pair once. It draws a fixed number of
    pairs of every length, so that all epochs have the same batches but for the pairs in them.
    """

    def __init__(
        self, pairs: TrainingPairs, batch: BatchConfig, seed: int, mixture: Mixture | None = None
    ) -> None:
        self.mixture = mixture or Mixture.once(len(pairs))
        self._pairs = pairs
        self._seed = seed
        levels = np.zeros(len(pairs), np.int32) if batch.tokens is None else _rounded_up(pairs.longest())
        num_levels = int(levels.max(initial=0)) + 1
        ends = np.cumsum(self.mixture.sizes).tolist()
        self._sources = [
            SourceRows(end - size, levels[end - size : end], num_levels, (seed, number), count)
            for number, (end, size, count) in enumerate(
                zip(ends, self.mixture.sizes, self.mixture.counts, strict=True)
            )
        ]
        self._counts = np.sum([source.counts for source in self._sources], axis=0)
        """Number of pairs of each level, [levels]."""
        self._widths: np.ndarray | None = None
        """The length that the pairs of each batch are padded to; None where each batch has its own."""
        if batch.tokens is None:
            self._cuts = np.arange(0, int(self._counts.sum()), batch.sentences)
            """The start of each batch in the sorted pairs of an epoch."""
        else:
            self._cuts, self._widths = _cuts_by_tokens(self._counts, batch.tokens)

    @property
    def num_batches(self) -> int:
        """Number of batches of an epoch."""
        return len(self._cuts)

    def batches(self, epoch: int, first: int = 0) -> Iterator[Batch]:
        """Yield the batches of one epoch (from 0), from batch ``first`` on; skipping those before is free."""
        random = np.random.default_rng([self._seed, epoch])
        order = self._sorted(epoch)
        start = 0
        for count in self._counts.tolist():
            random.shuffle(order[start : start + count])
            start += count
        ends = np.append(self._cuts[1:], len(order))
        for number in self._numbers(random, order)[first:].tolist():
            rows = order[self._cuts[number] : ends[number]]
            width = None if self._widths is None else int(self._widths[number])
            yield self._pairs.batch(rows, width, (self._seed, epoch, number))

    def _sorted(self, epoch: int) -> np.ndarray:
        """Return the rows of an epoch by level, then by source, int32."""
        return np.concatenate(
            [
                rows
                for level in np.flatnonzero(self._counts).tolist()
                for source in self._sources
                for rows in source.drawn(level, epoch)
            ]
        )

    def _numbers(self, random: np.random.Generator, order: np.ndarray) -> np.ndarray:
        """Return the numbers of the batches in the order of an epoch, whose pairs are ``order``."""
        sizes = np.diff(self._cuts, append=len(order))
        if self._widths is None:
            widths = np.maximum.reduceat(self._pairs.longest()[order], self._cuts)
            numbers = np.arange(len(sizes))
        else:
            widths = self._widths
            numbers = random.permutation(len(sizes))
        # The batch that needs the most memory comes first: if it does not fit, the training fails at once.
        largest = np.argmax(sizes * widths * (widths + _LENGTH_OF_EQUAL_SHARES))
        return np.concatenate([[largest], numbers[numbers != largest]])


def sorted_batches(pairs: EncodedPairs, sentences: int) -> Iterator[Batch]:
    """Yield all pairs once, sorted by length to minimize padding."""
    order = np.lexsort((pairs.source.lengths, pairs.target.lengths))
    for start in range(0, len(order), sentences):
        rows = order[start : start + sentences]
        yield pairs.source.padded(rows), pairs.target.padded(rows)


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
    """Divide pairs sorted by length, ``counts[length]`` each, into batches of ``tokens // length`` pairs.

    The pairs of a length that fill no batch are batched with the next longer ones. Returns the start of each
    batch, and the length its pairs are padded to.
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


class AugmentedPairs(EncodedPairs):
    """Training pairs with other noise in every epoch (see ``TrainingPairs``).

    Noise is a function of the seed of a batch and of a pair's place in it. ``clean`` are the ids of ``texts``
    without noise.

    No batch is larger than planned. Noises grow pairs by very different factors: capitals double a sentence,
    a typo adds one token. A pair that outgrows its batch gives up its place to a shorter pair of the same
    file with the same noises, drawn at random among those that should then fill the place. So the lengths in
    a batch and the mixture of files stay as planned, and no length goes without noise. A place for which
    three pairs in a row are too long keeps its own without noise.
    """

    def __init__(
        self, clean: EncodedPairs, texts: TextPairs, tokenizers: TokenizerPair, data: DataConfig
    ) -> None:
        super().__init__(clean.source, clean.target)
        self._lengths, self._texts = clean.longest(), texts
        self._tokenizers = (tokenizers.source, tokenizers.target)
        if data.augment.name_list is not None and data.augment.names:
            name_groups(Path(data.augment.name_list))  # a missing list is known before the training
        self._data = data
        self._ends = np.cumsum(texts.sizes, dtype=np.int64)

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:
        """Return pairs as ids, which follow from ``seed``; see ``TrainingPairs``."""
        room = width or int(self._lengths[rows].max())
        ids: list[_Ids] = []
        for place, row in enumerate(rows.tolist()):
            random = Random(repr((*map(int, seed), place)))
            names = draw_noises(self._data.augment, random)
            noisy = self._noisy(names, row, room, random) if names else None
            ids.append(noisy or [self.source[row].tolist(), self.target[row].tolist()])
        source, target = (RaggedIds(side).padded(width=width) for side in zip(*ids, strict=True))
        return source, target

    def _noisy(self, names: Sequence[str], row: int, room: int, random: Random) -> _Ids | None:
        """The ids of a row with these noises, or of a shorter one; None if there is no noise that fits."""
        for _ in range(_ATTEMPTS):
            pair = self._texts[row]
            noisy = noisy_pair(names, pair, random, self._data)
            if noisy == pair:
                return None
            ids = [
                [START, *tokenizer.encode([text])[0], END]
                for tokenizer, text in zip(self._tokenizers, noisy, strict=True)
            ]
            length = max(map(len, ids))
            if length <= room:
                return ids
            shorter = self._shorter(row, int(self._lengths[row]) * room / length, random)
            if shorter is None:
                return None
            row = shorter
        return None

    @cached_property
    def _by_length(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows, file by file and by length within each, and their lengths; both int32 [pairs]."""
        files = np.repeat(np.arange(len(self._ends), dtype=np.int16), self._texts.sizes)
        rows = np.lexsort((self._lengths, files)).astype(np.int32)
        return rows, self._lengths[rows]

    def _shorter(self, row: int, limit: float, random: Random) -> int | None:
        """A random row of the same file, of at most ``limit`` tokens and if possible not much fewer."""
        file = int(np.searchsorted(self._ends, row, side="right"))
        of_file = slice(int(self._ends[file]) - self._texts.sizes[file], int(self._ends[file]))
        rows, lengths = (column[of_file] for column in self._by_length)
        first, last = np.searchsorted(lengths, (_SHORTEST_FILL * limit, limit), side="right").tolist()
        if first == last:
            first = 0
        return int(rows[random.randrange(first, last)]) if last else None
