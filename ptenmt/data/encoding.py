"""Sentence pairs as token ids: in memory, cached on disk, or sampled (subword regularization)."""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.config import TokenizerConfig
from ptenmt.data.batches import Batch, EncodedPairs, TrainingPairs
from ptenmt.data.cache import CorpusCache
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import Ragged, RaggedIds, TextPairs, ragged_writer
from ptenmt.tokenizers import (
    END,
    START,
    Tokenizer,
    TokenizerPair,
    build_tokenizers,
    encode_framed,
    load_tokenizers,
)
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer


def encode_pairs(
    tokenizers: TokenizerPair, pairs: Sequence[SentencePair], max_positions: int
) -> tuple[EncodedPairs, int]:
    """Tokenize sentence pairs; also return the number of sentences truncated to ``max_positions``."""
    sources, targets, cut = _framed(tokenizers, pairs, max_positions)
    return EncodedPairs(RaggedIds(sources), RaggedIds(targets)), cut


def learn_tokenizers(
    config: TokenizerConfig, train: TextPairs, languages: tuple[str, str], cache: CorpusCache
) -> TokenizerPair:
    """Build the tokenizers of a config, or load those trained on the same pairs before.

    Args:
        config: The ``tokenizer`` section; with ``wordpiece``, ``path`` names a folder on this machine.
        train: The training pairs, for ``sentencepiece`` and ``words``.
        languages: ISO 639-1 codes of source and target.
        cache: Stores the trained ones.

    Raises:
        TokenizerError: There are too few pairs, or the published tokenizer cannot be used.
        OutputError: The cache cannot be written.
    """
    if config.kind == "wordpiece":
        return build_tokenizers(config, train, languages)

    def build(folder: Path) -> dict[str, Any]:
        build_tokenizers(config, train, languages).save(folder / "tokenizer")
        return {}

    key = {
        "pairs": train.fingerprint,
        "options": [config.kind, config.vocabulary_size, config.shared, config.algorithm],
        "words": [config.punctuation, config.order],
        "training_sentences": config.training_sentences,
        "version": metadata.version("sentencepiece"),
    }
    return load_tokenizers(cache.entry("tokenizer", key, build).folder / "tokenizer")


def encode_training_pairs(
    tokenizers: TokenizerPair, train: TextPairs, max_positions: int, sampling: float, cache: CorpusCache
) -> tuple[TrainingPairs, int]:
    """Tokenize the training pairs, or load the ids from an earlier run with the same tokenizers.

    Args:
        tokenizers: Of both languages.
        train: The training pairs.
        max_positions: Maximum number of ids per sequence.
        sampling: The option ``tokenizer.sampling``; above 0 every batch is tokenized anew.
        cache: Stores the ids.

    Returns:
        The pairs for a ``BatchPlan``, and the number of truncated sentences.

    Raises:
        OutputError: The cache cannot be written.
    """
    key = {
        "pairs": [train.fingerprint, train.parts],
        "tokenizers": tokenizers.checksums,
        "version": metadata.version("sentencepiece"),
        "max_positions": max_positions,
    }
    entry = cache.entry("tokens", key, lambda folder: _write_ids(folder, tokenizers, train, max_positions))
    source = Ragged.mapped(entry.folder, "source", _dtype(tokenizers.source))
    target = Ragged.mapped(entry.folder, "target", _dtype(tokenizers.target))
    pairs = EncodedPairs(source, target, train.rows)
    if sampling:
        return SampledPairs(pairs, train, tokenizers, sampling, max_positions), entry.facts["cut"]
    return pairs, entry.facts["cut"]


def _write_ids(
    folder: Path, tokenizers: TokenizerPair, train: TextPairs, max_positions: int
) -> dict[str, Any]:
    cut = 0
    with (
        ragged_writer(folder, "source", _dtype(tokenizers.source)) as append_source,
        ragged_writer(folder, "target", _dtype(tokenizers.target)) as append_target,
    ):
        for part, (_, repeat) in enumerate(train.parts):
            for chunk in train.chunks(part):
                sources, targets, num_cut = _framed(tokenizers, chunk, max_positions)
                append_source(sources)
                append_target(targets)
                cut += num_cut * repeat
    return {"cut": cut}


def _framed(
    tokenizers: TokenizerPair, pairs: Sequence[SentencePair], max_positions: int
) -> tuple[list[list[int]], list[list[int]], int]:
    """Return the ids of both sides, and the number of truncated sentences."""
    sources, sources_cut = encode_framed(tokenizers.source, [source for source, _ in pairs], max_positions)
    targets, targets_cut = encode_framed(tokenizers.target, [target for _, target in pairs], max_positions)
    return sources, targets, sources_cut + targets_cut


def _dtype(tokenizer: Tokenizer) -> type[np.integer[Any]]:
    return np.uint16 if tokenizer.vocabulary_size <= 1 << 16 else np.int32


_MEASURED_PAIRS = 1_000
_SHARE_THAT_FITS = 0.9


class SampledPairs:
    """Training pairs that are tokenized for each batch, each time with a new random segmentation.

    Sampled segmentations are longer than the best one, so batches are planned for longer sentences; the
    growth is measured. A sentence that is still longer than its batch allows keeps its best segmentation, so
    that no batch is larger than planned.

    Args:
        encoded: The pairs in their best segmentation.
        texts: The same pairs.
        tokenizers: Two of SentencePiece.
        strength: The option ``tokenizer.sampling``.
        max_positions: Maximum number of ids per sequence.
    """

    def __init__(
        self,
        encoded: EncodedPairs,
        texts: TextPairs,
        tokenizers: TokenizerPair,
        strength: float,
        max_positions: int,
    ) -> None:
        self._encoded = encoded
        self._texts = texts
        self._tokenizers = tokenizers
        self._strength = strength
        self._max_positions = max_positions
        self._growth = self._measured_growth()

    def __len__(self) -> int:
        return len(self._encoded)

    def longest(self) -> np.ndarray:
        """Return the expected length of the longer side of each pair, int32 [pairs]."""
        return self._planned(self._encoded.longest())

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:
        """Return pairs as ids, whose segmentation follows from ``seed``; see ``TrainingPairs``."""
        stored = rows if self._encoded.rows is None else self._encoded.rows[rows]
        best = (self._encoded.source, self._encoded.target)
        limit = width or int(self._planned(np.maximum(*(side.lengths[stored] for side in best))).max())
        every = np.arange(len(rows))
        source, target = (
            _within(limit, sampled, side, stored).padded(every, width)
            for sampled, side in zip(self._draw(rows, seed), best, strict=True)
        )
        return source, target

    def _planned(self, longest: np.ndarray) -> np.ndarray:
        """Return the expected sampled lengths for the lengths of the best segmentations, int32."""
        grown = np.ceil(longest * np.float32(self._growth)).astype(np.int32)
        return np.asarray(np.minimum(grown, self._max_positions))

    def _draw(self, rows: np.ndarray, seed: Sequence[int]) -> list[list[list[int]]]:
        """Sample segmentations of the source sentences and of the target sentences."""
        pairs = [self._texts[row] for row in rows.tolist()]
        tokenizers = (self._tokenizers.source, self._tokenizers.target)
        sides = []
        for side, (tokenizer, texts) in enumerate(zip(tokenizers, zip(*pairs, strict=True), strict=True)):
            assert isinstance(tokenizer, SentencePieceTokenizer)
            sampled = tokenizer.sample(texts, self._strength, (*seed, side))
            sides.append([[START, *ids, END] for ids in sampled])
        return sides

    def _measured_growth(self) -> float:
        """Return the 90 % quantile of the ratio of the sampled length to the best length."""
        number = min(_MEASURED_PAIRS, len(self))
        rows = np.arange(number) * len(self) // number
        drawn = np.array([[len(ids) for ids in side] for side in self._draw(rows, (0,))])
        growth = drawn.max(axis=0) / self._encoded.longest()[rows]
        return max(1.0, float(np.quantile(growth, _SHARE_THAT_FITS)))


def _within(limit: int, sampled: list[list[int]], best: Ragged, rows: np.ndarray) -> RaggedIds:
    """Return the sampled ids, or the best ones where the sampled ones are too long."""
    return RaggedIds(
        ids if len(ids) <= limit else best[row].tolist()
        for ids, row in zip(sampled, rows.tolist(), strict=True)
    )
