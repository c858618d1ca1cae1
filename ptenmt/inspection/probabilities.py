"""The probability of every token of a translation, and the likeliest alternatives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptenmt.inspection.figures import Bars, Table
from ptenmt.inspection.inspector import Inspector

RUNNERS_UP = 4
MAX_DRAWN = 8


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
    found = []
    for log_probs, token in zip(all_log_probs, reading.target[1:], strict=True):
        probabilities = np.exp(log_probs)
        ranked = np.argsort(-log_probs, kind="stable")[: runners_up + 1]
        others = [int(other) for other in ranked if other != token][:runners_up]
        found.append(
            TokenProbability(
                piece=pieces([token])[0],
                probability=float(probabilities[token]),
                rank=int((log_probs > log_probs[token]).sum()) + 1,
                entropy=float(-(probabilities * log_probs).sum()),
                runners_up=list(zip(pieces(others), probabilities[others].tolist(), strict=True)),
            )
        )
    return found


def probability_bars(found: Sequence[TokenProbability]) -> Bars:
    """A bar per token, the runners-up beside it."""
    most = max((len(token.runners_up) for token in found), default=0)
    listed = "runners-up" if most <= MAX_DRAWN else f"first {MAX_DRAWN} of {most} runners-up"
    return Bars(
        title="Probability of each token, given those before it",
        value_name=f"probability; to the right the {listed}" if most else "probability",
        names=[token.piece for token in found],
        values=[token.probability for token in found],
        notes=[_runners_up_text(token.runners_up[:MAX_DRAWN]) for token in found],
    )


def probability_table(found: Sequence[TokenProbability]) -> Table:
    """The probabilities in figures, with ranks and entropies."""
    rows = []
    for token in found:
        numbers = (_percent(token.probability), str(token.rank), f"{token.entropy:.2f}")
        rows.append((token.piece, *numbers, _runners_up_text(token.runners_up)))
    return Table(
        title="Probability of each token, given those before it (entropy in nats)",
        header=("token", "probability", "rank", "entropy", "runners-up"),
        rows=rows,
        numbers={1, 2, 3},
    )


def _runners_up_text(runners_up: Sequence[tuple[str, float]]) -> str:
    """Such as ``has 3.1%, is 0.8%``."""
    return ", ".join(f"{piece} {_percent(probability)}" for piece, probability in runners_up)


def _percent(probability: float) -> str:
    """Such as ``3.1%``, or ``<0.1%``."""
    return f"{100 * probability:.1f}%" if probability >= 0.0005 else "<0.1%"
