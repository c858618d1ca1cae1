"""Scripts of what follows, as the searches want them, and of whole translations."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ptenmt.tokenizers import END, START, TokenizerPair
from ptenmt.translation.engine import Hypothesis, PendingHypotheses, SearchRequest
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


@dataclass
class TextEngine:
    """Translates texts by a script: sentence in, n-best list out, with scores of 0, -1, ... if it shall.

    The n-th token of a translation attends to the n-th of its source.
    """

    tokenizers: TokenizerPair
    script: Callable[[str], Sequence[str]]
    best_score: Callable[[str], float] = lambda _source: 0.0
    name = "ctranslate2"
    compute_type = "float32"
    identity = "scripted"
    batch_sentences, batch_tokens = 8, 2048
    max_pending_batches = alignment_layer = 1
    seen: list[str] = field(default_factory=list)
    """The sentences, in the order in which they were translated."""
    requests: list[SearchRequest] = field(default_factory=list)

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        texts = self.tokenizers.source.decode([list(ids) for ids in request.sources])
        self.seen += texts
        self.requests.append(request)
        limit = request.options.num_hypotheses
        unknown = 0.0 if request.with_scores else math.nan
        return lambda: [
            [
                self._hypothesis(
                    translation, self.best_score(text) - rank + unknown, len(ids), request.max_length
                )
                for rank, translation in enumerate(self.script(text)[:limit])
            ]
            for text, ids in zip(texts, request.sources, strict=True)
        ]

    def _hypothesis(self, text: str, score: float, num_source: int, max_length: int) -> Hypothesis:
        ids = [START, *self.tokenizers.target.encode([text])[0], END][: max_length + 1]
        return Hypothesis(ids, score, np.eye(len(ids) - 1, num_source, k=1) + 1e-3)

    def attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[np.ndarray]:
        return [
            np.eye(len(target) - 1, len(source), k=1) + 1e-3
            for source, target in zip(sources, targets, strict=True)
        ]

    def seeded(self, seed: int) -> Self:
        raise NotImplementedError
