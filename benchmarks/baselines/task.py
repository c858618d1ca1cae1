"""The training task of all systems: a folder with the model's sizes, the batches and ptenmt's config.

Only NumPy is needed, because the PyTorch environment has no ptenmt.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

WARMUP_STEPS = 4000  # the tutorial's; ptenmt's own option may differ

Batch = tuple[np.ndarray, np.ndarray]
"""Source ids [B, S] and target ids [B, T + 1], 0 where padded."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Sizes of the model; letters as in ptenmt/model/layers.py."""

    num_layers: int
    d_model: int
    d_ff: int
    num_heads: int
    dropout: float
    max_positions: int
    source_vocabulary: int
    target_vocabulary: int


@dataclass(frozen=True)
class Task:
    """A task in a folder."""

    folder: Path

    @property
    def config_file(self) -> Path:
        """All options of the training with ptenmt, as YAML."""
        return self.folder / "config.yaml"

    @property
    def run_folder(self) -> Path:
        """The folder of ptenmt's run."""
        return self.folder / "run"

    def write(
        self, sizes: Sizes, precision: str, batches: list[Batch], label_counts: list[list[int]]
    ) -> None:
        """Write the task.

        Args:
            sizes: Sizes of the model.
            precision: ``float32`` or ``mixed_bfloat16``.
            batches: ptenmt's batches of the first epoch. Padding that all sentences of a batch share is
                removed: only ptenmt profits from few distinct shapes.
            label_counts: For each planned epoch, the number of real labels of each step.
        """
        facts = {"sizes": asdict(sizes), "precision": precision, "label_counts": label_counts}
        (self.folder / "task.json").write_text(json.dumps(facts))
        batches = [(_trimmed(source), _trimmed(target)) for source, target in batches]
        np.savez(
            self.folder / "batches.npz",
            shapes=np.array([(*source.shape, target.shape[1]) for source, target in batches]),
            sources=np.concatenate([source.ravel() for source, _ in batches]),
            targets=np.concatenate([target.ravel() for _, target in batches]),
        )

    def sizes(self) -> Sizes:
        return Sizes(**self._facts()["sizes"])

    def precision(self) -> str:
        return str(self._facts()["precision"])

    def label_counts(self) -> list[list[int]]:
        return self._facts()["label_counts"]

    def batches(self) -> Iterator[Batch]:
        """ptenmt's batches of the first epoch, in its order, each side padded to its own longest sentence."""
        with np.load(self.folder / "batches.npz") as arrays:
            shapes, sources, targets = arrays["shapes"], arrays["sources"], arrays["targets"]
        source_at = target_at = 0
        for sentences, source_length, target_length in shapes.tolist():
            source = sources[source_at : (source_at := source_at + sentences * source_length)]
            target = targets[target_at : (target_at := target_at + sentences * target_length)]
            yield source.reshape(sentences, source_length), target.reshape(sentences, target_length)

    def _facts(self) -> dict:
        return json.loads((self.folder / "task.json").read_text())


def count_labels(target: np.ndarray) -> int:
    """Number of real labels in target ids [B, T + 1]."""
    return int(np.count_nonzero(target[:, 1:]))


def _trimmed(ids: np.ndarray) -> np.ndarray:
    return ids[:, : np.count_nonzero(ids, axis=1).max()]


def positional_encoding(num_positions: int, d_model: int) -> np.ndarray:
    """Sines and cosines, interleaved: float32 [positions, D]; ``PE[p, 2i] = sin(p / 10000^(2i/D))``."""
    angles = np.arange(num_positions)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    encoding = np.empty((num_positions, d_model), np.float32)
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
