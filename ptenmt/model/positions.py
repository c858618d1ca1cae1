"""Positional encoding, and the architecture's fixed numbers: what the Keras and the NumPy model share."""

import numpy as np

MASKED_SCORE = -1e9  # added to masked scores; finite, so that a fully masked row has a finite softmax


def positional_encoding(num_positions: int, d_model: int) -> np.ndarray:
    """Interleave sines and cosines of decreasing frequency (Vaswani et al. 2017, section 3.5).

    ``PE[p, 2i] = sin(p / 10000^(2i/D))`` and ``PE[p, 2i+1] = cos(p / 10000^(2i/D))``: float32 [P, D], for
    positions p from 0, and an even D, the ``d_model``.
    """
    positions = np.arange(num_positions)[:, None]  # [P, 1]
    angles = positions / 10000.0 ** (np.arange(0, d_model, 2) / d_model)  # [P, D/2]
    interleaved = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # [P, D/2, 2]
    return interleaved.reshape(num_positions, d_model).astype("float32")
