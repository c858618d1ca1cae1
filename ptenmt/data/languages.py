"""Languages: their names and codes, and which one a text is in (by py3langid)."""

import json
import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ptenmt.errors import DataError

LIKELY_LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "ru", "zh")
"""What a public corpus has in place of the language that it should have; the two of the corpus are added."""
_LANGUAGES = json.loads(Path(__file__).with_name("languages.json").read_text(encoding="utf-8"))
"""English names; codes of three letters; words that are rare in other languages, except for those that
several here have."""
_WORDS_OF = {code: frozenset(words.split()) for code, words in _LANGUAGES["common_words"].items()}
_SHARED_WORDS = frozenset(_LANGUAGES["shared_words"].split())
_LAST_LATIN = "\u024f"
_MIN_WORDS = 3
_MOST_WITHOUT_COMMON = 4
_MAX_BYTES = 200
"""Enough to identify a sentence by; of a longer one only the beginning is read."""
_MIN_LOG_ODDS = 2.0
_MIN_EVIDENCE = 12.0
"""Unscaled log-odds, which grow with the length: two or three words may be a title or a name.

With these limits none of 16,000 Spanish, Galician and Catalan sentences of TED and Tatoeba is found to be in
another language, and where Portuguese is expected 84 to 98% of the Spanish, Italian and French ones are."""


def language_name(code: str) -> str:
    """The English name of a language by its ISO 639-1 code; an unknown code is returned unchanged."""
    return str(_LANGUAGES["names"].get(code, code))


def two_letter_code(code: str) -> str:
    """The ISO 639-1 code of a language by its three-letter code, such as ``por``; empty if unknown."""
    return str(_LANGUAGES["three_letters"].get(code, ""))


def foreign_language(text: str, language: str) -> str | None:
    """The language of a text that is surely in another than this one, which may be any; None for other texts.

    Texts whose words are usual in the language are not examined, so that py3langid is seldom loaded.
    """
    return language_check((), None).foreign(text, language) if seems_foreign(text, language) else None


def seems_foreign(text: str, language: str) -> bool:
    """Whether most letters of a text are of another script, or its words are unlike this language's.

    That is, it has common words of other languages and none of this one, or five words and none is common.
    About 1 % of sentences do. Of a language whose words are not known here none does.
    """
    own = _WORDS_OF.get(language)
    if own is None:
        return False
    if max(text, default="") > _LAST_LATIN:
        letters = list(filter(str.isalpha, text))
        if 2 * sum(letter > _LAST_LATIN for letter in letters) > len(letters):
            return True
    words = set(re.findall(r"[^\W\d_]+", text.casefold()))
    if len(words) < _MIN_WORDS or not own.isdisjoint(words):
        return False
    if any(not common.isdisjoint(words) for common in _WORDS_OF.values()):
        return True
    return len(words) > _MOST_WITHOUT_COMMON and words.isdisjoint(_SHARED_WORDS)


class LanguageCheck:
    """Finds sentences that are surely not in the expected language.

    The expected languages, ISO 639-1 codes, are compared with ``others``; None: with all that py3langid
    knows. Raises DataError if it does not know one of them.
    """

    def __init__(self, expected: Sequence[str], others: Sequence[str] | None = LIKELY_LANGUAGES) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        self._identifier: Any = LanguageIdentifier.from_model_file(MODEL_FILE)
        if unknown := [language for language in expected if language not in self._identifier.labels]:
            raise DataError(
                f"the language identifier does not know {' or '.join(unknown)}",
                "set data.filters.right_language to false, or both languages to their ISO 639-1 codes",
            )
        if others is not None:
            self._identifier.set_languages({*expected, *others})

    def ranked(self, text: str, languages: Sequence[str]) -> list[tuple[str, float]]:
        """These languages with their probabilities for a text, the likeliest first; all must be compared.

        Raises ValueError if py3langid does not know one.
        """
        scores, scale = self._scores(text)
        if unknown := [language for language in languages if language not in scores]:
            raise ValueError(f"py3langid does not know {' or '.join(unknown)}")
        highest = max(scores[language] for language in languages)
        shares = {language: math.exp((scores[language] - highest) / scale) for language in languages}
        total = sum(shares.values())
        pairs = [(language, share / total) for language, share in shares.items()]
        return sorted(pairs, key=lambda pair: -pair[1])

    def foreign(self, text: str, language: str) -> str | None:
        """Return the language of a text that is surely not in this one, None for another text."""
        scores, scale = self._scores(text)
        best, score = next(iter(scores.items()))
        evidence = score - scores[language]
        return best if evidence >= max(_MIN_EVIDENCE, _MIN_LOG_ODDS * scale) else None

    def _scores(self, text: str) -> tuple[dict[str, float], float]:
        """The log-posteriors of the languages, the likeliest first, and what scales them for the length."""
        encoded = text.encode(errors="replace")[:_MAX_BYTES]
        return dict(self._identifier.rank(encoded)), math.sqrt(max(len(encoded), 1))


language_check = cache(LanguageCheck)
"""One for each process: it takes 0.5 s to load."""
