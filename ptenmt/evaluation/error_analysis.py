"""Error analysis: scores by source length and with noise, degenerate outputs, worst sentences."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from ptenmt.data.augmentation import CASES, NOISES
from ptenmt.data.kept_parts import PLACEHOLDERS, mask_pair
from ptenmt.data.readers import SentencePair
from ptenmt.data.text import lowers_typed
from ptenmt.errors import OnProgress
from ptenmt.evaluation.systems import System
from ptenmt.evaluation.test_sets import TestSet
from ptenmt.scores import Scorer
from ptenmt.tokenizers import UNK
from ptenmt.translation.safeguards import repeated_ngrams

NUM_EXAMPLES = 20
_LENGTHS = {10: "0–9", 20: "10–19", 30: "20–29", 40: "30–39", math.inf: "40 or more"}
"""Names of numbers of words, by the number that they are below."""
_MAX_PHRASE = 8
_MIN_REPEATS = 3
CLEAN = "no noise"


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


@dataclass(frozen=True, kw_only=True)
class Band:
    """The sentences whose sources are so long, and their scores."""

    name: str
    """Words in the source, such as ``10–19``."""
    num_pairs: int
    scores: dict[str, float]
    """Detokenized, by name."""


@dataclass(frozen=True, kw_only=True)
class DegenerateOutputs:
    """One kind of degenerate output, detected by simple rules."""

    name: str
    """``empty`` or ``repetitive``."""
    definition: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ErrorAnalysis:
    """Where a system fails."""

    by_length: list[Band]
    """By source length; none where sources are unknown."""
    worst: list[EvaluatedSentence]
    """By ``EvaluatedSentence.score``, the worst first; of equals the longest translation."""
    degenerate_outputs: list[DegenerateOutputs]


def analyse_errors(
    sentences: Sequence[EvaluatedSentence], scorer: Scorer, hypotheses: Sequence[str]
) -> ErrorAnalysis:
    """Find where a system fails; the scorer, of detokenized text, scores the sentences of each length."""
    ranked = sorted(sentences, key=lambda sentence: (sentence.score, -len(sentence.hypothesis), sentence.row))
    return ErrorAnalysis(
        by_length=_by_length(sentences, scorer, hypotheses),
        worst=[each for each in ranked[:NUM_EXAMPLES] if each.score < 100],
        degenerate_outputs=[
            DegenerateOutputs(name=name, definition=definition, count=sum(map(applies, sentences)))
            for name, (definition, applies) in _DEGENERATE.items()
        ],
    )


def _by_length(
    sentences: Sequence[EvaluatedSentence], scorer: Scorer, hypotheses: Sequence[str]
) -> list[Band]:
    rows: dict[str, list[int]] = {name: [] for name in _LENGTHS.values()}
    for row, sentence in enumerate(sentences):
        if sentence.source is not None:
            num_words = len(sentence.source.split())
            rows[next(name for end, name in _LENGTHS.items() if num_words < end)].append(row)
    return [
        Band(name=name, num_pairs=len(chosen), scores=scorer.values(hypotheses, chosen))
        for name, chosen in rows.items()
        if chosen
    ]


def max_repeats(text: str) -> int:
    """How many times in a row a phrase of a few words occurs, at most; 1 where none is repeated."""
    words = text.casefold().split()
    return max((times + 1 for _, times in repeated_ngrams(words, _MAX_PHRASE)), default=min(len(words), 1))


def _is_repetitive(sentence: EvaluatedSentence) -> bool:
    repeats = max_repeats(sentence.hypothesis)
    return repeats >= _MIN_REPEATS and repeats > max(map(max_repeats, sentence.references))


_DEGENERATE: dict[str, tuple[str, Callable[[EvaluatedSentence], bool]]] = {
    "empty": ("no text at all", lambda sentence: not sentence.hypothesis.strip()),
    "repetitive": (
        f"a phrase of up to {_MAX_PHRASE} words at least {_MIN_REPEATS} times in a row, and more often than "
        "in any reference",
        _is_repetitive,
    ),
}


@dataclass(frozen=True, kw_only=True)
class NoiseScores:
    """The scores of translations of sources with noise, against references with the same noise."""

    noise: str
    """The option in ``data.augment``; for the row to compare with ``no noise``."""
    num_changed: int
    """Pairs that the noise changed."""
    bleu: float
    chrf: float


def score_robustness(system: System, test_set: TestSet, on_progress: OnProgress) -> list[NoiseScores]:
    """Translate a test set, whose sources must be known, without noise and under each noise.

    All sources are translated as users' text; of several references the first counts. Capitals are left out
    for a run that lower-cases its input, and placeholders for one whose tokenizers do not know them.
    """
    data = test_set.data
    references = [test_set.references_of(row)[0] for row in range(len(test_set))]
    pairs = list(zip(test_set.sources or [], references, strict=True))
    config, tokenizers = system.trained.config, system.trained.tokenizers
    left_out = set(CASES) if lowers_typed(data) or config.tokenizer.kind == "wordpiece" else set()
    if UNK in tokenizers.source.encode(PLACEHOLDERS)[0]:
        left_out.add("placeholders")
    known = set(pairs)

    def report(noise: str, _activity: str, done: int, total: int) -> None:
        on_progress(f"with {noise}", done, total)

    results = []
    for name in (CLEAN, *(name for name in NOISES if name not in left_out)):
        noisy = noisy_pairs(name, pairs)
        typed = TestSet.from_typed([source for source, _ in noisy], [[target for _, target in noisy]], data)
        hypotheses, _ = system.translate(typed, partial(report, name))
        values = Scorer("detokenized", typed.references, ("BLEU", "chrF")).values(hypotheses.texts)
        num_changed = sum(pair not in known for pair in noisy)
        results.append(
            NoiseScores(noise=name, num_changed=num_changed, bleu=values["BLEU"], chrf=values["chrF"])
        )
    return results


def noisy_pairs(name: str, pairs: list[SentencePair]) -> list[SentencePair]:
    """Return all pairs with one noise, always the same."""
    if name == "placeholders":  # without those that training puts between words
        return [mask_pair(*pair) for pair in pairs]
    if name not in NOISES:
        return pairs
    return [NOISES[name](*pair, Random(f"{name} {row}")) for row, pair in enumerate(pairs)]
