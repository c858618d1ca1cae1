"""Which words a model takes for similar."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from copy_task import WORDS, TrainedRun

from ptenmt.config import Config, DataConfig, TokenizerConfig
from ptenmt.errors import DataError, PtenmtError
from ptenmt.inspection.drawing import embeddings_figure, positions_figure
from ptenmt.inspection.embeddings import nearest_neighbours, neighbour_bars, positions_map, similarity_map
from ptenmt.inspection.inspector import Inspector
from ptenmt.tokenizers import SPECIAL_PIECES, TokenizerPair
from ptenmt.tokenizers.words import WordTokenizer

SOURCE = {"casa": [1, 0], "lar": [3, 0.1], "rua": [1, 1], "mar": [-1, 0], "zero": [0, 0]}
TARGET = {"house": [0, 2], "home": [0.1, 5], "sea": [-1, 0]}


def made_up() -> Any:
    """What ``nearest`` needs of an inspector, with embeddings that one can see through."""
    pair = TokenizerPair(*(WordTokenizer([*SPECIAL_PIECES, *words]) for words in (SOURCE, TARGET)))
    tables = {
        stack: np.array([*[[1.0, 0.0]] * len(SPECIAL_PIECES), *words.values()], np.float32)
        for stack, words in (("encoder", SOURCE), ("decoder", TARGET))
    }
    config = Config(
        data=DataConfig(source="files", path="pairs.tsv"), tokenizer=TokenizerConfig(kind="words")
    )
    return SimpleNamespace(
        tokenizers=pair,
        config=config,
        model=SimpleNamespace(embeddings=tables.__getitem__),
        word_ids=lambda word, side: getattr(pair, side).encode([word])[0],
    )


def test_the_nearest_are_those_in_the_same_direction() -> None:
    casa, rua = nearest_neighbours(made_up(), ["casa", "rua"], count=3)
    assert [piece for piece, _ in casa.neighbours] == ["lar", "rua", "zero"]
    assert [cosine for _, cosine in casa.neighbours] == pytest.approx(
        [3 / np.hypot(3, 0.1), np.sqrt(0.5), 0], abs=1e-6
    )
    assert rua.neighbours[0][0] == "lar"
    assert rua.pieces == ["rua"]


def test_neither_special_tokens_nor_the_word_itself_are_neighbours() -> None:
    (casa,) = nearest_neighbours(made_up(), ["casa"], count=100)
    assert {piece for piece, _ in casa.neighbours} == set(SOURCE) - {"casa"}


def test_of_several_pieces_the_mean_is_compared() -> None:
    (both,) = nearest_neighbours(made_up(), ["casa mar"], count=5)  # they cancel out
    assert both.pieces == ["casa", "mar"]
    assert [cosine for _, cosine in both.neighbours] == [0, 0, 0]
    (between,) = nearest_neighbours(made_up(), ["casa rua"], count=1)
    expected = np.array([1, 0]) + np.sqrt([0.5, 0.5])
    cosine = expected @ [3, 0.1] / np.linalg.norm(expected) / np.hypot(3, 0.1)
    assert between.neighbours == [("lar", pytest.approx(cosine, abs=1e-6))]


def test_the_other_side_has_words_of_its_own() -> None:
    (house,) = nearest_neighbours(made_up(), ["house"], side="target", count=1)
    assert house.neighbours[0][0] == "home"
    for side, word, other in (("source", "house", "target"), ("target", "casa", "source")):
        with pytest.raises(DataError, match=f"the {side} vocabulary does not contain '{word}'") as refusal:
            nearest_neighbours(made_up(), [word], side=side)  # type: ignore[arg-type]
        assert f"--side {other}" in refusal.value.hint
    with pytest.raises(DataError, match="a word is empty"):
        nearest_neighbours(made_up(), ["casa", " "])


def test_a_panel_a_word() -> None:
    figure = embeddings_figure(made_up(), ["casa", "casa rua"], count=2)
    assert [axis.get_title() for axis in figure.axes] == ["casa", "casa rua (casa rua)"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["lar", "rua"]
    assert len(neighbour_bars(nearest_neighbours(made_up(), ["casa"]))) == 1


def test_a_trained_run(copied: TrainedRun) -> None:
    inspector = Inspector(copied.path)
    (found,) = nearest_neighbours(inspector, [WORDS[0]], count=3)
    table, tokenizer = inspector.model.embeddings("encoder"), inspector.tokenizers.source
    ids = dict(zip(WORDS, (ids[0] for ids in tokenizer.encode(WORDS)), strict=True))
    own = table[ids[WORDS[0]]]
    cosines = {
        word: float(table[ids[word]] @ own / np.linalg.norm(table[ids[word]]) / np.linalg.norm(own))
        for word in WORDS[1:]
    }
    expected = sorted(cosines.items(), key=lambda item: -item[1])[:3]
    assert [word for word, _ in found.neighbours] == [word for word, _ in expected]
    assert [cosine for _, cosine in found.neighbours] == pytest.approx([c for _, c in expected], abs=1e-5)


# Positions


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
