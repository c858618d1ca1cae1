"""Every option of ptenmt: one frozen dataclass per section of the YAML file.

An option exists once, here: its name, type, default, and under it what it means. A config is checked
when it is built, so the rest of the code never meets a wrong one.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

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
    "TaskName",
    "TrainingConfig",
    "ValidationConfig",
    "config_folders",
]

TaskName = Literal["translation", "next-word"]
"""What a model can learn."""

_OF_TEXTS = ("characters", "window", "stride", "short_windows")
_OF_PAIRS = (
    "validation",
    "test",
    "validation_pairs",
    "test_pairs",
    "hold_out",
    "limit",
    "max_words",
    "max_length_ratio",
    "deduplicate",
)
"""Options of the section data that one task alone has."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """All options of a run."""

    task: TaskName = "translation"
    """What is learnt: to translate sentences, or to say which word comes next in a text."""
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
        if self.task == "next-word" and self.tokenizer.kind == "words":
            # What is read and what is predicted are words of one language.
            object.__setattr__(self, "tokenizer", replace(self.tokenizer, shared=True))
        require(0 <= self.seed < 2**31, f"seed={self.seed} must be at least 0 and below 2147483648")
        self._check_batch()
        most, longest = self.decoding.max_length, self.model.max_positions
        require(
            most is None or most <= longest,
            f"decoding.max_length={most} is more than model.max_positions={longest}: "
            "the model knows no later position",
        )
        tied, shared = self.model.tied_embeddings, self.tokenizer.shared
        require(
            tied != "all" or shared,
            f"model.tied_embeddings={tied} does not go with tokenizer.shared={_in_yaml(shared)}: "
            "one table of words needs one vocabulary",
        )
        self._check_data()
        if self.task == "next-word":
            self._check_next_word()
        else:
            require(
                self.model.prediction == "pooled",
                f"model.prediction={self.model.prediction} does not go with task={self.task}: "
                "it is an option of next-word models",
            )

    def _check_batch(self) -> None:
        """The longest that can come must fit into a batch by tokens."""
        option, longest = "model.max_positions", self.model.max_positions
        if self.task == "next-word":
            option, longest = "data.window", self.data.window
        tokens = self.batch.tokens
        require(
            tokens is None or tokens >= longest,
            f"batch.tokens={tokens} is less than {option}={longest}: "
            "the longest sentence must fit into a batch",
        )

    def _check_data(self) -> None:
        """Refuse options of the section data that would have no effect."""
        is_of_texts = self.task == "next-word"
        others = "translators" if is_of_texts else "next-word models"
        for name in _OF_PAIRS if is_of_texts else _OF_TEXTS:
            value = getattr(self.data, name)
            require(
                value == getattr(DataConfig, name),
                f"data.{name}{'' if isinstance(value, tuple) else f'={_in_yaml(value)}'} does not go with "
                f"task={self.task}: it is an option of {others}",
            )

    def _check_next_word(self) -> None:
        """What a text and its one vocabulary of words can do."""
        require(
            not self.data.train, f"data.train names pairs, and task={self.task} reads one text: data.path"
        )
        kind, metric, tied = self.tokenizer.kind, self.validation.metric, self.model.tied_embeddings
        require(kind == "words", f"task={self.task} needs tokenizer.kind=words, not {kind}")
        require(metric == "loss", f"task={self.task} needs validation.metric=loss, not {metric}")
        require(
            tied != "target",
            f"model.tied_embeddings={tied} does not go with task={self.task}: there is one table; say all",
        )
        window, longest = self.data.window, self.model.max_positions
        require(window <= longest, f"data.window={window} must be at most model.max_positions={longest}")


def _in_yaml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def config_folders() -> list[Path]:
    """Folders in which a config is looked up by name: the user's, then the installed presets."""
    package = Path(__file__).parent.parent
    installed = package / "configs"
    return [Path("configs"), installed if installed.is_dir() else package.parent / "configs"]
