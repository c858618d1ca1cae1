"""Loops: a translation that repeats itself, or reaches the length limit, is searched for once more."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ptenmt.config import Config
from ptenmt.tokenizers import END, TokenizerPair
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import Sentence

_LONGEST_PERIOD = 16
_SHORT_PERIOD = 3
_MIN_REPEATS = 2
"""An n-gram of one, two or three tokens is repeated at least twice in a loop; a longer one once."""
_DIGITS_MAY_REPEAT = 4
_TIMES_SOURCE = 1.5
_LENGTH_RATIO = 1.5
_EXTRA_TOKENS = 10
_LENGTH_STEP = 16
"""The most tokens of the second translation: this many times the source's, and some more, in steps, so that
sentences of similar length share a batch."""
_LOOP_IN_WORD = re.compile(r"([^\W\d_]{2,8})\1{2}")
"""Letters three times in a row, such as stototot."""


class Loops(Safeguard):
    """Searches once more, without repeated n-grams, and keeps the better of both translations."""

    def __init__(self, tokenizers: TokenizerPair, config: Config) -> None:
        self._source, self._target = tokenizers.source, tokenizers.target
        self._limit_depends_on_source = config.decoding.max_length is None

    def after(self, sentence: Sentence) -> Sentence:
        """The better try, or the sentence to be searched once more."""
        first = sentence.previous
        if first is not None:
            is_worse = self._faults(first) < self._faults(sentence)
            kept = first if is_worse else replace(sentence, previous=first.previous, search=first.search)
            return replace(kept, is_retried=True)
        loops, is_truncated, _ = self._faults(sentence)
        if not (loops or is_truncated):
            return sentence
        # Without repeated bigrams there is no loop, but in long sentences some are usual.
        options = replace(sentence.search.options, no_repeat_ngram=2 if loops else 3)
        length = int(_LENGTH_RATIO * len(sentence.ids)) + _EXTRA_TOKENS + len(sentence.target_prefix)
        max_length = _LENGTH_STEP * math.ceil(length / _LENGTH_STEP)
        search = sentence.search._replace(options=options, max_length=max_length)
        return replace(sentence, search=search, hypotheses=(), previous=sentence)

    def _faults(self, sentence: Sentence) -> tuple[bool, bool, int]:
        """Whether it loops, whether the length limit truncated it, and its length: the less the better."""
        best = sentence.hypotheses[0]
        is_truncated = best.ids[-1] != END and self._limit_depends_on_source
        return self._loops(sentence, best), is_truncated, len(best.ids)

    def _loops(self, sentence: Sentence, hypothesis: Hypothesis) -> bool:
        pieces = self._target.pieces(hypothesis.ids)
        repeats = _repeats(pieces) if _may_loop(hypothesis.ids) else 0.0
        if repeats >= 1 and repeats > _TIMES_SOURCE * _repeats(self._source.pieces(sentence.ids)):
            return True
        in_word = _LOOP_IN_WORD.search(hypothesis.generated)
        return in_word is not None and not _LOOP_IN_WORD.search(sentence.text)


def _may_loop(ids: Sequence[int]) -> bool:
    """Whether two tokens stand next to each other twice, as in every loop."""
    return len(set(pairwise(ids))) < len(ids) - 1


def _repeats(tokens: Sequence[str]) -> float:
    """How often an n-gram follows itself, as a multiple of what makes a loop; digits may repeat more."""
    most = 0.0
    for ngram, times in repeated_ngrams(tokens, _LONGEST_PERIOD):
        repeats = times / _MIN_REPEATS if len(ngram) <= _SHORT_PERIOD else times
        if repeats > most:
            has_letters = any(map(str.isalpha, "".join(ngram)))
            most = max(most, repeats if has_letters else repeats / _DIGITS_MAY_REPEAT)
    return most


def repeated_ngrams(tokens: Sequence[str], longest: int) -> Iterator[tuple[Sequence[str], int]]:
    """Yield the n-grams that follow themselves, up to the longest, and how often so far."""
    for period in range(1, min(longest, len(tokens) // 2) + 1):
        num_equal = 0
        for place, token in enumerate(tokens[period:]):
            num_equal = num_equal + 1 if token == tokens[place] else 0
            if num_equal >= period:
                yield tokens[place : place + period], num_equal // period
