"""What the model is told about where a word stands."""

from typing import TYPE_CHECKING

import numpy as np

from ptenmt.errors import PtenmtError
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.pictures import HeatMap
from ptenmt.model.positions import positional_encoding

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def positions_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """The positional encoding: a row a position, a column a dimension.

    Args:
        num_positions: How many positions, counted from 0.
        d_model: D, even.

    Raises:
        PtenmtError: There is no such encoding.
    """
    return HeatMap(
        title="Positional encoding",
        values=_encoding(num_positions, d_model),
        low=-1.0,
        palette="diverging",
        row_name="position",
        column_name="dimension",
    )


def similarity_map(num_positions: int = 50, d_model: int = 128) -> HeatMap:
    """How alike the encodings of two positions are: the cosine of the angle between them.

    It depends on their distance alone: the sum of cos(distance / 10000^(2i/D)) over all i, times 2/D.

    Args:
        num_positions: How many positions, counted from 0.
        d_model: D, even.

    Raises:
        PtenmtError: There is no such encoding.
    """
    encoding = _encoding(num_positions, d_model)
    values = encoding @ encoding.T / (d_model / 2)  # every row has the length √(D/2)
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
        raise PtenmtError(f"{num_positions} positions cannot be drawn: 1 or more can")
    if d_model < 2 or d_model % 2:
        raise PtenmtError(f"{d_model} dimensions cannot be drawn: their number is even, and 2 or more")
    return positional_encoding(num_positions, d_model)
