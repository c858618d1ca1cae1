"""Minimal pairs: Portuguese sentences that differ by an accent or short word, as their translations must."""

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from ptenmt.data.text import TextPreparation
from ptenmt.tokenizers import UNK
from ptenmt.translation import Translator

LANGUAGES = ("pt", "en")
_FILE = "minimal_pairs.tsv"


@dataclass(frozen=True, kw_only=True)
class MinimalPair:
    """Two source sentences, and English words that distinguish their translations."""

    phenomenon: str
    """Such as ``accents: avó, avô``."""
    sources: tuple[str, str]
    expected: tuple[list[str], list[str]]
    """A correct translation has one of its own words and none of the other's. No words: any will do."""
    expected_in_both: list[str]
    """Both translations must have one of these, if there are any."""


@dataclass(frozen=True, kw_only=True)
class MinimalPairResult(MinimalPair):
    """How a run translated a minimal pair."""

    translations: tuple[str, str]
    is_correct: tuple[bool, bool]
    has_same_input: bool
    """Whether both are the same ids to the model, so that no model could distinguish them."""


@dataclass(frozen=True, kw_only=True)
class MinimalPairResults:
    """How a run translated the shipped minimal pairs."""

    items: list[MinimalPairResult]

    @property
    def num_correct(self) -> int:
        """Pairs both of whose translations are correct."""
        return sum(all(item.is_correct) for item in self.items)

    @property
    def by_phenomenon(self) -> dict[str, tuple[int, int]]:
        """For each phenomenon, how many pairs are correct, and how many there are."""
        counts: dict[str, tuple[int, int]] = {}
        for item in self.items:
            num_correct, num_pairs = counts.get(item.phenomenon, (0, 0))
            counts[item.phenomenon] = (num_correct + all(item.is_correct), num_pairs + 1)
        return counts


@cache
def minimal_pairs() -> tuple[MinimalPair, ...]:
    """The shipped pairs."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return tuple(
        MinimalPair(
            phenomenon=phenomenon,
            sources=(one, other),
            expected=(_split(one_expected), _split(other_expected)),
            expected_in_both=_split(both),
        )
        for phenomenon, both, one, one_expected, other, other_expected in rows
    )


def _split(field: str) -> list[str]:
    return field.split("|") if field else []


def translate_minimal_pairs(translator: Translator) -> MinimalPairResults | None:
    """Translate and check the shipped pairs; None for other languages than Portuguese and English."""
    data, tokenizer = translator.config.data, translator.tokenizers.source
    if data.languages != LANGUAGES:
        return None
    preparation = TextPreparation(data)

    def encode(text: str) -> list[int]:
        return tokenizer.encode([preparation.prepare_input(text, data.languages[0])])[0]

    def in_known_case(text: str) -> str:
        """In lower case where the vocabulary lacks the capitals, which are not under test."""
        lower = text.lower()
        return lower if encode(lower).count(UNK) < encode(text).count(UNK) else text

    sources = [in_known_case(source) for pair in minimal_pairs() for source in pair.sources]
    texts = [translation.text for translation in translator.translate(sources)]
    items = []
    for number, pair in enumerate(minimal_pairs()):
        own, translations = ((column[2 * number], column[2 * number + 1]) for column in (sources, texts))
        (one, other), both = pair.expected, pair.expected_in_both
        result = MinimalPairResult(
            **vars(replace(pair, sources=own)),
            translations=translations,
            is_correct=(
                is_correct(translations[0], one, both, excluded=other),
                is_correct(translations[1], other, both, excluded=one),
            ),
            has_same_input=encode(own[0]) == encode(own[1]),
        )
        items.append(result)
    return MinimalPairResults(items=items)


def is_correct(translation: str, *expected: list[str], excluded: list[str]) -> bool:
    """Whether a translation has a word of each non-empty list, and none of the excluded ones."""
    text = translation.casefold().replace("’", "'")
    if not text.strip() or _has_any(text, excluded):
        return False
    return all(_has_any(text, words) for words in expected if words)


def _has_any(text: str, words: list[str]) -> bool:
    """Whether one of the words occurs as a whole word; *can* does not occur in *can't*."""
    choice = "|".join(map(re.escape, words))
    return bool(words) and re.search(rf"(?<![\w'])(?:{choice})(?![\w'])", text) is not None
