"""The positional encoding, drawn."""

import numpy as np
import pytest

from ptenmt.errors import PtenmtError
from ptenmt.inspection.positional_encoding import positions_figure, positions_map, similarity_map


def test_the_encoding_has_the_published_values() -> None:
    drawn = positions_map(4, 8)
    expected = {
        0: [0, 1, 0, 1, 0, 1, 0, 1],
        1: [0.841471, 0.540302, 0.099833, 0.995004, 0.01, 0.99995, 0.001, 1],
        3: [0.14112, -0.989992, 0.29552, 0.955336, 0.029996, 0.99955, 0.003, 0.999996],
    }
    for row, values in expected.items():
        np.testing.assert_allclose(drawn.values[row], values, atol=1e-6)
    assert (drawn.low, drawn.high, drawn.palette) == (-1.0, 1.0, "diverging")
    assert positions_map().values.shape == (50, 128)


def test_how_alike_positions_are_depends_on_their_distance() -> None:
    drawn = similarity_map(20, 16)
    for row in range(20):
        for column in range(20):
            angles = [(row - column) / 10000 ** (2 * i / 16) for i in range(8)]
            assert drawn.values[row, column] == pytest.approx(np.mean(np.cos(angles)), abs=1e-5)
    assert drawn.low == drawn.values.min()


def test_a_single_position_is_like_itself() -> None:
    drawn = similarity_map(1, 16)
    assert drawn.values == pytest.approx(np.ones((1, 1)))
    assert drawn.low < drawn.high


def test_the_figure_is_labelled_and_has_a_colour_bar() -> None:
    encoding, similarity, *bars = positions_figure(10, 6).axes
    assert encoding.get_title() == "Positional encoding"
    assert (encoding.get_xlabel(), encoding.get_ylabel()) == ("dimension", "position")
    assert encoding.images[0].get_array().shape == (10, 6)
    assert encoding.images[0].get_cmap().name == "RdBu"
    assert similarity.images[0].get_array().shape == (10, 10)
    assert len(bars) == 2


@pytest.mark.parametrize(("positions", "dimensions"), [(0, 8), (8, 0), (8, 7)])
def test_what_cannot_be_drawn_is_refused(positions: int, dimensions: int) -> None:
    with pytest.raises(PtenmtError, match="cannot draw"):
        positions_map(positions, dimensions)
