"""Searching for a translation, given what scores the next token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptenmt.tokenizers import END, START

NextLogits = Callable[[np.ndarray, Any], tuple[np.ndarray, Any]]
"""``next_logits(tokens [B], state) -> (logits [B, V], state)``: feed a token a sentence."""


@dataclass(frozen=True)
class Hypothesis:
    """What was generated for one sentence."""

    ids: list[int]
    """Ids, [START] first, and [END] last if it was reached."""

    @property
    def is_complete(self) -> bool:
        """Whether [END] was reached within the limit."""
        return self.ids[-1] == END


def greedy_search(
    next_logits: NextLogits, state: Any, limits: Sequence[int], forbidden: Sequence[int]
) -> list[Hypothesis]:
    """Take the likeliest token at each step until every sentence has ended.

    Args:
        next_logits: Scores the next token of each sentence.
        state: What it is first called with.
        limits: The most tokens to generate for each of the B sentences, [END] counted.
        forbidden: Ids that are never produced.

    Returns:
        A hypothesis a sentence.
    """
    remaining = np.asarray(limits)
    rows = [[START] for _ in limits]
    running = np.ones(len(rows), dtype=bool)
    tokens = np.full(len(rows), START, dtype=np.int64)
    for length in range(1, int(remaining.max(initial=0)) + 1):
        logits, state = next_logits(tokens, state)
        logits[:, list(forbidden)] = -np.inf
        tokens = logits.argmax(axis=-1)
        for row in np.flatnonzero(running):
            rows[row].append(int(tokens[row]))
        running &= (tokens != END) & (length < remaining)
        if not running.any():
            break
        tokens[~running] = END  # whatever is fed to a finished sentence, nobody reads the answer
    return [Hypothesis(row) for row in rows]
