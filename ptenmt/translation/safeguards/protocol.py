"""What a safeguard may do to a sentence on its way."""

from collections.abc import Sequence
from typing import Any

from ptenmt.translation.sentence import Search, SegmentedText, Sentence


class Safeguard:
    """Changes nothing; a safeguard overrides the methods that it needs, and only these are called.

    Texts are read; each sentence goes through ``before`` of all and ``rival`` of all, is searched with its
    rivals, and goes through ``after`` of all, in the order of ``safeguards_of``; ``restore`` comes last. A
    safeguard adds its spans to those that the sentence has.
    """

    @property
    def name(self) -> str:
        """What its rivals are known by."""
        return type(self).__name__

    def read(self, _texts: Sequence[str], segmented: list[SegmentedText]) -> list[SegmentedText]:
        """Texts as they were typed, before they are translated; not lines of a prepared corpus."""
        return segmented

    def before(self, sentence: Sentence) -> None:
        """Give a sentence spans: what the model reads otherwise, and what becomes of it."""

    def rival(self, sentence: Sentence) -> Sentence | None:
        """Another reading of a sentence that has its spans, to be searched at the same time."""

    def after(self, sentence: Sentence) -> Sentence:
        """A sentence with its hypotheses, in another order perhaps; without any, it is searched once more."""
        return sentence

    def restore(self, _sentence: Sentence, text: str) -> str:
        """What the model wrote, before what becomes of the spans is put into it; no words come or go."""
        return text


def own_methods(safeguards: Sequence[Safeguard], name: str) -> list[Any]:
    """The methods of this name that safeguards have of their own, in order."""
    inherited = getattr(Safeguard, name)
    return [getattr(guard, name) for guard in safeguards if getattr(type(guard), name) is not inherited]


def preferred(rival: Sentence, sentence: Sentence, search: Search, margin: float = 0.0) -> Sentence:
    """The more probable of both readings: a rival by more than a margin in nats per token.

    A rival was searched greedily; with beam search it is returned without hypotheses, to be searched again.
    """
    if _mean_log_probability(rival) <= _mean_log_probability(sentence) + margin:
        return sentence
    if search.options.beam_size > 1:
        rival.search, rival.hypotheses = search, ()
    return rival


def _mean_log_probability(sentence: Sentence) -> float:
    """Of the tokens of the best hypothesis."""
    best = sentence.hypotheses[0]
    num_tokens = max(len(best.ids) - 1, 1)
    return float(best.score * num_tokens ** (sentence.search.options.length_penalty - 1))
