"""Glossaries: terms and their translations."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Self

from ptenmt.data.readers import read_lines
from ptenmt.errors import DataError
from ptenmt.tokenizers.words import word_pattern

_HINT = "every line holds a term and its translation, separated by a tab"
_PLURALS = (
    *(("", "s"), ("", "es"), ("m", "ns"), ("ão", "ões"), ("ão", "ães"), ("ês", "eses"), ("al", "ais")),
    *(("el", "eis"), ("el", "éis"), ("ol", "óis"), ("ul", "uis"), ("il", "is"), ("il", "eis"), ("y", "ies")),
)
"""Endings of singular and plural, of Portuguese and English."""


class Glossary:
    """Terms of the source language with their translations.

    A term is found in any case and in the plural, and never inside another word. Its translation is given as
    it is written here; if both are equal, the term is not translated.

    Args:
        terms: Translations by term.
    """

    def __init__(self, terms: Mapping[str, str]) -> None:
        self._terms = dict(terms)
        self._forms: dict[tuple[str, ...], str] = {}
        for term, translation in sorted(terms.items(), key=lambda each: each[0] != each[0].casefold()):
            for form in product(*map(_forms_of, _words(term))):
                self._forms.setdefault(form, translation)
        self._beginnings = {form[:length] for form in self._forms for length in range(1, len(form) + 1)}

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a file of two columns, term and translation, separated by a tab; blank lines are skipped.

        Raises:
            DataError: The file cannot be read, or a line is not a term and its translation.
        """
        terms: dict[str, str] = {}
        for number, line in enumerate(read_lines(file), start=1):
            if not line.strip():
                continue
            columns = [" ".join(column.split()) for column in line.split("\t")]
            if len(columns) != 2 or not all(columns):
                raise DataError(f"{file}, line {number}: not a term and its translation", _HINT)
            term, translation = columns
            if terms.setdefault(term, translation) != translation:
                raise DataError(f"{file}, line {number}: {term!r} has another translation before", "keep one")
        return cls(terms)

    @property
    def checksum(self) -> str:
        """The SHA-256 checksum of the terms."""
        return hashlib.sha256(json.dumps(sorted(self._terms.items())).encode()).hexdigest()

    def find(self, sentence: str) -> Iterator[tuple[tuple[int, int], str]]:
        """Where the terms in a sentence begin and end, the longest at each place, and their translations."""
        words = list(word_pattern().finditer(sentence))
        folded = [word[0].casefold() for word in words]
        place = 0
        while place < len(words):
            longest, end = 0, place + 1
            while end <= len(words) and (found := tuple(folded[place:end])) in self._beginnings:
                longest = end if found in self._forms else longest
                end += 1
            if longest:
                translation = self._forms[tuple(folded[place:longest])]
                yield (words[place].start(), words[longest - 1].end()), translation
            place = longest or place + 1


def _words(term: str) -> list[str]:
    return [word.casefold() for word in word_pattern().findall(term)]


def _forms_of(word: str) -> list[str]:
    """A word in the singular and in what may be its plural; a sign has none."""
    if not word[-1].isalpha():
        return [word]
    stems = (word.removesuffix(ending) + plural for ending, plural in _PLURALS if word.endswith(ending))
    return [word, *stems]
