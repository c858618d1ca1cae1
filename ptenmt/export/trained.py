"""A trained model with everything that an export is made of."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.config import Config
from ptenmt.export.origin import weights_id
from ptenmt.runs import Run
from ptenmt.tokenizers import TokenizerPair

if TYPE_CHECKING:
    from ptenmt.export.specification import Weights
    from ptenmt.model import Transformer


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A run's model."""

    run: Run
    config: Config
    """The run's options; those of the section ``decoding`` may be others."""
    tokenizers: TokenizerPair
    """Of both languages."""
    path: Path
    """The file that the weights are from, without its ending."""
    weights: "Weights"
    """All of them."""

    @property
    def origin(self) -> str:
        """Which weights these are.

        Raises:
            CheckpointError: Their file cannot be read any more.
        """
        return weights_id(self.path)

    @cached_property
    def model(self) -> "Transformer":
        """The Keras model.

        Raises:
            CheckpointError: The weights are another model's.
        """
        from ptenmt.checkpoints import model_with

        return model_with(self.config.model, self.tokenizers, self.weights, self.path)
