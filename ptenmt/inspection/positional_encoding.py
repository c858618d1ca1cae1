"""The positional encoding and the similarity of positions."""

from typing import TYPE_CHECKING

import numpy as np

from ptenmt.errors import PtenmtError
from ptenmt.inspection.figures import HeatMap, draw
from ptenmt.model.positions import positional_encoding

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def positions_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """The positional encoding: one row per position, one column per dimension.

    Args:
        num_positions: The number of positions, from 0.
        d_model: D, even.

    Raises:
        PtenmtError: The number of positions or dimensions is impossible.
    """
    return HeatMap(
        title="Positional encoding",
        values=_encoding(num_positions, d_model),
        low=-1.0,
        palette="diverging",
        row_name="position",
        column_name="dimension",
        columns_are_paired=True,
    )


def similarity_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """The cosine similarity between the encodings of any two positions.

    It depends on their distance alone: the sum of cos(distance / 10000^(2i/D)) over all i, times 2/D.
    Arguments and errors are those of ``positions_map``.
    """
    encoding = _encoding(num_positions, d_model)
    values = encoding @ encoding.T / (d_model / 2)  # every row has the norm √(D/2)
    return HeatMap(
        title="Similarity of positions (cosine)",
        values=values,
        low=float(values.min()) if num_positions > 1 else 0.0,
        row_name="position",
        column_name="position",
    )


def positions_figure(num_positions: int = 50, d_model: int = 128) -> "Figure":
    """Draw ``positions_map`` and ``similarity_map`` side by side; arguments and errors as there."""
    return draw([positions_map(num_positions, d_model), similarity_map(num_positions, d_model)], columns=2)


def _encoding(num_positions: int, d_model: int) -> np.ndarray:
    if num_positions < 1:
        raise PtenmtError(f"cannot draw {num_positions} positions", "give 1 or more")
    if d_model < 2 or d_model % 2:
        raise PtenmtError(f"cannot draw {d_model} dimensions", "give an even number, 2 or more")
    return positional_encoding(num_positions, d_model)
