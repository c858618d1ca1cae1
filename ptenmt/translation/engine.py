"""The interface of an engine, token ids in, hypotheses out."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, Self

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import END, START

if TYPE_CHECKING:
    import numpy as np


EngineName = Literal["auto", "ctranslate2", "keras"]
BATCH_SENTENCES = 32
BATCH_TOKENS = 512
"""Source tokens, padding included. CTranslate2 is fastest with such batches, by a small margin: it takes 3 to
4% longer with 32 sentences of any length, 10 to 25% longer with 128 sentences or 4,096 tokens
(benchmarks/translation.md)."""


@dataclass
class Hypothesis:
    """A candidate translation of a sentence."""

    ids: list[int]
    """[START] first; [END] last if it was generated."""
    score: float = 0.0
    """See search.py; NaN if it was not requested."""
    attention: "np.ndarray | None" = field(default=None, compare=False)
    """If requested, the cross-attention of ``Engine.alignment_layer``, averaged over its heads: [T, S] from
    each generated token to the source; a row sums to 1."""

    generated: str = field(default="", compare=False)
    """What the model wrote, decoded and detokenized (postprocessing.py)."""
    raw: str = field(default="", compare=False)
    """The same with the spacing of the training corpus."""

    @property
    def is_complete(self) -> bool:
        """Whether [END] was generated within the maximum length."""
        return self.ids[-1] == END


def mean_log_probability(ids: Sequence[int], score: float, length_penalty: float) -> float:
    """The mean log-probability of the tokens of one or more hypotheses, [END] included, from their score."""
    num_tokens = max(len(ids) - ids.count(START), 1)
    return float(score * num_tokens ** (length_penalty - 1))


@dataclass(frozen=True)
class SearchRequest:
    """A batch of sentences and the options of its search."""

    sources: Sequence[Sequence[int]]
    """The ids of each sentence, [START] and [END] included."""
    max_length: int
    """The most tokens of a translation, [END] counted."""
    options: DecodingConfig
    """How to search; its ``max_length`` is ignored."""
    _: KW_ONLY
    target_prefixes: Sequence[Sequence[int]] = ()
    """If given, for each sentence the ids that its translation starts with, or none. They count in the
    length, for ``max_length`` and the length penalty; their log-probabilities do not count in the score."""
    next_token_alternatives: int = 0
    """If above 0, return this many hypotheses that differ in the first token after the prefix, the most
    probable token first, each with its completion, searched for without length penalty. None of these tokens
    is [END], and their probabilities are normalized over the others."""
    with_attention: bool = False
    with_scores: bool = True
    """Whether they need their scores; an engine may be faster without."""


PendingHypotheses = Callable[[], list[list[Hypothesis]]]
"""Waits for the hypotheses of each sentence of a batch, best first."""


class Engine(Protocol):
    """Translates token ids to token ids."""

    name: str
    compute_type: str
    """Such as ``float32`` or ``int8``."""
    identity: str
    """Everything that translations depend on besides the run's weights and the decoding options."""
    batch_sentences: int
    """The most sentences in a batch."""
    batch_tokens: int
    """The most source tokens in a batch, padding included."""
    alignment_layer: int
    """The decoder layer, counted from 1, whose cross-attention hypotheses have."""
    max_pending_batches: int
    """How many batches to submit before waiting for the first; 0: each is computed when waited for."""

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        """Start to translate a batch; ConfigError if the engine does not support an option."""

    def attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> "list[np.ndarray]":
        """The attention of ``Hypothesis`` [T, S] with which the decoder is fed each target.

        ids of both sides from [START], sources to [END].
        """

    def seeded(self, seed: int) -> Self:
        """The same engine with its random number generator reset; ConfigError if it does not sample."""


def with_attention(
    engine: Engine, sources: Sequence[Sequence[int]], hypotheses: Sequence[Sequence[Hypothesis]]
) -> list[list[Hypothesis]]:
    """The hypotheses of each source with their attention, for which the decoder is fed them once more."""
    sources_of_hypotheses = [
        source for source, of_source in zip(sources, hypotheses, strict=True) for _ in of_source
    ]
    ids = [hypothesis.ids for of_source in hypotheses for hypothesis in of_source]
    matrices = iter(engine.attention(sources_of_hypotheses, ids))
    return [
        [replace(hypothesis, attention=next(matrices)) for hypothesis in of_source]
        for of_source in hypotheses
    ]


def attention_by_prefixes(
    engine: Engine, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> "list[np.ndarray]":
    """``Engine.attention`` of an engine that takes target prefixes: all but the last token of a target."""
    matrices: dict[int, np.ndarray] = {}
    order = sorted(range(len(sources)), key=lambda row: len(targets[row]))
    pending: deque[tuple[list[int], PendingHypotheses]] = deque()
    while order or pending:
        if order and len(pending) <= engine.max_pending_batches:
            longest = max(len(targets[order[-1]]), len(sources[order[-1]]))
            size = max(1, min(engine.batch_sentences, engine.batch_tokens // longest))
            rows, order = order[-size:], order[:-size]
            request = SearchRequest(
                [sources[row] for row in rows],
                len(targets[rows[-1]]) - 1,
                DecodingConfig(beam_size=1),
                target_prefixes=[targets[row][1:-1] for row in rows],
                with_attention=True,
                with_scores=False,
            )
            pending.append((rows, engine.submit(request)))
            continue
        rows, wait = pending.popleft()
        for row, (forced, *_) in zip(rows, wait(), strict=True):
            assert forced.attention is not None
            matrices[row] = forced.attention[: len(targets[row]) - 1]
    return [matrices[row] for row in range(len(sources))]
