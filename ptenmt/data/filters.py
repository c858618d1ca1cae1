"""Filters of training pairs, and the split into training, validation and test."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b

import numpy as np

from ptenmt.config import DataConfig
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import Chunk

Filter = Callable[[Chunk], Chunk]
"""Returns the pairs of a chunk to train on; called with all chunks in order."""

_SPARE_CANDIDATES = 1_000


def complete(chunk: Chunk) -> Chunk:
    """Return the pairs with text on both sides."""
    return [pair for pair in chunk if pair[0].strip() and pair[1].strip()]


def configured_filters(data: DataConfig) -> dict[str, Filter]:
    """Return the configured filters.

    Args:
        data: The options ``max_words``, ``max_length_ratio`` and ``deduplicate``.

    Returns:
        Filters by the name that reports give them, in the order in which they are applied.
    """
    filters: dict[str, Filter] = {}
    max_words, max_ratio = data.max_words, data.max_length_ratio
    if max_words is not None:
        filters[f"over {max_words} words"] = lambda chunk: [
            pair for pair in chunk if max(_word_counts(pair)) <= max_words
        ]
    if max_ratio is not None:
        filters[f"length ratio over {max_ratio}"] = lambda chunk: [
            pair for pair in chunk if _length_ratio(pair) <= max_ratio
        ]
    if data.deduplicate:
        filters["duplicates"] = _Unseen()
    return filters


def sharing_no_side(held_out: Sequence[SentencePair]) -> Filter:
    """Return a filter that removes pairs with a held-out source or target, ignoring case.

    Args:
        held_out: Pairs for validation or test.

    Returns:
        The filter.
    """
    sources = {source.casefold() for source, _ in held_out}
    targets = {target.casefold() for _, target in held_out}
    return lambda chunk: [
        pair for pair in chunk if pair[0].casefold() not in sources and pair[1].casefold() not in targets
    ]


def split_off(
    pairs: Iterable[SentencePair], sizes: Mapping[str, int], seed: int
) -> dict[str, list[SentencePair]]:
    """Draw pairs for validation or test.

    The seed and a pair's own text decide on its place in the draw, so neither the order of the pairs nor
    other pairs do. A pair is drawn once, however often it occurs, and no two splits share a side of a pair.

    Args:
        pairs: All pairs, complete ones; gone through once, or a few times if many share their sides.
        sizes: The wanted number of pairs by split; at least 1 and at most a tenth of the different pairs is
            drawn.
        seed: The number that the draw follows from.

    Returns:
        The drawn pairs by split; they are still among ``pairs``.
    """
    num_candidates = 2 * sum(sizes.values()) + _SPARE_CANDIDATES
    while sizes:
        ranked, num_different = _first_ranked(pairs, seed, num_candidates, 10 * max(sizes.values()))
        are_all = len(ranked) < num_candidates
        drawn: dict[str, list[SentencePair]] = {}
        is_enough = True
        for split, size in sizes.items():
            wanted = max(1, min(size, num_different // 10))
            drawn[split] = ranked[:wanted]
            is_enough = is_enough and len(drawn[split]) == wanted
            ranked = sharing_no_side(drawn[split])(ranked)
        if is_enough or are_all:
            return drawn
        num_candidates *= 4
    return {}


def _first_ranked(
    pairs: Iterable[SentencePair], seed: int, limit: int, most_counted: int
) -> tuple[list[SentencePair], int]:
    """Return the first different pairs by rank, and their total number up to ``most_counted``."""
    best: dict[bytes, SentencePair] = {}
    different: set[bytes] = set()
    highest = b"\xff" * 8
    for pair in pairs:
        rank = _rank(_folded(pair), seed)
        if len(different) < most_counted:
            different.add(rank)
        if rank <= highest:
            best[rank] = pair
        if len(best) > 2 * limit:
            best = {kept: best[kept] for kept in sorted(best)[:limit]}
            highest = max(best)
    return [best[rank] for rank in sorted(best)[:limit]], len(different)


def _folded(pair: SentencePair) -> SentencePair:
    return pair[0].casefold(), pair[1].casefold()


def _rank(pair: SentencePair, seed: int) -> bytes:
    return blake2b(f"{seed}\t{pair[0]}\t{pair[1]}".encode(), digest_size=8).digest()


def _word_counts(pair: SentencePair) -> tuple[int, int]:
    return len(pair[0].split()), len(pair[1].split())


def _length_ratio(pair: SentencePair) -> float:
    shorter, longer = sorted(_word_counts(pair))
    return longer / shorter


class _Unseen:
    """Removes duplicates; stores 8 bytes per pair, in sorted runs that double in size."""

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []

    def __call__(self, chunk: Chunk) -> Chunk:
        if not chunk:
            return chunk
        hashes, firsts = np.unique(
            np.array([_hash(pair) for pair in chunk], dtype=np.uint64), return_index=True
        )
        is_new = np.ones(len(hashes), dtype=bool)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            is_new &= run[places] != hashes
        self._remember(hashes[is_new])
        return [chunk[row] for row in np.sort(firsts[is_new]).tolist()]

    def _remember(self, hashes: np.ndarray) -> None:
        if not len(hashes):
            return
        while self._runs and len(self._runs[-1]) <= 2 * len(hashes):
            hashes = np.sort(np.concatenate([self._runs.pop(), hashes]))
        self._runs.append(hashes)


def _hash(pair: SentencePair) -> int:
    text = f"{len(pair[0])}\t{pair[0]}\t{pair[1]}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
