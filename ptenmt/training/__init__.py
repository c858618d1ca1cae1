"""Training a run."""

from ptenmt.training.train import TrainingResult, train
from ptenmt.training.trainer import Trainer

__all__ = ["Trainer", "TrainingResult", "train"]
