"""The grammatical features that both languages share, and the sentence pair."""

from typing import Literal, NamedTuple

Gender = Literal["m", "f"]
Person = Literal["1s", "2s", "3s", "1p", "3p"]
Tense = Literal[
    "present", "past", "perfect", "progressive", "was_progressive", "going", "future", "conditional"
]

PERSONS: tuple[Person, ...] = ("1s", "2s", "3s", "1p", "3p")


class Pair(NamedTuple):
    """A Portuguese text and its English translation: a sentence, a phrase or a single word."""

    pt: str
    en: str


NOTHING = Pair("", "")


def words(*parts: str) -> str:
    """Join the parts that are not empty with single spaces."""
    return " ".join(part for part in parts if part)
