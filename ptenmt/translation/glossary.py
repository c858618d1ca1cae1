"""Glossaries: terms and their translations, which stand in a translation at the words aligned to them."""

import csv
import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self

from ptenmt.data.readers import read_lines
from ptenmt.errors import DataError
from ptenmt.tokenizers.words import word_pattern

_HINT = "every line holds a term and its translation, separated by a tab"
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)+")
"""A number of several words, such as 42,5 or 10:30, which no term cuts."""


class Glossary:
    """Terms of the source language with their translations.

    A term is found in any case, never inside another word or a number. Its translation is
    given as it is written here, or, if it is all lower case, with the capitals of a text in capitals, of a
    text in Title Case or of the first word; if both are equal, the term is not translated.
    """

    def __init__(self, terms: Mapping[str, str]) -> None:
        self.terms = dict(terms)
        self._by_first_word: dict[str, list[tuple[list[str], str]]] = defaultdict(list)
        by_length = sorted(terms.items(), key=lambda pair: (-len(_words(pair[0])), not pair[0].islower()))
        for term, translation in by_length:
            if words := _words(term):
                self._by_first_word[words[0]].append((words, translation))

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a file of two columns, term and translation, separated by a tab, in ``.csv`` by a comma.

        Blank lines are skipped. Raises DataError if the file cannot be read, and as ``parse`` does.
        """
        return cls.parse(read_lines(file), str(file), "," if file.suffix.lower() == ".csv" else "\t")

    @classmethod
    def parse(cls, lines: Iterable[str], file: str, delimiter: str = "\t") -> Self:
        """Read lines as those of a file; a column may be in quotes, as spreadsheets write it.

        Raises DataError without terms, or for a line that is not a pair.
        """
        terms: dict[str, str] = {}
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                (row,) = csv.reader([line.replace("\r", " ")], delimiter=delimiter, strict=True)
            except csv.Error as error:
                raise DataError(
                    f"{file}, line {number}: {error}", 'end the quotes, or double them: """a"'
                ) from error
            columns = [" ".join(column.split()) for column in row]
            if len(columns) != 2 or not all(columns):
                raise DataError(f"{file}, line {number}: not a term and its translation", _HINT)
            term, translation = columns
            if all(map(_is_mark, term)):
                raise DataError(f"{file}, line {number}: the term {term} is a mark, not a word", _HINT)
            if any(unicodedata.category(sign) == "Cc" for sign in term + translation):
                raise DataError(f"{file}, line {number}: a control character in {term!r}", "remove it")
            if terms.setdefault(term, translation) != translation:
                raise DataError(f"{file}, line {number}: {term!r} has another translation before", "keep one")
        if not terms:
            raise DataError(f"{file} has no terms", _HINT)
        return cls(terms)

    @property
    def checksum(self) -> str:
        """The SHA-256 checksum of the terms."""
        return hashlib.sha256(json.dumps(sorted(self.terms.items())).encode()).hexdigest()

    def find(self, sentence: str) -> Iterator[tuple[tuple[int, int], str]]:
        """Where the terms in a sentence begin and end, the longest at each place, and their translations."""
        words = list(word_pattern().finditer(sentence))
        folded = [_folded(word[0]) for word in words]
        numbers = [number.span() for number in _NUMBER.finditer(sentence)]
        end = 0
        for place, word in enumerate(folded):
            for term, translation in self._by_first_word.get(word, ()) if place >= end else ():
                if folded[place : place + len(term)] == term:
                    begin, stop = words[place].start(), words[place + len(term) - 1].end()
                    if not any(first < begin < last or first < stop < last for first, last in numbers):
                        end = place + len(term)
                        yield (begin, stop), translation
                    break


def _is_mark(sign: str) -> bool:
    """Whether a character is a bracket, a quote, a dash or another mark that only structures a sentence."""
    return unicodedata.category(sign) in ("Ps", "Pe", "Pi", "Pf", "Pd", "Zs") or sign in ".,;:!?…¿¡'\""


def _words(term: str) -> list[str]:
    return list(map(_folded, word_pattern().findall(term)))


def _folded(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()
