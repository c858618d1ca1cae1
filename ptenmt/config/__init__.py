"""Options: schema.py defines every one, loading.py reads and writes them."""

from ptenmt.config.schema import (
    BatchConfig,
    CheckpointConfig,
    Config,
    CorpusFile,
    DataConfig,
    DecodingConfig,
    MachineConfig,
    ModelConfig,
    OptimizerConfig,
    TaskName,
    TokenizerConfig,
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
    "TaskName",
    "TokenizerConfig",
    "TrainingConfig",
    "ValidationConfig",
]
