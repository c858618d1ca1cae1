"""How sure the model is, against the Keras model's own numbers."""

import math
from pathlib import Path

import numpy as np
import pytest
from copy_task import TrainedRun
from random_models import log_probs

from ptenmt.inspection.drawing import probabilities_figure, save_figure
from ptenmt.inspection.inspector import Inspector
from ptenmt.inspection.tokens import MAX_DRAWN, probability_bars, token_probabilities
from ptenmt.translation import Translator

TEXT = "bala hime dico"


@pytest.fixture(scope="module")
def inspector(copied: TrainedRun) -> Inspector:
    return Inspector(copied.path, on_warning=pytest.fail)


@pytest.mark.parametrize("translation", [None, "hime bala bala rota"])
def test_they_are_those_of_the_keras_model(
    inspector: Inspector, translator: Translator, translation: str | None
):
    reading = inspector.read(TEXT, translation)
    (expected,) = log_probs(translator.engine.model, [reading.source], [reading.target[:-1]])  # type: ignore[attr-defined]
    size = expected.shape[1]
    found = token_probabilities(inspector, TEXT, translation, runners_up=size - 1)
    assert [each.piece for each in found] == reading.target_pieces[1:]
    for each, row, token in zip(found, expected, reading.target[1:], strict=True):
        assert each.probability == pytest.approx(math.exp(row[token]), abs=1e-5)
        assert each.rank == 1 + (row > row[token]).sum()
        assert each.entropy == pytest.approx(-(np.exp(row) * row).sum(), abs=1e-4)
        others = dict(each.runners_up)
        assert len(others) == size - 1
        assert each.piece not in others
        assert sum(others.values()) + each.probability == pytest.approx(1, abs=1e-5)
        shares = list(others.values())
        assert shares == sorted(shares, reverse=True)
    if translation is None:
        assert all(each.rank == 1 and each.probability > 0.5 for each in found)


def test_number_of_runners_up(inspector: Inspector):
    for count in (0, 1, 3):
        assert {len(each.runners_up) for each in token_probabilities(inspector, TEXT, runners_up=count)} == {
            count
        }
    size = inspector.tokenizers.target.vocabulary_size
    assert len(token_probabilities(inspector, TEXT, runners_up=size + 5)[0].runners_up) == size - 1


def test_the_figure_has_a_bar_a_token_and_the_runners_up_behind_it(inspector: Inspector):
    (axis,) = probabilities_figure(inspector, TEXT, runners_up=1).axes
    found = token_probabilities(inspector, TEXT, runners_up=1)
    assert [bar.get_width() for bar in axis.patches] == pytest.approx([each.probability for each in found])
    assert [label.get_text() for label in axis.get_yticklabels()] == ["bala", "hime", "dico", "[END]"]
    assert [note.get_text().split()[0] for note in axis.texts] == [each.runners_up[0][0] for each in found]


def test_of_many_runners_up_the_figure_shows_the_first_with_a_note(inspector: Inspector, tmp_path: Path):
    figure = probabilities_figure(inspector, TEXT, runners_up=12)
    save_figure(figure, tmp_path / "sure.png")  # a warning of no room would be an error
    (axis,) = figure.axes
    assert axis.get_xlabel() == "probability; to the right the first 8 of 12 runners-up"
    assert {note.get_text().count("%") for note in axis.texts} == {MAX_DRAWN} == {8}
    few = probability_bars(token_probabilities(inspector, TEXT, runners_up=8))
    assert few.value_name == "probability; to the right the runners-up"
    assert probability_bars(token_probabilities(inspector, TEXT, runners_up=0)).value_name == "probability"
