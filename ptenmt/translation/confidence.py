"""Quality estimation: how good a translation probably is, without a reference.

The confidence of a sentence is its expected chrF: a logistic regression on the model's own, teacher-forced
probabilities (Blatz et al. 2004), fitted on validation pairs by ``evaluation/reliability.py``.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from operator import mul
from statistics import fmean
from typing import NamedTuple, Self

from ptenmt.atomic_files import json_text, write_text
from ptenmt.runs import Run
from ptenmt.translation.word_alignment import matching_words, words_of, words_of_tokens

_NUM_STEPS = 20
_DECIMALS = 4  # further ones depend on the other sentences of a batch


class ScoredSentence(NamedTuple):
    """A sentence and its translation, ids from [START] to [END], with the log-probabilities of the latter."""

    source: Sequence[int]
    target: Sequence[int]
    log_probs: list[float]

    @property
    def features(self) -> list[float]:
        """The mean and the lowest probability of a token; the logarithm of the length ratio."""
        probs = [math.exp(log_prob) for log_prob in self.log_probs]
        return [fmean(probs), min(probs), math.log(len(self.target) / len(self.source))]


@dataclass(frozen=True)
class Calibration:
    """A fitted regression: the checksum of the weights that it is for, the intercept and the slopes."""

    weights: str
    coefficients: list[float]

    @classmethod
    def fit(cls, weights: str, features: Sequence[Sequence[float]], labels: Sequence[float]) -> Self:
        """Fit a fractional logistic regression, with a ridge penalty, by Newton's method.

        ``weights`` is the checksum of the model's; ``features`` are [sentences, features]; ``labels``
        [sentences], between 0 and 1: the sentence chrF / 100.
        """
        import numpy as np

        x, y = np.insert(np.array(features), 0, 1.0, axis=1), np.array(labels)  # [N, 1 + F], [N]
        penalty = np.diag([1e-6, *[1e-3] * (x.shape[1] - 1)])
        beta = np.zeros(x.shape[1])
        for _ in range(_NUM_STEPS):
            p = 1 / (1 + np.exp(-x @ beta))
            beta += np.linalg.solve((x.T * (p * (1 - p))) @ x + penalty, x.T @ (y - p) - penalty @ beta)
        return cls(weights, beta.tolist())

    @classmethod
    def load(cls, run: Run, weights: str, warn: Callable[[str], None]) -> Self | None:
        """The calibration of a run, if it has one for the weights; warns of one that is not used."""
        try:
            calibration = cls(**json.loads(run.calibration_file.read_text(encoding="utf-8")))
            if calibration.weights == weights:
                return calibration
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            pass
        problem = f"no confidence: {run.calibration_file} is damaged or fitted on other weights"
        warn(f"{problem}; fit it again: ptenmt evaluate --calibrate --run {run.path}")
        return None

    def write(self, run: Run) -> None:
        """Save it to the run; raises OutputError."""
        write_text(run.calibration_file, json_text(asdict(self), indent=2) + "\n")

    def confidence(self, sentences: Sequence[ScoredSentence]) -> float:
        """The expected chrF / 100 of a text: of its sentences the mean, weighted by their tokens."""
        intercept, *slopes = self.coefficients
        logits = [intercept + sum(map(mul, slopes, sentence.features)) for sentence in sentences]
        lengths = [len(sentence.log_probs) for sentence in sentences]
        values = [1 / (1 + math.exp(-max(logit, -30.0))) for logit in logits]
        return round(fmean(values, lengths), _DECIMALS)


def word_probabilities(
    text: str, generated: str, tokens: Sequence[str], log_probs: Iterable[float]
) -> list[tuple[str, float | None]]:
    """The words of a translation, each with the product of the probabilities of its tokens.

    ``generated`` is the unconstrained output of the model, before kept parts and terms were put in, with its
    tokens and their log-probabilities. Words that are not in it have None.
    """
    words, given = words_of(generated), words_of(text)
    totals: dict[int | None, float] = {}
    for owner, log_prob in zip(words_of_tokens(words, tokens), log_probs, strict=True):
        totals[owner] = totals.get(owner, 0.0) + log_prob
    probabilities: list[tuple[str, float | None]] = []
    for word, at in zip(map(str.strip, given), matching_words(given, words), strict=True):
        is_generated = at in totals and words[at].strip().casefold() == word.casefold()
        probabilities.append((word, round(math.exp(totals[at]), _DECIMALS) if is_generated else None))
    return probabilities
