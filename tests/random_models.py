"""Small models with random weights, so large that what they say depends on the source."""

from collections.abc import Sequence

import keras
import numpy as np

from ptenmt.config import ModelConfig
from ptenmt.corpus.batches import RaggedIds
from ptenmt.model import Transformer
from ptenmt.tokenizers import END, SPECIAL_PIECES, START, TokenizerPair
from ptenmt.tokenizers.words import WordTokenizer

SMALL = ModelConfig(num_layers=2, d_model=16, num_heads=2, d_ff=24, max_positions=24)
LIMIT = 12


def random_model(config: ModelConfig, source_size: int, target_size: int, seed: int = 3) -> Transformer:
    """Built; [END] is not too rare."""
    keras.utils.set_random_seed(seed)
    model = Transformer(config, source_size, target_size)
    model.build_weights()
    chance = np.random.default_rng(seed)
    for weight in model.trainable_variables:
        scale, mean = 0.2, 0.0
        if weight.path.endswith("kernel"):
            scale = 2 * weight.shape[0] ** -0.5
        if "cross_attention/value" in weight.path or "cross_attention/output" in weight.path:
            scale *= 3
        if weight.path.endswith("embeddings"):
            scale = 0.5
        if weight.path.endswith("gamma"):
            mean = 1.0
        weight.assign(chance.normal(mean, scale, weight.shape).astype("float32"))
    bias = model.final.bias.numpy()
    bias[END] += 1.5
    model.final.bias.assign(bias)
    return model


def weights_of(model: Transformer) -> dict[str, np.ndarray]:
    return {weight.path: weight.numpy() for weight in model.trainable_variables}


def made_up_words(source_size: int, target_size: int | None = None) -> TokenizerPair:
    """Words such as ``s7`` and ``t7``; without a second size, both languages share theirs."""
    source = WordTokenizer([*SPECIAL_PIECES, *(f"s{number}" for number in range(4, source_size))])
    if target_size is None:
        return TokenizerPair(source, source)
    return TokenizerPair(
        source, WordTokenizer([*SPECIAL_PIECES, *(f"t{number}" for number in range(4, target_size))])
    )


def random_sources(count: int, size: int, longest: int = 9, seed: int = 2) -> list[list[int]]:
    """Sentences of words, from [START] to [END]."""
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, longest, size=count)
    return [[START, *chance.integers(4, size, size=length).tolist(), END] for length in lengths]


def log_probs(
    model: Transformer, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> list[np.ndarray]:
    """Of what follows each id of each target, given those up to it: float64 [T, V]."""
    source, target = (RaggedIds(ids).padded(np.arange(len(ids))) for ids in (sources, targets))
    logits = np.array(model((source, target))).astype("float64")
    logits -= logits.max(axis=-1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return [rows[: len(ids)] for rows, ids in zip(logits, targets, strict=True)]
