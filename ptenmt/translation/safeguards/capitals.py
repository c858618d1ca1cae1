"""Capitals: a sentence in capitals is read as ordinary text, and its translation is put in capitals."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ptenmt.config import Config
from ptenmt.data.augmentation import capitalized
from ptenmt.data.text import lowers_typed
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.sentence import Case, Sentence
from ptenmt.translation.spans import Span

_MIN_SHARE = 0.9
"""Of the letters of a sentence in capitals, and of the words of one in Title Case."""
_MIN_TITLE_WORDS = 4
_MAX_ACRONYMS = 2
"""One or two words that may be acronyms, ``A ONU``, are read as they are typed."""
_MAX_ACRONYM = 4
"""Letters, none of them with an accent."""
_WORDS = re.compile(r"[\w\s’'-]+")


class Capitals(Safeguard):
    """Lower-cases sentences in capitals or Title Case but for their first letters."""

    def __init__(self, config: Config) -> None:
        self._is_cased = not (config.has_lowercase_text or lowers_typed(config.data))

    def before(self, sentence: Sentence) -> None:
        """Give a sentence in capitals a span in lower case for each word outside its entities."""
        original = sentence.original
        carried = [span for span in sentence.spans if span.is_carried]
        words = [Span(*word.span(), "casing", word[0].lower()) for word in word_pattern().finditer(original)]
        words = [word for word in words if word.source[0].isalpha() and not word.overlaps(carried)]
        case = _case_of([original[word.begin : word.end] for word in words])
        if not self._is_cased or case is None:
            return
        if not any(map(str.isalnum, original[: words[0].begin])):
            words[0] = replace(words[0], source=words[0].source.capitalize())
        others = [_lowered(span, case) for span in sentence.spans]
        own = [word for word in words if not word.overlaps(others)]
        sentence.spans = tuple(sorted([*others, *own], key=lambda span: (span.begin, span.end)))
        sentence.case = case

    def restore(self, sentence: Sentence, text: str) -> str:
        """The translation in the case of the sentence."""
        return _in_case(text, sentence.case)


def _in_case(text: str, case: Case | None) -> str:
    if case == "title":
        return capitalized(text)
    return text.upper() if case == "upper" else text


def _case_of(words: Sequence[str]) -> Case | None:
    letters = [letter for word in words for letter in word if letter.isalpha()]
    is_text = len(words) > _MAX_ACRONYMS or any(
        word.isupper() and (len(word) > _MAX_ACRONYM or not word.isascii()) for word in words
    )
    if is_text and sum(map(str.isupper, letters)) >= _MIN_SHARE * len(letters):
        return "upper"
    # A short word in the middle shows that these are no names: O Gato Não Tem Tempo.
    has_short_word = any(len(word) < _MAX_ACRONYM and word.istitle() for word in words[1:-1])
    num_capitals = sum(word[0].isupper() for word in words)
    is_title = len(words) >= _MIN_TITLE_WORDS and num_capitals >= _MIN_SHARE * len(words) and has_short_word
    return "title" if is_title else None


def _lowered(span: Span, case: Case) -> Span:
    """A span of a sentence in capitals, which the translation of a term in lower case gets, too."""
    if span.is_carried and not span.is_term:
        return span
    target = span.target
    if target is not None and (not span.is_term or (target.islower() and _WORDS.fullmatch(target))):
        target = _in_case(target, case)
    return replace(span, source=span.source if span.is_carried else span.source.lower(), target=target)
