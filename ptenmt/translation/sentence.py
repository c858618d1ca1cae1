"""A sentence on its way: as it was typed, and as the model reads it. Nothing of it changes after that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.placement import Span

Case = Literal["upper", "title"]
BLANK = Hypothesis([START, END])
"""The hypothesis of a sentence without anything to translate."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """The unit of translation."""

    original: str
    """The sentence as it was typed."""
    before: str = ""
    """The white space between this sentence and the one before, or the start."""
    spans: tuple[Span, ...] = ()
    """The parts that the model reads otherwise, or whose translation is known, in order."""
    case: Case | None = None
    """The capitals that its translation gets; the model reads it in lower case."""
    text: str = ""
    """The sentence as the tokenizer reads it."""
    ids: Sequence[int] = ()
    """[START] … [END]; none if there is nothing to translate, and it stays as it was typed."""
    target_prefix: Sequence[int] = ()
    """Ids that its translation starts with."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return not self.ids


@dataclass
class SegmentedText:
    """A text in sentences."""

    sentences: list[Sentence]
    after: str = ""
    """The white space at the end of the text."""
    is_split: bool = False
    """Whether a sentence had to be split because it is longer than the model can read."""
    detected: str | None = None
    """The text's language, if it is surely another one than the run's source language."""

    def join(self, translations: Sequence[str]) -> str:
        """Join a translation for each sentence with the white space of the source."""
        parts = (
            sentence.before + translation
            for sentence, translation in zip(self.sentences, translations, strict=True)
        )
        return "".join(parts) + self.after
