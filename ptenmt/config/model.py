"""The options of the section model: what the Transformer is built like."""

from dataclasses import dataclass
from typing import Literal

from ptenmt.config.options import require


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The Transformer's sizes, and what it is made of."""

    num_layers: int = 4
    """Blocks in the encoder, and as many in the decoder."""
    d_model: int = 128
    """Width of embeddings and of every block's output (D)."""
    num_heads: int = 8
    """Attention heads (H)."""
    d_ff: int = 512
    """Inner width of the feed-forward sub-layers (F)."""
    key_size: int | None = None
    """Width of a head's queries and keys; by default d_model / num_heads."""
    value_size: int | None = None
    """Width of a head's values; by default d_model / num_heads."""
    norm: Literal["post", "pre"] = "post"
    """Where layer norms stand: ``post``, after each residual sum, as in the paper; ``pre``, before each
    sub-layer, and once more at the end of both stacks."""
    tied_embeddings: Literal["none", "target", "all"] = "none"
    """``target``: the decoder's table of words makes the logits as well; ``all``: the encoder reads with
    that table, too (it needs tokenizer.shared)."""
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    """Inside the feed-forward sub-layers. ``gelu`` is the exact one (with the error function); ``swiglu``
    has a third matrix of the same inner width, d_ff as stated."""
    dropout: float = 0.1
    """Share of activations dropped after the embeddings and every sub-layer while training."""
    attention_dropout: float = 0.0
    """Share of the attention weights dropped while training."""
    activation_dropout: float = 0.0
    """Share of the activations inside the feed-forward sub-layers dropped while training."""
    word_dropout: float = 0.0
    """Share of the words, source and target, whose embedding is zeroed while training."""
    positions: Literal["sinusoidal", "none"] = "sinusoidal"
    """``none``: embeddings are neither scaled nor told where they stand, so that a model without a mask is
    blind to the order of words."""
    prediction: Literal["pooled", "causal"] = "pooled"
    """What a next-word model predicts from: the mean over all words of a window, which see each other; or
    every word, which sees those up to itself, so that a window teaches as many predictions as it has words.
    """
    max_positions: int = 1000
    """The longest sequence in tokens; longer sentences are cut."""

    def __post_init__(self) -> None:
        for name in ("num_layers", "num_heads", "d_ff", "key_size", "value_size"):
            value = getattr(self, name)
            require(value is None or value >= 1, f"model.{name}={value} must be 1 or more")
        require(
            self.d_model >= 2 and self.d_model % 2 == 0,
            f"model.d_model={self.d_model} must be even and 2 or more",
        )
        require(
            self.d_model % self.num_heads == 0 or None not in (self.key_size, self.value_size),
            f"model.d_model={self.d_model} is not divisible by model.num_heads={self.num_heads}",
        )
        for name in ("dropout", "attention_dropout", "activation_dropout", "word_dropout"):
            rate = getattr(self, name)
            require(0 <= rate < 1, f"model.{name}={rate} must be at least 0 and below 1")
        require(self.max_positions >= 4, f"model.max_positions={self.max_positions} must be 4 or more")
