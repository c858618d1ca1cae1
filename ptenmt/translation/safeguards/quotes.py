"""Quotation marks and brackets: those of a translation pair if those of its sentence do."""

import re
from itertools import chain, zip_longest

from ptenmt.tokenizers import Tokenizer
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import Sentence
from ptenmt.translation.spans import Span

_MARKS = (
    (re.compile('["“”«»‹›„]'), re.compile('(?:«»|“”|‹›|„[“”]|"")+'), "“”"),
    (re.compile(r"(?<!\w)['‘’](?=\w)|(?<=[\w.,!?…])['‘’](?!\w)"), re.compile("(?:‘’|'')+"), "‘’"),
)
"""Double marks, and single ones that are no apostrophes: each, the pairs, and the common pair."""
_COMMON = {"«": "“", "»": "”", "‹": "“", "›": "”", "„": "“"}
_TWICE = re.compile(r"([?!]?)([\"”’']),[\"”’'](?!\w)")
"""A quotation that ends twice, before and after its comma: models write it for ``»,``."""
_NESTED = re.compile("['’][\"”»]|[\"”»]['’]")
"""Two quotations that end at one place."""


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
        if not (_TWICE.search(sentence.text) or _NESTED.search(sentence.original)):
            text = _TWICE.sub(lambda end: f"{end[1] or ','}{end[2]}", text)
        for mark, pairs, common in _MARKS:
            typed, written = mark.findall(sentence.original), mark.findall(text)
            is_mixed = len(written) == len(typed) and len(set(written)) > 1
            if is_mixed and pairs.fullmatch("".join(typed)):
                between = mark.split(text)
                text = "".join(chain(*zip_longest(between, common * (len(typed) // 2), fillvalue="")))
        return text


_QUOTED = re.compile('"[^"]*"')


class Brackets(Safeguard):
    """Completes the only pair of its kind, straight quotes too, that begins or ends the sentence."""

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
        if sentence.original.endswith("...") and text.endswith("."):
            text = text.rstrip(".") + "..."
        if _QUOTED.fullmatch(sentence.original) and text.count('"') == 1:
            if text.startswith('"'):
                text += '"'
            elif text.endswith('"'):
                text = '"' + text
        return text
