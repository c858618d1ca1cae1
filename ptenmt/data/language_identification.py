"""Languages of many sentences at once, by py3langid's model.

``LanguageIdentifier.classify`` takes some 150 µs a sentence, most of it in a Python loop over bytes. Here its
automaton runs over all sentences in step, which gives the same scores in 20 µs a sentence.
"""

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.atomic_files import folder_written_whole, temporary_folder
from ptenmt.errors import DataError

LIKELY_LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "ru", "zh")
"""What a public corpus has in place of the language that it should have; the two of the corpus are added."""
_TABLES = ("languages", "weights", "priors", "next_state", "first_row", "feature")
_MAX_BYTES = 200
"""Enough to identify a sentence by; of a longer one only the beginning is read."""
_MIN_LOG_ODDS = 2.0
_MIN_EVIDENCE = 12.0
"""Unscaled log-odds, which grow with the length: two or three words may be a title or a name.

With these limits none of 16,000 Spanish, Galician and Catalan sentences of TED and Tatoeba is found to be in
another language, and where Portuguese is expected 84 to 98% of the Spanish, Italian and French ones are."""


class LanguageCheck:
    """Finds sentences that are surely not in the expected language.

    The expected languages, ISO 639-1 codes, are compared with ``others``; None: with all that py3langid
    knows. Raises DataError if it does not know one of them.
    """

    def __init__(self, expected: Sequence[str], others: Sequence[str] | None = LIKELY_LANGUAGES) -> None:
        tables = _tables()
        self.languages: list[str] = tables["languages"].tolist()
        if unknown := [language for language in expected if language not in self.languages]:
            raise DataError(
                f"the language identifier does not know {' or '.join(unknown)}",
                "set data.filters.right_language to false, or both languages to their ISO 639-1 codes",
            )
        self._weights, self._priors = tables["weights"], tables["priors"]
        """float16 [features, languages]; float32 [languages]."""
        if others is not None:
            columns = [*map(self.languages.index, dict.fromkeys((*expected, *others)))]
            self.languages = [self.languages[column] for column in columns]
            self._weights, self._priors = self._weights[:, columns], self._priors[columns]
        # The state after a byte is next_state[first_row[state] + byte].
        self._next_state, self._first_row = tables["next_state"], tables["first_row"]
        self._feature = tables["feature"]  # of each state, or -1

    def ranked(self, text: str, languages: Sequence[str]) -> list[tuple[str, float]]:
        """These languages with their probabilities for a text, the likeliest first; all must be compared."""
        scores = self.scores([text])[0][0, [*map(self.languages.index, languages)]]
        shares = np.exp(scores - scores.max())
        pairs = zip(languages, (shares / shares.sum()).tolist(), strict=True)
        return sorted(pairs, key=lambda pair: -pair[1])

    def accepts(self, texts: Sequence[str], language: str) -> np.ndarray:
        """Return whether each text may be in a language, bool [texts]; when in doubt it may."""
        return np.array([language_found is None for language_found in self.foreign(texts, language)], bool)

    def foreign(self, texts: Sequence[str], language: str) -> list[str | None]:
        """Return the language of each text that is surely not in this one, None for other texts."""
        scores, scales = self.scores(texts)
        log_odds = scores.max(axis=1, initial=-np.inf) - scores[:, self.languages.index(language)]
        is_sure = (log_odds >= _MIN_LOG_ODDS) & (log_odds * scales >= _MIN_EVIDENCE)
        best = scores.argmax(axis=1)
        return [self.languages[column] if sure else None for column, sure in zip(best, is_sure, strict=True)]

    def scores(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return py3langid's log-posteriors, float32 [texts, languages], and what divided them, [texts]."""
        lowered = (text.lower() if text.isupper() else text for text in texts)  # as py3langid encodes them
        encoded = [
            unicodedata.normalize("NFC", text).encode(errors="replace")[:_MAX_BYTES] for text in lowered
        ]
        lengths = np.array([len(text) for text in encoded], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")  # longest first: those still running are the first ones
        content = np.frombuffer(b"".join(encoded), np.uint8)
        starts = (np.cumsum(lengths) - lengths)[order]
        num_longer = np.cumsum(np.bincount(lengths)[::-1])[::-1][1:]  # than each position
        states = np.zeros(len(texts), np.int64)
        occurrences = [np.empty(0, np.int64)]  # text * features + feature
        for position, num in enumerate(num_longer.tolist()):
            letters = content[starts[:num] + position]
            states[:num] = self._next_state[self._first_row[states[:num]] + letters]
            features = self._feature[states[:num]]
            hits = np.flatnonzero(features >= 0)
            occurrences.append(order[hits] * len(self._weights) + features[hits])
        places, counts = np.unique(np.concatenate(occurrences), return_counts=True)
        rows, features = np.divmod(places, len(self._weights))
        weighted = self._weights[features].astype(np.float32)  # [text-feature pairs, languages]
        weighted *= np.log1p(counts, dtype=np.float32)[:, None]
        totals = np.tile(self._priors, (len(texts), 1))
        firsts = np.flatnonzero(np.diff(rows, prepend=-1))
        if len(firsts):
            totals[rows[firsts]] += np.add.reduceat(weighted, firsts, axis=0)
        scales = np.sqrt(np.maximum(lengths, 1))
        return totals / scales[:, None], scales


@cache
def language_check(
    expected: tuple[str, ...], others: tuple[str, ...] | None = LIKELY_LANGUAGES
) -> LanguageCheck:
    """One for each process: it takes 0.5 s to load."""
    return LanguageCheck(expected, others)


def _tables() -> dict[str, np.ndarray]:
    """py3langid's model as arrays in files, of which only the pages that are read take memory.

    They are in the cache folder: to unpack the model takes 0.6 s, to open the files a millisecond. Where that
    cannot be written, they are temporary, and without room for them the arrays are in memory.
    """
    import py3langid
    from platformdirs import user_cache_path

    folder = user_cache_path("ptenmt") / f"languages-py3langid-{py3langid.__version__}"
    with suppress(OSError, ValueError):
        return _opened(folder)
    tables = _unpacked()
    for written in (folder_written_whole(folder), temporary_folder()):
        with suppress(OSError), written as new:
            for name, table in tables.items():
                # Written at once, they would be read into memory at once, too.
                np.lib.format.open_memmap(new / f"{name}.npy", "w+", table.dtype, table.shape)[...] = table
            return _opened(new)
    return tables


def _opened(folder: Path) -> dict[str, np.ndarray]:
    return {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _TABLES}


def _unpacked() -> dict[str, np.ndarray]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier: Any = LanguageIdentifier.from_model_file(MODEL_FILE)
    tables = (
        np.array(identifier.nb_classes),
        identifier.nb_ptc,
        identifier.nb_pc,
        identifier.tk_nextmove,
        np.asarray(identifier.tk_row, dtype=np.int64) << 8,
        identifier.tk_output,
    )
    return dict(zip(_TABLES, map(np.ascontiguousarray, tables), strict=True))
