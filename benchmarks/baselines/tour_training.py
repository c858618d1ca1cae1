"""Baseline: the Transformer in one file, docs/tour/transformer.py, and its training step.

    python tour_training.py TASK_FOLDER

As its own loop does, but without end: random batches of 64, each side padded to its longest sentence. Always
float32.
"""

import importlib.util
import sys
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from interleave import Turns
from task import WARMUP_STEPS, Sizes, Task, count_labels

FILE = Path(__file__).parents[2] / "docs" / "tour" / "transformer.py"
BATCH = 64
BATCHES_BETWEEN_LINES = 50


def load_tour() -> ModuleType:
    """The file as a module."""
    specification = importlib.util.spec_from_file_location("tour_transformer", FILE)
    if specification is None or specification.loader is None:
        raise ImportError(f"no file {FILE}")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def tour_model(tour: ModuleType, sizes: Sizes) -> Any:
    """The file's model in the sizes of a task, with its optimizer."""
    own = tour.Sizes(
        num_warmup_steps=WARMUP_STEPS,
        num_layers=sizes.num_layers,
        width=sizes.d_model,
        num_heads=sizes.num_heads,
        inner_width=sizes.d_ff,
        dropout=sizes.dropout,
    )
    return tour.compiled(tour.Transformer(sizes.source_vocabulary, sizes.target_vocabulary, own), own)


def sentences(table: np.ndarray) -> list[list[int]]:
    """The rows of ids without their padding."""
    return [row[row != 0].tolist() for row in table]


def main() -> None:
    task = Task(Path(sys.argv[1]))
    tour, turns = load_tour(), Turns()
    model = tour_model(tour, task.sizes())
    pairs = [
        pair
        for source, target in task.batches()
        for pair in zip(sentences(source), sentences(target), strict=True)
    ]
    rng = np.random.default_rng(0)
    for epoch in count(1):
        for batch, (source, target) in enumerate(tour.batches(pairs, BATCH, rng)):
            loss, accuracy = tour.step(model, source, target)
            if batch % BATCHES_BETWEEN_LINES == 0:
                print(f"epoch {epoch} batch {batch} loss {loss:.4f} {accuracy:.4f}")
            turns.count(count_labels(target))


if __name__ == "__main__":
    main()
