"""A sentence on its way: as it was typed, as the model reads it, and its hypotheses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.spans import Span

BLANK = Hypothesis([START, END])
"""The hypothesis of a sentence without anything to translate."""
_NUM_FRAME_TOKENS = 2


class Search(NamedTuple):
    """How a sentence is searched for, besides the options of the run."""

    with_attention: bool = False
    with_scores: bool = False
    is_greedy: bool = False
    n_best: bool = False
    """Whether to return all hypotheses of the beam: a safeguard may prefer another one than the first."""
    no_repeat_ngram: int = 0
    """If above 0, in another try: the option of that name, and a lower maximum length."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """The unit of translation; another try of its translation is the same sentence with another search."""

    original: str
    """The sentence as it was typed."""
    before: str = ""
    """The white space between the previous sentence, or the start of the text, and this one."""
    spans: tuple[Span, ...] = ()
    """The parts that the model reads otherwise, or whose translation is known, in order."""
    text: str = ""
    """The sentence as the tokenizer reads it."""
    ids: list[int] = field(default_factory=list)
    """[START] … [END]; empty until it is encoded."""
    target_prefix: Sequence[int] = ()
    """Ids that its translation starts with."""
    search: Search = Search()
    hypotheses: Sequence[Hypothesis] = ()
    """Best first; empty while the sentence waits for a search."""
    previous: "Sentence | None" = None
    """If this is another try: the sentence as it was, with its hypotheses."""
    is_retried: bool = False
    """Whether it is translated a second time because of a fault of the first translation."""
    row: int = 0
    """The index of its text among the texts that are translated together."""
    number: int = 0
    """Its index in its text."""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate: the translation is the original."""
        return len(self.ids) == _NUM_FRAME_TOKENS


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

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to translate."""
        return all(sentence.is_blank for sentence in self.sentences)

    @property
    def is_done(self) -> bool:
        """Whether all sentences are translated."""
        return all(sentence.hypotheses for sentence in self.sentences)

    def join(self, translations: Sequence[str]) -> str:
        """Join a translation for each sentence with the white space of the source."""
        parts = (
            sentence.before + translation
            for sentence, translation in zip(self.sentences, translations, strict=True)
        )
        return "".join(parts) + self.after
