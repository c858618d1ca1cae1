"""Pairs of Portuguese sentences that differ by an accent or a short word, which must show in English."""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ptenmt.corpus.text import TextPreparation
from ptenmt.evaluation.results import Contrast, Contrasts
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


@cache
def contrast_pairs() -> tuple[ContrastPair, ...]:
    """The shipped pairs."""
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    pairs = []
    for line in text.splitlines()[1:]:
        phenomenon, one, one_expected, other, other_expected = line.split("\t")
        expected = _alternatives(one_expected), _alternatives(other_expected)
        pairs.append(ContrastPair(phenomenon, (one, other), expected))
    return tuple(pairs)


def find_contrasts(translator: Translator) -> Contrasts | None:
    """Translate the shipped pairs, and see which are told apart; None for other languages than theirs."""
    data = translator.config.data
    if (data.source_language, data.target_language) != LANGUAGES:
        return None
    pairs = contrast_pairs()
    sources = [source for pair in pairs for source in pair.sources]
    texts = [translation.text for translation in translator.translate(sources)]
    preparation = TextPreparation(data)
    ids = translator.tokenizers.source.encode(
        [preparation.prepare_input(source, data.source_language) for source in sources]
    )
    items = []
    for number, pair in enumerate(pairs):
        first, second = 2 * number, 2 * number + 1
        one, other = pair.expected
        items.append(
            Contrast(
                phenomenon=pair.phenomenon,
                sources=pair.sources,
                translations=(texts[first], texts[second]),
                expected=pair.expected,
                is_right=(is_right(texts[first], one, other), is_right(texts[second], other, one)),
                is_same_input=ids[first] == ids[second],
            )
        )
    return Contrasts(items=items)


def is_right(translation: str, expected: list[str], excluded: list[str]) -> bool:
    """Whether a translation has an expected word, if any is expected, and none of the excluded."""
    text = translation.casefold().replace("’", "'")
    has_own = _has(text, expected) if expected else bool(text.strip())
    return has_own and not _has(text, excluded)


def _has(text: str, words: list[str]) -> bool:
    """Whether one of the words stands in a text; *can* does not stand in *can't*."""
    choice = "|".join(map(re.escape, words))
    return bool(words) and re.search(rf"(?<![\w'])(?:{choice})(?![\w'])", text) is not None


def _alternatives(words: str) -> list[str]:
    return words.split("|") if words else []
