"""What happens during a training, told as typed events; who reads them decides how they look."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class DownloadProgress:
    """How far a download is."""

    url: str
    name: str
    """The file's name on this machine."""
    done: int
    """Bytes here so far, those of earlier runs included."""
    total: int | None
    """Bytes of the whole file; None when the server does not say."""


@dataclass(frozen=True, kw_only=True)
class CorpusReady:
    """The data are read, filtered and tokenised."""

    unit: Literal["pairs", "windows"] = "pairs"
    """Sentence pairs, or windows of words."""
    train: int
    validation: int
    removed: dict[str, int]
    """Training examples that each filter removed, by the filter's name."""
    shortened: int
    """Sentences of train and validation that were longer than the model's positions, and were cut."""
    vocabulary_sizes: tuple[int, int]
    samples: list[tuple[str, str]]
    """The first training pairs, or windows with the word after them, as the model will see them."""


@dataclass(frozen=True, kw_only=True)
class TrainingStarted:
    """The model is built and its first step is next."""

    run: Path
    parameters: int
    epochs: int
    steps_per_epoch: int
    total_steps: int
    """Of all epochs, or as many as ``training.max_steps`` allows."""
    epoch: int
    """Epochs that are complete already: 0, or more when resumed."""
    step: int
    """Steps of the current epoch that are complete already."""
    is_over: bool
    """Whether nothing is left to do: all steps are done, or the patience is lost."""
    resumed_from: Path | None
    """The checkpoint that the training goes on from."""


@dataclass(frozen=True, kw_only=True)
class Warned:
    """Something the user should know that does not stop the training."""

    message: str


@dataclass(frozen=True, kw_only=True)
class StepDone:
    """Some more steps are done; sent a few times a second at the most."""

    epoch: int
    """The current epoch, from 1."""
    step: int
    """Steps done in this epoch."""
    loss: float
    """Mean over all real target tokens of the epoch so far, in nats."""
    accuracy: float
    """Share of those tokens that were predicted right."""
    learning_rate: float
    tokens_per_second: float
    """Real target tokens of the epoch so far that this process has learnt, over the time they took."""
    seconds_left: float | None
    """Until the end of the training, validations included; None while too little is known."""


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """A point of the training curves: means over the steps since the point before."""

    step: int
    """Steps done in all."""
    tokens: int
    """Real target tokens since the point before."""
    loss: float
    accuracy: float
    learning_rate: float
    gradient_norm: float
    """Of the last step, before clipping."""


@dataclass(frozen=True, kw_only=True)
class EpochDone:
    """All batches of an epoch are done."""

    epoch: int
    loss: float
    accuracy: float
    learning_rate: float


@dataclass(frozen=True, kw_only=True)
class ValidationStep:
    """Part of the validation is done."""

    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A validation sentence, or words of a text; its reference, or the next word; what the model says."""

    source: str
    reference: str
    translation: str


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What a validation found."""

    loss: float
    accuracy: float
    bleu: float | None = None
    """sacreBLEU's BLEU of greedy translations with repaired spacing, tokenisation 13a; None: it translates
    nothing."""
    chrf: float | None = None
    samples: list[Sample]

    def figures(self) -> dict[str, float]:
        """The scores that there are, by name."""
        scores = {"loss": self.loss, "accuracy": self.accuracy, "bleu": self.bleu, "chrf": self.chrf}
        return {name: value for name, value in scores.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Validated:
    """The model was scored on the validation pairs."""

    epoch: int
    """The current epoch, from 1."""
    step: int
    """Steps done in all."""
    train_loss: float
    """Mean over the epoch so far, dropout on."""
    train_accuracy: float
    learning_rate: float
    scores: Scores
    is_best: bool
    """Whether no validation before was better, by ``validation.metric``."""
    patience_left: int | None
    """Validations without a better score that may follow; None without ``validation.patience``."""
    seconds: float
    """For this validation."""


@dataclass(frozen=True, kw_only=True)
class CheckpointSaved:
    """The state of the training is on disk."""

    epoch: int
    """Epochs complete."""
    step: int
    """Steps complete in the epoch after those."""
    path: Path


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """The training was asked to stop, has saved its state and ends here."""

    epoch: int
    step: int


@dataclass(frozen=True, kw_only=True)
class PatienceLost:
    """The score has not become better for ``validation.patience`` validations; the training ends here."""

    best_score: float
    stale: int
    """Validations since the best one."""


Event = (
    CorpusReady
    | TrainingStarted
    | Warned
    | StepDone
    | CurvePoint
    | EpochDone
    | ValidationStep
    | Validated
    | CheckpointSaved
    | Stopped
    | PatienceLost
)
