"""Robustness: scores of the test sentences with capitals, typos and other noise."""

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

CLEAN = "no noise"


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
