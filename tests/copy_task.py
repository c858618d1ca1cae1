"""A language pair that a tiny model learns in seconds: made-up words, to be repeated as they are."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptenmt.config import (
    BatchConfig,
    CheckpointConfig,
    Config,
    DataConfig,
    ModelConfig,
    TokenizerConfig,
    TrainingConfig,
)
from ptenmt.runs import Run
from ptenmt.runs.weights import read_weights, write_weights
from ptenmt.training.events import Event, Scores, ValidationStep

WORDS = ["bala", "dico", "fute", "galo", "hime", "jaro", "kilo", "lume", "mico", "nado", "pira", "rota"]


def write_pairs(file: Path, count: int, seed: int = 1) -> Path:
    """Write ``count`` different sentences of one to five words, each as its own translation."""
    random_numbers = random.Random(seed)
    sentences: dict[str, None] = {}
    while len(sentences) < count:
        sentences[" ".join(random_numbers.choices(WORDS, k=random_numbers.randint(1, 5)))] = None
    file.write_text("".join(f"{sentence}\t{sentence}\n" for sentence in sentences), encoding="utf-8")
    return file


def copy_config(pairs: Path, **changes: Any) -> Config:
    """A model that trains in seconds; ``changes`` replace whole sections."""
    sections: dict[str, Any] = {
        "data": DataConfig(source="files", path=str(pairs)),
        "tokenizer": TokenizerConfig(kind="words"),
        "model": ModelConfig(num_layers=1, d_model=16, num_heads=2, d_ff=32, dropout=0.3, max_positions=32),
        "batch": BatchConfig(sentences=8),
        "training": TrainingConfig(epochs=3, warmup_steps=20),
        "checkpoint": CheckpointConfig(every_epochs=1, keep=5),
    }
    return Config(**sections | changes)


@contextmanager
def uncompiled() -> Iterator[None]:
    """Run training steps and their like as Python, op by op.

    Compiling the step of a tiny model takes as long as twenty steps without it: this is for trainings of
    fewer steps that ask what becomes of them, not whether they compile.
    """
    import tensorflow as tf

    def call(function: Any = None, *_signature: Any, **_options: Any) -> Any:
        return function or (lambda decorated: decorated)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf, "function", call)
        yield


class InstantValidator:
    """Stands in for ``Validator`` where scores do not matter."""

    def validate(self) -> Iterator[ValidationStep | Scores]:
        yield ValidationStep(done=1, total=2)
        yield ValidationStep(done=2, total=2)
        yield Scores(loss=1.0, accuracy=0.5, bleu=10.0, chrf=20.0, samples=[])


@dataclass(frozen=True)
class TrainedRun:
    """A run that has learnt the copy task, and the events of its training."""

    path: Path
    config: Config
    events: list[Event]
    history: list[dict[str, Any]]


def change_latest_weights(run: Run) -> None:
    """Give a run latest weights that are not its best ones, which they are where the last epoch was best."""
    file = run.weights_folder / "latest.safetensors"
    info, arrays = read_weights(file)
    changed = {name: array + np.float32(1e-3) for name, array in arrays.items()}
    write_weights(file, changed, run.config(), info.step)
