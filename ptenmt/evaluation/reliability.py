"""Whether confidences can be relied on: their calibration, and its error on other sentences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptenmt.data.readers import SentencePair
from ptenmt.evaluation.systems import System
from ptenmt.evaluation.test_set import Hypotheses, TestSet
from ptenmt.progress import OnProgress
from ptenmt.scores import References, Scorer
from ptenmt.translation.confidence import Calibration
from ptenmt.translation.scoring import scored_sentences, with_confidence

_MAX_SENTENCES = 500
NUM_BINS = 10


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Confidences beside the sentence chrF / 100 of the same translations."""

    num_sentences: int
    """Those that have a confidence."""
    confidence: float
    """The mean."""
    chrf: float
    """The mean."""
    calibration_error: float
    """ECE: in ten bins of equally many sentences, in order of their confidence, the mean absolute difference
    between the two means."""
    rank_correlation: float
    """Spearman's; NaN if all are equal."""

    @classmethod
    def measure(cls, system: System, output: Hypotheses, references: References) -> "Reliability | None":
        """Compare the confidences and scores of a run's translations; None if none has a confidence."""
        confidences = [
            translation.confidence for translation in with_confidence(system.translator, output.translations)
        ]
        pairs = zip(confidences, _chrf(output.texts, references), strict=True)
        known = np.array([pair for pair in pairs if pair[0] is not None], float)  # [N, 2]
        return cls.of_values(*known.T) if len(known) else None

    @classmethod
    def of_values(cls, confidences: np.ndarray, scores: np.ndarray) -> "Reliability":
        """Compare confidences [N] and scores [N]."""
        bins = np.array_split(np.argsort(confidences, kind="stable"), min(NUM_BINS, len(confidences)))
        errors = [abs((confidences[rows] - scores[rows]).sum()) for rows in bins]
        ranks = np.stack([_ranks(confidences), _ranks(scores)])
        return cls(
            num_sentences=len(confidences),
            confidence=float(confidences.mean()),
            chrf=float(scores.mean()),
            calibration_error=float(sum(errors) / len(confidences)),
            rank_correlation=float(np.corrcoef(ranks)[0, 1]) if np.ptp(ranks, axis=1).all() else math.nan,
        )


def calibrate(
    system: System,
    pairs: Sequence[SentencePair],
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> None:
    """Fit confidences on at most 500 held-out pairs of the corpus, and keep the calibration in the run.

    Raises:
        OutputError: The run cannot be written.
    """
    trained = system.trained
    chosen = [pairs[row] for row in range(0, len(pairs), -(-len(pairs) // _MAX_SENTENCES))]
    test_set = TestSet.from_pairs(chosen, trained.config.data)
    output, _ = system.translate(test_set, on_progress)
    scored = scored_sentences(system.translator, output.translations)
    labels = _chrf(output.texts, test_set.references)
    rows = [row for row, sentences in enumerate(scored) if len(sentences) == 1]
    if rows:
        features = [scored[row][0].features for row in rows]
        Calibration.fit(trained.info.checksum, features, [labels[row] for row in rows]).write(trained.run)


def _ranks(values: np.ndarray) -> np.ndarray:
    """The sums of the first and the last rank of each value, which differ where several are equal."""
    ordered = np.sort(values)
    return np.searchsorted(ordered, values) + np.searchsorted(ordered, values, "right")


def _chrf(texts: Sequence[str], references: References) -> list[float]:
    """The sentence chrF / 100 of each text."""
    values = Scorer("detokenized", references, ("chrF",)).sentence_values(texts, "chrF")
    return [value / 100 for value in values]
