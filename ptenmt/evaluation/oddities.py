"""Hypotheses that can be told to be wrong without understanding them."""

import re
from collections.abc import Callable, Sequence

from ptenmt.evaluation.results import Oddity, Sentence

LONGEST_PHRASE = 8
LEAST_REPEATS = 3
COPIED_SHARE = 0.5
LEAST_COPIED = 3
LONG_FACTOR, LONG_WORDS = 1.5, 5
_EXAMPLES = 5
_WORD = re.compile(r"\w+")


def find_oddities(sentences: Sequence[Sentence]) -> list[Oddity]:
    """Find and count them, each kind with some examples."""
    return [_found(name, meaning, is_odd, sentences) for name, (meaning, is_odd) in _KINDS.items()]


def repeats(text: str) -> int:
    """How many times a phrase of a few words stands in a row, at the most; 1 where none is repeated."""
    words = text.casefold().split()
    most = min(len(words), 1)
    for size in range(1, min(LONGEST_PHRASE, len(words) // 2) + 1):
        equal = 0
        for word, later in zip(words, words[size:], strict=False):
            equal = equal + 1 if word == later else 0
            most = max(most, equal // size + 1)
    return most


def _found(
    name: str, meaning: str, is_odd: Callable[[Sentence], bool], sentences: Sequence[Sentence]
) -> Oddity:
    found = [sentence for sentence in sentences if is_odd(sentence)]
    return Oddity(name=name, meaning=meaning, count=len(found), examples=found[:_EXAMPLES])


def _is_empty(sentence: Sentence) -> bool:
    return not sentence.hypothesis.strip()


def _is_repeating(sentence: Sentence) -> bool:
    times = repeats(sentence.hypothesis)
    return times >= LEAST_REPEATS and times > max(map(repeats, sentence.references))


def _is_copying(sentence: Sentence) -> bool:
    words, source = _words(sentence.hypothesis), set(_words(sentence.source or ""))
    right = {word for reference in sentence.references for word in _words(reference)}
    copied = sum(word in source and word not in right for word in words)
    return copied >= max(LEAST_COPIED, COPIED_SHARE * len(words))


def _is_long(sentence: Sentence) -> bool:
    words, longest = len(sentence.hypothesis.split()), max(len(text.split()) for text in sentence.references)
    return words > LONG_FACTOR * longest and words > longest + LONG_WORDS


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


_KINDS: dict[str, tuple[str, Callable[[Sentence], bool]]] = {
    "empty": ("nothing is said", _is_empty),
    "repeating": (
        f"a phrase of up to {LONGEST_PHRASE} words stands {LEAST_REPEATS} times or more in a row, and more "
        "often than in a reference",
        _is_repeating,
    ),
    "copying": (
        f"{LEAST_COPIED} words or more, and at least half of all, are the source's and in no reference",
        _is_copying,
    ),
    "over-long": (
        f"more than {LONG_FACTOR:g} times as long as the longest reference, and by more than {LONG_WORDS} "
        "words",
        _is_long,
    ),
}
