"""Training a run. What trains is imported when it is first used, and TensorFlow with it."""

from importlib import import_module
from typing import TYPE_CHECKING

from ptenmt.processes import load_tensorflow

if TYPE_CHECKING:
    from ptenmt.training.session import TrainingResult, train
    from ptenmt.training.trainer import Trainer

__all__ = ["Trainer", "TrainingResult", "train"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_tensorflow()  # before a module of this package imports it
    module = "trainer" if name == "Trainer" else "session"
    return getattr(import_module(f"{__name__}.{module}"), name)
