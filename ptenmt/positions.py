"""Where a token stands, as numbers: NumPy alone, for whoever needs no Keras."""

import numpy as np


def positional_encoding(num_positions: int, d_model: int) -> np.ndarray:
    """Sines and cosines of falling frequency (Vaswani et al. 2017, section 3.5), interleaved.

    ``PE[p, 2i] = sin(p / 10000^(2i/D))`` and ``PE[p, 2i+1] = cos(p / 10000^(2i/D))``.

    Args:
        num_positions: How many positions, counted from 0.
        d_model: D, even.

    Returns:
        float32 [num_positions, D].
    """
    positions = np.arange(num_positions)[:, None]  # -> [P, 1]
    angles = positions / 10000.0 ** (np.arange(0, d_model, 2) / d_model)  # -> [P, D/2]
    interleaved = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # -> [P, D/2, 2]
    return interleaved.reshape(num_positions, d_model).astype("float32")
