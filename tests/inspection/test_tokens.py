"""A sentence as the model sees it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ptenmt.errors import DataError
from ptenmt.inspection.figures import HeatMap, Table
from ptenmt.inspection.inspector import Inspector, token_panels


def shown(inspector: Inspector, *texts: str | None, **options: int) -> tuple[list[Table], list[HeatMap]]:
    panels = token_panels(inspector, *texts, **options)  # type: ignore[arg-type]
    tables = [panel for panel in panels if isinstance(panel, Table)]
    return tables, [panel for panel in panels if isinstance(panel, HeatMap)]


def masks_of(source: list[int], target: list[int]) -> list[list[list[int]]]:
    """The values of the four mask panels of ids that no tokenizer made."""
    side = SimpleNamespace(pieces=lambda ids: list(map(str, ids)), vocabulary_size=1000)
    reading = SimpleNamespace(source=source, target=[*target, 3])
    stub: Any = SimpleNamespace(
        read=lambda _text, _translation: reading, tokenizers=SimpleNamespace(source=side, target=side)
    )
    return [panel.values.tolist() for panel in token_panels(stub, "") if isinstance(panel, HeatMap)]


def test_the_panels_hide_what_the_model_hides() -> None:
    from ptenmt.model.layers import causal_mask, decoder_mask, padding_mask

    source, target = np.array([[1, 21, 777, 0, 0]]), np.array([[1, 2, 0, 4, 5, 0]])
    panels = masks_of(source[0].tolist(), target[0].tolist())
    masks = padding_mask(source), padding_mask(target), causal_mask(6), decoder_mask(target)
    for panel, mask in zip(panels, masks, strict=True):
        np.testing.assert_array_equal(panel, 1 - np.atleast_2d(np.squeeze(mask)).astype(int))


def test_the_decoder_reads_what_it_is_to_say_one_place_later(inspector: Inspector) -> None:
    (source, target), _ = shown(inspector, "bala dico nunca", "bala nunca")
    assert [row[2] for row in source.rows] == ["[START]", "bala", "dico", "[UNK]", "[END]"]
    assert [row[3] for row in source.rows] == ["", "", "", "unknown", ""]
    assert [int(row[1]) for row in source.rows][::4] == [2, 3]
    assert inspector.tokenizers.source.pieces([int(row[1]) for row in source.rows]) == [
        row[2] for row in source.rows
    ]
    assert [row[2] for row in target.rows] == ["[START]", "bala", "[UNK]"]
    assert [row[4] for row in target.rows] == ["bala", "[UNK]", "[END]"]
    assert [row[5] for row in target.rows] == ["", "unknown", ""]
    assert [row[1] for row in target.rows][1:] == [row[3] for row in target.rows][:-1]


def test_padding_is_shown_and_hidden(inspector: Inspector) -> None:
    (source, target), masks = shown(inspector, "bala dico", "bala", length=6)
    assert [row[2] for row in source.rows][4:] == ["[PAD]", "[PAD]"]
    assert [row[3] for row in source.rows][4:] == ["padding", "padding"]
    assert [row[4] for row in target.rows] == ["bala", "[END]", *["[PAD]"] * 4]
    by_title = {mask.title: mask for mask in masks}
    assert by_title["Padding mask of the source (1 = hidden)"].values.tolist() == [[0, 0, 0, 0, 1, 1]]
    assert by_title["Padding mask of the target (1 = hidden)"].values.tolist() == [[0, 0, 1, 1, 1, 1]]
    combined = by_title["Look-ahead and padding mask (1 = hidden)"]
    assert combined.values.tolist()[0] == [0, 1, 1, 1, 1, 1]
    assert combined.values.tolist()[-1] == [0, 0, 1, 1, 1, 1]
    assert list(combined.row_labels) == ["[START]", "bala", *["[PAD]"] * 4]
    assert all(mask.has_numbers for mask in masks)


def test_labels_of_a_small_vocabulary_are_ones_among_zeros(inspector: Inspector) -> None:
    one_hot = shown(inspector, "bala", "dico")[1][-1]
    tokenizer = inspector.tokenizers.target
    assert one_hot.title == "Labels, one-hot"
    assert one_hot.values.shape == (2, tokenizer.vocabulary_size)
    assert [one_hot.column_labels[row.argmax()] for row in one_hot.values] == ["dico", "[END]"]
    assert one_hot.values.sum() == 2


def test_texts_that_cannot_be_shown(inspector: Inspector) -> None:
    with pytest.raises(DataError, match="4 tokens cannot be padded to 3"):
        token_panels(inspector, "bala dico", "bala", length=3)
