"""Brackets: a pair at an end of a sentence that lost one of its brackets there gets it back."""

from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import Sentence


class Brackets(Safeguard):
    """Completes a pair, the only one of its kind, where the sentence begins with it, or ends with it."""

    def restore(self, sentence: Sentence, text: str) -> str:
        """The translation with the bracket; within a text its place would not be known."""
        for begin, end in ("()", "[]"):
            if sentence.original.count(begin) != 1 or sentence.original.count(end) != 1:
                continue
            written = text.count(begin), text.count(end)
            if written == (0, 1) and sentence.original.startswith(begin):
                text = begin + text
            elif written == (1, 0) and sentence.original.endswith(end):
                text += end
        return text
