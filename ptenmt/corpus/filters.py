"""Which pairs are trained on, and which are held out for validation and test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from ptenmt.config import DataConfig
from ptenmt.corpus.files import SentencePair

Keep = Callable[[SentencePair], bool]
"""Tells whether a training pair stays."""


@dataclass(frozen=True, kw_only=True)
class TrainingPart:
    """The training pairs of one file."""

    pairs: list[SentencePair]
    repeat: int = 1
    """How often an epoch goes through them."""


def is_complete(pair: SentencePair) -> bool:
    """Tell whether both sides have text."""
    return bool(pair[0].strip() and pair[1].strip())


def configured_filters(data: DataConfig) -> dict[str, Keep]:
    """The filters that the options ask for.

    Args:
        data: The options ``max_words``, ``max_length_ratio`` and ``deduplicate``.

    Returns:
        Filters by the name that reports give them, in the order in which they are applied.
    """
    filters: dict[str, Keep] = {}
    max_words, max_ratio = data.max_words, data.max_length_ratio
    if max_words is not None:
        filters[f"over {max_words} words"] = lambda pair: max(_word_counts(pair)) <= max_words
    if max_ratio is not None:
        filters[f"length ratio over {max_ratio}"] = lambda pair: _length_ratio(pair) <= max_ratio
    if data.deduplicate:
        filters["duplicates"] = _first_time()
    return filters


def sharing_no_side(held_out: Sequence[SentencePair]) -> Keep:
    """A filter for pairs of which neither side is held out; case makes no difference.

    Args:
        held_out: Pairs for validation or test.

    Returns:
        The filter.
    """
    sources = {source.casefold() for source, _ in held_out}
    targets = {target.casefold() for _, target in held_out}
    return lambda pair: pair[0].casefold() not in sources and pair[1].casefold() not in targets


def filtered(parts: Sequence[TrainingPart], keep: Keep) -> tuple[list[TrainingPart], int]:
    """Apply one filter to all training pairs.

    Args:
        parts: The training pairs; they stay as they are.
        keep: The filter.

    Returns:
        What stays, and the number of pairs that do not.
    """
    kept = [replace(part, pairs=[pair for pair in part.pairs if keep(pair)]) for part in parts]
    return kept, sum(len(part.pairs) for part in parts) - sum(len(part.pairs) for part in kept)


def first_pairs(parts: Sequence[TrainingPart], limit: int | None) -> list[SentencePair]:
    """The pairs that an epoch goes through.

    Args:
        parts: The training pairs that the filters left.
        limit: How many of them are used at most, a repeated pair counted once.

    Returns:
        The first pairs of all parts, those of every part repeated as often as it says.
    """
    pairs: list[SentencePair] = []
    for part in parts:
        used = part.pairs[:limit]
        limit = None if limit is None else limit - len(used)
        pairs += used * part.repeat
    return pairs


def split_off(
    pairs: Sequence[SentencePair], sizes: Mapping[str, int], seed: int
) -> dict[str, list[SentencePair]]:
    """Draw pairs for validation or test.

    The seed and a pair's own text decide on its place in the draw, so neither the order of the pairs nor
    other pairs do. A pair is drawn once, however often it occurs, and no two splits share a side of a pair.

    Args:
        pairs: All pairs, complete ones.
        sizes: The wanted number of pairs by split; at least 1 and at most a tenth of the different pairs is
            drawn.
        seed: The number that the draw follows from.

    Returns:
        The drawn pairs by split; they are still in ``pairs``.
    """
    if not sizes:
        return {}
    unique = {_folded(pair): pair for pair in pairs}
    ranked = [unique[key] for key in sorted(unique, key=lambda key: _rank(key, seed))]
    tenth = len(ranked) // 10
    drawn: dict[str, list[SentencePair]] = {}
    for split, size in sizes.items():
        drawn[split] = ranked[: max(1, min(size, tenth))]
        ranked = list(filter(sharing_no_side(drawn[split]), ranked))
    return drawn


def _folded(pair: SentencePair) -> SentencePair:
    return pair[0].casefold(), pair[1].casefold()


def _rank(pair: SentencePair, seed: int) -> bytes:
    return blake2b(f"{seed}\t{pair[0]}\t{pair[1]}".encode(), digest_size=8).digest()


def _word_counts(pair: SentencePair) -> tuple[int, int]:
    return len(pair[0].split()), len(pair[1].split())


def _length_ratio(pair: SentencePair) -> float:
    shorter, longer = sorted(_word_counts(pair))
    return longer / shorter


def _first_time() -> Keep:
    seen: set[SentencePair] = set()

    def keep(pair: SentencePair) -> bool:
        known = pair in seen
        seen.add(pair)
        return not known

    return keep
