"""A sentence and its translation as the model sees them: ids, what follows what, and who may see whom."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ptenmt.errors import DataError
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.inspector import Inspector
from ptenmt.inspection.pictures import HeatMap, Panel, Table
from ptenmt.tokenizers import PAD, UNK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ONE_HOT = 40
"""A vocabulary of more words than this is not shown as a table of zeros and ones."""

_HIDDEN = "1 = hidden"


def padding_mask(ids: np.ndarray) -> np.ndarray:
    """Which tokens are hidden because they are padding: 1; ids [B, T] -> [B, 1, 1, T]."""
    return np.asarray((ids == PAD).astype(int)[:, None, None, :])


def look_ahead_mask(length: int) -> np.ndarray:
    """Which tokens (columns) are hidden from which (rows) because they come later: 1; [T, T]."""
    return np.triu(np.ones((length, length), int), k=1)


def combined_mask(ids: np.ndarray) -> np.ndarray:
    """What either mask hides: ids [B, T] -> [B, 1, T, T]."""
    return np.asarray(np.maximum(padding_mask(ids), look_ahead_mask(ids.shape[1])))


def token_panels(
    inspector: Inspector, text: str, translation: str | None = None, length: int | None = None
) -> list[Panel]:
    """Tables of source and target, the masks, and, of a small vocabulary, the labels as ones among zeros.

    Args:
        inspector: Of the run.
        text: A sentence.
        translation: Its translation; by default the model's own.
        length: To how many tokens both sides are padded, as in a batch with longer sentences; by default they
            are not.

    Raises:
        DataError: A text is empty, or has more tokens than ``length``.
    """
    reading = inspector.read(text, translation)
    tokenizers = inspector.tokenizers
    source = _padded(reading.source, length)
    fed, labels = _padded(reading.target[:-1], length), _padded(reading.target[1:], length)
    read, known = tokenizers.source.pieces(source), tokenizers.target.pieces(fed)
    expected = tokenizers.target.pieces(labels)
    panels: list[Panel] = [
        _source_table(source, read),
        _target_table(fed, known, labels, expected),
        _mask("Padding mask of the source", padding_mask(np.array([source]))[0, 0], ["every token"], read),
        _mask("Padding mask of the target", padding_mask(np.array([fed]))[0, 0], ["every token"], known),
        _mask("Look-ahead mask", look_ahead_mask(len(fed)), known, known),
        _mask("Look-ahead and padding mask", combined_mask(np.array([fed]))[0, 0], known, known),
    ]
    size = tokenizers.target.vocabulary_size
    if size <= MOST_ONE_HOT:
        panels.append(_one_hot(labels, expected, tokenizers.target.pieces(range(size))))
    return panels


def tokens_figure(
    inspector: Inspector, text: str, translation: str | None = None, length: int | None = None
) -> "Figure":
    """Draw ``token_panels`` side by side; arguments and errors as there."""
    return draw(token_panels(inspector, text, translation, length), columns=2)


def _padded(ids: Sequence[int], length: int | None) -> list[int]:
    if length is not None and length < len(ids):
        raise DataError(f"{len(ids)} tokens cannot be padded to {length}", "give --length a larger number")
    return [*ids, *[PAD] * ((length or len(ids)) - len(ids))]


def _source_table(ids: Sequence[int], pieces: Sequence[str]) -> Table:
    columns = zip(ids, pieces, strict=True)
    rows = [(str(place), str(token), piece, _note(token)) for place, (token, piece) in enumerate(columns)]
    return Table(title="Source", header=("place", "id", "piece", ""), rows=rows, numbers=frozenset({0, 1}))


def _target_table(
    fed: Sequence[int], known: Sequence[str], labels: Sequence[int], expected: Sequence[str]
) -> Table:
    """What the decoder is given, and beside it what it is to say: the same, one place on."""
    columns = zip(fed, known, labels, expected, strict=True)
    rows = [
        (str(place), str(token), piece, str(label), wanted, _note(label))
        for place, (token, piece, label, wanted) in enumerate(columns)
    ]
    header = ("place", "id", "decoder input", "id", "label", "")
    return Table(title="Target", header=header, rows=rows, numbers=frozenset({0, 1, 3}))


def _note(token: int) -> str:
    return {UNK: "unknown", PAD: "padding"}.get(token, "")


def _mask(title: str, hidden: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> HeatMap:
    return HeatMap(
        title=f"{title} ({_HIDDEN})",
        values=hidden,
        palette="greys",
        row_name="attending token" if len(rows) > 1 else "",
        column_name="attended token",
        row_labels=rows,
        column_labels=columns,
        has_numbers=True,
    )


def _one_hot(labels: Sequence[int], pieces: Sequence[str], vocabulary: Sequence[str]) -> HeatMap:
    """A row a label: 1 in the column of its word."""
    return HeatMap(
        title="Labels, one-hot",
        values=np.eye(len(vocabulary), dtype=int)[list(labels)],
        row_name="label",
        column_name="vocabulary",
        row_labels=pieces,
        column_labels=vocabulary,
        has_numbers=True,
    )
