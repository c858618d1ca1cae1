"""Filters of training pairs, with counts and examples of what each removes.

A filter is a function of a chunk of pairs and can be pickled, so that chunks can be filtered in several
processes; only :class:`Duplicates` has a state and needs all chunks in order.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from html.entities import html5
from itertools import compress
from typing import Any

import numpy as np

from ptenmt.config import DataConfig
from ptenmt.data.languages import language_check
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import Chunk

Filter = Callable[[Chunk], Sequence[bool]]
"""Returns for each pair of a chunk whether it stays."""

NUM_EXAMPLES = 5
_MIN_OVERLAP_WORDS = 4
_MIN_OVERLAP_BYTES = 30
_SIGNS = re.compile(r"[\W_]+")
_ASCII_SIGNS_AND_DIGITS = re.compile(r"[\x00-\x40\x5b-\x60\x7b-\x7f]+")
_INVISIBLE = re.compile("[\u00ad\u200b\ufeff]")
_LONG = r"[^\W\u0e00-\u109f\u1780-\u17ff\u2e80-\uffff]{%d,}"
"""A word; scripts without spaces have none."""
_ENTITY = re.compile(r"&(#?\w{2,8});|& ?(#\w{2,6}|quot|amp|lt|gt|apos|nbsp) ?;")


@dataclass
class FilterReport:
    """What the filters did to the pairs of one training file."""

    name: str
    num_read: int = 0
    num_left: int = 0
    num_removed: dict[str, int] = field(default_factory=dict)
    """Pairs that each filter removed, in the order of application."""
    examples: dict[str, list[SentencePair]] = field(default_factory=dict)
    """The first of them."""

    def __post_init__(self) -> None:
        for name, pairs in self.examples.items():
            self.examples[name] = [(source, target) for source, target in pairs]  # JSON has lists

    def apply(self, chunk: Chunk, filters: Mapping[str, Filter]) -> Chunk:
        """Return the pairs of a chunk that all filters keep."""
        for name, keep in filters.items():
            stays = keep(chunk) if chunk else ()
            gone = [pair for pair, stay in zip(chunk, stays, strict=True) if not stay]
            self._count(name, len(gone), gone)
            chunk = list(compress(chunk, stays))
        return chunk

    def _count(self, name: str, count: int, pairs: Iterable[SentencePair]) -> None:
        self.num_removed[name] = self.num_removed.get(name, 0) + count
        self.examples[name] = [*self.examples.get(name, ()), *pairs][:NUM_EXAMPLES]

    def add(self, other: "FilterReport") -> None:
        """Add the report of other pairs."""
        self.num_read += other.num_read
        self.num_left += other.num_left
        for name, count in other.num_removed.items():
            self._count(name, count, other.examples[name])

    @classmethod
    def total(cls, reports: Iterable["FilterReport"]) -> "FilterReport":
        """Return the report of all files together."""
        total = cls("all files")
        for report in reports:
            total.add(report)
        return total


def complete(chunk: Chunk) -> Sequence[bool]:
    """Keep pairs with text on both sides."""
    return [bool(source.strip() and target.strip()) for source, target in chunk]


def pair_filters(data: DataConfig) -> dict[str, Filter]:
    """Return the filters of ``data.filters`` but the one for duplicates, in order, by their name in reports.

    Raises DataError if the language identifier does not know a language.
    """
    options = data.filters
    tests: list[tuple[str, Any, Callable[..., bool]]] = [
        ("over {} words", options.max_words, _have_few_words),
        ("length ratio over {}", options.max_length_ratio, _have_similar_lengths),
        ("word over {} characters", options.max_word_length, _have_short_words),
        ("letters under {:.0%}", options.min_letters, _have_letters),
        ("identical sides", options.different_sides, _differ),
    ]
    filters: dict[str, Filter] = {
        name.format(limit): partial(_each_pair, partial(test, limit)) for name, limit, test in tests if limit
    }
    if options.right_language:
        languages = (data.source_language, data.target_language)
        language_check(languages)  # an unknown language is an error now
        filters["wrong language"] = partial(_in_languages, languages)
    return filters


def duplicate_filters(data: DataConfig) -> dict[str, Filter]:
    """Return the filter for duplicates by its name in reports, if there is one."""
    kind = data.filters.deduplicate
    if kind == "none":
        return {}
    return {"near duplicates" if kind == "near" else "duplicates": Duplicates(is_near=kind == "near")}


def overlap_filter(given: Iterable[SentencePair], drawn: Iterable[SentencePair] = ()) -> Filter:
    """Return a filter that removes pairs with a held-out source or target.

    Case, punctuation and spaces are ignored, so that the same sentence in another tokenization is found.
    Of ``drawn`` pairs, from the training pairs, all sentences count; of ``given`` ones, from elsewhere, not
    short ones, such as "Thank you!", which every text has: of fewer than 4 words and 30 bytes of letters.
    """
    given, drawn = list(given), list(drawn)
    sources, targets = (
        {bare_text(pair[side]) for pair in given if _is_distinctive(pair[side])}
        | {bare_text(pair[side]) for pair in drawn}
        for side in (0, 1)
    )
    return partial(_without_overlap, sources, targets)


def _is_distinctive(text: str) -> bool:
    num_words = len(re.findall(r"\w+", text))
    return num_words >= _MIN_OVERLAP_WORDS or len(bare_text(text)) >= _MIN_OVERLAP_BYTES


def _without_overlap(sources: set[bytes], targets: set[bytes], chunk: Chunk) -> Sequence[bool]:
    return [bare_text(source) not in sources and bare_text(target) not in targets for source, target in chunk]


def _in_languages(languages: tuple[str, str], chunk: Chunk) -> Sequence[bool]:
    foreign = language_check(languages).foreign
    return [
        all(foreign(text, language) is None for text, language in zip(pair, languages, strict=True))
        for pair in chunk
    ]


def _each_pair(test: Callable[[str, str], bool], chunk: Chunk) -> Sequence[bool]:
    return [test(source, target) for source, target in chunk]


def _have_few_words(limit: int, *texts: str) -> bool:
    return all(text.count(" ") < limit for text in texts)


def _have_similar_lengths(limit: float, *texts: str) -> bool:
    lengths = ((text.count(" ") + 1, len(text), len(text.encode())) for text in texts)
    return any(max(sizes) / min(sizes) <= limit for sizes in zip(*lengths, strict=True))


def _have_short_words(limit: int, *texts: str) -> bool:
    return all(len(text) <= limit or re.search(_LONG % (limit + 1), text) is None for text in texts)


def _have_letters(share: float, *texts: str) -> bool:
    counts = ((len(_ASCII_SIGNS_AND_DIGITS.sub("", text)), len(text) - text.count(" ")) for text in texts)
    return all(num_letters >= share * num_signs for num_letters, num_signs in counts)


def _differ(_limit: bool, source: str, target: str) -> bool:
    return source.casefold() != target.casefold()


class Duplicates:
    """Keeps the first of equal pairs; stores 8 bytes per pair, in sorted runs that double in size.

    If ``is_near``, case, punctuation and spaces are ignored.
    """

    def __init__(self, *, is_near: bool) -> None:
        self._is_near = is_near
        self._runs: list[np.ndarray] = []

    def __call__(self, chunk: Chunk) -> Sequence[bool]:
        """Return for each pair whether it is the first of its kind, in this chunk and all before."""
        hashed = np.frombuffer(b"".join(digest(self._key(*pair)) for pair in chunk), dtype="<u8")
        hashes, firsts = np.unique(hashed, return_index=True)
        is_new = np.ones(len(hashes), dtype=bool)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            is_new &= run[places] != hashes
        new = hashes[is_new]
        while self._runs and len(self._runs[-1]) <= 2 * len(new):
            new = np.sort(np.concatenate([self._runs.pop(), new]))
        if len(new):
            self._runs.append(new)
        stays = np.zeros(len(chunk), dtype=bool)
        stays[firsts[is_new]] = True
        return stays.tolist()

    def _key(self, source: str, target: str) -> bytes:
        if self._is_near:
            return b"\t".join(map(bare_text, (source, target)))
        return f"{len(source)}\t{source}\t{target}".encode()


def unescape(text: str) -> str:
    """Replace HTML entities, also escaped ones (``&amp;quot;``) and those with spaces (``& quot ;``).

    Soft hyphens, zero-width spaces and byte order marks are removed.
    """
    for _ in range(2):
        if "&" in text:
            text = _ENTITY.sub(_character, text)
    return text if text.isascii() else _INVISIBLE.sub("", text)


def _character(entity: re.Match[str]) -> str:
    name = entity[1] or entity[2]
    return html.unescape(f"&{name};") if name.startswith("#") else html5.get(f"{name};", entity[0])


def bare_text(text: str) -> bytes:
    """Return a text without case, punctuation and spaces; as it is if nothing is left."""
    bare = unicodedata.normalize("NFKC", unescape(text).casefold())
    return (_SIGNS.sub("", bare) or text.casefold()).encode()


def digest(text: str | bytes) -> bytes:
    """Return a hash of 8 bytes that is the same everywhere."""
    return blake2b(text.encode() if isinstance(text, str) else text, digest_size=8).digest()
