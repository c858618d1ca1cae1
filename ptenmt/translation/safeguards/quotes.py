"""Quotation marks: those of a translation pair if those of its sentence do."""

import re

from ptenmt.tokenizers import Tokenizer
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import Sentence
from ptenmt.translation.spans import Span

_MARK = re.compile('["“”«»‹›„]')
_PAIRS = re.compile('(?:«»|“”|‹›|„[“”]|"")+')
_COMMON = {"‹": "“", "›": "”", "„": "“"}
_TWICE = re.compile(r"([?!]?)([\"”’]),[\"”’](?!\w)")
"""A quotation that ends twice, before and after its comma: models write it for ``»,``."""


class Quotes(Safeguard):
    """Replaces rare marks by common ones in what the model reads; mends marks that it doubled or turned."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._rare = frozenset(_COMMON) - tokenizer.frequent_characters

    def before(self, sentence: Sentence) -> None:
        """Give a sentence a span for each rare mark."""
        marks = [
            Span(place, place + 1, "mark", _COMMON[char])
            for place, char in enumerate(sentence.original)
            if char in self._rare
        ]
        own = [span for span in marks if not span.overlaps(sentence.spans)]
        if own:
            sentence.spans = tuple(sorted([*sentence.spans, *own], key=lambda span: (span.begin, span.end)))

    def restore(self, sentence: Sentence, text: str) -> str:
        """A quotation ends once; marks open and close in turn if there are as many as in the sentence."""
        typed = _MARK.findall(sentence.original)
        if not _TWICE.search(sentence.text):
            text = _TWICE.sub(lambda end: f"{end[1] or ','}{end[2]}", text)
        marks = _MARK.findall(text)
        if len(marks) != len(typed) or len(set(marks)) < 2 or not _PAIRS.fullmatch("".join(typed)):
            return text
        in_turn = iter("“”" * len(marks))
        return _MARK.sub(lambda _: next(in_turn), text)
