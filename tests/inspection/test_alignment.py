"""Word alignment: tokens to words by hand, and the model that copies, whose alignment is known."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from copy_task import TrainedRun

from ptenmt.errors import DataError
from ptenmt.inspection.alignment import (
    AlignedPair,
    alignment_panel,
    choose_layer,
    word_alignment,
)
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.inspector import Inspector, Reading
from ptenmt.model.ctranslate2_model import default_alignment_layer
from ptenmt.runs import Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, START

SENTENCES = ["bala hime dico galo", "pira rota", "mico", "fute jaro lume kilo"]


def scripted(weights: Any, source: str, target: str) -> AlignedPair:
    """Align ``o gat ##o`` and ``the cat ##s`` with cross-attention [H, T, S] as it is given."""

    def read(_text: str, _translation: str | None) -> Reading:
        return Reading(
            source=[2, 4, 5, 6, 3],
            target=[2, 4, 5, 6, 3],
            source_text=source,
            target_text=target,
            source_pieces=["[START]", "o", "gat", "##o", "[END]"],
            target_pieces=["[START]", "the", "cat", "##s", "[END]"],
        )

    model = SimpleNamespace(
        attention=lambda _source, _target: {
            f"decoder_layer{layer}_block2": np.array([weights]) * (layer == 2) for layer in (1, 2, 3)
        },
    )
    stub: Any = SimpleNamespace(model=model, read=read, alignment_layer=2)
    return word_alignment(stub, "", "")


def test_the_attention_of_tokens_is_summed_over_words():
    head = [  # [START]  o    gat   ##o  [END]
        [0.1, 0.6, 0.1, 0.1, 0.1],  # writes the
        [0.0, 0.1, 0.2, 0.3, 0.4],  # writes cat
        [0.0, 0.1, 0.4, 0.4, 0.1],  # writes ##s
        [0.0, 0.0, 0.0, 0.0, 1.0],  # writes [END]
    ]
    other = [[0.1, 0.2, 0.3, 0.3, 0.1]] * 4
    found = scripted([head, other], "o gato", "the cats")
    assert (found.source_words, found.target_words) == (["o", "gato"], ["the", "cats"])
    np.testing.assert_allclose(found.weights, [[0.5, 0.5], [0.3 / 1.55, 1.25 / 1.55]], atol=1e-4)
    assert found.links == [(0, 0), (1, 1)]
    assert found.layer == 2, "of three layers"


def test_the_last_layer_but_one_aligns_except_in_shallow_models():
    assert [default_alignment_layer(num_layers) for num_layers in (1, 2, 3, 4, 6)] == [1, 2, 2, 3, 5]


@pytest.mark.parametrize("aligning", [1, 3])
def test_the_layer_that_links_equal_words_is_chosen_and_kept(
    copied: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aligning: int
):
    """Layer ``aligning`` looks at equal ids, the others at [START] and at the end of the source."""

    class Scripted:
        def attention(self, source: np.ndarray, target: np.ndarray) -> dict[str, np.ndarray]:
            written = np.pad(target[:, 1:], ((0, 0), (0, 1)))
            equal = (written[:, :, None] == source[:, None, :]).astype(float)
            last = np.zeros_like(equal)
            last[:, :, 1] = 1
            return {
                f"decoder_layer{layer}_block2": (equal if layer == aligning else last)[:, None]
                for layer in (1, 2, 3)
            }

    monkeypatch.setattr(TrainedModel, "numpy_model", Scripted())
    run = Run(Path(shutil.copytree(copied.path, tmp_path / "run")))
    trained = TrainedModel.load(run)
    assert trained.weights
    trained.config = replace(trained.config, model=replace(trained.config.model, decoder_layers=3))
    pairs = [(sentence, sentence) for sentence in SENTENCES]
    assert trained.alignment_layer == 1 == copied.config.model.num_layers
    assert choose_layer(trained, pairs) == aligning
    assert choose_layer(trained, pairs[:2]) == 2, "too few words: the last but one"
    run.record_alignment_layer(aligning)
    assert trained.alignment_layer == aligning
    assert run.facts().keys() == Run(copied.path).facts().keys()


def test_words_without_a_token_have_no_link():
    found = AlignedPair(
        source_words=["a", "b"],
        target_words=["x", "!"],
        weights=np.array([[0.1, 0.7], [0, 0]]),
        layer=3,
    )
    assert found.links == [(1, 0)]
    assert replace(found, source_words=[], weights=np.zeros((2, 0))).links == []
    assert alignment_panel(found).title == "Word alignment (decoder, layer 3: mean over the heads)"


def test_a_model_that_copies_aligns_each_word_with_itself(inspector: Inspector):
    for text in SENTENCES:
        assert word_alignment(inspector, text).links == [(place, place) for place in range(len(text.split()))]


def test_an_empty_translation_is_an_error(copied: TrainedRun):
    silent = Inspector(copied.path, on_warning=pytest.fail)
    vars(silent)["translator"] = SimpleNamespace(best=lambda sources: [[START, END] for _ in sources])
    with pytest.raises(DataError, match="the model's translation of 'bala' is empty"):
        word_alignment(silent, "bala")
    assert word_alignment(silent, "bala", "hime").links == [(0, 0)]


def test_the_figure_marks_the_links(inspector: Inspector):
    (axis, *_) = draw([alignment_panel(word_alignment(inspector, "bala hime dico"))]).axes
    assert [line.get_xydata().tolist() for line in axis.lines] == [[[0, 0]], [[1, 1]], [[2, 2]]]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["bala", "hime", "dico"]
