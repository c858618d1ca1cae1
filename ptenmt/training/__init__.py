"""Training a run."""

from ptenmt.native_libraries import load_tensorflow

load_tensorflow()  # before a module below imports it

from ptenmt.training.session import TrainingResult, train  # noqa: E402
from ptenmt.training.trainer import Trainer  # noqa: E402

__all__ = ["Trainer", "TrainingResult", "train"]
