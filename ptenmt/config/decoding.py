"""The options of how translations are searched for."""

from dataclasses import dataclass
from typing import Any

from ptenmt.config.options import require, resumable

_LIMIT_STEP = 8
_MOST_BEAMS = 1000
MOST_BRANCHES = 1000
"""A thousand different next tokens take a second; the time grows faster than their number."""
SEEDS = 2**32
"""So many seeds there are, from 0."""
LEAST_TEMPERATURE = 1e-6
"""Logits divided by less are no numbers any more."""


@dataclass(frozen=True, kw_only=True)
class DecodingConfig:
    """How translations are searched for: greedily, with beams, or by drawing lots."""

    max_length: int | None = resumable(None)
    """The most tokens generated, [END] counted; by default it grows with the source sentence."""
    beam_size: int = resumable(4)
    """How many beginnings of a translation are followed at a time; 1 is greedy search."""
    num_hypotheses: int = resumable(1)
    """How many translations are given of each sentence, best first; ``beam_size`` at most, unless tokens are
    drawn."""
    length_penalty: float = resumable(1.0)
    """A translation's score is the sum of its tokens' log-probabilities, divided by their number raised to
    this: above 0 it favours long ones."""
    coverage_penalty: float = resumable(0.0)
    """Weight of a beam's penalty for words of the source that it has not attended to (Wu et al. 2016,
    section 7); 0: none."""
    repetition_penalty: float = resumable(1.0)
    """Divide the score of a token that was produced before by this (Keskar et al. 2019, section 4.1);
    1: no penalty."""
    no_repeat_ngram: int = resumable(0)
    """Let no sequence of so many tokens come twice; 0: any may."""
    top_k: int = resumable(1)
    """Draw each token from so many of the likeliest, by their probabilities, instead of taking the likeliest
    (needs ``beam_size`` 1); 1: draw none, 0: draw from all."""
    top_p: float = resumable(1.0)
    """Draw from the likeliest tokens whose probabilities reach this together."""
    temperature: float = resumable(1.0)
    """Divide the logits by this before a token is drawn: below 1 the likely become likelier."""
    seed: int = resumable(0)
    """The number that what is drawn follows from."""
    long_text: int = resumable(60)
    """A text of more tokens than this is translated sentence by sentence."""

    def __post_init__(self) -> None:
        length = self.max_length
        require(length is None or length >= 1, f"decoding.max_length={length} must be 1 or more")
        least_values = {"beam_size": 1, "no_repeat_ngram": 0, "top_k": 0, "seed": 0, "long_text": 1}
        for name, least in least_values.items():
            value = getattr(self, name)
            require(value >= least, f"decoding.{name}={value} must be {least} or more")
        require(self.seed < SEEDS, f"decoding.seed={self.seed} must be below {SEEDS:,}")
        for name in ("length_penalty", "coverage_penalty"):
            value = getattr(self, name)
            require(value >= 0, f"decoding.{name}={value} must be at least 0")
        penalty, temperature = self.repetition_penalty, self.temperature
        require(penalty > 0, f"decoding.repetition_penalty={penalty} must be above 0")
        require(
            temperature >= LEAST_TEMPERATURE,
            f"decoding.temperature={temperature} must be {LEAST_TEMPERATURE:f} or more",
        )
        require(0 < self.top_p <= 1, f"decoding.top_p={self.top_p} must be above 0 and at most 1")
        self._check_counts()

    def limit(self, num_source_tokens: Any) -> Any:
        """The most tokens of a translation, [END] counted, whatever the model can read.

        By default it grows with the source: by 16 for every 8 tokens, so that sentences of similar length
        have the same limit and can be translated together.

        Args:
            num_source_tokens: A number, or a TensorFlow tensor of them.
        """
        if self.max_length is not None:
            return self.max_length
        return 2 * _LIMIT_STEP * -(-num_source_tokens // _LIMIT_STEP) + 20

    @property
    def is_sampled(self) -> bool:
        """Whether tokens are drawn."""
        return self.top_k != 1

    def _check_counts(self) -> None:
        beam, wanted = self.beam_size, self.num_hypotheses
        require(beam <= _MOST_BEAMS, f"decoding.beam_size={beam} must be at most {_MOST_BEAMS:,}")
        require(
            not self.is_sampled or beam == 1,
            f"decoding.top_k={self.top_k} draws tokens, which needs decoding.beam_size=1, not {beam}",
        )
        drawn = self.top_p != 1 or self.temperature != 1
        require(
            self.is_sampled or not drawn,
            f"decoding.top_p={self.top_p} and decoding.temperature={self.temperature} need "
            "decoding.top_k=0 (draw from all tokens) or above 1",
        )
        require(wanted >= 1, f"decoding.num_hypotheses={wanted} must be 1 or more")
        require(
            wanted <= beam or self.is_sampled,
            f"decoding.num_hypotheses={wanted} must be at most decoding.beam_size={beam}",
        )
