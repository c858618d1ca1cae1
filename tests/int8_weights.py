"""Weights rounded to int8, row by row, as CTranslate2's cache and a web page have them."""

from collections.abc import Mapping

import numpy as np


def rounded(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every matrix as float32 again; the scale of an output, or of a token's embedding, is its own."""
    return {path: _rounded(path, array) if array.ndim == 2 else array for path, array in weights.items()}


def _rounded(path: str, array: np.ndarray) -> np.ndarray:
    largest = np.abs(array).max(axis=1 if path.endswith("embeddings") else 0, keepdims=True)
    scale = np.float32(127) / np.where(largest == 0, np.float32(127), largest)
    return np.asarray(np.rint(array * scale) / scale, "float32")
