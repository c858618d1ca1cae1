"""What a translation must keep of its source: entities such as URLs and numbers, casing, terms.

Before a sentence is translated, its entities become placeholders, if the model was trained with them; else
they are removed, except for numbers, which the model translates. A sentence in capitals is truecased.
Afterwards a placeholder is replaced by its entity, and the rest put where the word alignment says. A sentence
with placeholders or numbers is translated without them if that is more probable: an entity that disturbs the
model is better put back afterwards.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from operator import mul
from typing import TYPE_CHECKING, Literal, NamedTuple

from ptenmt.config import Config
from ptenmt.data.augmentation import capitalized
from ptenmt.data.placeholders import CODE, NUMBER, PLACEHOLDERS, find_entities, in_notation, unmask
from ptenmt.data.text import lowers_typed
from ptenmt.tokenizers import UNK, Tokenizer
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.word_alignment import word_weights, words_of

if TYPE_CHECKING:
    import numpy as np

_CAPITAL = "[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]"
_UNUSUAL_CAPITALS = re.compile(
    rf"{_CAPITAL}[’'-]?{_CAPITAL}|(?:{_CAPITAL}\w*\W+(?:\w{{1,3}}\W+)?){{2}}{_CAPITAL}"
)
"""Two in a row, or three capitalized words: most sentences have neither."""
_LONG_WORD = 3
"""Letters; in titles shorter words may be in lower case."""
_MIN_TITLE_WORDS, _MOST_ACRONYMS = 3, 4
_FREQUENT_WORDS = {
    "pt": "a ao aos aquela aquele as bem com como da das de do dos e ela elas ele eles em era essa esse "
    "esta estava este estou está estão eu fazer foi há isso isto já mais mas me meu meus minha muito "
    "na nas nem no nos nosso nunca não nós o onde os ou outro para parece pela pelo pode por quando "
    "que quem quer se sem sempre ser seu sua são também te tem tenho ter tinha todos tu um uma vai "
    "você vocês vou à é",
    "en": "a an and are as at be but by do for from have he her his i in is it me my never not of on or she "
    "so that the they this to very was we were what where who will with you your",
}
"""Names, too, have them in lower case: with capitals they show that a sentence is in Title Case."""
_LEFT_TO_MODEL = re.compile(f"{CODE}|{NUMBER}")
_PIECE = re.compile(rf"{CODE}|\d+|[%‰€£¥$]")
_THOUSANDS = re.compile(r"(?<!\d)\d{1,3}(?:[., \u00a0\u202f]\d{3}){1,6}(?!\d)")
_NUMERAL = (
    "(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w+teen|half|dozen|twice"
    "|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion"
    "|d(?:ois|uas)|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze|treze|(?:qu|c)atorze|quinze"
    "|dez[ea]\\w+|dezoito|vinte|(?:tri|quare|cinque|sesse|sete|oite|nove)nta|cem|\\w*cent[oa]s?|mil|milh\\w+"
    "|mei[oa]|dúzia|percent|per\\ cent|euro|dollar|reai|pound)s?"
)
_NUMBER_IN_WORDS = re.compile(rf"\b{_NUMERAL}(?:(?:-|\s+|\s+(?:and|e)\s+){_NUMERAL})*\b", re.IGNORECASE)
"""Of English and Portuguese."""
_OPENING = "([{“‘«\"'/-–—¿¡"
_BRACKETS = ("()", "[]", "{}", "“”", "‘’", "«»", '""', "''")
_NEAR, _DISTANCE_DECAY = 12, 0.7
"""How many words on each side of a place count, and how much less each than the one before it."""
_MIN_SHARE, _SURE_SHARE = 0.1, 0.5
"""The share of a word's attention with which it may belong to a term, and with which it does."""


Case = Literal["upper", "title"]


class Edit(NamedTuple):
    """A change of the translation, made at the words that are aligned to a part of the source."""

    begin: int
    end: int
    """Characters of ``ConstrainedSource.text``; if equal, the change is an insertion."""
    text: str | None
    """What stands in the translation in place of the aligned words; None: those in capitals."""
    is_attached: bool = False
    """Whether an insertion has no space before it."""


@dataclass(frozen=True, kw_only=True)
class ConstrainedSource:
    """A sentence in the form in which it is translated, and how its translation is restored."""

    text: str
    """The sentence that is translated, before its preparation for the tokenizer."""
    entities: tuple[str, ...] = ()
    """The n-th stands in ``text`` as the n-th of ``PLACEHOLDERS``."""
    numbers: tuple[str, ...] = ()
    """The numbers that stand in ``text``, and have to stand in the translation, in digits or words."""
    case: Case | None = None
    """The capitals of the translation, if ``text`` is truecased."""
    edits: tuple[Edit, ...] = ()
    misread: tuple[str, ...] = ()
    """Numbers in ``text`` that the target language writes otherwise, such as 12.500."""

    @property
    def has_entities(self) -> bool:
        """Whether ``text`` has entities: as placeholders, or numbers as they are."""
        return bool(self.entities or self.numbers)

    def is_satisfied(self, translation: str) -> bool:
        """Whether a translation of ``text`` has all placeholders and numbers, as often as it has.

        A number may be in words; which one they are is not examined.
        """
        placeholders = [char for char in self.text if char in PLACEHOLDERS]
        if Counter(placeholders) != Counter(char for char in translation if char in PLACEHOLDERS):
            return False
        if any(number in translation for number in self.misread):
            return False
        most, found = Counter(_numbers(self.text)), Counter(_numbers(translation))
        wanted = Counter(self.numbers)
        too_often = [number for number, count in found.items() if count > most[number]]
        if any(
            number == each or (len(each) > 2 and number in each) for number in too_often for each in wanted
        ):
            return False
        lost = [
            number for number in wanted if found[number] < wanted[number] and not _is_written(number, found)
        ]
        before, after = (len(_NUMBER_IN_WORDS.findall(text)) for text in (self.text, translation))
        is_code_lost = any(re.search("[A-Za-z]", number) for number in lost)
        return not is_code_lost and (not lost or len(lost) <= after - before)

    def restore(
        self,
        translation: str,
        attention: "np.ndarray | None",
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
    ) -> str:
        """Put entities and capitals into a translation of ``text``.

        Args:
            translation: The translation.
            attention: [T, S]; needed for ``edits``.
            source_tokens: S tokens of ``text``.
            target_tokens: T tokens of the translation.
        """
        words = words_of(translation)
        if self.edits and attention is not None:
            source = words_of(self.text)
            weights = word_weights(attention, (source, list(source_tokens)), (words, list(target_tokens)))
            text = _edited(words, self.case, source, weights, self.edits)
        else:
            text = "".join(_in_case(word, self.case) for word in words)
        return unmask(text, self.entities)


class Constrainer:
    """Finds what the translations of sentences must keep.

    Args:
        tokenizer: That of the source language.
        config: The options of the run; without ``decoding.safeguards`` only terms are found.
        glossary: Terms with their translations.
    """

    def __init__(self, tokenizer: Tokenizer, config: Config, glossary: Glossary | None = None) -> None:
        self._tokenizer = tokenizer
        self._glossary = glossary
        self._has_safeguards = config.decoding.safeguards
        self._has_placeholders = config.data.augment.placeholders > 0
        self._is_cased = not (config.has_lowercase_text or lowers_typed(config.data))
        self._languages = config.data.languages
        language = self._languages[0]
        self._frequent = frozenset(_FREQUENT_WORDS.get(language, "").split())

    def constrain(self, sentence: str, *, removes_entities: bool = False) -> ConstrainedSource | None:
        """The sentence with its constraints; None if it has none.

        Args:
            sentence: The sentence as it was typed.
            removes_entities: Remove all entities, also those that the model can copy.
        """
        entities = find_entities(sentence) if self._has_safeguards else []
        is_unusual = self._has_safeguards and self._is_cased and _UNUSUAL_CAPITALS.search(sentence)
        spans = [entity.span() for entity in entities]
        terms = self._terms(sentence, spans) if self._glossary is not None else {}
        numerals = {span: terms.pop(span) for span in spans if span in terms}  # such as 42
        spans = [span for span in spans if not _overlaps(span, terms)]  # such as the number in "Windows 10"
        if not (spans or terms or is_unusual):
            return None
        truecased, case, emphasized = self._truecased(sentence, spans) if is_unusual else (sentence, None, [])
        changed = dict.fromkeys((span for span in emphasized if not _overlaps(span, terms)), None) | terms
        masked: list[str] = []
        numbers: list[str] = []
        misread: list[str] = []
        source = _Builder(truecased)
        for begin, end in sorted([*spans, *changed]):
            part = sentence[begin:end]
            written = numerals.get((begin, end)) or in_notation(part, self._languages)
            if (begin, end) in changed:
                source.mark(begin, end, changed[begin, end])
            elif removes_entities or not self._is_copied(part, written, masked):
                source.remove(begin, end, written)
            elif self._has_placeholders:
                if written not in masked:
                    masked.append(written)
                source.replace(begin, end, PLACEHOLDERS[masked.index(written)])
            else:
                numbers += _numbers(part)
                misread += [part] if written != part else []
        text, edits = source.finish()
        if text == sentence and not (numbers or edits):
            return None
        return ConstrainedSource(
            text=text,
            entities=tuple(masked),
            numbers=tuple(numbers),
            case=case,
            edits=tuple(edits),
            misread=tuple(misread),
        )

    def _terms(self, sentence: str, spans: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """The translations of the terms in a sentence that cut no entity, by where they stand."""
        assert self._glossary is not None
        fixed = [span for span in spans if not _LEFT_TO_MODEL.fullmatch(sentence[slice(*span)])]
        return {
            term: to
            for term, to in self._glossary.find(sentence)
            if not _overlaps(term, (s for s in spans if not _within(s, term) or (s == term and s in fixed)))
        }

    def _is_copied(self, entity: str, written: str, masked: Sequence[str]) -> bool:
        """Whether the model can copy an entity, which is written otherwise in the translation."""
        if self._has_placeholders:
            return written in masked or len(masked) < len(PLACEHOLDERS)
        is_number = _LEFT_TO_MODEL.fullmatch(entity) is not None
        return is_number and written in (entity, in_notation(entity, self._languages))

    def _truecased(
        self, sentence: str, entities: Sequence[tuple[int, int]]
    ) -> tuple[str, Case | None, list[tuple[int, int]]]:
        """The sentence in ordinary casing; its own if that is another; else where its words in capitals are.

        Only frequent words of three letters or more are truecased alone: others may be acronyms.
        """
        found = [
            word
            for word in word_pattern().finditer(sentence)
            if word[0][0].isalpha()
            and not any(map(str.isdigit, word[0]))
            and not _overlaps(word.span(), entities)
        ]
        long = [word for word in found if len(word[0]) >= _LONG_WORD]
        is_text = any(word[0].lower() in self._frequent and word[0][0].isupper() for word in found[1:])
        first = found[0] if found else None
        case: Case | None = None
        if all(word[0].isupper() for word in found):
            case, is_text = "upper", is_text or len(found) > _MOST_ACRONYMS
        elif is_text and any(
            len(words) >= _MIN_TITLE_WORDS and all(word[0][0].isupper() for word in words)
            for words in (found, long)
        ):
            case = "title"
        if case:
            forms = list(self._truecased_forms([word[0] for word in found], is_text))
        else:
            found = [word for word in long if word[0].isupper() and word[0].lower() in self._frequent]
            forms = [word[0].lower() for word in found]
        truecased = sentence
        for word, form in zip(found, forms, strict=True):
            form = self._at_beginning(form) if word is first else form
            if len(form) == len(word[0]):
                truecased = truecased[: word.start()] + form + truecased[word.end() :]
        if case:
            return truecased, (case if truecased != sentence else None), []
        return truecased, None, [word.span() for word in found]

    def _truecased_forms(self, words: Sequence[str], is_text: bool) -> Iterator[str]:
        """Truecasing: each word in the case in which it has the fewest tokens.

        Frequent words have one token in ordinary casing: ``Maria``, ``casa``, ``ONU``. Without ``is_text``
        the words may be acronyms alone, and those of several tokens stay as they are, unless one is frequent.
        """
        forms = [[word.lower(), capitalized(word.lower()), word] for word in words]
        encoded = iter(self._tokenizer.encode([form for of_word in forms for form in of_word]))
        costs = [[(UNK in ids, len(ids)) for ids in (next(encoded) for _ in of_word)] for of_word in forms]
        usual = ((min(own), own[-1]) for own in costs if min(own) < own[-1])
        is_text = is_text or any(best == (False, 1) or best[0] < typed[0] for best, typed in usual)
        for of_word, own in zip(forms, costs, strict=True):
            best = 0 if of_word[0] in self._frequent else min(range(len(own)), key=own.__getitem__)
            yield of_word[best if is_text or own[-1][0] else -1]

    def _at_beginning(self, word: str) -> str:
        """A word with a capital, unless the model knows it without one only."""
        capital = word[:1].upper() + word[1:]
        with_capital, without = self._tokenizer.encode([capital, word])
        return word if UNK in with_capital and UNK not in without else capital


class _Builder:
    """Builds the changed sentence from left to right, with the edits at their places in it."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._done = ""
        self._place = 0
        self._edits: list[Edit] = []

    def replace(self, begin: int, end: int, text: str) -> None:
        """Replace characters of the sentence."""
        self._copy(begin)
        self._done += text
        self._place = end

    def mark(self, begin: int, end: int, text: str | None) -> None:
        """Keep characters, and note the edit of their translation."""
        self._copy(begin)
        self._edits.append(Edit(len(self._done), len(self._done) + end - begin, text))

    def remove(self, begin: int, end: int, text: str) -> None:
        """Leave characters out, with the space on one side, and insert a text in the translation instead."""
        if self._sentence[begin - 1 : begin] + self._sentence[end : end + 1] in _BRACKETS:
            begin, end = begin - 1, end + 1
            text = self._sentence[begin] + text + self._sentence[end - 1]
        is_attached = begin > 0 and not self._sentence[begin - 1].isspace()
        self._copy(begin)
        self._place = end
        after = self._sentence[end : end + 1]
        if not self._done:
            self._place += len(self._sentence[end:]) - len(self._sentence[end:].lstrip())
        elif not after or after.isspace() or not (after.isalnum() or after in _OPENING):
            self._done = self._done.rstrip()
        self._edits.append(Edit(len(self._done), len(self._done), text, is_attached))

    def finish(self) -> tuple[str, list[Edit]]:
        """The sentence and the edits."""
        self._copy(len(self._sentence))
        return self._done, self._edits

    def _copy(self, end: int) -> None:
        self._done += self._sentence[self._place : end]
        self._place = max(self._place, end)


def _edited(
    words: list[str],
    case: Case | None,
    source: list[str],
    weights: list[list[float]],
    edits: Sequence[Edit],
) -> str:
    """A translation after edits, by its words; ``weights`` [target words, source words] align them."""
    ends = list(accumulate(map(len, source)))
    starts = [0, *accumulate(map(len, words))]
    entities = find_entities("".join(words))
    allowed = [not any(each.start() < start < each.end() for each in entities) for start in starts]
    changed = [_in_case(word, case) for word in words]
    inserted: list[str] = [""] * (len(words) + 1)
    taken: set[int] = set()

    def insert(edit: Edit, column: int) -> None:
        place = _boundary(words, source, weights, column, allowed)
        before = inserted[place] or "".join(changed[:place])
        needs_space = before and not (edit.is_attached and not before[-1].isalnum())
        inserted[place] += f"{' ' * bool(needs_space)}{edit.text}"

    for edit in edits:
        if edit.begin == edit.end:
            insert(edit, sum(end <= edit.begin for end in ends))
        else:
            columns = [
                column
                for column, (word, end) in enumerate(zip(source, ends, strict=True))
                if end > edit.begin and end - len(word.lstrip()) < edit.end
            ]
            shares = [sum(of_word[column] for column in columns) for of_word in weights]
            if edit.text is None:
                for row, share in enumerate(shares):
                    if share >= _SURE_SHARE and row not in taken:
                        changed[row] = changed[row].upper()
                continue
            text = _in_case(edit.text, case) if edit.text.islower() else edit.text
            if rows := _rows_of_term(changed, text, shares, taken):
                taken |= {*rows}
                word = changed[rows[0]].lstrip()
                is_capital = word[0].isupper() and not any(map(str.isalnum, "".join(words[: rows[0]])))
                space = changed[rows[0]][: -len(word)]
                text = text.capitalize() if is_capital and text.islower() else text
                changed[rows[0] : rows[-1] + 1] = [space + text, *[""] * (len(rows) - 1)]
            else:
                insert(edit._replace(text=text), columns[0])
    parts = []
    for place, word in enumerate([*changed, ""]):
        parts.append(inserted[place])
        is_joined = inserted[place] and word[:1] and (word[0].isalnum() or word[0] in _OPENING)
        parts.append(f" {word}" if is_joined else word)
    return "".join(parts)


def _rows_of_term(words: list[str], term: str, shares: list[float], taken: set[int]) -> list[int]:
    """Which words of a translation a term replaces: those that are the term, else those aligned to it.

    Args:
        words: The words of the translation.
        term: The term in the target language.
        shares: How much each word attends to the term in the source.
        taken: The words that another term has replaced.
    """
    wanted = [word.strip().casefold() for word in words_of(term)]
    folded = [word.strip().casefold() for word in words]
    places = [
        range(place, place + len(wanted))
        for place in range(len(words) - len(wanted) + 1)
        if folded[place : place + len(wanted)] == wanted
        and taken.isdisjoint(range(place, place + len(wanted)))
    ]
    if places:
        return list(max(places, key=lambda rows: sum(shares[row] for row in rows)))
    free = [row for row, word in enumerate(words) if row not in taken and any(map(str.isalnum, word))]
    best = max(free, key=shares.__getitem__, default=None)
    if best is None or shares[best] < _MIN_SHARE:
        return []
    first = last = best
    while first - 1 in free and shares[first - 1] >= _SURE_SHARE:
        first -= 1
    while last + 1 in free and shares[last + 1] >= _SURE_SHARE:
        last += 1
    return list(range(first, last + 1))


def _boundary(
    words: list[str], source: list[str], weights: list[list[float]], first: int, allowed: Sequence[bool]
) -> int:
    """Between which words of a translation stands what stands before the ``first`` word of the source.

    The number of words before it, such that those attend to the source before that place, and later ones
    behind it, as far as possible; near words count more. Marks follow their like in the source. Only
    ``allowed`` numbers are returned.
    """
    begin, end = max(0, first - _NEAR), first + _NEAR
    near = [_DISTANCE_DECAY ** (first - 1 - column) for column in range(begin, first)]
    near += [-(_DISTANCE_DECAY ** (column - first)) for column in range(first, end)]
    left = {word.strip() for word in source[:first]}
    right = {word.strip() for word in source[first:]}
    votes = []
    for word, of_word in zip(words, weights, strict=True):
        mark = word.strip()
        if any(map(str.isalnum, mark)):
            votes.append(sum(map(mul, of_word[begin:end], near)))
        else:
            votes.append(0.1 * ((mark in left) - (mark in right)))
    totals = [0.0, *accumulate(votes)]
    return max(compress(range(len(totals)), allowed), key=totals.__getitem__)


def _within(span: tuple[int, int], larger: tuple[int, int]) -> bool:
    return larger[0] <= span[0] < span[1] <= larger[1]


def _overlaps(span: tuple[int, int], spans: Iterable[tuple[int, int]]) -> bool:
    return any(begin < span[1] and span[0] < end for begin, end in spans)


def _in_case(word: str, case: Case | None) -> str:
    if case is None:
        return word
    return word.upper() if case == "upper" else capitalized(word)


def _numbers(text: str) -> list[str]:
    """The integers, signs and codes in a text; 1.000,5 and 1,000.5 are 1000 and 5, and 3rd is 3."""
    joined = _THOUSANDS.sub(lambda found: re.sub(r"\D", "", found[0]), text)
    return [piece.lstrip("0") or "0" for piece in _PIECE.findall(joined)]


def _is_written(number: str, numbers: Collection[str]) -> bool:
    """Whether a number is written in other digits: as a year, 1970s for ``anos 70``; 3:30 pm; .5."""
    is_decade = len(number) == 2 and any(re.fullmatch(rf"\d\d{number}", each) for each in numbers)
    is_hour = len(number) == 2 and number.isdecimal() and str(int(number) - 12) in numbers
    return is_decade or number == "0" or is_hour
