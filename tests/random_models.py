"""Small models with random weights, so large that what they say depends on the source."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from ptenmt.config import Config, DataConfig, DecodingConfig, ModelConfig, TokenizerConfig
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import RaggedIds
from ptenmt.model.layers import MultiHeadAttention
from ptenmt.model.transformer import Transformer
from ptenmt.runs import Run
from ptenmt.runs.weights import write_weights
from ptenmt.tokenizers import END, SPECIAL_PIECES, START, TokenizerPair, build_tokenizers
from ptenmt.tokenizers.words import WordTokenizer

SMALL = ModelConfig(num_layers=2, d_model=16, num_heads=2, d_ff=24, max_positions=24)
LIMIT = 12
_OPTIONS = list(product(("post", "pre"), ("none", "target", "all"), ("relu", "gelu", "swiglu")))


def drawn(number: int) -> tuple[ModelConfig, int, int | None]:
    """A small architecture: every combination of options in 18 consecutive numbers, sizes drawn at random.

    From 36 on as other programs have them: swish, another epsilon, sources without one mark or both.

    Returns:
        Its config, and the sizes of both vocabularies; None where they share one.
    """
    chance = np.random.default_rng(number)
    norm, tied, activation = _OPTIONS[number % len(_OPTIONS)]
    is_foreign = number >= 2 * len(_OPTIONS)
    heads = int(chance.integers(1, 5))
    head_size = int(chance.integers(3, 9))
    has_own_size = bool(chance.integers(2))
    config = ModelConfig(
        num_layers=int(chance.integers(1, 4)),
        d_model=2 * int(chance.integers(5, 10)) if has_own_size else 2 * heads * head_size,
        num_heads=heads,
        d_ff=int(chance.integers(12, 33)),
        key_size=head_size if has_own_size else None,
        value_size=head_size if has_own_size else None,
        norm=norm,
        tied_embeddings=tied,
        activation="swish" if is_foreign else activation,
        norm_epsilon=1e-3 if is_foreign else 1e-6,
        source_marks=("end", "none")[number % 2] if is_foreign else "both",
        max_positions=24,
    )
    source_size, target_size = (int(size) for size in chance.integers(24, 36, size=2))
    return config, source_size, None if tied == "all" else target_size


def random_model(config: ModelConfig, source_size: int, target_size: int, seed: int = 3) -> Transformer:
    """Built; [END] is not too rare."""
    keras.utils.set_random_seed(seed)
    model = Transformer(config, source_size, target_size)
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


def attention_of(model: keras.Model, source: np.ndarray, target: np.ndarray) -> dict[str, np.ndarray]:
    """The attention weights in a pass of a Keras model, by the names that ``NumpyTransformer`` gives them."""
    attend, found = MultiHeadAttention.attend, {}
    start = (int(model.config.source_marks != "both"), 0)  # of a mark that is not read, which has 0

    def recorded(layer: MultiHeadAttention, *arguments: Any) -> tuple[Any, Any]:
        output, weights = attend(layer, *arguments)
        _, stack, block, name = layer.path.split("/")
        place = (
            {"self_attention": "_block1", "cross_attention": "_block2"}[name] if stack == "decoder" else ""
        )
        queries = start if stack == "encoder" else (0, 0)
        padding = ((0, 0), (0, 0), queries, (0, 0) if place == "_block1" else start)
        found[f"{stack}_layer{block.removeprefix('block')}{place}"] = np.pad(np.array(weights), padding)
        return output, weights

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MultiHeadAttention, "attend", recorded)
        model((source, target))
    return found


def write_run(
    folder: Path,
    config: Config,
    pair: TokenizerPair,
    facts: dict[str, Any] | None = None,
    end: float = 0.0,
    **info: Any,
) -> Run:
    """A run of a random model with these tokenizers; ``end`` is added to the logit of [END]."""
    run = Run(folder)
    run.write(config, facts or {"data": {}})
    pair.save(run.tokenizer_folder)
    weights = weights_of(random_model(config.model, *pair.vocabulary_sizes))
    weights["transformer/final/bias"][END] += end
    info = {"step": 1, "score": 1.0} | info
    write_weights(run.weights_folder / "best.safetensors", weights, config, **info)
    return run


def write_random_run(folder: Path, data: DataConfig, pairs: Sequence[SentencePair]) -> Run:
    """A run with SentencePiece tokenizers of these pairs, in the model's direction, and random weights."""
    run = Run(folder)
    config = Config(
        data=data,
        tokenizer=TokenizerConfig(kind="sentencepiece", vocabulary_size=80),
        model=ModelConfig(num_layers=1, d_model=16, num_heads=2, d_ff=32, max_positions=500),
        decoding=DecodingConfig(beam_size=1, max_length=8, no_repeat_ngram=1),
    )
    tokenizers = build_tokenizers(config.tokenizer, pairs, data.languages)
    model = Transformer(config.model, tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size)
    numbers = np.random.default_rng(1)
    weights = {
        variable.path: numbers.normal(size=variable.shape).astype(np.float32)
        if len(variable.shape) > 1
        else variable.numpy()
        for variable in model.trainable_variables
    }
    run.write(config, {})
    tokenizers.save(run.tokenizer_folder)
    best = run.weights_folder / "best.safetensors"
    write_weights(best, weights, config=config, step=1, score=1.0)
    return run


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
