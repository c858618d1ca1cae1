"""Safeguards: what keeps faults of any model out of its translations, for any languages.

- Kept parts (data/kept_parts.py) and words that the tokenizer cannot spell are carried over, as are terms of
  a glossary, whose places placement.py finds.
- A sentence in capitals or Title Case is read in lower case; its translation gets the capitals.
- A translation that loops, or reaches the length limit, is searched once more.
- A text in another language is reported; one in the target language stays as it is.

``decoding.safeguards=false`` leaves all this out, except a glossary that a user gave.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ptenmt.config import Config
from ptenmt.data.kept_parts import PLACEHOLDERS, find_kept_parts, mask, unmask, without_kept_parts
from ptenmt.data.languages import foreign_language
from ptenmt.data.text import TextPreparation, lowers_typed
from ptenmt.tokenizers import END, UNK, TokenizerPair
from ptenmt.tokenizers.base import script_of
from ptenmt.tokenizers.words import WordTokenizer, capitalized, word_pattern
from ptenmt.translation.batching import SearchedSentence
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.placement import Span
from ptenmt.translation.sentence import Case, SegmentedText, Sentence

_WORD_OR_CODE = re.compile(r"\w+(?:[-.]\w+)*")
"""A kept part that a model without placeholders reads as it was typed."""
_AMOUNT = re.compile(r"\d[.,]\d")
_WORD_OR_SIGN = re.compile(r"[\w’'-]+|[^\w\s]")
_MIN_CAPITALS = 0.8
"""The share of a sentence's letters, or of its words in Title Case."""
_MIN_TITLE_WORDS = 4
_MAX_ACRONYM = 4
"""Letters without accents; a sentence of acronyms alone is read as it was typed."""
_MOST_ACRONYMS = 2
"""More words in capitals in a row are no acronyms, if there is no other word."""
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


class Safeguards:
    """The safeguards of a model."""

    def __init__(self, tokenizers: TokenizerPair, config: Config) -> None:
        self._source, self._target = tokenizers.source, tokenizers.target
        self._has_placeholders = set(PLACEHOLDERS) <= self._source.characters
        self._is_cased = not (config.has_lowercase_text or lowers_typed(config.data))
        self._languages = config.data.languages
        self._preparation = TextPreparation(config.data)

    def is_blank(self, text: str, spans: Sequence[Span]) -> bool:
        """Whether a sentence has nothing to translate: no letter of the source language, and no amount."""
        rest = without_kept_parts(_without(text, spans))
        has_letter = any(char.isalpha() and script_of(char) in self._source.scripts for char in rest)
        return not has_letter and not any(span.is_term for span in spans) and not _AMOUNT.search(rest)

    def spans(self, text: str, glossary: Glossary | None, *, is_guarded: bool = True) -> tuple[Span, ...]:
        """The terms of a glossary in a sentence, and, if it is guarded, its kept parts, in order.

        A term cuts no kept part, but may contain some.
        """
        parts = self._kept_parts(text) if is_guarded else []
        terms = [
            Span(begin, end, text[begin:end], target, is_term=True)
            for (begin, end), target in (glossary.find(text) if glossary else ())
            if not any(
                first < end and begin < last and not begin <= first < last <= end for first, last in parts
            )
        ]
        kept = [
            (begin, end, text[begin:end])
            for begin, end in parts
            if not any(term.begin < end and begin < term.end for term in terms)
        ]
        symbols = PLACEHOLDERS if self._has_placeholders else ()
        # Placeholders in the text itself come first: as they are they would stand for other parts.
        in_order = sorted(dict.fromkeys(part for *_, part in kept), key=set(symbols).isdisjoint)
        signs = dict(zip(in_order, symbols, strict=False))
        spans = [Span(begin, end, signs.get(part, self._as_typed(part)), part) for begin, end, part in kept]
        return tuple(sorted([*terms, *spans], key=lambda span: span.begin))

    def _as_typed(self, part: str) -> str:
        """What the model reads for a kept part that has no placeholder: a code that it spells, or nothing."""
        is_spelled = _WORD_OR_CODE.fullmatch(part) and self._source.characters.issuperset(part)
        return part if is_spelled and set(part).isdisjoint(PLACEHOLDERS) else ""

    def _kept_parts(self, text: str) -> list[tuple[int, int]]:
        """Where the kept parts of a text begin and end; words and signs that the tokenizer lacks are some."""
        places = [part.span() for part in find_kept_parts(text)]
        unknown = set(text) - self._source.characters
        strange = {char for char in unknown if char.isalnum() or unicodedata.category(char)[0] in "SP"}
        if strange and not isinstance(self._source, WordTokenizer):
            words = [word for word in _WORD_OR_SIGN.finditer(text) if not strange.isdisjoint(word[0])]
            prepared = [self._preparation.prepare_input(word[0], self._languages[0]) for word in words]
            encoded = self._source.encode(prepared)
            places += [word.span() for word, ids in zip(words, encoded, strict=True) if UNK in ids]
        merged: list[tuple[int, int]] = []
        for begin, end in sorted(places):
            if merged and begin < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((begin, end))
        return merged

    def unknown(self, sentence: Sentence) -> list[str]:
        """The words of a sentence outside a vocabulary of whole words, or that the tokenizer cannot spell."""
        if isinstance(self._source, WordTokenizer):  # a truncated sentence has fewer ids than words
            words = zip(self._source.split(sentence.text), sentence.ids[1:-1], strict=False)
            return [word for word, token in words if token == UNK]
        kept = {part[0] for part in find_kept_parts(sentence.original)}
        return [
            span.target
            for span in sentence.spans
            if not span.is_term and span.target not in kept and any(map(str.isalnum, span.target))
        ]

    def case_of(self, text: str, spans: Sequence[Span]) -> Case | None:
        """The unusual capitals of a sentence, if the model knows case."""
        if not self._is_cased:
            return None
        words = [
            word[0]
            for word in word_pattern().finditer(_without(text, [span for span in spans if not span.is_term]))
            if word[0][0].isalpha()
        ]
        letters = [letter for word in words for letter in word if letter.isalpha()]
        is_acronym = [len(word) <= _MAX_ACRONYM and word.isascii() for word in words if word.isupper()]
        has_word = not all(is_acronym) or len(words) == len(is_acronym) > _MOST_ACRONYMS
        if has_word and sum(map(str.isupper, letters)) >= _MIN_CAPITALS * len(letters):
            return "upper"
        # A short word in the middle shows that these are no names: O Gato Não Tem Tempo.
        has_short_word = any(len(word) < _MAX_ACRONYM and word.istitle() for word in words[1:-1])
        others = [word for word in words if not word.isupper()]  # without Roman numerals, O, A
        num_capitals = sum(word[0].isupper() for word in others)
        least = 1.0 if text.rstrip().endswith(".") else _MIN_CAPITALS  # Li "Os Maias" e "O Crime".
        is_title = len(words) >= _MIN_TITLE_WORDS and num_capitals >= least * len(others)
        return "title" if is_title and has_short_word else None

    def detect(self, texts: Sequence[str], segmented: Sequence[SegmentedText]) -> list[SegmentedText]:
        """Segmented texts with the languages of those that are surely not in the source language.

        One in the target language becomes a single blank sentence, unless its translation has a prefix.
        """
        source, target = self._languages
        detected = list(segmented)
        for row, text in enumerate(segmented):
            if all(sentence.is_blank for sentence in text.sentences):
                continue
            language = foreign_language(without_kept_parts(texts[row]), source)
            if language == target and not text.sentences[0].target_prefix:
                detected[row] = SegmentedText([Sentence(original=texts[row])], detected=language)
            elif language is not None:
                detected[row] = replace(text, detected=language)
        return detected

    def review(self, searched: SearchedSentence) -> SearchedSentence:
        """A searched sentence; without hypotheses, if the best has a fault: it is searched once more.

        After that, the first hypotheses stay if they have fewer faults.
        """
        first, faults = searched.first_try, self._faults(searched, searched.hypotheses[0])
        if first:
            is_worse = self._faults(searched, first[0]) < faults
            return replace(searched, hypotheses=first) if is_worse else searched
        loops, is_truncated, _ = faults
        if not (loops or is_truncated):
            return searched
        sentence = searched.sentence
        length = int(_LENGTH_RATIO * len(sentence.ids)) + _EXTRA_TOKENS + len(sentence.target_prefix)
        return replace(
            searched,
            # Without repeated bigrams there is no loop, but in long sentences some are usual.
            options=replace(searched.options, no_repeat_ngram=2 if loops else 3),
            max_length=min(_LENGTH_STEP * math.ceil(length / _LENGTH_STEP), searched.max_length),
            hypotheses=(),
            first_try=searched.hypotheses,
        )

    def _faults(self, searched: SearchedSentence, best: Hypothesis) -> tuple[bool, bool, int]:
        """Whether a hypothesis loops, whether it was truncated, and its length: the less the better."""
        is_truncated = best.ids[-1] != END and searched.options.max_length is None
        return self._loops(searched.sentence, best), is_truncated, len(best.ids)

    def _loops(self, sentence: Sentence, hypothesis: Hypothesis) -> bool:
        may_loop = len(set(pairwise(hypothesis.ids))) < len(hypothesis.ids) - 1
        repeats = _repeats(self._target.pieces(hypothesis.ids)) if may_loop else 0.0
        if repeats >= 1 and repeats > _TIMES_SOURCE * _repeats(self._source.pieces(sentence.ids)):
            return True
        in_word = _LOOP_IN_WORD.search(hypothesis.generated)
        return in_word is not None and not _LOOP_IN_WORD.search(sentence.text)


def term_in_case(term: str, case: Case) -> str:
    """A term of a glossary in the case of its sentence, except for kept parts in it."""
    masked, parts = mask(term)
    return unmask(in_case(masked, case), parts) if masked.islower() else term


def in_case(text: str, case: Case | None) -> str:
    """A translation in the case of its sentence."""
    if case == "title":
        return capitalized(text)
    return text.upper() if case == "upper" else text


def keeps_digits(sentence: Sentence, translation: str) -> bool:
    """Whether a translation has all digits of a sentence that has neither letters nor terms."""
    if any(map(str.isalpha, sentence.original)) or any(span.is_term for span in sentence.spans):
        return True
    return sorted(filter(str.isdigit, sentence.original)) == sorted(filter(str.isdigit, translation))


def _without(text: str, spans: Sequence[Span]) -> str:
    """A text with a space in place of each span."""
    for span in reversed(spans):
        text = f"{text[: span.begin]} {text[span.end :]}"
    return text


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
