"""What a training is about: the seam between the trainer, which knows steps, and what the steps learn."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ptenmt.data.batches import TrainingPairs
from ptenmt.events import CorpusReady
from ptenmt.tokenizers import TokenizerPair
from ptenmt.training.model_selection import Validator
from ptenmt.training.workers import Workers


@dataclass(frozen=True, kw_only=True)
class Split:
    """A part of the data."""

    size: int
    """Sentence pairs, or windows."""
    fingerprint: str


class Task(Protocol):
    """What is learnt: which data, by what model, and how that is scored.

    Whatever the task, a batch has sources [B, S] and targets [B, T + 1], and the model predicts
    ``targets[:, 1:]``: ``model.hidden((source, target[:, :-1]))`` gives [B, T, D], ``model.final`` logits.
    """

    reads: ClassVar[str]
    """What the data are, in a sentence."""
    unit: ClassVar[str]
    """What they are counted in."""
    tokenizers: TokenizerPair

    @property
    def splits(self) -> dict[str, Split]:
        """The data, ``train`` and ``validation`` among them."""

    @property
    def removed(self) -> dict[str, int]:
        """How many training examples each filter removed."""

    def encode(self) -> tuple[TrainingPairs, CorpusReady]:
        """The training examples as ids, and what is to be told of the data."""

    def new_model(self) -> Any:
        """The Keras model, its weights made."""

    def scorer(self, model: Any, workers: Workers | None = None) -> Validator:
        """What scores a live model on the validation split."""

    def rehearsal(self, model: Any) -> tuple[Validator, float]:
        """A scorer that takes part of the time of the other, and what share it does, above 0."""
