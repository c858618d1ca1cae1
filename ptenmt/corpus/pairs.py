"""The sentence pairs of a run, wherever they come from: read, prepared, filtered and split."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from ptenmt.config import CorpusFile, DataConfig
from ptenmt.corpus.files import SentencePair, read_pairs
from ptenmt.corpus.filters import (
    TrainingPart,
    configured_filters,
    filtered,
    first_pairs,
    is_complete,
    sharing_no_side,
    split_off,
)
from ptenmt.corpus.text import TextPreparation
from ptenmt.errors import DataError

__all__ = ["Corpus", "HeldOutSplit", "SentencePair", "load_corpus", "load_split"]

HeldOutSplit = Literal["validation", "test"]
"""The splits that are not trained on."""

_HELD_OUT: tuple[HeldOutSplit, ...] = ("validation", "test")


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Prepared sentence pairs, ready to be tokenised."""

    train: list[SentencePair]
    validation: list[SentencePair]
    test: list[SentencePair]
    removed: dict[str, int]
    """How many training pairs each filter removed, in the order in which they were applied."""


def fingerprint(pairs: Iterable[SentencePair]) -> str:
    """The SHA-256 checksum of sentence pairs in their order, in hexadecimal."""
    checksum = sha256()
    for source, target in pairs:
        checksum.update(f"{source}\t{target}\n".encode())
    return checksum.hexdigest()


def load_corpus(data: DataConfig, seed: int) -> Corpus:
    """Load all sentence pairs of a run.

    Text is prepared on all splits; filters, ``limit`` and ``repeat`` concern training pairs only.
    Validation and test pairs that have no files of their own are split off the training pairs before any
    filter but the one for empty sentences, and training pairs that share a sentence with them are removed.

    Args:
        data: Where the pairs come from, and what is done to them.
        seed: The number that the splits follow from.

    Returns:
        The pairs of all splits.

    Raises:
        DataError: A file cannot be read, or no pair is left of a split.
    """
    parts = _training_parts(data)
    num_read = sum(len(part.pairs) for part in parts)
    parts, num_empty = filtered(parts, is_complete)
    removed = {"empty": num_empty}
    given = {split: _given_pairs(data, split) for split in _HELD_OUT}
    drawn = _drawn_pairs(data, seed, parts, [split for split in _HELD_OUT if given[split] is None])
    if drawn:
        held_out = [pair for pairs in drawn.values() for pair in pairs]
        parts, num_sharing = filtered(parts, sharing_no_side(held_out))
        removed["also in validation or test"] = num_sharing - len(held_out)
    for name, keep in configured_filters(data).items():
        parts, removed[name] = filtered(parts, keep)
    splits = {split: drawn[split] if pairs is None else pairs for split, pairs in given.items()}
    train = first_pairs(parts, data.limit)
    _require_pairs("training", train, num_read, removed)
    for split, pairs in splits.items():
        _require_pairs(split, pairs, num_read, removed)
    return Corpus(train=train, validation=splits["validation"], test=splits["test"], removed=removed)


def load_split(data: DataConfig, seed: int, split: HeldOutSplit) -> list[SentencePair]:
    """Load the validation or test pairs alone; the training pairs are read only if they are split off those.

    Args:
        data: Where the pairs come from, and what is done to them.
        seed: The number that the splits follow from.
        split: Which pairs.

    Returns:
        The same pairs as ``load_corpus`` gives.

    Raises:
        DataError: A file cannot be read, or there is no pair in the split.
    """
    if split not in _HELD_OUT:
        raise DataError(f"there is no split {split!r}", f"splits to score: {', '.join(_HELD_OUT)}")
    pairs = _given_pairs(data, split)
    if pairs is not None:
        _require_pairs(split, pairs, 0, {})
        return pairs
    parts = _training_parts(data)
    num_read = sum(len(part.pairs) for part in parts)
    parts, num_empty = filtered(parts, is_complete)
    drawn = _drawn_pairs(data, seed, parts, [name for name in _HELD_OUT if not _files(data, name)])
    _require_pairs(split, drawn[split], num_read, {"empty": num_empty})
    return drawn[split]


def _training_parts(data: DataConfig) -> list[TrainingPart]:
    if data.source != "files":
        return [TrainingPart(pairs=_prepared(data, _published_pairs(data, "train")))]
    files = data.train or (CorpusFile(path=data.path),)
    return [TrainingPart(pairs=_prepared(data, read_pairs(file)), repeat=file.repeat) for file in files]


def _given_pairs(data: DataConfig, split: HeldOutSplit) -> list[SentencePair] | None:
    """The pairs that a split has of its own; None when they are split off the training pairs."""
    files = _files(data, split)
    if files:
        return [pair for file in files for pair in _prepared(data, read_pairs(file))]
    return None if data.source == "files" else _prepared(data, _published_pairs(data, split))


def _files(data: DataConfig, split: HeldOutSplit) -> tuple[CorpusFile, ...]:
    return data.validation if split == "validation" else data.test


def _published_pairs(
    data: DataConfig, split: Literal["train", "validation", "test"]
) -> Iterable[SentencePair]:
    if data.source == "demo":
        from ptenmt.corpus.demo import demo_pairs

        return demo_pairs(split)
    from ptenmt.corpus.tfds_source import read_tfds

    return read_tfds(data.dataset, data.data_dir, split)


def _prepared(data: DataConfig, pairs: Iterable[SentencePair]) -> list[SentencePair]:
    prepare = TextPreparation(data).prepare
    source_language, target_language = data.source_language, data.target_language
    return [(prepare(source, source_language), prepare(target, target_language)) for source, target in pairs]


def _drawn_pairs(
    data: DataConfig, seed: int, parts: Sequence[TrainingPart], splits: Iterable[HeldOutSplit]
) -> dict[str, list[SentencePair]]:
    sizes = {"validation": data.validation_pairs, "test": data.test_pairs}
    all_pairs = [pair for part in parts for pair in part.pairs]
    return split_off(all_pairs, {split: sizes[split] for split in splits}, seed)


def _require_pairs(
    split: str, pairs: Sequence[SentencePair], num_read: int, removed: Mapping[str, int]
) -> None:
    if pairs:
        return
    reasons = ", ".join(f"{count:,} {name}" for name, count in removed.items() if count)
    raise DataError(
        f"no {split} pair is left of {num_read:,} pairs read" + (f" (removed: {reasons})" if reasons else ""),
        hint="loosen the filters in the section data, or give more pairs",
    )
