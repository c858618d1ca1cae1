"""What a translator needs of an engine: ids in, hypotheses out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import END

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Hypothesis:
    """What was generated for one sentence."""

    ids: list[int]
    """Ids, [START] first, and [END] last if it was reached."""
    score: float = 0.0
    """See search.py; not a number if it was not asked for."""
    attention: "np.ndarray | None" = field(default=None, compare=False)
    """If it was asked for, what each generated token attended to: [T, S], a row sums to 1. The mean over the
    heads of the last layer's cross-attention."""

    @property
    def is_complete(self) -> bool:
        """Whether [END] was reached within the limit."""
        return self.ids[-1] == END


Found = list[Hypothesis]
"""The hypotheses of one sentence, best first."""


class Engine(Protocol):
    """Translates ids to ids."""

    name: str
    """``ctranslate2`` or ``keras``."""
    compute_type: str
    """What it computes in, such as ``float32`` or ``int8``."""
    identity: str
    """What its translations depend on, besides the run's weights and the options."""
    batch_sentences: int
    """The most sentences that a batch is to have."""
    batch_tokens: int
    """The most source tokens, padding included."""
    queue: int
    """How many batches it may be given before the first is waited for; 0: it works when it is waited for."""

    def submit(
        self,
        sources: Sequence[Sequence[int]],
        limit: int,
        options: DecodingConfig,
        *,
        prefixes: Sequence[Sequence[int]] = (),
        branches: int = 0,
        with_attention: bool = False,
        with_scores: bool = True,
    ) -> Callable[[], list[Found]]:
        """Begin to translate a batch.

        Args:
            sources: The ids of each sentence, [START] and [END] included.
            limit: The most tokens of a translation, [END] counted.
            options: How to search; ``max_length`` plays no role here.
            prefixes: If given, for each sentence ids that its translation begins with, or none. They count in
                its length, for the limit and for the score's length penalty; their own log-probabilities do
                not count in the score.
            branches: Instead of searching on: so many different tokens after the prefix, likeliest first, and
                how each goes on. None of these tokens is [END], and their probabilities are those among the
                others. How one goes on is searched for without length penalty.
            with_attention: Give the hypotheses' attention too.
            with_scores: Give their scores; without, an engine may save the time that they take.

        Returns:
            What waits for the translations and gives them, those of a sentence best first.

        Raises:
            ConfigError: This engine has no such option.
        """
        ...

    def seeded(self, seed: int) -> Self:
        """The same engine at the beginning of a sequence of random numbers.

        Raises:
            ConfigError: This engine draws no tokens.
        """
        ...
