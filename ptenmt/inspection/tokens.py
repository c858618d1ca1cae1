"""A sentence and its translation as the model reads them: ids, labels, masks."""

from collections.abc import Iterable, Sequence

import numpy as np

from ptenmt.errors import DataError
from ptenmt.inspection.figures import HeatMap, Panel, Table
from ptenmt.inspection.inspector import Inspector
from ptenmt.tokenizers import PAD, UNK, Tokenizer

MAX_ONE_HOT = 40
"""Labels of a larger vocabulary are not shown one-hot."""


def token_panels(
    inspector: Inspector, text: str, translation: str | None = None, length: int | None = None
) -> list[Panel]:
    """Tables of source and target, the masks and, for a small vocabulary, the labels one-hot.

    In the model, a mask is True where a token may be attended to; the panels show the other convention of
    Vaswani et al.'s implementations, 1 = hidden; their titles state it. The translation is by default the
    model's own. Both sides are padded to ``length``, as in a batch with longer sentences. Raises DataError if
    a text is empty, or has more tokens than that.
    """
    reading = inspector.read(text, translation)
    tokenizers = inspector.tokenizers
    source = _padded(reading.source, length)
    inputs, labels = _padded(reading.target[:-1], length), _padded(reading.target[1:], length)
    source_pieces, input_pieces = tokenizers.source.pieces(source), tokenizers.target.pieces(inputs)
    label_pieces = tokenizers.target.pieces(labels)
    source_mask, target_mask = np.array([source]) != PAD, np.array([inputs]) != PAD  # -> [1, S], [1, T]
    causal_mask = np.tri(len(inputs), dtype=bool)  # -> [T, T]
    panels: list[Panel] = [
        Table(
            title="Source",
            header=("position", "id", "piece", ""),
            rows=_rows(source, source_pieces, map(_note, source)),
            numbers={0, 1},
        ),
        Table(
            title="Target",
            header=("position", "id", "decoder input", "id", "label", ""),
            rows=_rows(inputs, input_pieces, labels, label_pieces, map(_note, labels)),
            numbers={0, 1, 3},
        ),
        _mask_panel("Padding mask of the source", source_mask, ["every token"], source_pieces),
        _mask_panel("Padding mask of the target", target_mask, ["every token"], input_pieces),
        _mask_panel("Look-ahead mask", causal_mask, input_pieces, input_pieces),
        _mask_panel("Look-ahead and padding mask", causal_mask & target_mask, input_pieces, input_pieces),
    ]
    if tokenizers.target.vocabulary_size <= MAX_ONE_HOT:
        panels.append(_one_hot_panel(labels, tokenizers.target))
    return panels


def _one_hot_panel(labels: Sequence[int], tokenizer: Tokenizer) -> HeatMap:
    return HeatMap(
        title="Labels, one-hot",
        values=np.eye(tokenizer.vocabulary_size, dtype=int)[labels],
        row_name="label",
        column_name="vocabulary",
        row_labels=tokenizer.pieces(labels),
        column_labels=tokenizer.vocabulary,
        has_numbers=True,
    )


def _padded(ids: Sequence[int], length: int | None) -> list[int]:
    if length is not None and length < len(ids):
        raise DataError(f"{len(ids)} tokens cannot be padded to {length}", "give a larger --length")
    return [*ids, *[PAD] * ((length or len(ids)) - len(ids))]


def _rows(*columns: Iterable[object]) -> list[tuple[str, ...]]:
    return [(str(position), *map(str, row)) for position, row in enumerate(zip(*columns, strict=True))]


def _note(token: int) -> str:
    return {UNK: "unknown", PAD: "padding"}.get(token, "")


def _mask_panel(title: str, mask: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> HeatMap:
    """A mask (True = may be attended to), inverted to show 1 = hidden."""
    return HeatMap(
        title=f"{title} (1 = hidden)",
        values=1 - mask.astype(int),
        palette="greys",
        row_name="attending token" if len(rows) > 1 else "",
        column_name="attended token",
        row_labels=rows,
        column_labels=columns,
        has_numbers=True,
    )
