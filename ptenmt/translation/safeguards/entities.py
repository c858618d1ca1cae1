"""Entities: URLs, numbers, codes, format strings and emoji, which a translation carries over as they are.

The model reads placeholders in place of entities, if it was trained with them; else they are removed, except
for numbers, which it translates. Hypotheses that lost one come last; if all did, the sentence is searched
with placeholders for short numbers, too, then without its entities, which are put where the word alignment
says.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from ptenmt.config import Config
from ptenmt.data.languages import alphabet
from ptenmt.data.placeholders import CODE, NUMBER, PLACEHOLDERS, SIZE, entities_in_notation
from ptenmt.tokenizers import UNK, Tokenizer
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.engine import Hypothesis
from ptenmt.translation.safeguards.protocol import Safeguard
from ptenmt.translation.safeguards.quantities import quantities
from ptenmt.translation.sentence import Search, Sentence
from ptenmt.translation.spans import Span, source_text

_Kind = Literal["entity", "number", "unknown"]
"""``number``: a number or a code, which models can mostly translate themselves; ``unknown``: a word which the
model cannot spell."""
_SPELLED_SIGNS = ("No", "Sm", "Sc", "Sk")
"""Unicode's categories of numerals such as ½, of mathematical signs, of currencies, and of ^."""
_SHORT_NUMBER = re.compile(r"(?:R\$ ?)?\d{1,4}(?:,\d\d?)?(?: ?[€%]| horas?| [kcm]?m| k?g| m?[lg])?")
"""A short number, hours, or a measure, which models read better than a placeholder for it."""
_OF_UNIT = re.compile(r"\d [a-z]{1,2}\Z")
_SCORE = re.compile(r"\d{1,3}(?:[-–]| ?x ?)\d{1,3}(?= [A-ZÀ-Þ])")
"""The score of two teams, which models with a placeholder between them exchange."""
_ACRONYM = re.compile(
    r"(?<![\w.&'’*_-])(?<![A-ZÀ-Þ]{2} )[A-Z]{2,4}(?![\w&'’*-]|\.\w| [A-ZÀ-Þ]{2})"  # not in words in capitals
)
_SHORT_WORD = re.compile("[A-Z]{2,4}")
_ENGLISH_ACRONYMS = {
    **{"EUA": "US", "ONU": "UN", "UE": "EU", "OMS": "WHO", "OTAN": "NATO", "FMI": "IMF", "BCE": "ECB"},
    **{"PIB": "GDP", "IVA": "VAT", "ADN": "DNA", "VIH": "HIV", "SIDA": "AIDS", "URSS": "USSR", "IA": "AI"},
}
_IN_CAPITALS = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(word for word in _ENGLISH_ACRONYMS if len(word) > 2)})(?![\w-]|\.\w)"
    r"|(?<=\w\w )[A-Z]\Z"
)
"""In a text in capitals, where *IA* is a word: known acronyms, and the letter of *PLANO A*."""
_NUMBER_OR_CODE = re.compile(f"{CODE}|{SIZE}|{NUMBER}")
_EMPHASIS = re.compile(r"[*_~]{1,3}")
_TAG = re.compile(r"<(?P<begin>[A-Za-z][\w-]*).*>|</(?P<end>[A-Za-z][\w-]*)>")
_SIGNS = "%‰€£¥$"
_PIECE = re.compile(rf"{CODE}|\d+|[{_SIGNS}]")
_THOUSANDS = re.compile(r"(?<!\d)\d{1,3}(?:[., \u00a0\u202f]\d{3}){1,6}(?!\d)")
_NUMERAL = (
    "(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w+teen|half|dozen|twice"
    "|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion"
    "|d(?:ois|uas)|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze|treze|(?:qu|c)atorze|quinze"
    "|dez[ea]\\w+|dezoito|vinte|(?:tri|quare|cinque|sesse|sete|oite|nove)nta|cem|\\w*cent[oa]s?|mil|milh\\w+"
    "|mei[oa]|dúzia)s?"
)
_ARTICLE_OF_NUMBER = re.compile(r"((?<![\w'.])a|\AA)n? (?=\d)(?=[\d.,]+(?: [a-z]| ?%))")
_SPOKEN_WITH_VOWEL = re.compile(r"8|1[18](?!\d)|1[18],\d{3}(?!,)")
_NUMBER_IN_WORDS = re.compile(rf"\b{_NUMERAL}(?:(?:-|\s+|\s+(?:and|e)\s+){_NUMERAL})*\b", re.IGNORECASE)
"""Of English and Portuguese."""
_SIGN_IN_WORDS = re.compile(
    r"\b(?:per ?cent|por cento|(?:euro|dollar|pound|libra|yen)s?|d[óo]lar(?:es)?|rea(?:l|is)|ienes?)\b", re.I
)


class Entities(Safeguard):
    """Finds entities, and sees to it that each hypothesis has them."""

    def __init__(self, tokenizer: Tokenizer, config: Config) -> None:
        self._languages = config.data.languages
        self._tokenizer = tokenizer
        self._spelled = _spelled(tokenizer, self._languages)
        self._has_placeholders = config.data.augment.placeholders > 0
        options = config.decoding
        self._n_best = Search(replace(options, num_hypotheses=max(options.num_hypotheses, options.beam_size)))
        self._usual = Search(options)

    def before(self, sentence: Sentence) -> None:
        """Give a sentence a span for each entity."""
        spans: list[Span] = []
        masked: list[str] = []
        for begin, end, kind, written in self._parts_to_carry(sentence.original):
            original, source = sentence.original[begin:end], ""
            before, after = sentence.original[begin - 1 : begin], sentence.original[end : end + 1]
            if kind == "entity" and before.isalpha() and after.isalpha():
                source = " "  # it separates two words, such as <br>
            elif kind == "number" and (
                _SHORT_NUMBER.fullmatch(original) or _SCORE.match(sentence.original, begin)
            ):
                source = original
            elif _EMPHASIS.fullmatch(original):
                source = ""  # a word that touches a placeholder is not translated
            elif self._has_placeholders and (written in masked or len(masked) < len(PLACEHOLDERS)):
                if written not in masked:
                    masked.append(written)
                source = PLACEHOLDERS[masked.index(written)]
            elif kind == "number" and not self._has_placeholders:
                source = original
            spans.append(Span(begin, end, kind, source, written, is_carried=True))
        sentence.spans = tuple(sorted([*sentence.spans, *spans], key=lambda span: span.begin))
        if not all(span.is_removed for span in spans):
            sentence.search = self._n_best

    def _parts_to_carry(self, text: str) -> list[tuple[int, int, _Kind, str]]:
        """What the translation of a text carries over: begin, end, kind, and how the translation writes it.

        A quantity, or a word that the model cannot spell, may contain other entities.
        """
        parts: list[tuple[int, int, _Kind, str]] = []
        for quantity in quantities(text, self._languages):
            if quantity.is_readable and not self._has_placeholders:
                continue
            # Where there are no placeholders the model would read it, and lose its size.
            parts.append((*quantity[:2], "number" if self._has_placeholders else "entity", quantity.target))
        unknown = _unknown_words(text, self._spelled)
        for entity, written in entities_in_notation(text, self._languages):
            if entity[0] == "&" and self._spelled and "&" in self._spelled:
                continue  # the model reads it as a word
            is_read = self._has_placeholders or not any(word[0] in entity[0] for word in unknown)
            is_number = is_read and _NUMBER_OR_CODE.fullmatch(entity[0])
            parts.append((*entity.span(), "number" if is_number else "entity", written))
        for word in unknown:
            parts.append((*word.span(), "unknown", word[0]))
        if self._has_placeholders:
            parts += self._acronyms(text)
        chosen: list[tuple[int, int, _Kind, str]] = []
        for part in sorted(parts, key=lambda part: (part[0], -part[1])):
            if not chosen or part[0] >= chosen[-1][1]:
                chosen.append(part)
                self._join_emphasized(chosen)
        return chosen

    def _join_emphasized(self, parts: list[tuple[int, int, _Kind, str]]) -> None:
        """Make one of the last three parts, if they are an entity with the same emphasis around it."""
        if len(parts) < 3:
            return
        before, entity, after = parts[-3:]
        is_emphasis = _EMPHASIS.fullmatch(before[3]) and before[3] == after[3]
        if is_emphasis and (before[1], entity[1]) == (entity[0], after[0]):
            kind = entity[2] if self._has_placeholders else "entity"
            parts[-3:] = [(before[0], after[1], kind, before[3] + entity[3] + after[3])]

    def _acronyms(self, text: str) -> list[tuple[int, int, _Kind, str]]:
        """Acronyms as they are, or the English ones: of their tokens a model makes other words.

        Those of one token are left to it.
        """
        known = _ENGLISH_ACRONYMS if self._languages == ("pt", "en") else {}
        if text.isupper():
            return [
                (*part.span(), "entity", known.get(part[0], part[0])) for part in _IN_CAPITALS.finditer(text)
            ]
        found = list(_ACRONYM.finditer(text))
        if not found:
            return []
        words = [acronym[0] for acronym in found]
        return [
            (*acronym.span(), "entity", known.get(acronym[0], acronym[0]))
            for acronym, ids, is_acronym in zip(
                found, self._tokenizer.encode(words), _are_acronyms(words, self._tokenizer), strict=True
            )
            if acronym[0] in known or (is_acronym and len(ids) > 1)
        ]

    def after(self, sentence: Sentence) -> Sentence:
        """The sentence, hypotheses that have its entities first; or without, to be searched once more."""
        carried = [span for span in _carried_spans(sentence) if not span.is_removed]
        if not carried:
            return sentence
        text, _ = source_text(sentence.original, sentence.spans)
        satisfied = [hypothesis for hypothesis in sentence.hypotheses if _has_all(text, carried, hypothesis)]
        others = [hypothesis for hypothesis in sentence.hypotheses if hypothesis not in satisfied]
        if satisfied:
            return replace(sentence, hypotheses=[*satisfied, *others])
        best = sentence.hypotheses[0].generated
        if sentence.target_prefix and any(span.target and span.target in best for span in carried):
            return sentence  # it stands in the prefix
        if self._has_placeholders and any(span.source not in PLACEHOLDERS for span in carried):
            return replace(self._masked(sentence), is_retried=True)
        return replace(_without_entities(sentence, self._usual), is_retried=True)

    def _masked(self, sentence: Sentence) -> Sentence:
        """The sentence with placeholders for the numbers that were read as typed, while there are any."""
        used = {span.source for span in sentence.spans}
        free = iter([symbol for symbol in PLACEHOLDERS if symbol not in used])
        spans = [
            span
            if not span.is_carried or span.is_removed or span.source in PLACEHOLDERS
            else replace(span, source=next(free, ""))
            for span in sentence.spans
        ]
        return _searched_with(sentence, spans, self._n_best)

    def finish(self, sentence: Sentence, text: str) -> str:
        """The translation with its entities in place of placeholders."""
        masked = {ord(span.source): span.target for span in sentence.spans if span.source in PLACEHOLDERS}
        text = _unmasked(text, masked, sentence.text) if masked else text
        if any(map(str.isdigit, text)):
            text = _ARTICLE_OF_NUMBER.sub(_article_of_number, text)
        entities = [span for span in sentence.spans if span.kind == "entity" and span.target]
        targets = [span.target for span in entities if span.target]
        as_typed = [
            span.target for span in entities if span.target == sentence.original[span.begin : span.end]
        ]
        return _spaced_as_typed(sentence.original, as_typed, _well_nested(targets, text))

    def unknown_words(self, sentence: Sentence) -> list[str]:
        """Words with letters that the model does not spell well."""
        spans = [span for span in sentence.spans if span.kind == "unknown"]
        return [sentence.original[span.begin : span.end] for span in spans]


def _are_acronyms(words: Sequence[str], tokenizer: Tokenizer) -> Iterator[bool]:
    """Whether words in capitals are acronyms: in lower case no token, of four letters as many as typed."""
    encoded = zip(
        words, tokenizer.encode(words), tokenizer.encode([word.lower() for word in words]), strict=True
    )
    for word, typed, in_lower in encoded:
        yield _SHORT_WORD.fullmatch(word) is not None and (
            UNK in in_lower or (len(in_lower) > 1 and (len(word) < 4 or len(typed) <= len(in_lower)))
        )


def _carried_spans(sentence: Sentence) -> list[Span]:
    return [span for span in sentence.spans if span.is_carried]


def _without_entities(sentence: Sentence, search: Search) -> Sentence:
    """The sentence to be searched without any entity; its translation gets them in the end."""
    spans = [
        replace(span, source="") if span.is_carried and not span.is_removed else span
        for span in sentence.spans
    ]
    return _searched_with(sentence, spans, search)


def _searched_with(sentence: Sentence, spans: Sequence[Span], search: Search) -> Sentence:
    """The sentence with other spans, to be searched."""
    return replace(sentence, spans=tuple(spans), text="", ids=[], hypotheses=(), search=search, previous=None)


def _spaced_as_typed(sentence: str, entities: Sequence[str], text: str) -> str:
    """A translation in which entities have a space next to a word only where the sentence has one."""
    any_entity = re.compile("|".join(map(re.escape, sorted(entities, key=len, reverse=True))) or "(?!)")
    is_in_order = any_entity.findall(sentence) == any_entity.findall(text)
    for entity in dict.fromkeys(entities):
        if not is_in_order and sum(entity in other for other in entities) > 1:
            continue  # which of its places is which is not known: two of it, or * and **
        typed, written = sentence.split(entity), text.split(entity)
        if len(typed) != len(written):
            continue
        for row, (left, right) in enumerate(pairwise(typed)):
            before, after = written[row : row + 2]
            if _touch_alike(left[-1:], before[-2:-1]):
                before = before.removesuffix(" ")
            elif left[-1:] == " " and before[-1:].isalnum():
                before += " "
            if _touch_alike(right[:1], after[1:2]):
                after = after.removeprefix(" ")
            elif right[:1] == " " and after[:1].isalnum():
                after = f" {after}"
            written[row : row + 2] = before, after
        text = entity.join(written)
    return text


def _unmasked(text: str, masked: Mapping[int, str | None], source: str) -> str:
    """A translation with entities in place of placeholders; apart from words, if they are in the source."""
    for placeholder in filter(text.__contains__, map(chr, masked)):
        if not re.search(rf"\w{placeholder}|{placeholder}\w", source):
            text = re.sub(rf"(?<=[^\W\d_]){placeholder}", f" {placeholder}", text)
            text = re.sub(rf"{placeholder}(?=[^\W\d_])", f"{placeholder} ", text)
    return text.translate(masked)


def _article_of_number(article: re.Match[str]) -> str:
    """*An 8*, *a 3.5*: as the number is spoken."""
    return f"{article[1]}{'n' if _SPOKEN_WITH_VOWEL.match(article.string, article.end()) else ''} "


def _touch_alike(typed: str, written: str) -> bool:
    """Whether what touches an entity in a sentence may touch it in the translation: of words, any letter."""
    return (typed.isalnum() and written.isalnum()) or (typed == written and bool(typed.strip()))


def _well_nested(entities: Sequence[str], text: str) -> str:
    """A translation whose tags, if one is closed before it is opened, have the order of the source."""
    tags = [entity for entity in entities if _TAG.fullmatch(entity)]
    if len(tags) < 2:
        return text
    pattern = re.compile("|".join(map(re.escape, sorted(tags, key=len, reverse=True))))
    written = pattern.findall(text)
    if sorted(written) != sorted(tags) or _unpaired(written) == _unpaired(tags):
        return text
    in_order = iter(tags)
    return pattern.sub(lambda _: next(in_order), text)


def _unpaired(tags: Sequence[str]) -> list[str]:
    """The tags left when those that stand next to their ends are taken away, pair by pair."""
    left: list[str] = []
    for tag in tags:
        opened = _TAG.fullmatch(left[-1]) if left else None
        closed = _TAG.fullmatch(tag)
        if opened and closed and closed["end"] and closed["end"] == opened["begin"]:
            left.pop()
        else:
            left.append(tag)
    return left


def _has_all(text: str, carried: Sequence[Span], hypothesis: Hypothesis) -> bool:
    """Whether a translation of a text has all its placeholders and numbers, as often as it has.

    A number may be in words; which one they are is not examined.
    """
    translation = hypothesis.generated
    if Counter(_placeholders(text)) != Counter(_placeholders(translation)):
        return False
    numbers = [span for span in carried if span.source not in PLACEHOLDERS]
    if any(span.source != span.target and span.source in translation for span in numbers):
        return False  # 12.500 is written otherwise in the target language
    if any(
        span.target and _OF_UNIT.search(span.target) and span.target not in translation for span in numbers
    ):
        return False
    if any(re.search(" hours?$", span.target or "") for span in numbers) and "hour" not in translation:
        return False  # 7 o'clock
    most, written = Counter(_numbers(text)), Counter(_numbers(translation))
    wanted = Counter(number for span in numbers for number in _numbers(span.source))
    too_often = [number for number, count in written.items() if count > most[number]]
    for number in too_often:
        if any(number == other or (len(other) > 2 and number in other) for other in wanted):
            return False
    lost = [
        number
        for number, count in wanted.items()
        if written[number] < count and not _is_written_otherwise(number, written)
    ]
    if any(re.search("[A-Za-z]", number) for number in lost):
        return False
    lost_signs = [number for number in lost if number in _SIGNS]
    # "One" is often no number: no one, only one.
    written_out = [
        [words for words in _NUMBER_IN_WORDS.findall(part) if words.lower() != "one" or "1" in lost]
        for part in (text, translation)
    ]
    more_numbers = len(written_out[1]) - len(written_out[0])
    more_signs = len(_SIGN_IN_WORDS.findall(translation)) - len(_SIGN_IN_WORDS.findall(text))
    return len(lost) - len(lost_signs) <= max(0, more_numbers) and len(lost_signs) <= max(0, more_signs)


def _spelled(tokenizer: Tokenizer, languages: Sequence[str]) -> frozenset[str] | None:
    """The characters that a model spells well; None if it has whole words.

    Of the letters in its vocabulary those of both languages, all where an alphabet is not known, and
    those that were frequent in the training text.
    """
    if isinstance(tokenizer, WordTokenizer):
        return None
    letters = tokenizer.frequent_characters
    for own in map(alphabet, languages):
        letters |= tokenizer.characters if own is None else tokenizer.characters & own
    return letters | {
        char
        for char in tokenizer.characters
        if not (char.isalpha() or char == "^")
        and (char.isascii() or unicodedata.category(char) not in _SPELLED_SIGNS)
    }


def _unknown_words(text: str, spelled: frozenset[str] | None) -> list[re.Match[str]]:
    """The words with a letter, and the mathematical signs, that a model does not spell well."""
    if spelled is None or spelled.issuperset(text):
        return []
    strange = {
        char
        for char in set(text).difference(spelled)
        if char.lower() not in spelled and (char.isalpha() or unicodedata.category(char) in _SPELLED_SIGNS)
    }
    if not strange:
        return []
    signs = "".join(map(re.escape, sorted(strange)))
    return list(re.finditer(rf"[\w’'-]*[{signs}][\w’'{signs}-]*", text))


def _placeholders(text: str) -> list[str]:
    return [char for char in text if char in PLACEHOLDERS]


def _numbers(text: str) -> list[str]:
    """The integers, signs and codes in a text; 1.000,5 and 1,000.5 are 1000 and 5, and 3rd is 3."""
    joined = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    return [piece.lstrip("0") or "0" for piece in _PIECE.findall(joined)]


def _is_written_otherwise(number: str, numbers: Collection[str]) -> bool:
    """Whether a number is written in other digits: as a year, 1970s for ``anos 70``; 3:30 pm; .5."""
    is_decade = len(number) == 2 and any(re.fullmatch(rf"\d\d{number}", other) for other in numbers)
    is_hour = len(number) == 2 and number.isdecimal() and str(int(number) - 12) in numbers
    return is_decade or number == "0" or is_hour
