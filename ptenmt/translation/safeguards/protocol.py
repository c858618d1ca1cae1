"""What a safeguard may do to a sentence on its way."""

from collections.abc import Sequence

from ptenmt.translation.sentence import SegmentedText, Sentence
from ptenmt.translation.spans import Span


class Safeguard:
    """Changes nothing; a safeguard overrides the methods that it needs.

    Texts are read; each sentence goes through ``before`` of all, is searched, and goes through ``after`` of
    all, in the order of ``safeguards_of``. At last its translation goes through ``restore`` of all, gets what
    becomes of the aligned spans, and goes through ``finish`` of all. ``before`` changes the sentence: it adds
    spans to those that the sentence has, all of which must be sorted and must not overlap. ``after`` changes
    none: it returns the sentence or a copy.
    """

    def read(self, _texts: Sequence[str], segmented: list[SegmentedText]) -> list[SegmentedText]:
        """Texts as they were typed, before they are translated; not lines of a prepared corpus."""
        return segmented

    def before(self, sentence: Sentence) -> None:
        """Give a sentence spans: what the model reads otherwise, and what becomes of it."""

    def after(self, sentence: Sentence) -> Sentence:
        """The sentence, or a copy: its hypotheses in another order, or none, to be searched once more."""
        return sentence

    def restore(self, _sentence: Sentence, text: str) -> str:
        """What the model wrote, before what becomes of the spans is put into it; no words come or go."""
        return text

    def finish(self, _sentence: Sentence, text: str) -> str:
        """The translation of a sentence with spans."""
        return text

    def unknown_words(self, _sentence: Sentence) -> Sequence[str]:
        """Words that the model cannot spell."""
        return ()


def set_spans(sentence: Sentence, spans: Sequence[Span]) -> None:
    """Give a sentence more spans, those that come first in preference to others.

    One that contains spans of the sentence replaces them, such as that of *Rui J. R. Silva*, of which *J. R.
    Silva* is an entity; one that overlaps another is left out.
    """
    own: list[Span] = []
    for span in spans:
        is_free = all(span.contains(other) or not span.overlaps([other]) for other in sentence.spans)
        if is_free and not span.overlaps(own):
            own.append(span)
    others = [span for span in sentence.spans if not span.overlaps(own)]
    if own:
        sentence.spans = tuple(sorted([*others, *own], key=lambda span: (span.begin, span.end)))


def in_case_of(typed: str, word: str) -> str:
    """A word with a capital where another was typed with one; in capitals, too."""
    if typed.isupper() and len(typed) > 1:
        return word.upper()
    return word.capitalize() if typed[0].isupper() else word
