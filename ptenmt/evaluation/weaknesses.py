"""Where a model fails: scores by what makes sentences hard, its worst and best, and what it does not know."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ptenmt.evaluation.oddities import find_oddities
from ptenmt.evaluation.results import Band, Breakdown, Sentence, Weaknesses, Words
from ptenmt.evaluation.scores import Counts, Scorer
from ptenmt.tokenizers import UNK, Tokenizer

NUM_SHOWN = 20
MOST_UNKNOWN_SHOWN = 20
_WORD = re.compile(r"\w+(?:['’\-]\w+)*")


@dataclass(frozen=True)
class _Scale:
    """How sentences are put into bands: ``names[i]`` has values below ``edges[i]`` and of no band before."""

    title: str
    unit: str
    edges: tuple[float, ...]
    names: tuple[str, ...]


_LENGTH = _Scale(
    "source length", "words of the source", (10, 20, 30, 40), ("0–9", "10–19", "20–29", "30–39", "40 or more")
)
_RARITY = _Scale(
    "rarity of words",
    "times that the training pairs have the rarest word of the source",
    (1, 10, 100, 1000),
    ("never", "1–9", "10–99", "100–999", "1,000 or more"),
)
_CUT = _Scale(
    "words cut into pieces",
    "share of the source's words that the tokenizer cuts",
    (1e-9, 0.1, 0.2, 0.3),
    ("none", "under 10 %", "10–19 %", "20–29 %", "30 % or more"),
)


@dataclass(frozen=True)
class Vocabulary:
    """What a run knows of the source language."""

    tokenizer: Tokenizer
    seen: Mapping[str, int] | None
    """How often the training pairs have each word, in lower case; None if they cannot be read."""
    missing: str = ""
    """Why they cannot."""


@dataclass(frozen=True)
class Sources:
    """The sources that were translated, as words.

    Args:
        texts: As the tokenizer sees them.
        vocabulary: Of the run.
    """

    texts: Sequence[str]
    vocabulary: Vocabulary

    @cached_property
    def words(self) -> list[list[str]]:
        """Of each source."""
        return [_WORD.findall(text) for text in self.texts]

    @cached_property
    def pieces(self) -> dict[str, list[int]]:
        """The ids that each word is made of."""
        different = sorted({word for words in self.words for word in words})
        return dict(zip(different, self.vocabulary.tokenizer.encode(different), strict=True))

    def is_cut(self, word: str) -> bool:
        """Whether it is made of several pieces."""
        return len(self.pieces[word]) > 1

    def is_unknown(self, word: str) -> bool:
        """Whether there is something in it that the tokenizer has no piece for."""
        return UNK in self.pieces[word]

    def times_seen(self, word: str) -> int:
        """How often the training pairs have it."""
        assert self.vocabulary.seen is not None
        return self.vocabulary.seen.get(word.lower(), 0)


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs, in lower case."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_WORD.findall(text.lower()))
    return counts


def find_weaknesses(
    sentences: Sequence[Sentence], scorer: Scorer, counts: Counts, sources: Sources | None
) -> Weaknesses:
    """Find out where the hypotheses are bad.

    Args:
        sentences: All of them.
        scorer: Of the detokenised hypotheses.
        counts: What it counted.
        sources: The same sentences' sources; None if they or the run's vocabulary are not known.
    """
    ranked = sorted(sentences, key=lambda each: (each.score, -len(each.hypothesis), each.row))
    num_worst = min(NUM_SHOWN, (len(sentences) + 1) // 2)  # of a few, none is to be among both
    best = sorted(ranked[num_worst:], key=lambda each: (-each.score, -len(each.hypothesis), each.row))
    return Weaknesses(
        breakdowns=_breakdowns(sentences, scorer, counts, sources),
        worst=ranked[:num_worst],
        best=best[:NUM_SHOWN],
        oddities=find_oddities(sentences),
        words=None if sources is None else _words(sources),
    )


def _breakdowns(
    sentences: Sequence[Sentence], scorer: Scorer, counts: Counts, sources: Sources | None
) -> list[Breakdown]:
    def breakdown(scale: _Scale, values: Sequence[float]) -> Breakdown:
        return Breakdown(title=scale.title, unit=scale.unit, bands=_bands(scale, values, scorer, counts))

    def missing(scale: _Scale, reason: str) -> Breakdown:
        return Breakdown(title=scale.title, unit=scale.unit, bands=[], missing=reason)

    if any(sentence.source is None for sentence in sentences):
        return [missing(scale, "no sources are known") for scale in (_LENGTH, _RARITY, _CUT)]
    if sources is None:
        lengths = [len(str(sentence.source).split()) for sentence in sentences]
        reason = "no run is known, and so no vocabulary"
        return [breakdown(_LENGTH, lengths), missing(_RARITY, reason), missing(_CUT, reason)]
    words = sources.words
    found = [breakdown(_LENGTH, [len(text.split()) for text in sources.texts])]
    if sources.vocabulary.seen is None:
        found.append(missing(_RARITY, sources.vocabulary.missing))
    else:
        most = _RARITY.edges[-1]
        found.append(breakdown(_RARITY, [min(map(sources.times_seen, each), default=most) for each in words]))
    shares = [sum(map(sources.is_cut, each)) / max(len(each), 1) for each in words]
    return [*found, breakdown(_CUT, shares)]


def _bands(scale: _Scale, values: Sequence[float], scorer: Scorer, counts: Counts) -> list[Band]:
    rows: list[list[int]] = [[] for _ in scale.names]
    for row, value in enumerate(values):
        rows[bisect_right(scale.edges, value)].append(row)
    return [
        Band(name=name, num_pairs=len(chosen), scores=scorer.scores(counts, chosen) if chosen else [])
        for name, chosen in zip(scale.names, rows, strict=True)
    ]


def _words(sources: Sources) -> Words:
    every = [word for words in sources.words for word in words]
    unknown = Counter(filter(sources.is_unknown, every))
    is_known = sources.vocabulary.seen is not None
    return Words(
        num_words=len(every),
        num_unknown=unknown.total(),
        num_cut=sum(map(sources.is_cut, every)),
        num_unseen=sum(not sources.times_seen(word) for word in every) if is_known else None,
        num_sentences_with_unknown=sum(any(map(sources.is_unknown, words)) for words in sources.words),
        unknown=dict(unknown.most_common(MOST_UNKNOWN_SHOWN)),
    )
