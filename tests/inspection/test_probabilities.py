"""How sure the model is, against the Keras model's own numbers."""

import math

import numpy as np
import pytest
from copy_task import TrainedRun
from random_models import log_probs

from ptenmt.inspection.inspector import Inspector
from ptenmt.inspection.tokens import probability_table, token_probabilities
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


def test_the_table_has_a_row_a_token_and_its_runners_up(inspector: Inspector):
    found = token_probabilities(inspector, TEXT, runners_up=2)
    table = probability_table(found)
    assert [row[0] for row in table.rows] == ["bala", "hime", "dico", "[END]"]
    for row, token in zip(table.rows, found, strict=True):
        assert row[1:4] == (f"{100 * token.probability:.1f}%", "1", f"{token.entropy:.2f}")
        assert [other.split()[0] for other in row[4].split(", ")] == [piece for piece, _ in token.runners_up]
