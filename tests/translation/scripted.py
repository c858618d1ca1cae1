"""Scripts of what follows, as the searches want them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptenmt.translation.search import NextTokens, Ranked

NextLogits = Callable[[np.ndarray, Any], tuple[np.ndarray, Any]]
"""``next_logits(tokens [B], state) -> (logits [B, V], state)``."""


def ranking(next_logits: NextLogits, suppressed: Sequence[int] = ()) -> NextTokens:
    """Rank what a script scores, without the suppressed tokens."""

    def next_tokens(tokens: np.ndarray, state: Any, count: int) -> tuple[Ranked, Any]:
        logits, state = next_logits(tokens, state)
        logits = logits.astype("float64")
        logits[:, list(suppressed)] = -np.inf
        logits -= logits.max(axis=1, keepdims=True)
        log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        ids = np.argsort(-log_probs, axis=1, kind="stable")[:, :count]
        return Ranked(ids, np.take_along_axis(log_probs, ids, axis=1)), state

    return next_tokens
