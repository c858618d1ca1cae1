"""What a translator gives back."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """A translation of a text."""

    text: str
    """The translation, its spacing repaired where the model writes words and punctuation apart."""
    raw: str
    """The translation with the spacing of the training corpus."""
    tokens: list[str]
    """The target pieces, [START] first, and [END] last if it was reached; so for each part of a long text."""
    is_complete: bool
    """False where the translation was cut because [END] was not reached within the limit."""
    score: float
    """The sum of the tokens' log-probabilities over their number ** ``decoding.length_penalty``; the higher
    the better, 0 at most. Not a number if it was not asked for."""


@dataclass(frozen=True, kw_only=True)
class Translation(Alternative):
    """A text and its best translation."""

    source: str
    """The text as it was given."""
    alternatives: list[Alternative] = field(default_factory=list)
    """Other translations, best first, as many as ``decoding.num_hypotheses`` says, less one."""
    is_split: bool = False
    """Whether a sentence was longer than the model can read, and was translated in parts."""
    unknown: list[str] = field(default_factory=list)
    """The words of the text that a model of whole words has never seen; sub-words spell all."""
    milliseconds: float = field(default=0.0, compare=False)
    """The text's share of the time that its batches took."""


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Which pieces of a sentence each piece of its translation comes from."""

    source_pieces: list[str]
    """S pieces, [START] and [END] included."""
    target_pieces: list[str]
    """T pieces as they were generated, [END] included if it was reached."""
    weights: "np.ndarray"
    """[T, S]; a row sums to 1. The last layer's cross-attention, averaged over its heads."""
