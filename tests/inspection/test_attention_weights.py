"""Attention as pictures, from the trained model that copies."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_models import attention_of

from ptenmt.errors import ConfigError
from ptenmt.inspection.alignment import (
    AttentionWeights,
    Block,
    attention_panels,
    attention_weights,
)
from ptenmt.inspection.inspector import Inspector
from ptenmt.translation import Translator

TEXT = "bala hime dico galo"


@pytest.fixture(scope="module")
def found(inspector: Inspector) -> AttentionWeights:
    return attention_weights(inspector, TEXT)


def made_up(source: list[str], target: list[str], layers: int = 2) -> AttentionWeights:
    """Random weights of three heads, rows of which sum to 1."""
    chance, weights = np.random.default_rng(1), {}
    for name, rows, columns in (
        ("encoder_layer{}", source, source),
        ("decoder_layer{}_block1", target, target),
        ("decoder_layer{}_block2", target, source),
    ):
        for layer in range(1, layers + 1):
            weights[name.format(layer)] = chance.dirichlet(np.ones(len(columns)), (3, len(rows)))
    return AttentionWeights(
        source_pieces=source, target_pieces=target, written_pieces=[*target[1:], "[END]"], weights=weights
    )


@pytest.mark.parametrize("translation", [None, "galo bala"])
def test_they_are_the_weights_of_the_keras_model(
    inspector: Inspector, translator: Translator, translation: str | None
):
    mine = attention_weights(inspector, TEXT, translation)
    written = translation or translator.translate(TEXT)[0].raw
    assert mine.source_pieces == ["[START]", *TEXT.split(), "[END]"]
    assert mine.target_pieces == ["[START]", *written.split()]
    assert mine.written_pieces == [*written.split(), "[END]"]
    assert mine.alignment_layer == inspector.alignment_layer
    sides = translator.tokenizers.source, translator.tokenizers.target
    source, target = (side.encode([text])[0] for side, text in zip(sides, (TEXT, written), strict=True))
    theirs = attention_of(translator.engine.model, np.array([[2, *source, 3]]), np.array([[2, *target]]))
    assert mine.weights.keys() == theirs.keys()
    for name, weights in mine.weights.items():
        np.testing.assert_allclose(weights, theirs[name][0], atol=1e-4)


@pytest.mark.parametrize(
    ("block", "name", "rows", "columns"),
    [
        ("encoder", "encoder_layer{}", "source", "source"),
        ("self", "decoder_layer{}_block1", "written", "target"),
        ("cross", "decoder_layer{}_block2", "written", "source"),
    ],
)
@pytest.mark.parametrize("layer", [None, 1])
def test_a_panel_shows_a_head_of_a_block_of_a_layer(
    block: Block, name: str, rows: str, columns: str, layer: int | None
):
    pieces = {"source": ["a", "b", "c"], "target": ["[START]", "x"], "written": ["x", "[END]"]}
    found = made_up(pieces["source"], pieces["target"])
    shown = found.weights[name.format(layer or 2)]
    title, panels = attention_panels(found, block=block, layer=layer)
    assert f"layer {layer or 2}" in title
    assert [panel.title for panel in panels] == ["head 1", "head 2", "head 3"]
    for panel, values in zip(panels, shown, strict=True):
        np.testing.assert_array_equal(panel.values, values)
        assert (panel.row_labels, panel.column_labels) == (pieces[rows], pieces[columns])
        assert panel.high == shown.max(), "one colour means the same in every panel"
    (one,) = attention_panels(found, block=block, layer=layer, head=2)[1]
    np.testing.assert_array_equal(one.values, shown[1])
    (mean,) = attention_panels(found, block=block, layer=layer, head="mean")[1]
    np.testing.assert_allclose(mean.values, shown.mean(axis=0))


def test_the_layer_that_aligns_best_is_the_default_of_cross_attention_alone():
    found = replace(made_up(["a"], ["x"], layers=3), alignment_layer=2)
    titles = [attention_panels(found, block=block)[0] for block in ("cross", "self", "encoder")]
    assert [re.findall(r"layer (\d)", title) for title in titles] == [["2"], ["3"], ["3"]]


def test_an_error_of_layer_or_head_has_the_range():
    one, deep = made_up(["a"], ["x"], layers=1), made_up(["a"], ["x"], layers=3)
    del deep.weights["encoder_layer3"]

    def refused(message: str, found: AttentionWeights = deep, **options: Any) -> None:
        with pytest.raises(ConfigError, match=message):
            attention_panels(found, **options)

    refused("no layer 4: the decoder has layers 1 to 3", layer=4)
    refused("no layer 0: the decoder has layers 1 to 3", layer=0)
    refused("no layer 3: the encoder has layers 1 to 2", layer=3, block="encoder")
    refused("no layer 2: the decoder has one layer, which is 1", one, layer=2)
    refused("no head 4: the model has heads 1 to 3", head=4)
    refused("no head -1", head=-1)
