"""How sure a model is: the probability of every token of a translation, and what else it might have been."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ptenmt.errors import ConfigError
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.inspector import Inspector
from ptenmt.inspection.pictures import Bars, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNNERS_UP = 4
MOST_DRAWN = 8
"""More runners-up than this do not stand behind a bar."""


@dataclass(frozen=True, kw_only=True)
class TokenProbability:
    """How likely a model finds a token of a translation, given those before it."""

    piece: str
    probability: float
    rank: int
    """Its place among all tokens: 1 is the likeliest."""
    entropy: float
    """Of its distribution, in nats: 0 where the model is certain, log V where it has no idea."""
    runners_up: list[tuple[str, float]]
    """The likeliest others, with their probabilities."""


def find_probabilities(
    inspector: Inspector, text: str, translation: str | None = None, *, runners_up: int = RUNNERS_UP
) -> list[TokenProbability]:
    """Tell how likely the model finds each token of a translation, given the sentence and those before it.

    The probabilities are the model's own, over its whole vocabulary: no beam and no penalty changes them.

    Args:
        inspector: Of the run.
        text: The sentence.
        translation: Its translation; by default the model's own.
        runners_up: How many other tokens to tell at each place.

    Returns:
        One for each token behind [START], [END] included if it was reached.

    Raises:
        DataError: One of the texts is empty.
        ConfigError: There are not so many other tokens.
    """
    most = inspector.tokenizers.target.vocabulary_size - 1
    if not 0 <= runners_up <= most:
        raise ConfigError(
            f"{runners_up} runners-up are asked for: there are 0 to {most}", "choose with --runners-up"
        )
    reading = inspector.read(text, translation)
    source, fed = np.array([reading.source]), np.array([reading.target[:-1]])
    rows = inspector.model.log_probabilities(source, fed)[0].astype("f8")  # -> [T, V]
    pieces = inspector.tokenizers.target.pieces
    return [
        _token_probability(log_probs, token, runners_up, pieces)
        for log_probs, token in zip(rows, reading.target[1:], strict=True)
    ]


def _token_probability(
    log_probs: np.ndarray, token: int, runners_up: int, pieces: Callable[[Sequence[int]], list[str]]
) -> TokenProbability:
    """What log-probabilities [V] say about a token."""
    ranked = np.argsort(-log_probs, kind="stable")[: runners_up + 1]
    others = [int(other) for other in ranked if other != token][:runners_up]
    probabilities = np.exp(log_probs)
    return TokenProbability(
        piece=pieces([token])[0],
        probability=float(probabilities[token]),
        rank=int((log_probs > log_probs[token]).sum()) + 1,
        entropy=float(-(probabilities * log_probs).sum()),
        runners_up=list(zip(pieces(others), probabilities[others].tolist(), strict=True)),
    )


def probabilities_figure(
    inspector: Inspector, text: str, translation: str | None = None, *, runners_up: int = RUNNERS_UP
) -> "Figure":
    """Draw a bar a token, the runners-up behind it; for arguments and errors see ``find_probabilities``."""
    return draw([probability_bars(find_probabilities(inspector, text, translation, runners_up=runners_up))])


def probability_bars(found: Sequence[TokenProbability]) -> Bars:
    """What ``probabilities_figure`` draws."""
    most = max((len(each.runners_up) for each in found), default=0)
    some = "the runners-up" if most <= MOST_DRAWN else f"the first {MOST_DRAWN} of {most} runners-up"
    return Bars(
        title="How likely each token is, given those before it",
        value_name=f"probability; behind it {some}" if most else "probability",
        names=[each.piece for each in found],
        values=[each.probability for each in found],
        notes=[_told(each.runners_up[:MOST_DRAWN]) for each in found],
    )


def probability_table(found: Sequence[TokenProbability]) -> Table:
    """The same in figures, with ranks and entropies."""
    rows = [
        (
            each.piece,
            _percent(each.probability),
            str(each.rank),
            f"{each.entropy:.2f}",
            _told(each.runners_up),
        )
        for each in found
    ]
    return Table(
        title="How likely each token is, given those before it (entropy in nats)",
        header=("token", "probability", "rank", "entropy", "runners-up"),
        rows=rows,
        numbers=frozenset({1, 2, 3}),
    )


def _told(runners_up: Sequence[tuple[str, float]]) -> str:
    """Such as ``has 3.1%, is 0.8%``."""
    return ", ".join(f"{piece} {_percent(probability)}" for piece, probability in runners_up)


def _percent(probability: float) -> str:
    return f"{100 * probability:.1f}%" if probability >= 0.0005 else "<0.1%"
