"""Capitals: what is typed in capitals is translated like ordinary text, and its translation gets them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ptenmt.config import Config
from ptenmt.data.augmentation import capitalized
from ptenmt.data.placeholders import PLACEHOLDERS, find_entities
from ptenmt.data.text import frequent_words, lowers_typed
from ptenmt.tokenizers import UNK, Tokenizer
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation.safeguards.protocol import Safeguard, preferred, probability_of_best
from ptenmt.translation.sentence import Case, Search, Sentence
from ptenmt.translation.spans import Span

_CAPITAL = "[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]"
_UNUSUAL_CAPITALS = re.compile(
    rf"{_CAPITAL}[’'-]?{_CAPITAL}|(?:{_CAPITAL}\w*\W+(?:\w{{1,3}}\W+)?){{2}}{_CAPITAL}"
)
"""Two in a row, or three capitalized words: most sentences have neither."""
_WORDS_IN_CAPITALS = re.compile(rf"{_CAPITAL}{{2}}\W+{_CAPITAL}(?:{_CAPITAL}|\b(?!\.))")
"""Two or more, of which no acronym is the only cause."""
_LETTER = re.compile(rf"\W*{_CAPITAL}\b")
"""A capital letter alone at the beginning of a text: *A GNR*, *O 25 de Abril*."""
_LONG_WORD = 3
"""Letters; in titles shorter words may be in lower case."""
_MIN_TITLE_WORDS = 3
_MOST_ACRONYMS = 4
_WORD_PROBABILITY = -0.3
"""The mean log-probability of the translation of a word, OVOS, in nats per token; that of *OTAN* is less."""
_ACRONYM = re.compile("[A-Z]{2,4}")
_IN_NAMES = frozenset(["i", "it", "me", "who"])
"""Function words that are acronyms, too."""
_NO_TITLE = frozenset(["a", "e", "nossa", "são", "todos"])
"""Function words that are written with a capital in names and as letters: *São Paulo*, *vitamina A*."""


class Capitals(Safeguard):
    """Truecases sentences in capitals or Title Case, and single words in capitals."""

    def __init__(self, tokenizer: Tokenizer, config: Config) -> None:
        self._tokenizer = tokenizer
        self._is_cased = not (config.has_lowercase_text or lowers_typed(config.data))
        self._is_sampled = config.decoding.is_sampled
        self._usual = Search(config.decoding)
        self._scored = Search(config.decoding, with_scores=True)
        self._greedy = Search(replace(config.decoding, beam_size=1, num_hypotheses=1), with_scores=True)
        self._frequent, of_target = map(frequent_words, config.data.languages)
        function_words = "|".join(sorted(word.upper() for word in of_target - _IN_NAMES)) or "(?!)"
        self._before_acronym = re.compile(
            rf"(?<!{_CAPITAL} )\b(?:(?:{function_words}) )+"
            rf"(?={_CAPITAL}{{2}}|(?<=\w\w )[\d{''.join(PLACEHOLDERS)}])"
        )

    def before(self, sentence: Sentence) -> None:
        """Give a sentence in unusual capitals spans in ordinary casing, one for each word.

        One of acronyms alone may be words, and is read as such (see ``after``); with entities it is left.
        """
        if not (self._is_cased and _UNUSUAL_CAPITALS.search(sentence.original)):
            return
        if not self._has_only_acronyms(sentence):
            sentence.spans, sentence.case = self._spans(sentence)
        elif sentence.spans or self._is_sampled:
            sentence.leave()
        else:
            sentence.spans, sentence.case = self._spans(sentence, is_text=True)
            sentence.search = self._scored

    def rival(self, sentence: Sentence) -> Sentence | None:
        """A few words in capitals, which may be acronyms, read as text: a headline, or a sign."""
        if not (
            self._is_cased and sentence.original.isupper() and _UNUSUAL_CAPITALS.search(sentence.original)
        ):
            return None
        words = [word for word in self._words_of(sentence) if len(word) > 1]
        if sentence.target_prefix or self._is_sampled or self._are_acronyms(words):
            return None
        spans, case = self._spans(sentence, is_text=True)
        if (spans, case) == (sentence.spans, sentence.case):
            return None
        return replace(sentence, spans=spans, case=case, search=self._greedy, rivals={})

    def after(self, sentence: Sentence) -> Sentence:
        """The sentence, or its rival if that is more probable; acronyms are left as they are."""
        if sentence.search is self._scored and probability_of_best(sentence) < _WORD_PROBABILITY:
            sentence = replace(sentence, spans=(), case=None, rivals={})
            sentence.leave()
            return sentence
        rival = sentence.rivals.get(self.name)
        return sentence if rival is None else preferred(rival, sentence, self._usual)

    def _has_only_acronyms(self, sentence: Sentence) -> bool:
        """Whether all words of a sentence are acronyms, or in other entities."""
        if sentence.target_prefix or any(span.is_term for span in sentence.spans):
            return False
        words = self._words_of(sentence)
        return self._are_acronyms(words) if words else bool(sentence.spans)

    def _words_of(self, sentence: Sentence) -> list[str]:
        kept = [span for span in sentence.spans if span.is_carried or span.is_term or span.is_removed]
        return [word[0] for word in _words(sentence.original, kept)]

    def _are_acronyms(self, words: Sequence[str]) -> bool:
        """Whether all words are short, without accents, and unusual in lower case.

        That is, several tokens; for four letters, as many as in capitals or more: *NATO*, not *LAGO*.
        """
        lower = [word.lower() for word in words]
        return bool(words) and self._frequent.isdisjoint(lower) and all(are_acronyms(words, self._tokenizer))

    def _spans(self, sentence: Sentence, *, is_text: bool = False) -> tuple[tuple[Span, ...], Case | None]:
        """The spans of a sentence with those of its casing, and its case.

        ``is_text``: its words are no acronyms.
        """
        original = sentence.original
        entities = [span for span in sentence.spans if span.is_carried]
        truecased, case, words = self._truecased(original, entities, is_text)
        if case is None and not words:
            return sentence.spans, None
        others = [
            _in_case(span, truecased, case) if span.is_term else span
            for span in sentence.spans
            if span.kind != "casing"
        ]
        changed = [
            Span(*word.span(), "casing", truecased[word.start() : word.end()], is_placed=case is None)
            for word in words
        ]
        own = [span for span in changed if not span.overlaps(others)]
        return tuple(sorted([*others, *own], key=lambda span: (span.begin, span.end))), case

    def restore(self, sentence: Sentence, text: str) -> str:
        """The translation of a sentence in capitals in capitals; those of an acronym do not spread."""
        if sentence.case == "upper":
            return text.upper()
        if sentence.case == "title":
            return capitalized(text)
        is_free = self._is_cased and not sentence.target_prefix
        is_word = text.isupper() and not _LETTER.match(sentence.original)
        if not is_free or is_word or _WORDS_IN_CAPITALS.search(sentence.original):
            return text

        def lowered(words: re.Match[str]) -> str:
            is_first = not any(map(str.isalnum, text[: words.start()]))
            return words[0].capitalize() if is_first else words[0].lower()

        return self._before_acronym.sub(lowered, text)

    def _truecased(
        self, sentence: str, entities: Sequence[Span], is_text: bool
    ) -> tuple[str, Case | None, list[re.Match[str]]]:
        """The sentence in ordinary casing; its own if that is another; the words that this changes.

        Only frequent words of three letters or more are truecased alone: others may be acronyms.
        """
        words = _words(sentence, entities)
        case, has_frequent_words = self._case_of(words)
        first = words[0] if words else None
        if case == "title":
            words = [word for word in words if not self._is_acronym(word[0])]
        if case:
            forms = list(self._forms([word[0] for word in words], is_text or has_frequent_words))
        else:
            words = [
                word
                for word in words
                if len(word[0]) >= _LONG_WORD and word[0].isupper() and word[0].lower() in self._frequent
            ]
            forms = [word[0].lower() for word in words]
        truecased = sentence
        for word, form in zip(words, forms, strict=True):
            form = self._at_beginning(form) if word is first and len(words) > 1 else form
            if len(form) == len(word[0]):
                truecased = truecased[: word.start()] + form + truecased[word.end() :]
        if case and truecased == sentence:
            return sentence, None, []
        return truecased, case, words

    def _case_of(self, words: Sequence[re.Match[str]]) -> tuple[Case | None, bool]:
        """The capitals of a sentence, by its words, and whether these are text rather than acronyms."""
        long = [word for word in words if len(word[0]) >= _LONG_WORD]
        function_words = [
            word[0].lower()
            for word in words[1:]
            if word[0].lower() in self._frequent
            and word[0][0].isupper()
            and word.string[word.start() - 1] != "."
        ]
        if any(len(word[0]) > 1 for word in words) and all(word[0].isupper() for word in words):
            return "upper", bool(function_words) or len(words) > _MOST_ACRONYMS
        num_shown = len({*function_words} - _NO_TITLE)
        is_title = any(
            num_shown >= least
            and len(some) >= _MIN_TITLE_WORDS
            and all(word[0][0].isupper() for word in some)
            for least, some in ((1, words), (2, long))
        )
        return ("title" if is_title else None), bool(function_words)

    def _is_acronym(self, word: str) -> bool:
        """Whether a word of a title is an acronym, which keeps its capitals."""
        return len(word) > 1 and word.isupper() and word.lower() not in self._frequent

    def _forms(self, words: Sequence[str], is_text: bool) -> Iterator[str]:
        """Truecasing: each word in the case in which it has the fewest tokens, ``casa``, ``ONU``.

        Only what is one token with a capital is a name, ``Maria``: most words of a title are none. Without
        ``is_text`` the words may be acronyms alone, and those of several tokens stay as they are, unless one
        is frequent.
        """
        forms = [[word.lower(), capitalized(word.lower()), word] for word in words]
        encoded = iter(self._tokenizer.encode([form for of_word in forms for form in of_word]))
        costs = [[(UNK in ids, len(ids)) for ids in (next(encoded) for _ in of_word)] for of_word in forms]
        usual = ((min(own), own[-1]) for own in costs if min(own) < own[-1])
        is_text = is_text or any(best == (False, 1) or best[0] < typed[0] for best, typed in usual)
        for of_word, own in zip(forms, costs, strict=True):
            best = 0 if of_word[0] in self._frequent else min(range(len(own)), key=own.__getitem__)
            if best == 1 and own[1] != (False, 1) and not own[0][0]:
                best = 0
            yield of_word[best if is_text or own[-1][0] else -1]

    def _at_beginning(self, word: str) -> str:
        """A word with a capital, unless the model knows it without one only."""
        capital = word[:1].upper() + word[1:]
        with_capital, without = self._tokenizer.encode([capital, word])
        return word if UNK in with_capital and UNK not in without else capital


def are_acronyms(words: Sequence[str], tokenizer: Tokenizer) -> Iterator[bool]:
    """Whether words in capitals are acronyms: in lower case no token, of four letters as many as typed."""
    encoded = zip(
        words, tokenizer.encode(words), tokenizer.encode([word.lower() for word in words]), strict=True
    )
    for word, typed, in_lower in encoded:
        yield _ACRONYM.fullmatch(word) is not None and (
            UNK in in_lower
            or (len(in_lower) > 1 and (len(word) <= _LONG_WORD or len(typed) <= len(in_lower)))
        )


def _words(sentence: str, entities: Sequence[Span]) -> list[re.Match[str]]:
    """The words of a sentence without digits, which are in no entity."""
    return [
        word
        for word in word_pattern().finditer(sentence)
        if word[0][0].isalpha()
        and not any(map(str.isdigit, word[0]))
        and not any(span.begin < word.end() and word.start() < span.end for span in entities)
    ]


def _around_entities(change: Callable[[str], str], text: str) -> str:
    """Change a text but for its entities."""
    changed, copied = "", 0
    for entity in find_entities(text):
        changed += change(text[copied : entity.start()]) + entity[0]
        copied = entity.end()
    return changed + change(text[copied:])


def _in_case(term: Span, truecased: str, case: Case | None) -> Span:
    """A term in a truecased sentence, with its translation in the case of the sentence."""
    source = term.source if term.is_carried else truecased[term.begin : term.end]
    target = term.target
    if target is not None and case is not None and target.islower():
        target = _around_entities(str.upper if case == "upper" else capitalized, target)
    return replace(term, source=source, target=target)
