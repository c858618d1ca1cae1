"""Which words a model takes for similar."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from copy_task import WORDS, TrainedRun

from ptenmt.config import Config, DataConfig, TokenizerConfig
from ptenmt.errors import DataError
from ptenmt.inspection.embeddings import embeddings_figure, nearest_neighbours, neighbour_bars
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
