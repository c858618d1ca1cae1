"""A sentence as the model sees it."""

import numpy as np
import pytest

from ptenmt.errors import DataError
from ptenmt.inspection.figures import HeatMap, Table
from ptenmt.inspection.inspector import Inspector, token_panels


def shown(inspector: Inspector, *texts: str | None, **options: int) -> tuple[list[Table], list[HeatMap]]:
    panels = token_panels(inspector, *texts, **options)  # type: ignore[arg-type]
    tables = [panel for panel in panels if isinstance(panel, Table)]
    return tables, [panel for panel in panels if isinstance(panel, HeatMap)]


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


def test_padding_is_shown_and_hidden_as_the_model_hides_it(inspector: Inspector) -> None:
    from ptenmt.model.layers import causal_mask, decoder_mask, padding_mask

    (source, target), (*masks, _one_hot) = shown(inspector, "bala dico", "bala", length=6)
    assert [row[2:4] for row in source.rows][4:] == [("[PAD]", "padding")] * 2
    assert [row[4] for row in target.rows] == ["bala", "[END]", *["[PAD]"] * 4]
    ids, inputs = (np.array([[int(row[1]) for row in table.rows]]) for table in (source, target))
    hidden = {
        "Padding mask of the source": padding_mask(ids),
        "Padding mask of the target": padding_mask(inputs),
        "Look-ahead mask": causal_mask(6),
        "Look-ahead and padding mask": decoder_mask(inputs),
    }
    assert [mask.title for mask in masks] == [f"{name} (1 = hidden)" for name in hidden]
    for panel, mask in zip(masks, hidden.values(), strict=True):
        np.testing.assert_array_equal(panel.values, 1 - np.atleast_2d(np.squeeze(mask)).astype(int))
        assert panel.has_numbers
    assert list(masks[-1].row_labels) == ["[START]", "bala", *["[PAD]"] * 4]
    with pytest.raises(DataError, match="4 tokens cannot be padded to 3"):
        token_panels(inspector, "bala dico", "bala", length=3)


def test_labels_of_a_small_vocabulary_are_ones_among_zeros(inspector: Inspector) -> None:
    one_hot = shown(inspector, "bala", "dico")[1][-1]
    tokenizer = inspector.tokenizers.target
    assert one_hot.title == "Labels, one-hot"
    assert one_hot.values.shape == (2, tokenizer.vocabulary_size)
    assert [one_hot.column_labels[row.argmax()] for row in one_hot.values] == ["dico", "[END]"]
    assert one_hot.values.sum() == 2
