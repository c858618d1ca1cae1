"""What a safeguard may do to a sentence on its way."""

from collections.abc import Sequence

from ptenmt.translation.sentence import SegmentedText, Sentence


class Safeguard:
    """Changes nothing; a safeguard overrides the methods that it needs, and only these are called."""

    @property
    def methods(self) -> frozenset[str]:
        """The names of the methods that this safeguard has of its own."""
        return frozenset(vars(type(self)))

    def read(self, _texts: Sequence[str], segmented: list[SegmentedText]) -> list[SegmentedText]:
        """Texts as they were typed, before they are translated; not lines of a prepared corpus."""
        return segmented

    def before(self, sentence: Sentence) -> None:
        """Give a sentence spans: what the model reads otherwise, and what becomes of it."""

    def rivals(self, _sentence: Sentence) -> list[Sentence]:
        """Other readings of a sentence that has its spans, to be searched at the same time."""
        return []

    def after(self, sentence: Sentence) -> Sentence:
        """A sentence with its hypotheses, in another order perhaps; without any, it is searched once more."""
        return sentence

    def restore(self, _sentence: Sentence, text: str) -> str:
        """What the model wrote, before what becomes of the spans is put into it; no words come or go."""
        return text
