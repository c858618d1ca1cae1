"""A sentence and its translation as the model reads them: ids, labels, masks; each token's probability."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ptenmt.errors import DataError
from ptenmt.inspection.figures import HeatMap, Panel, Table
from ptenmt.inspection.inspector import Inspector
from ptenmt.tokenizers import PAD, UNK, Tokenizer

MAX_ONE_HOT = 40
"""Labels of a larger vocabulary are not shown one-hot."""
RUNNERS_UP = 4


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


@dataclass(frozen=True, kw_only=True)
class TokenProbability:
    """The model's distribution at one position of a translation, given the tokens before it."""

    piece: str
    probability: float
    rank: int
    """The token's rank in the vocabulary; 1 is the likeliest."""
    entropy: float
    """Of the distribution, in nats: 0 if the model is certain, log V if it is uniform."""
    runners_up: list[tuple[str, float]]


def token_probabilities(
    inspector: Inspector, text: str, translation: str | None = None, *, runners_up: int = RUNNERS_UP
) -> list[TokenProbability]:
    """Compute the teacher-forced probability of every token of a translation, by default the model's own.

    Probabilities are over the whole vocabulary; no beam and no penalty changes them. ``runners_up`` is the
    number of alternatives at each position, fewer if the vocabulary is smaller.

    Returns:
        One per token after [START], [END] included unless the translation was truncated.

    Raises:
        DataError: One of the texts is empty.
    """
    reading = inspector.read(text, translation)
    source, target = np.array([reading.source]), np.array([reading.target[:-1]])
    all_log_probs = inspector.model.log_probabilities(source, target)[0].astype("f8")  # -> [T, V]
    pieces = inspector.tokenizers.target.pieces
    distributions = []
    for log_probs, token in zip(all_log_probs, reading.target[1:], strict=True):
        probabilities = np.exp(log_probs)
        ranked = np.argsort(-log_probs, kind="stable")[: runners_up + 1]
        others = [int(other) for other in ranked if other != token][:runners_up]
        distributions.append(
            TokenProbability(
                piece=pieces([token])[0],
                probability=float(probabilities[token]),
                rank=int((log_probs > log_probs[token]).sum()) + 1,
                entropy=float(-(probabilities * log_probs).sum()),
                runners_up=list(zip(pieces(others), probabilities[others].tolist(), strict=True)),
            )
        )
    return distributions


def probability_table(distributions: Sequence[TokenProbability]) -> Table:
    """The probability of each token, its rank, the entropy and the runners-up."""
    rows = []
    for token in distributions:
        numbers = (_percent(token.probability), str(token.rank), f"{token.entropy:.2f}")
        others = ", ".join(f"{piece} {_percent(probability)}" for piece, probability in token.runners_up)
        rows.append((token.piece, *numbers, others))
    return Table(
        title="Probability of each token, given those before it (entropy in nats)",
        header=("token", "probability", "rank", "entropy", "runners-up"),
        rows=rows,
        numbers={1, 2, 3},
    )


def _percent(probability: float) -> str:
    """Such as ``3.1%``, or ``<0.1%``."""
    return f"{100 * probability:.1f}%" if probability >= 0.0005 else "<0.1%"
