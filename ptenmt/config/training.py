"""The options of the sections batch, training, checkpoint and decoding: how the model learns and is used."""

from dataclasses import dataclass
from typing import Literal

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
    schedule: Literal["transformer", "inverse_sqrt", "cosine", "constant"] = "transformer"
    """What the learning rate does after it has climbed to its peak: fall as 1/√step, from a peak that
    d_model and the warm-up set (transformer) or from ``learning_rate`` (inverse_sqrt); fall along half a
    cosine to 0 at the end of training (cosine: all steps of all epochs count, so the rest of a training
    that is resumed with another number of epochs goes at other rates); or stay (constant)."""
    learning_rate: float | None = None
    """The peak; needed by every schedule but transformer, whose peak is (d_model · warm-up)^-0.5."""
    warmup_steps: int | None = None
    """Steps over which the learning rate climbs to its peak; 4,000 unless ``warmup_fraction`` is given."""
    warmup_fraction: float | None = None
    """Instead of ``warmup_steps``: the share of all steps of all epochs. A training that is resumed with
    another number of epochs goes on as if its warm-up had always been that share of the new number."""

    def __post_init__(self) -> None:
        require(self.epochs >= 1, f"training.epochs={self.epochs} must be 1 or more")
        self._check_peak()
        if self.warmup_steps is None and self.warmup_fraction is None:
            object.__setattr__(self, "warmup_steps", 4000)
        self._check_warmup()

    def _check_peak(self) -> None:
        rate, schedule = self.learning_rate, self.schedule
        if schedule == "transformer":
            require(
                rate is None,
                f"training.learning_rate={rate} does not go with training.schedule=transformer, "
                "which sets its own peak; inverse_sqrt has the same shape",
            )
        else:
            require(rate is not None, f"training.schedule={schedule} needs training.learning_rate, its peak")
        require(rate is None or rate > 0, f"training.learning_rate={rate} must be above 0")

    def _check_warmup(self) -> None:
        steps, fraction, schedule = self.warmup_steps, self.warmup_fraction, self.schedule
        require(
            steps is None or fraction is None,
            f"training.warmup_steps={steps} and training.warmup_fraction={fraction} exclude each other; "
            "one of them must be null",
        )
        least = 0 if schedule in ("cosine", "constant") else 1
        require(
            steps is None or steps >= least,
            f"training.warmup_steps={steps} must be {least} or more with training.schedule={schedule}",
        )
        require(
            fraction is None or (0 <= fraction <= 1 and (least == 0 or fraction > 0)),
            f"training.warmup_fraction={fraction} must be {'above' if least else 'at least'} 0 and at most 1 "
            f"with training.schedule={schedule}",
        )


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
