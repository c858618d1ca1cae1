"""Pairs of Portuguese sentences that differ by an accent or a short word, which must show in English."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ptenmt.config import DataConfig
from ptenmt.data.text import TextPreparation
from ptenmt.tokenizers import UNK, Tokenizer
from ptenmt.translation import Translator

LANGUAGES = ("pt", "en")
_FILE = "contrasts.tsv"


@dataclass(frozen=True)
class ContrastPair:
    """Two sentences, and English words that tell them apart."""

    phenomenon: str
    sources: tuple[str, str]
    expected: tuple[list[str], list[str]]
    """A right translation has one of its own words and none of the other's. No words: any will do."""
    expected_of_both: list[str]
    """It has one of these, too; as above."""


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Two sentences that differ in little, which must make a difference in the translation."""

    phenomenon: str
    """Such as ``accents: avó, avô``."""
    sources: tuple[str, str]
    translations: tuple[str, str]
    expected: tuple[list[str], list[str]]
    """For each, words one of which its translation must have; and it must have none of the other's."""
    expected_of_both: list[str]
    """Words one of which both translations must have, if there are any."""
    is_right: tuple[bool, bool]
    is_same_input: bool
    """Whether the tokenizer makes the same of both, so that no model could tell them apart."""


@dataclass(frozen=True, kw_only=True)
class Contrasts:
    """How a run did on the shipped minimal pairs."""

    items: list[Contrast]

    @property
    def num_right(self) -> int:
        """Pairs both of whose translations are right."""
        return sum(all(item.is_right) for item in self.items)

    @property
    def by_phenomenon(self) -> dict[str, tuple[int, int]]:
        """For each phenomenon how many pairs are right, and how many there are."""
        counts: dict[str, tuple[int, int]] = {}
        for item in self.items:
            right, all_of_it = counts.get(item.phenomenon, (0, 0))
            counts[item.phenomenon] = (right + all(item.is_right), all_of_it + 1)
        return counts


@dataclass(frozen=True)
class _Encoder:
    """Encodes what a user would type."""

    tokenizer: Tokenizer
    data: DataConfig

    def ids(self, text: str) -> list[int]:
        prepared = TextPreparation(self.data).prepare_input(text, self.data.source_language)
        return self.tokenizer.encode([prepared])[0]

    def in_known_case(self, text: str) -> str:
        """In lower case, if the tokenizer does not know its capitals: it is not these that count."""
        lower = text.lower()
        return lower if self.ids(lower).count(UNK) < self.ids(text).count(UNK) else text


@cache
def contrast_pairs() -> tuple[ContrastPair, ...]:
    """The shipped pairs."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    pairs = []
    for line in text.splitlines()[1:]:
        phenomenon, both, one, one_expected, other, other_expected = line.split("\t")
        expected = _alternatives(one_expected), _alternatives(other_expected)
        pairs.append(ContrastPair(phenomenon, (one, other), expected, _alternatives(both)))
    return tuple(pairs)


def find_contrasts(translator: Translator) -> Contrasts | None:
    """Translate the shipped pairs, and see which are told apart; None for other languages than theirs."""
    data = translator.config.data
    if (data.source_language, data.target_language) != LANGUAGES:
        return None
    pairs = contrast_pairs()
    encoder = _Encoder(translator.tokenizers.source, data)
    sources = [encoder.in_known_case(source) for pair in pairs for source in pair.sources]
    texts = [translation.text for translation in translator.translate(sources)]
    ids = [encoder.ids(source) for source in sources]
    items = []
    for number, pair in enumerate(pairs):
        first, second = 2 * number, 2 * number + 1
        one, other = pair.expected
        both = pair.expected_of_both
        verdicts = (
            is_right(texts[first], one, both, excluded=other),
            is_right(texts[second], other, both, excluded=one),
        )
        items.append(
            Contrast(
                phenomenon=pair.phenomenon,
                sources=(sources[first], sources[second]),
                translations=(texts[first], texts[second]),
                expected=pair.expected,
                expected_of_both=both,
                is_right=verdicts,
                is_same_input=ids[first] == ids[second],
            )
        )
    return Contrasts(items=items)


def is_right(translation: str, *expected: list[str], excluded: list[str]) -> bool:
    """Whether a translation has a word of each list, if there are any in it, and none of the excluded."""
    text = translation.casefold().replace("’", "'")
    if not text.strip() or _has(text, excluded):
        return False
    return all(_has(text, words) for words in expected if words)


def _has(text: str, words: list[str]) -> bool:
    """Whether one of the words stands in a text; *can* does not stand in *can't*."""
    choice = "|".join(map(re.escape, words))
    return bool(words) and re.search(rf"(?<![\w'])(?:{choice})(?![\w'])", text) is not None


def _alternatives(words: str) -> list[str]:
    return words.split("|") if words else []
