"""Sentence pairs as token ids: a few in memory, the training pairs in files that are found again."""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.config import TokenizerConfig
from ptenmt.data.batches import EncodedPairs, TrainingPairs
from ptenmt.data.cache import CorpusCache
from ptenmt.data.files import SentencePair
from ptenmt.data.ragged import Ragged, RaggedIds, ragged_writer
from ptenmt.data.sampling import SampledPairs
from ptenmt.data.texts import TextPairs
from ptenmt.tokenizers import Tokenizer, TokenizerPair, build_tokenizers, encode_framed, load_tokenizers


def encode_pairs(
    tokenizers: TokenizerPair, pairs: Sequence[SentencePair], max_positions: int
) -> tuple[EncodedPairs, int]:
    """Tokenise sentence pairs; also tell how many sentences had to be cut to ``max_positions``."""
    sources, targets, cut = _framed(tokenizers, pairs, max_positions)
    return EncodedPairs(RaggedIds(sources), RaggedIds(targets)), cut


def learn_tokenizers(
    config: TokenizerConfig, train: TextPairs, languages: tuple[str, str], cache: CorpusCache
) -> TokenizerPair:
    """Make the tokenizers that a config asks for, or find those learnt from the same pairs before.

    Args:
        config: The ``tokenizer`` section; with ``wordpiece``, ``path`` names a folder on this machine.
        train: The training pairs, which ``sentencepiece`` and ``words`` learn from.
        languages: ISO 639-1 codes of source and target.
        cache: Where learnt ones are kept.

    Raises:
        TokenizerError: If the pairs do not suffice, or the published tokenizer cannot be used.
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
    """Tokenise the training pairs, or find what the same tokenizers made of them before.

    Args:
        tokenizers: Of both languages.
        train: The training pairs.
        max_positions: The most ids a sequence may have.
        sampling: The option ``tokenizer.sampling``; above 0 ids are drawn when a batch is.
        cache: Where the ids are kept.

    Returns:
        The pairs for a ``BatchPlan``, and how many sentences had to be cut.

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
        ragged_writer(folder, "source", _dtype(tokenizers.source)) as source,
        ragged_writer(folder, "target", _dtype(tokenizers.target)) as target,
    ):
        for part, (_, repeat) in enumerate(train.parts):
            for chunk in train.chunks(part):
                sources, targets, num_cut = _framed(tokenizers, chunk, max_positions)
                source.append(sources)
                target.append(targets)
                cut += num_cut * repeat
    return {"cut": cut}


def _framed(
    tokenizers: TokenizerPair, pairs: Sequence[SentencePair], max_positions: int
) -> tuple[list[list[int]], list[list[int]], int]:
    """The ids of both sides, and how many sentences were cut."""
    sources, sources_cut = encode_framed(tokenizers.source, [source for source, _ in pairs], max_positions)
    targets, targets_cut = encode_framed(tokenizers.target, [target for _, target in pairs], max_positions)
    return sources, targets, sources_cut + targets_cut


def _dtype(tokenizer: Tokenizer) -> type[np.integer[Any]]:
    return np.uint16 if tokenizer.vocabulary_size <= 1 << 16 else np.int32
