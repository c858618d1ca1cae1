"""Every option of ptenmt: one frozen dataclass per section of the YAML file.

An option exists once, here: its name, type, default, and under it what it means. A config is checked
when it is built, so the rest of the code never meets a wrong one.
"""

from dataclasses import dataclass
from pathlib import Path

from ptenmt.config.data import CorpusFile, DataConfig, TokenizerConfig
from ptenmt.config.decoding import DecodingConfig
from ptenmt.config.machine import MachineConfig
from ptenmt.config.model import ModelConfig
from ptenmt.config.options import require
from ptenmt.config.training import (
    BatchConfig,
    CheckpointConfig,
    OptimizerConfig,
    TrainingConfig,
    ValidationConfig,
)

__all__ = [
    "BatchConfig",
    "CheckpointConfig",
    "Config",
    "CorpusFile",
    "DataConfig",
    "DecodingConfig",
    "MachineConfig",
    "ModelConfig",
    "OptimizerConfig",
    "TokenizerConfig",
    "TrainingConfig",
    "ValidationConfig",
    "config_folders",
]


@dataclass(frozen=True, kw_only=True)
class Config:
    """All options of a run."""

    seed: int = 42
    """The number that initial weights, dropout, the order of pairs and splits follow from."""
    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    batch: BatchConfig = BatchConfig()
    training: TrainingConfig = TrainingConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    validation: ValidationConfig = ValidationConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    decoding: DecodingConfig = DecodingConfig()
    machine: MachineConfig = MachineConfig()

    def __post_init__(self) -> None:
        require(0 <= self.seed < 2**31, f"seed={self.seed} must be at least 0 and below 2147483648")
        tokens, longest = self.batch.tokens, self.model.max_positions
        require(
            tokens is None or tokens >= longest,
            f"batch.tokens={tokens} is less than model.max_positions={longest}: "
            "the longest sentence must fit into a batch",
        )
        most = self.decoding.max_length
        require(
            most is None or most <= longest,
            f"decoding.max_length={most} is more than model.max_positions={longest}: "
            "the model knows no later position",
        )
        tied, shared = self.model.tied_embeddings, self.tokenizer.shared
        require(
            tied != "all" or shared,
            f"model.tied_embeddings={tied} does not go with tokenizer.shared={str(shared).lower()}: "
            "one table of words needs one vocabulary",
        )


def config_folders() -> list[Path]:
    """Folders in which a config is looked up by name: the user's, then the installed presets."""
    package = Path(__file__).parent.parent
    installed = package / "configs"
    return [Path("configs"), installed if installed.is_dir() else package.parent / "configs"]
