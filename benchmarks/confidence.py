"""Confidences beside the sentence chrF of the same translations: means, ECE and rank correlation.

    python benchmarks/confidence.py --run RUN [--split validation]
    python benchmarks/confidence.py --run RUN --source FILE --reference FILE

ECE: in ten bins of equally many sentences, in order of their confidence, the mean absolute difference
between the mean confidence and the mean chrF / 100. The rank correlation is Spearman's.
"""

import argparse
import math

import numpy as np

from ptenmt.evaluation import EvaluationFiles, LoadOptions
from ptenmt.evaluation.evaluation import read_test_set
from ptenmt.evaluation.systems import System
from ptenmt.runs import find_run
from ptenmt.scores import Scorer
from ptenmt.translation.scoring import with_confidence

NUM_BINS = 10


def calibration_error(confidences: np.ndarray, scores: np.ndarray) -> float:
    """ECE of confidences [N] beside scores [N]."""
    bins = np.array_split(np.argsort(confidences, kind="stable"), min(NUM_BINS, len(confidences)))
    errors = [abs((confidences[rows] - scores[rows]).sum()) for rows in bins]
    return float(sum(errors) / len(confidences))


def rank_correlation(confidences: np.ndarray, scores: np.ndarray) -> float:
    """Spearman's; NaN if all confidences or all scores are equal."""
    ranks = np.stack([_ranks(confidences), _ranks(scores)])
    return float(np.corrcoef(ranks)[0, 1]) if np.ptp(ranks, axis=1).all() else math.nan


def _ranks(values: np.ndarray) -> np.ndarray:
    """The sums of the first and the last rank of each value, which differ where several are equal."""
    ordered = np.sort(values)
    return np.searchsorted(ordered, values) + np.searchsorted(ordered, values, "right")


def main() -> None:
    """Translate, and print a row of the table in reliability.md."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run")
    parser.add_argument("--split", choices=("validation", "test"), default="test")
    parser.add_argument("--source")
    parser.add_argument("--reference")
    options = parser.parse_args()
    references = [options.reference] if options.reference else []
    files = EvaluationFiles(source=options.source, references=references)
    run, load = find_run(options.run, "translation"), LoadOptions()
    _, _, test_set = read_test_set(run, options.split, files, load)
    system = System.load(run, load)
    translations = system.translations(test_set, lambda *_progress: None)
    found = with_confidence(system.translator, translations)
    scorer = Scorer("detokenized", test_set.references, ("chrF",))
    chrf = scorer.sentence_values([translation.text for translation in translations], "chrF")
    known = [
        (each.confidence, score / 100) for each, score in zip(found, chrf, strict=True) if each.confidence
    ]
    confidences, scores = np.array(known).T
    print(
        f"| {run.name} | {confidences.mean():.4f} | {scores.mean():.4f} "
        f"| {calibration_error(confidences, scores):.3f} | {rank_correlation(confidences, scores):.3f} |"
    )


if __name__ == "__main__":
    main()
