"""The options of the sections batch, training, checkpoint and decoding: how the model learns and is used."""

from dataclasses import dataclass

from ptenmt.config.options import require, resumable


@dataclass(frozen=True, kw_only=True)
class BatchConfig:
    """How an epoch is cut into training steps."""

    sentences: int = 64
    """Sentence pairs a step, of any lengths; also how many are scored at a time."""
    tokens: int | None = None
    """Instead of ``sentences``: as many pairs of similar length a step as keep sentences × the longest
    side within this, which pads little and trains faster."""

    def __post_init__(self) -> None:
        require(self.sentences >= 1, f"batch.sentences={self.sentences} must be 1 or more")
        tokens = self.tokens
        require(tokens is None or tokens >= 1, f"batch.tokens={tokens} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How long and how fast the model learns."""

    epochs: int = resumable(20)
    """Passes over the training pairs, in all: a resumed run counts those before."""
    warmup_steps: int = 4000
    """Steps over which the learning rate climbs to its peak, d_model^-0.5 · warmup_steps^-0.5."""

    def __post_init__(self) -> None:
        require(self.epochs >= 1, f"training.epochs={self.epochs} must be 1 or more")
        require(self.warmup_steps >= 1, f"training.warmup_steps={self.warmup_steps} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """When the state of a training is written, and how many such states stay."""

    every_epochs: int = resumable(5)
    """Save after every so many epochs (and always at the end)."""
    keep: int = resumable(5)
    """How many checkpoints stay; older ones are deleted."""

    def __post_init__(self) -> None:
        for name in ("every_epochs", "keep"):
            value = getattr(self, name)
            require(value >= 1, f"checkpoint.{name}={value} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """How translations are searched for."""

    max_length: int | None = resumable(None)
    """The most tokens generated, [END] counted; by default it grows with the source sentence."""

    def __post_init__(self) -> None:
        length = self.max_length
        require(length is None or length >= 1, f"decoding.max_length={length} must be 1 or more")
