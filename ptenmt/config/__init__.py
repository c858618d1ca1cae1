"""Options: schema.py defines every one, loading.py reads and writes them."""

from ptenmt.config.schema import (
    AugmentConfig as AugmentConfig,
    BatchConfig as BatchConfig,
    CheckpointConfig as CheckpointConfig,
    Config as Config,
    CorpusFile as CorpusFile,
    DataConfig as DataConfig,
    DecodingConfig as DecodingConfig,
    FilterConfig as FilterConfig,
    MachineConfig as MachineConfig,
    ModelConfig as ModelConfig,
    OptimizerConfig as OptimizerConfig,
    TaskName as TaskName,
    TokenizerConfig as TokenizerConfig,
    TrainingConfig as TrainingConfig,
    ValidationConfig as ValidationConfig,
)
