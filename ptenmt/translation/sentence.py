"""A sentence on its way: as it was typed, as the model reads it, and its hypotheses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.spans import Span

Case = Literal["upper", "title"]
BLANK = Hypothesis([START, END])
"""The hypothesis of a sentence without anything to translate."""


class Search(NamedTuple):
    """How a sentence is searched for."""

    options: DecodingConfig
    with_attention: bool = False
    max_length: int | None = None
    """If given, the most tokens of the translation, where the options allow more."""


@dataclass(kw_only=True, eq=False)
class Sentence:
    """The unit of translation; another try of its translation is a copy of it with another search."""

    original: str
    """The sentence as it was typed."""
    search: Search
    before: str = ""
    """The white space between this sentence and the one before, or the start."""
    spans: tuple[Span, ...] = ()
    """The parts that the model reads otherwise, or whose translation is known, in order."""
    case: Case | None = None
    """The capitals that its translation gets."""
    is_prepared: bool = False
    """Whether it is in the form of the training corpus."""
    text: str = ""
    """The sentence as the tokenizer reads it."""
    ids: list[int] = field(default_factory=list)
    """[START] … [END]; empty until it is encoded."""
    is_blank: bool = False
    """Whether there is nothing to translate: see ``leave``."""
    target_prefix: Sequence[int] = ()
    """Ids that its translation starts with."""
    hypotheses: Sequence[Hypothesis] = ()
    """Best first; empty while the sentence waits for a search."""
    previous: "Sentence | None" = None
    """If this is another try: the sentence as it was, with its hypotheses."""
    is_done: bool = False
    """Whether its hypotheses are accepted."""
    is_retried: bool = False
    """Whether it is translated a second time because of a fault of the first translation."""
    row: int = 0
    """The index of its text among the texts that are translated together."""
    number: int = 0
    """Its index in its text."""

    def leave(self) -> None:
        """There is nothing to translate: leave it as it was typed, with its entities as they are written."""
        self.is_blank = self.is_done = True
        self.text, end = "", 0
        for span in self.spans:
            if span.is_carried and span.target is not None:
                self.text += self.original[end : span.begin] + span.target
                end = span.end
        self.spans, self.text = (), self.text + self.original[end:]
        self.ids, self.hypotheses = [START, END], [BLANK]


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
