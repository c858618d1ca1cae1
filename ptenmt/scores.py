"""Corpus scores with confidence intervals and significance tests, all computed by sacreBLEU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ptenmt.runs.history import NOTHING

TextForm = Literal["detokenized", "lowercased", "tokenized"]
"""``detokenized``: normal spacing, cased; ``lowercased``: the same, lower-cased; ``tokenized``: the corpus'
own tokens, lower-cased."""
MetricName = Literal["BLEU", "chrF", "chrF2++", "TER"]
Statistics = Mapping[str, Sequence[Sequence[float]]]
"""For each metric, the sufficient statistics of every sentence (matching n-grams, lengths, edits)."""
References = Sequence[Sequence[str | None]]
"""[references, sentences]; None where a sentence has fewer references than others."""

METRICS: tuple[MetricName, ...] = ("BLEU", "chrF2++", "TER")
LOWER_IS_BETTER = frozenset({"TER"})
SIGNIFICANCE_LEVEL = 0.05
_NUM_RESAMPLES = 1000
_MIN_RESAMPLES = 100
_MAX_RESAMPLED_VALUES = 250_000_000
"""float32 values that sacreBLEU's bootstrap holds in memory at once; larger sets get fewer resamples."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """A corpus score with its bootstrap confidence interval and signature."""

    name: str
    text: TextForm
    value: float
    """0 to 100 (TER may exceed it); higher is better, except for TER."""
    mean: float
    """Of the bootstrap resamples."""
    margin: float
    """Half the width of the 95% confidence interval around ``mean``."""
    signature: str
    """sacreBLEU's signature; quote it with the value."""

    @property
    def low(self) -> float:
        """Lower end of the 95% confidence interval, at least 0."""
        return max(self.mean - self.margin, 0.0)

    @property
    def high(self) -> float:
        """Upper end of the 95% confidence interval, at most 100 where higher is better."""
        end = self.mean + self.margin
        return end if self.name in LOWER_IS_BETTER else min(end, 100.0)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A score beside the baseline's score of the same metric and text form."""

    score: Score
    baseline: Score
    p_value: float | None
    """Of sacreBLEU's paired bootstrap test; None: the outputs score identically sentence by sentence."""

    @property
    def is_better(self) -> bool:
        """Whether the score is better than the baseline's, significantly or not."""
        delta = self.score.value - self.baseline.value
        return delta < 0 if self.score.name in LOWER_IS_BETTER else delta > 0

    @property
    def is_significant(self) -> bool:
        """Whether p is below 0.05."""
        return self.p_value is not None and self.p_value < SIGNIFICANCE_LEVEL

    @property
    def verdict(self) -> str:
        """``better`` or ``worse``, with ``, not significant`` where p is 0.05 or more."""
        if self.p_value is None:
            return "no difference"
        word = "better" if self.is_better else "worse"
        return word if self.is_significant else f"{word}, not significant"

    def formatted_p(self) -> str:
        """The p-value with three decimals."""
        return NOTHING if self.p_value is None else f"{self.p_value:.3f}"


@dataclass(frozen=True, kw_only=True)
class BaselineComparison:
    """Every score beside the baseline's."""

    name: str
    differences: list[Difference]


class Scorer:
    """Scores hypotheses against one set of references, one or several per sentence.

    Forms: ``detokenized``: sacreBLEU's defaults, BLEU cased with tokenizer 13a; ``lowercased``: the same,
    lower-cased; ``tokenized``: lower-cased and not tokenized again.
    """

    def __init__(
        self, form: TextForm, references: References, metrics: Sequence[MetricName] = METRICS
    ) -> None:
        self._form, self._references = form, references
        self._metrics = {name: _metric(name, form) for name in metrics}

    def values(self, hypotheses: Sequence[str]) -> dict[str, float]:
        """The corpus scores by name, without intervals."""
        return {
            name: float(metric.corpus_score(hypotheses, self._references).score)
            for name, metric in self._metrics.items()
        }

    def signature(self, name: MetricName) -> str:
        """SacreBLEU's signature without resampling; valid once something was scored."""
        return str(self._metrics[name].get_signature())

    def sentence_values(self, hypotheses: Sequence[str], name: MetricName) -> list[float]:
        """The score of each sentence alone."""
        rows = zip(hypotheses, zip(*self._references, strict=True), strict=True)
        metric = self._metrics[name]
        return [
            float(
                metric.sentence_score(
                    text, [reference for reference in references if reference is not None]
                ).score
            )
            for text, references in rows
        ]

    def statistics(self, hypotheses: Sequence[str]) -> Statistics:
        """Count, once, what scores of any subset and of all bootstrap resamples are computed from.

        This is the only private part of sacreBLEU that is used: its public functions take texts alone, so
        that every subset and every comparison would count the same sentences again. TER dominates: of 1,803
        sentences one count takes about 5 s, and an evaluation with its three breakdowns needs four.
        """
        return {
            name: metric._extract_corpus_statistics(hypotheses, self._references)
            for name, metric in self._metrics.items()
        }

    def scores(self, statistics: Statistics, rows: Sequence[int] | None = None) -> list[Score]:
        """Scores with confidence intervals, of all sentences or of the given rows."""
        scores = []
        for name in self._metrics:
            chosen = statistics[name] if rows is None else [statistics[name][row] for row in rows]
            scores += self._bootstrap(name, [chosen])[0]
        return scores

    def differences(self, statistics: Statistics, baseline: Statistics) -> list[Difference]:
        """The scores beside a baseline's, with sacreBLEU's paired bootstrap test."""
        differences = []
        for name in self._metrics:
            (baseline_score, score), p_value = self._bootstrap(name, [baseline[name], statistics[name]])
            differences.append(Difference(score=score, baseline=baseline_score, p_value=p_value))
        return differences

    def _bootstrap(
        self, name: MetricName, systems: Sequence[Sequence[Sequence[float]]]
    ) -> tuple[list[Score], float | None]:
        return _bootstrap(name, self._form, _PrecomputedMetric(self._metrics[name]), systems)


def mean_scores(
    name: str, signature: Mapping[str, str], systems: Sequence[Sequence[float]]
) -> tuple[list[Score], float | None]:
    """Mean scores of one system or two from those of their sentences; and the p-value of the second."""
    metric = _MeanMetric(name, signature)
    return _bootstrap(name, "detokenized", metric, [[(value, 1.0) for value in values] for values in systems])


def _bootstrap(
    name: str, form: TextForm, metric: Any, systems: Sequence[Sequence[Sequence[float]]]
) -> tuple[list[Score], float | None]:
    """The scores of one system or two, and the p-value of the second against the first."""
    from sacrebleu.significance import PairedTest

    num_values = len(systems[0]) * len(systems[0][0])
    num_resamples = min(_NUM_RESAMPLES, max(_MIN_RESAMPLES, _MAX_RESAMPLED_VALUES // num_values))
    test = PairedTest(
        [(str(number), statistics) for number, statistics in enumerate(systems)],
        {name: metric},
        None,
        test_type="bs",
        n_samples=num_resamples,
    )
    signatures, results = test()
    ((official_name, signature),) = signatures.items()
    scores = [
        Score(
            name=name,
            text=form,
            value=float(result.score),
            mean=float(result.mean),
            margin=float(result.ci),
            signature=str(signature),
        )
        for result in results[official_name]
    ]
    # Of identical systems sacreBLEU would report the significant p = 1 / (resamples + 1).
    is_same = list(systems[0]) == list(systems[-1])
    return scores, None if is_same else results[official_name][-1].p_value


class _PrecomputedMetric:
    """A sacreBLEU metric whose "hypotheses" are the statistics that ``Scorer.statistics`` counted."""

    def __init__(self, metric: Any) -> None:
        self._metric = metric

    def _extract_corpus_statistics(self, statistics: Any, _references: Any) -> Any:
        return statistics

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metric, name)


class _MeanMetric:
    """The mean of the sentences' scores, as sacreBLEU's tests want it; their statistics are [score, 1]."""

    def __init__(self, name: str, signature: Mapping[str, str]) -> None:
        self._name, self._signature = name, signature

    def _extract_corpus_statistics(self, statistics: Any, _references: Any) -> Any:
        return statistics

    def _compute_score_from_stats(self, sums: Sequence[float]) -> Any:
        from sacrebleu.metrics import base

        return base.Score(self._name, float(sums[0] / sums[1]))

    def _aggregate_and_compute(self, statistics: Sequence[Sequence[float]]) -> Any:
        return self._compute_score_from_stats([sum(column) for column in zip(*statistics, strict=True)])

    def get_signature(self) -> Any:
        from sacrebleu.metrics import base

        signature = base.Signature({"num_refs": 1})
        signature.info |= self._signature
        return signature


def _metric(name: MetricName, form: TextForm) -> Any:
    from sacrebleu.metrics import BLEU, CHRF, TER

    is_tokenized, is_lowercase = form == "tokenized", form != "detokenized"
    if name == "TER":
        return TER()
    if name == "BLEU":
        # force: suppress the warning about tokenized input, which is intended for the tokenized form.
        return BLEU(tokenize="none" if is_tokenized else "13a", lowercase=is_lowercase, force=True)
    return CHRF(word_order=2 if name == "chrF2++" else 0, lowercase=is_lowercase)
