"""A wider starter with another vocabulary: python tools/starter_widen.py OLD NEW.

NEW is a run that was just begun with ``ptenmt train``, of at least the width of OLD, with its own tokenizer
and random weights. Its best weights are replaced by those of OLD where these have a place, so that NEW
computes about what OLD does and goes on to learn from there (Chen et al. 2016, "Net2Net"):

- a token that OLD lacks begins as the mean of the tokens in which OLD reads it;
- a dimension of OLD has the place whose position signal has the nearest frequency; the others write little
  and are not read at first; layer norms, which see more dimensions, are scaled;
- attention heads and inner units that OLD lacks are random and not read at first.
"""

import argparse
import re

import numpy as np

from ptenmt.runs import Run, find_run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.runs.weights import write_weights

SMALL = 0.02
"""Standard deviation of weights that have no place in the old model."""


def places(old: int, new: int) -> np.ndarray:
    """Where each of ``old`` dimensions stands among ``new`` ones: pairs of sine and cosine, int [old]."""
    pairs = np.round(np.arange(old // 2) * new / old).astype(int)
    return np.stack([2 * pairs, 2 * pairs + 1], axis=1).reshape(-1)


def token_means(old: TrainedModel, new: TrainedModel, table: np.ndarray) -> np.ndarray:
    """For each token of the new vocabulary the mean of an old table's rows, [V, ...]."""
    before, after = old.tokenizers.target, new.tokenizers.target
    ids = {token: number for number, token in enumerate(before.vocabulary)}
    rows = []
    for token in after.vocabulary:
        if token in ids:
            rows.append(table[ids[token]])
            continue
        read = before.encode([token.replace("▁", " ")])[0]
        if not token.startswith("▁") and len(read) > 1 and before.vocabulary[read[0]] == "▁":
            read = read[1:]
        rows.append(table[read].mean(axis=0) if read else table[ids["▁"]])
    return np.stack(rows)


def widened(path: str, old: np.ndarray, new: np.ndarray, dimensions: np.ndarray, scale: float) -> np.ndarray:
    """The weights of one array of the new model.

    Args:
        path: The array's Keras path.
        old: The old model's array.
        new: The new model's random one.
        dimensions: The places of the old model's dimensions.
        scale: The square root of the old width, divided by the new one.
    """
    name, inner = path.rsplit("/", 1)[-1], np.arange(old.shape[-1])
    random = np.random.default_rng(len(path))
    if name == "gamma":
        is_last = path.endswith("decoder/norm/gamma")
        new = np.ones_like(new)
        new[dimensions] = old * (1 if is_last else scale)
    elif name == "beta":
        new = np.zeros_like(new)
        new[dimensions] = old / (scale if path.endswith("decoder/norm/beta") else 1)
    elif re.search(r"(output|contract)/kernel$", path):  # it writes into the model's width
        new = random.normal(0, SMALL, new.shape).astype(np.float32)
        new[:, dimensions] = 0
        new[old.shape[0] :] = 0
        new[np.ix_(np.arange(old.shape[0]), dimensions)] = old
    elif re.search(r"(output|contract)/bias$", path):
        new = np.zeros_like(new)
        new[dimensions] = old
    elif name == "kernel":  # it reads the model's width
        new = new.copy()
        new[:, inner] = 0
        new[np.ix_(dimensions, inner)] = old
    else:  # the bias of queries, keys, values, inner units
        new = np.zeros_like(new)
        new[inner] = old
    return new


def main() -> None:
    """Replace the weights of the new run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    options = parser.parse_args()
    old = TrainedModel.load(options.old)
    new = TrainedModel.load(find_run(options.new), checkpoint="latest")
    before, after = old.config.model.d_model, new.config.model.d_model
    dimensions, scale = places(before, after), (before / after) ** 0.5
    arrays = {}
    for path, array in new.weights.items():
        if path.endswith("embeddings"):
            table = np.random.default_rng(0).normal(0, SMALL / 2, array.shape).astype(np.float32)
            table[:, dimensions] = token_means(old, new, old.weights[path]) * scale
            arrays[path] = table
        elif path == "transformer/final/bias":
            arrays[path] = token_means(old, new, old.weights[path]).astype(np.float32)
        else:
            arrays[path] = widened(path, old.weights[path], array, dimensions, scale)
    run = Run(new.run.path)
    write_weights(run.weights_folder / "best.safetensors", arrays, new.config, 0, score=0.0, loss=99.0)


if __name__ == "__main__":
    main()
