"""The options of how a model learns: batch, training, optimizer, validation, checkpoint."""

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
    accumulate: int = 1
    """Batches whose gradients are added up to one update, for an effective batch that memory cannot hold."""

    def __post_init__(self) -> None:
        require(self.sentences >= 1, f"batch.sentences={self.sentences} must be 1 or more")
        tokens = self.tokens
        require(tokens is None or tokens >= 1, f"batch.tokens={tokens} must be 1 or more")
        require(self.accumulate >= 1, f"batch.accumulate={self.accumulate} must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How long and how fast the model learns."""

    epochs: int = resumable(20)
    """Passes over the training pairs, in all: a resumed run counts those before."""
    max_steps: int | None = resumable(None)
    """End after so many updates, in all, if the epochs have more. To stop and go on later, use a signal."""
    schedule: Literal["transformer", "inverse_sqrt", "cosine", "constant"] = "transformer"
    """What the learning rate does after it has climbed to its peak: fall as 1/√step, from a peak that
    d_model and the warm-up set (transformer) or from ``learning_rate`` (inverse_sqrt); fall along half a
    cosine to 0 at the end of training (cosine: at the last epoch's, or at ``max_steps``, so the rest of a
    training that is resumed with another end goes at other rates); or stay (constant)."""
    learning_rate: float | None = None
    """The peak; needed by every schedule but transformer, whose peak is (d_model · warm-up)^-0.5."""
    warmup_steps: int | None = None
    """Steps over which the learning rate climbs to its peak; 4,000 unless ``warmup_fraction`` is given."""
    warmup_fraction: float | None = None
    """Instead of ``warmup_steps``: the share of all steps to the training's end. One that is resumed with
    another end goes on as if its warm-up had always been that share of the new number."""
    label_smoothing: float = 0.0
    """Share of each label's weight that is spread evenly over the vocabulary while learning, so that the
    model is not driven to certainty (0.1 in Vaswani et al. 2017, section 5.4). The loss that is shown stays
    the plain one."""
    r_drop: float = 0.0
    """Weight of the disagreement between two passes over the batch, each with its own dropout, which
    training then lessens too (R-Drop, Wu et al. 2021; 1 to 5 is usual). Above 0 a step takes twice as
    long."""
    deterministic: bool = False
    """Let TensorFlow use only operations that give the same bits every time; slower where it matters."""
    log_every_steps: int = resumable(50)
    """Write a point of the training curves into ``history.jsonl`` every so many steps."""
    tensorboard: bool = resumable(False)
    """Write curves, scores and sample translations for TensorBoard, into the run's ``tensorboard/``."""

    def __post_init__(self) -> None:
        for name in ("epochs", "max_steps", "log_every_steps"):
            value = getattr(self, name)
            require(value is None or value >= 1, f"training.{name}={value} must be 1 or more")
        smoothing, r_drop = self.label_smoothing, self.r_drop
        require(0 <= smoothing < 1, f"training.label_smoothing={smoothing} must be at least 0 and below 1")
        require(r_drop >= 0, f"training.r_drop={r_drop} must be at least 0")
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
class OptimizerConfig:
    """What an update does with the gradients."""

    kind: Literal["adam", "adamw"] = "adam"
    """Adam (Kingma & Ba 2015), or with decoupled weight decay (Loshchilov & Hutter 2019)."""
    beta_1: float = 0.9
    """How much of the gradients' running mean an update keeps."""
    beta_2: float = 0.98
    """How much of the squared gradients' running mean an update keeps."""
    epsilon: float = 1e-9
    """Added to the root of that mean before the division (ε̂ at the end of the Adam paper's section 2)."""
    weight_decay: float = 0.01
    """Share of a matrix, times the learning rate, that an update takes off it (kind ``adamw``)."""
    clip_norm: float | None = None
    """Scale gradients down to this length, taken over all weights, where they are longer."""
    ema: float = 0.0
    """Keep an exponential moving average of the weights with this decay, such as 0.999 (but at most
    (1 + n) / (10 + n) at the n-th update). It is what is validated and translated with. 0: none."""

    def __post_init__(self) -> None:
        for name in ("beta_1", "beta_2", "ema"):
            value = getattr(self, name)
            require(0 <= value < 1, f"optimizer.{name}={value} must be at least 0 and below 1")
        require(self.epsilon > 0, f"optimizer.epsilon={self.epsilon} must be above 0")
        require(self.weight_decay >= 0, f"optimizer.weight_decay={self.weight_decay} must be 0 or more")
        clip = self.clip_norm
        require(clip is None or clip > 0, f"optimizer.clip_norm={clip} must be above 0")


@dataclass(frozen=True, kw_only=True)
class ValidationConfig:
    """When the model is scored on the validation pairs, and what follows from the scores."""

    every_epochs: int | None = resumable(1)
    """Score after every so many epochs (and at the end); null: not by epochs."""
    every_steps: int | None = resumable(None)
    """Score after every so many steps, too."""
    metric: Literal["bleu", "chrf", "loss"] = "bleu"
    """The score by which the best checkpoint is chosen and patience runs out; of equal scores (such as a
    beginner's BLEU of 0) the one with the lower loss is the better."""
    patience: int | None = resumable(None)
    """End the training after so many validations in a row without a better score."""

    def __post_init__(self) -> None:
        for name in ("every_epochs", "every_steps", "patience"):
            value = getattr(self, name)
            require(value is None or value >= 1, f"validation.{name}={value} must be 1 or more")
        scored = self.every_epochs is not None or self.every_steps is not None
        require(
            scored or self.patience is None,
            f"validation.patience={self.patience} needs validation.every_epochs or validation.every_steps",
        )


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """When the state of a training is written, and how many such states stay."""

    every_epochs: int = resumable(5)
    """Save after every so many epochs (and always at the end)."""
    every_steps: int | None = resumable(None)
    """Save after every so many steps, too."""
    every_minutes: float | None = resumable(None)
    """Save when so many minutes have passed since the last save, too."""
    keep: int = resumable(5)
    """How many checkpoints stay; older ones are deleted."""
    keep_best: int = resumable(1)
    """How many of the best models stay beside them, by ``validation.metric``: weights alone, which is
    what translates."""

    def __post_init__(self) -> None:
        for name in ("every_epochs", "keep"):
            value = getattr(self, name)
            require(value >= 1, f"checkpoint.{name}={value} must be 1 or more")
        steps, minutes = self.every_steps, self.every_minutes
        require(steps is None or steps >= 1, f"checkpoint.every_steps={steps} must be 1 or more")
        require(minutes is None or minutes > 0, f"checkpoint.every_minutes={minutes} must be above 0")
        require(self.keep_best >= 0, f"checkpoint.keep_best={self.keep_best} must be 0 or more")
