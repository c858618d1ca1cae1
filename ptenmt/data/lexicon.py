"""Sentence pairs for rare words: a frequent word and its translation, replaced by an entry of a dictionary.

After Fadaee et al. (2017), "Data Augmentation for Low-Resource Neural Machine Translation", with the
dictionary in the place of word alignments, and word similarity in the place of a language model. A pair is a
frame for a word if both its sides have an entry of the dictionary, once each. The entry that takes its place
is of the same part of speech, its target word is used in similar contexts, and both new words agree with the
words before them ("a maçã", "an apple" is no frame for "o pêssego", "a peach").
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from ptenmt.data.readers import SentencePair, read_lines
from ptenmt.errors import DataError

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_OFFSETS = (-2, -1, 1, 2)
_NUM_CONTEXT_WORDS = 1000
_NUM_FUNCTION_WORDS = 150
_MIN_CONTEXTS = 3
"""Words of fewer occurrences in the target text have no reliable similarity."""
_MIN_CLASS = 30
"""Occurrences from which a class of words has a reliable distribution."""
_NUM_OWN = 10
"""Occurrences from which a word has one of its own."""
_MIN_AGREEMENT = 0.3
_MAX_WORDS = 20
"""Of a frame: longer sentences teach no more about the word."""
_MAX_SHIFT = 0.3
"""Between the relative positions of a word and its translation."""
_NUM_SIMILAR = 20
_MAX_TRIES = 200
"""Frames of one word that are tried for another."""
_START = ""


@dataclass(frozen=True, order=True)
class DictionaryEntry:
    """A word, its translation, and their part of speech."""

    source: str
    target: str
    part_of_speech: str

    def word(self, side: int) -> str:
        """Return the source word (side 0) or the target word (1)."""
        return self.target if side else self.source


@dataclass(frozen=True)
class Frame:
    """A pair with a word to replace: the number of the pair, the entry, the words before it on both sides."""

    pair: int
    entry: DictionaryEntry
    before: tuple[str, str]


class Lexicon:
    """Writes pairs for the rare words of a dictionary.

    Args:
        pairs: The sentence pairs that are frames.
        entries: The dictionary; entries of several words are not used.
        texts: Plain text of the source and of the target language, in addition to the pairs.
        parts_of_speech: Of the entries that are used.
    """

    def __init__(
        self,
        pairs: Sequence[SentencePair],
        entries: Iterable[DictionaryEntry],
        texts: tuple[Iterable[str], Iterable[str]],
        parts_of_speech: Sequence[str] = ("n",),
    ) -> None:
        self._pairs = pairs
        self._entries = sorted(
            {
                entry
                for entry in entries
                if entry.part_of_speech in parts_of_speech
                and all(_WORD.fullmatch(word) and word.islower() for word in (entry.source, entry.target))
            },
        )
        self._words = [[words_of(pair[side]) for pair in pairs] for side in (0, 1)]
        self._frequency = Counter(word for words in self._words[0] for word in words)
        all_words = [[*side, *map(words_of, text)] for side, text in zip(self._words, texts, strict=True)]
        self._agreement = [Agreement(lines) for lines in all_words]
        self._similarity = Similarity(all_words[1], {entry.target for entry in self._entries})
        self._frames = self._find_frames()

    def pairs(
        self, max_count: int, per_word: int, min_similarity: float, seed: int
    ) -> Iterator[tuple[str, str, float]]:
        """Yield pairs of sentences for the rare words, with the similarity of the two target words.

        A word that another word of the source language has as its translation, too, gets the similarity 1.

        Args:
            max_count: A word of the dictionary is rare up to this number of occurrences in the pairs.
            per_word: Pairs for each entry, at most: those of the most similar words.
            min_similarity: Of the target words, between 0 and 1.
            seed: The choice among the frames of equally similar words.
        """
        rare = [entry for entry in self._entries if self._frequency[entry.source] <= max_count]
        replaceable = {target for target, _ in self._frames}
        similar = dict(
            self._similarity.nearest({entry.target for entry in rare}, replaceable, min_similarity)
        )
        for entry in rare:
            generator = random.Random(f"{seed} {entry.source} {entry.target}")
            fitting = self._fitting_frames(entry, similar.get(entry.target, ()), generator)
            for similarity, frame in islice(fitting, per_word):
                source, target = self._pairs[frame.pair]
                yield (
                    replaced(source, frame.entry.source, entry.source),
                    replaced(target, frame.entry.target, entry.target),
                    similarity,
                )

    def _fitting_frames(
        self, entry: DictionaryEntry, similar: Iterable[tuple[str, float]], generator: random.Random
    ) -> Iterator[tuple[float, Frame]]:
        """Yield the frames for an entry with the similarity, those of the most similar words first."""
        for word, similarity in similar:
            frames = self._frames[word, entry.part_of_speech]
            for frame in generator.sample(frames, min(len(frames), _MAX_TRIES)):
                if self._fits(entry, frame):
                    yield similarity, frame

    def _find_frames(self) -> dict[tuple[str, str], list[Frame]]:
        """The frames by the target word that may be replaced, and its part of speech."""
        by_source = defaultdict(list)
        for entry in self._entries:
            if not any(
                side.is_function_word(entry.word(number)) for number, side in enumerate(self._agreement)
            ):
                by_source[entry.source].append(entry)
        frames = defaultdict(list)
        for pair, (source, target) in enumerate(zip(*self._words, strict=True)):
            if max(len(source), len(target)) > _MAX_WORDS:
                continue
            for position, word in enumerate(source):
                entries = [entry for entry in by_source.get(word, ()) if target.count(entry.target) == 1]
                if len({entry.target for entry in entries}) != 1 or source.count(word) != 1:
                    continue
                other = target.index(entries[0].target)
                if abs(position / len(source) - other / len(target)) <= _MAX_SHIFT:
                    before = (_before(source, position), _before(target, other))
                    for entry in entries:
                        frames[entry.target, entry.part_of_speech].append(Frame(pair, entry, before))
        return frames

    def _fits(self, entry: DictionaryEntry, frame: Frame) -> bool:
        """Whether both words of an entry agree with the words before them, and neither is there already."""
        is_new = entry.source not in self._words[0][frame.pair] and (
            entry.target == frame.entry.target or entry.target not in self._words[1][frame.pair]
        )
        return is_new and all(
            self._agreement[side].holds(frame.before[side], frame.entry.word(side), entry.word(side))
            for side in (0, 1)
        )


class Agreement:
    """Which words follow the same function words, such as articles: of the same gender, number and sound.

    A word is judged by the function words that it follows in the text, and where it is rare, by those that
    words of the same ending follow; always by those that words with the same first letter follow.
    """

    def __init__(self, lines: Sequence[list[str]]) -> None:
        frequency = Counter(word for words in lines for word in words)
        self._function_words = {word for word, _ in frequency.most_common(_NUM_FUNCTION_WORDS)} | {_START}
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        for words in lines:
            for position, word in enumerate(words):
                before = _before(words, position)
                if before in self._function_words and word not in self._function_words:
                    for group in (word, *_groups(word)):
                        self._counts[group][before] += 1

    def is_function_word(self, word: str) -> bool:
        """Whether a word is one of the most frequent ones, which are not replaced."""
        return word in self._function_words

    def holds(self, before: str, old: str, new: str) -> bool:
        """Whether a new word can follow the function word that is before the old one."""
        if before not in self._function_words:
            return False
        expected = self._share(before, [old])
        *endings, initial = _groups(new)
        own = [new] if self._counts[new].total() >= _NUM_OWN else endings
        return all(self._share(before, groups) >= _MIN_AGREEMENT * expected for groups in (own, [initial]))

    def _share(self, before: str, groups: Sequence[str]) -> float:
        """The share of the function word among those before the first group that is large enough."""
        for group in groups:
            counts = self._counts[group]
            if counts.total() >= _MIN_CLASS or group == groups[-1]:
                break
        return counts[before] / max(counts.total(), 1)


class Similarity:
    """Cosines between words, as vectors of the pointwise mutual information with the words around them."""

    def __init__(self, lines: Sequence[list[str]], words: Iterable[str]) -> None:
        frequency = Counter(word for line in lines for word in line)
        self._words = sorted(word for word in words if frequency[word] >= _MIN_CONTEXTS)
        rows = {word: row for row, word in enumerate(self._words)}
        columns = {word: column for column, (word, _) in enumerate(frequency.most_common(_NUM_CONTEXT_WORDS))}
        counts = np.zeros((len(rows), len(_OFFSETS), len(columns)), np.float32)
        for line in lines:
            for position, word in enumerate(line):
                if word in rows:
                    for number, offset in enumerate(_OFFSETS):
                        neighbour = position + offset
                        if 0 <= neighbour < len(line) and line[neighbour] in columns:
                            counts[rows[word], number, columns[line[neighbour]]] += 1
        joint = counts.reshape(len(rows), -1)  # [words, contexts]
        independent = joint.sum(1, keepdims=True) * joint.sum(0) / max(joint.sum(), 1)
        tiny = np.float32(1e-9)
        vectors = np.log((joint + tiny) / (independent + tiny)).clip(0)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = vectors / np.maximum(norms, 1e-9)
        self._rows = rows

    def nearest(
        self, words: Iterable[str], others: Iterable[str], least: float
    ) -> Iterator[tuple[str, list[tuple[str, float]]]]:
        """Yield each word with the most similar of other words and their cosines, from ``least`` on.

        The cosine of a word with itself is 1. Words that are too rare in the text are left out.
        """
        known = sorted(set(others) & self._rows.keys())
        vectors = self._vectors[[self._rows[word] for word in known]].T
        for word in sorted(set(words) & self._rows.keys()):
            cosines = self._vectors[self._rows[word]] @ vectors
            best = np.argsort(-cosines, kind="stable")[:_NUM_SIMILAR].tolist()
            yield word, [(known[at], round(float(cosines[at]), 4)) for at in best if cosines[at] >= least]


def read_dictionary(file: Path) -> list[DictionaryEntry]:
    """Read a dictionary: word, translation and part of speech, tab-separated; further columns are not read.

    Entries without a part of speech are left out. Raises DataError if the file cannot be read, or has none.
    """
    rows = [line.split("\t") for line in read_lines(file)]
    entries = [DictionaryEntry(row[0], row[1], row[2]) for row in rows if len(row) > 2 and row[2]]
    if not entries:
        raise DataError(
            f"{file} has no entry with a part of speech",
            "an entry is a line of word, translation and part of speech (n, v, adj), separated by tabs",
        )
    return entries


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def replaced(text: str, old: str, new: str) -> str:
    """The text with a word in the place of another, with its capital."""
    for match in _WORD.finditer(text):
        if match[0].lower() == old:
            word = new.capitalize() if match[0][0].isupper() else new
            return text[: match.start()] + word + text[match.end() :]
    raise ValueError(f"{old!r} is no word of {text!r}")


def _before(words: Sequence[str], position: int) -> str:
    return words[position - 1] if position else _START


def _groups(word: str) -> list[str]:
    """The classes of a word: its endings, the longest first, and its first letter."""
    return [f"-{word[-length:]}" for length in (3, 2, 1)] + [f"{word[0]}-"]
