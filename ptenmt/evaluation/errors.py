"""Error analysis: scores by source properties, degenerate outputs, unknown words, worst sentences."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ptenmt.scores import Score, Scorer
from ptenmt.tokenizers import UNK, Tokenizer
from ptenmt.tokenizers.words import word_pattern
from ptenmt.translation.safeguards import repeated_ngrams

MIN_PAIRS = 20
"""Minimum group size: smaller groups give unreliable scores, and bootstrap intervals hide it."""
NUM_EXAMPLES = 20
_LENGTH_EDGES = (10, 20, 30, 40)
_RARITY_EDGES = (1, 10, 100, 1000)
_MAX_UNKNOWN_SHOWN = 10
_MAX_DEGENERATE_EXAMPLES = 5
_MAX_PHRASE = 8
_MIN_REPEATS = 3
_COPIED_SHARE = 0.5
_MIN_COPIED = 3
_LONG_FACTOR = 1.5
_LONG_WORDS = 5


@dataclass(frozen=True, kw_only=True)
class EvaluatedSentence:
    """A sentence with its references, its translation and their score; all detokenized."""

    row: int
    """Number of the pair, from 1: the line in a file."""
    source: str | None
    references: list[str]
    hypothesis: str
    score: float
    """chrF2++ of this sentence alone, 0 to 100."""
    baseline: str | None = None
    baseline_score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Band:
    """A group of sentences and their scores."""

    name: str
    num_pairs: int
    scores: list[Score]
    """Detokenized; empty where there is no pair."""


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """Scores by bands of a source property."""

    title: str
    """Such as ``source length``."""
    unit: str
    """What the names of the bands count."""
    bands: list[Band]


@dataclass(frozen=True, kw_only=True)
class DegenerateOutputs:
    """One kind of degenerate output, detected by simple rules."""

    name: str
    """``empty``, ``repetitive``, ``copied`` or ``over-long``."""
    definition: str
    count: int
    examples: list[EvaluatedSentence]


@dataclass(frozen=True, kw_only=True)
class WordCoverage:
    """How well a run's vocabulary and training data cover the source words."""

    num_words: int
    num_unknown: int
    """Words with [UNK] among their tokens."""
    num_unseen: int | None
    """Words that never occur in the training data; None if that cannot be read."""
    num_sentences_with_unknown: int
    unknown: dict[str, int]
    """The most frequent unknown words."""


@dataclass(frozen=True, kw_only=True)
class ErrorAnalysis:
    """Where a system fails."""

    breakdowns: list[Breakdown]
    """By source length and by word rarity, where they are known."""
    worst: list[EvaluatedSentence]
    """By ``EvaluatedSentence.score``, the worst first; of equals the longest translation."""
    degenerate_outputs: list[DegenerateOutputs]
    words: WordCoverage | None
    """None if no run is known, and so no vocabulary."""


@dataclass(frozen=True)
class SourceWords:
    """The words of the sources, and their coverage by a run's vocabulary and training data."""

    texts: Sequence[str]
    """The sources as the tokenizer reads them."""
    tokenizer: Tokenizer
    training_counts: Mapping[str, int] | None
    """How often each lower-cased word occurs in the training data; None: it is unreadable."""

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each source."""
        return [find_words(text) for text in self.texts]

    def coverage(self) -> WordCoverage:
        """Count the words that the vocabulary or the training data lack."""
        words = [word for sentence in self.words for word in sentence]
        distinct = sorted(set(words))
        encoded = zip(distinct, self.tokenizer.encode(distinct), strict=True)
        lacking = {word for word, ids in encoded if UNK in ids}
        unknown = Counter(word for word in words if word in lacking)
        counts = self.training_counts
        return WordCoverage(
            num_words=len(words),
            num_unknown=unknown.total(),
            num_unseen=None if counts is None else sum(not counts.get(word.lower()) for word in words),
            num_sentences_with_unknown=sum(not lacking.isdisjoint(sentence) for sentence in self.words),
            unknown=dict(unknown.most_common(_MAX_UNKNOWN_SHOWN)),
        )

    def rarest_counts(self) -> list[int]:
        """How often the training data has the rarest word of each source; often if it has no words."""
        counts = self.training_counts or {}
        return [
            min((counts.get(word.lower(), 0) for word in words), default=_RARITY_EDGES[-1])
            for words in self.words
        ]


def find_words(text: str) -> list[str]:
    """The words of a text, without punctuation."""
    return [word for word in word_pattern().findall(text) if word[0].isalnum()]


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each lower-cased word occurs."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(find_words(text.lower()))
    return counts


def analyse_errors(
    sentences: Sequence[EvaluatedSentence],
    scorer: Scorer,
    hypotheses: Sequence[str],
    sources: SourceWords | None,
) -> ErrorAnalysis:
    """Find where a system fails.

    The scorer is that of the detokenized hypotheses; ``sources`` are the words of the
    same sentences, None if they or the run's vocabulary are unknown.
    """
    ranked = sorted(sentences, key=lambda sentence: (sentence.score, -len(sentence.hypothesis), sentence.row))
    return ErrorAnalysis(
        breakdowns=list(_breakdowns(sentences, scorer, hypotheses, sources)),
        worst=ranked[:NUM_EXAMPLES],
        degenerate_outputs=find_degenerate_outputs(sentences),
        words=None if sources is None else sources.coverage(),
    )


# Scores by properties of the source


def _breakdowns(
    sentences: Sequence[EvaluatedSentence],
    scorer: Scorer,
    hypotheses: Sequence[str],
    sources: SourceWords | None,
) -> Iterator[Breakdown]:
    """Scores by each property that is known."""

    def divided(title: str, unit: str, values: Sequence[int], edges: Sequence[int]) -> Breakdown:
        rows: dict[str, list[int]] = {name: [] for name in _band_names(edges)}
        names = list(rows)
        for row, value in enumerate(values):
            rows[names[bisect_right(edges, value)]].append(row)
        bands = [
            Band(name=name, num_pairs=len(chosen), scores=scorer.scores(hypotheses, chosen) if chosen else [])
            for name, chosen in rows.items()
        ]
        return Breakdown(title=title, unit=unit, bands=bands)

    texts = [sentence.source for sentence in sentences if sentence.source is not None]
    if len(texts) < len(sentences):
        return
    lengths = [len(text.split()) for text in (texts if sources is None else sources.texts)]
    yield divided("source length", "words in the source", lengths, _LENGTH_EDGES)
    if sources is not None and sources.training_counts is not None:
        unit = "occurrences of the source's rarest word in the training data"
        yield divided("word rarity", unit, sources.rarest_counts(), _RARITY_EDGES)


def _band_names(edges: Sequence[int]) -> Iterator[str]:
    """Such as ``0–9``, ``10–19``, ``20 or more``."""
    for low, high in pairwise((0, *edges)):
        yield str(low) if high == low + 1 else f"{low:,}–{high - 1:,}"
    yield f"{edges[-1]:,} or more"


# Degenerate outputs


def find_degenerate_outputs(sentences: Sequence[EvaluatedSentence]) -> list[DegenerateOutputs]:
    """Count each kind and give some examples; copies of the source are left out where sources are unknown."""
    knows_sources = all(sentence.source is not None for sentence in sentences)
    outputs = []
    for name, (definition, applies) in _DEGENERATE.items():
        if name == "copied" and not knows_sources:
            continue
        matching = list(filter(applies, sentences))
        first = matching[:_MAX_DEGENERATE_EXAMPLES]
        outputs.append(
            DegenerateOutputs(name=name, definition=definition, count=len(matching), examples=first)
        )
    return outputs


def max_repeats(text: str) -> int:
    """How many times in a row a phrase of a few words occurs, at most; 1 where none is repeated."""
    words = text.casefold().split()
    return max((times + 1 for _, times in repeated_ngrams(words, _MAX_PHRASE)), default=min(len(words), 1))


def _is_repetitive(sentence: EvaluatedSentence) -> bool:
    repeats = max_repeats(sentence.hypothesis)
    return repeats >= _MIN_REPEATS and repeats > max(map(max_repeats, sentence.references))


def _is_copied(sentence: EvaluatedSentence) -> bool:
    words = find_words(sentence.hypothesis.casefold())
    source = set(find_words((sentence.source or "").casefold()))
    allowed = {word for reference in sentence.references for word in find_words(reference.casefold())}
    num_copied = sum(word in source and word not in allowed for word in words)
    return num_copied >= max(_MIN_COPIED, _COPIED_SHARE * len(words))


def _is_over_long(sentence: EvaluatedSentence) -> bool:
    num_words = len(sentence.hypothesis.split())
    longest = max(len(text.split()) for text in sentence.references)
    return num_words > _LONG_FACTOR * longest and num_words > longest + _LONG_WORDS


_DEGENERATE: dict[str, tuple[str, Callable[[EvaluatedSentence], bool]]] = {
    "empty": ("no text at all", lambda sentence: not sentence.hypothesis.strip()),
    "repetitive": (
        f"a phrase of up to {_MAX_PHRASE} words at least {_MIN_REPEATS} times in a row, and more often than "
        "in any reference",
        _is_repetitive,
    ),
    "copied": (
        f"at least {_MIN_COPIED} words, and at least half of all, are copied from the source and in no "
        "reference",
        _is_copied,
    ),
    "over-long": (
        f"more than {_LONG_FACTOR:g} times as long as the longest reference, and by more than "
        f"{_LONG_WORDS} words",
        _is_over_long,
    ),
}
