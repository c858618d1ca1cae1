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
    """Return the filters of ``data`` by their name in reports, in the order of application."""
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
    """Return a filter that removes pairs with a held-out source or target, ignoring case."""
    sources = {source.casefold() for source, _ in held_out}
    targets = {target.casefold() for _, target in held_out}
    return lambda chunk: [
        pair for pair in chunk if pair[0].casefold() not in sources and pair[1].casefold() not in targets
    ]


def first_pairs(limit: int | None) -> Filter:
    """Return a filter that keeps the first ``limit`` pairs; None keeps all."""
    room = limit

    def keep(chunk: Chunk) -> Chunk:
        nonlocal room
        kept = chunk[:room]
        room = None if room is None else room - len(kept)
        return kept

    return keep


def split_off(
    pairs: Iterable[SentencePair], sizes: Mapping[str, int], seed: int
) -> dict[str, list[SentencePair]]:
    """Draw pairs for validation or test.

    Pairs are ranked by a hash of seed and text, so that neither their order nor other pairs change a pair's
    rank. A pair is drawn once, however often it occurs, and no two splits share a side of a pair.

    Args:
        pairs: All pairs, without empty ones; read once, or a few times if many share a side.
        sizes: The wanted number of pairs by split; at least 1 and at most a tenth of the different pairs is
            drawn.
        seed: Random seed.

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
        rank = _hash(f"{seed}\t{pair[0].casefold()}\t{pair[1].casefold()}")
        if len(different) < most_counted:
            different.add(rank)
        if rank <= highest:
            best[rank] = pair
        if len(best) > 2 * limit:
            best = {kept: best[kept] for kept in sorted(best)[:limit]}
            highest = max(best)
    return [best[rank] for rank in sorted(best)[:limit]], len(different)


def _hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()


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
        texts = (f"{len(source)}\t{source}\t{target}" for source, target in chunk)
        hashed = np.frombuffer(b"".join(map(_hash, texts)), dtype="<u8")
        hashes, firsts = np.unique(hashed, return_index=True)
        is_new = np.ones(len(hashes), dtype=bool)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            is_new &= run[places] != hashes
        new = hashes[is_new]
        while self._runs and len(self._runs[-1]) <= 2 * len(new):
            new = np.sort(np.concatenate([self._runs.pop(), new]))
        if len(new):
            self._runs.append(new)
        return [chunk[row] for row in np.sort(firsts[is_new]).tolist()]
