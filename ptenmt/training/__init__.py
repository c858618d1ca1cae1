"""Training a run."""

from ptenmt.training.session import TrainingResult, train
from ptenmt.training.trainer import Trainer

__all__ = ["Trainer", "TrainingResult", "train"]
