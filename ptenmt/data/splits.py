"""Validation and test pairs drawn from the training pairs."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np

from ptenmt.data.filters import bare_text, digest
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import Chunk
from ptenmt.processes import parallel_map

_SPARE_CANDIDATES = 1_000


def split_off(
    read: Callable[[], Iterable[Chunk]], sizes: Mapping[str, int], seed: int
) -> dict[str, list[SentencePair]]:
    """Draw pairs for validation or test; returned by split, they are still among all pairs.

    Pairs are ranked by a hash of seed and text, so that neither their order nor other pairs change a pair's
    rank. A pair is drawn once, however often it occurs, and no two splits share a side of a pair, compared
    without case, punctuation and spaces. ``read`` reads all pairs, without empty ones; it is called once, or
    a few times if many share a side. Of each split the wanted number is drawn,
    but at least 1 and at most a tenth of the different pairs.
    """
    num_candidates = 2 * sum(sizes.values()) + _SPARE_CANDIDATES
    while sizes:
        ranked, num_different = _first_ranked(read(), seed, num_candidates, 10 * max(sizes.values()))
        are_all = len(ranked) < num_candidates
        drawn = {}
        wanted = {split: max(1, min(size, num_different // 10)) for split, size in sizes.items()}
        for split, count in wanted.items():
            drawn[split] = ranked[:count]
            taken = [{bare_text(pair[side]) for pair in drawn[split]} for side in (0, 1)]
            ranked = [pair for pair in ranked if all(bare_text(pair[at]) not in taken[at] for at in (0, 1))]
        if are_all or all(len(drawn[split]) == count for split, count in wanted.items()):
            return drawn
        num_candidates *= 4
    return {}


def _first_ranked(
    chunks: Iterable[Chunk], seed: int, limit: int, most_counted: int
) -> tuple[list[SentencePair], int]:
    """Return the first different pairs by rank, and their total number, exact up to ``most_counted``."""
    best: dict[int, SentencePair] = {}
    different: set[int] = set()
    highest = (1 << 64) - 1
    for chunk, ranks in parallel_map(partial(_ranks, seed), chunks):
        if len(different) < most_counted:
            different.update(ranks.tolist())
        for row in np.flatnonzero(ranks <= highest).tolist():
            best[int(ranks[row])] = chunk[row]
        if len(best) > 2 * limit:
            best = {kept: best[kept] for kept in sorted(best)[:limit]}
            highest = max(best)
    return [best[rank] for rank in sorted(best)[:limit]], len(different)


def _ranks(seed: int, chunk: Chunk) -> np.ndarray:
    """Return the rank of each pair, uint64 [pairs]."""
    texts = (f"{seed}\t{source.casefold()}\t{target.casefold()}" for source, target in chunk)
    return np.frombuffer(b"".join(map(digest, texts)), ">u8").astype(np.uint64)
