"""Events of a training, typed. The trainer emits them and never renders.

Unless noted, ``epoch`` is the current one, from 1, ``step_in_epoch`` counts its complete steps, and
``global_step`` all steps so far, skipped ones included. Losses are in nats per target token.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


class Event:
    """What a training emits."""


@dataclass(frozen=True, kw_only=True)
class CorpusReady(Event):
    """The data are read, filtered and tokenized."""

    unit: Literal["pairs", "windows"] = "pairs"
    train: int
    validation: int
    removed: dict[str, int]
    """Training examples that each filter removed, by the filter's name."""
    num_truncated: int
    """Sentences of train and validation that were truncated to ``model.max_positions``."""
    vocabulary_sizes: tuple[int, int]
    samples: list[tuple[str, str]]
    """The first training pairs, or windows with the next word, as the model sees them."""


@dataclass(frozen=True, kw_only=True)
class TrainingStarted(Event):
    """The model is built and its first step follows."""

    run: Path
    parameters: int
    epochs: int
    pairs_by_file: dict[str, int]
    """Pairs of each training file that an epoch reads; empty if there is a single one."""
    steps_per_epoch: int
    total_steps: int
    """Of all epochs, or as many as ``training.max_steps`` allows."""
    epoch: int
    """Complete epochs: 0, or more when resumed."""
    step_in_epoch: int
    is_over: bool
    """Whether nothing is left to do: all steps are done, or early stopping."""
    resumed_from: Path | None


@dataclass(frozen=True, kw_only=True)
class Warned(Event):
    """A warning for the user; the training continues."""

    message: str


@dataclass(frozen=True, kw_only=True)
class StepDone(Event):
    """Progress of an epoch; emitted a few times a second at most, and after the last step of each epoch."""

    epoch: int
    step_in_epoch: int
    loss: float
    """Mean over all real target tokens of the epoch so far, in nats."""
    accuracy: float
    """Share of those tokens whose argmax prediction is correct."""
    learning_rate: float
    tokens_per_second: float
    """Real target tokens per second since the start of the epoch, a validation or a save, in this process."""
    seconds_left: float | None
    """Until the end of the training, validations included; None before the second step."""


@dataclass(frozen=True, kw_only=True)
class ValidationStep(Event):
    """Progress of a validation."""

    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A validation sentence, its reference and translation; or words, the next and the predicted word."""

    source: str
    reference: str
    translation: str


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Results of a validation."""

    loss: float
    accuracy: float
    bleu: float | None = None
    """sacreBLEU's BLEU of greedy translations with repaired spacing, tokenization 13a; None for
    next-word models."""
    chrf: float | None = None
    samples: list[Sample]

    def figures(self) -> dict[str, float]:
        """The scores by name, without those that do not apply."""
        scores = {"loss": self.loss, "accuracy": self.accuracy, "bleu": self.bleu, "chrf": self.chrf}
        return {name: value for name, value in scores.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Validated(Event):
    """The model was scored on the validation pairs."""

    epoch: int
    global_step: int
    train_loss: float
    """Mean over the epoch so far, dropout on."""
    train_accuracy: float
    learning_rate: float
    scores: Scores
    is_best: bool
    patience_left: int | None
    """Validations without improvement before early stopping; None without ``validation.patience``."""


@dataclass(frozen=True, kw_only=True)
class CheckpointSaved(Event):
    """The state of the training is on disk."""

    epoch: int
    """Complete epochs."""
    step_in_epoch: int
    path: Path


@dataclass(frozen=True, kw_only=True)
class Stopped(Event):
    """A stop was requested; the training state is saved."""

    epoch: int
    step_in_epoch: int


@dataclass(frozen=True, kw_only=True)
class PatienceExhausted(Event):
    """Early stopping: no improvement for ``validation.patience`` validations."""

    best_score: float
    num_stale: int
    """Validations since the best one."""
