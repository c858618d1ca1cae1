"""Corpus scores with confidence intervals and significance tests, all computed by sacreBLEU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

TextForm = Literal["detokenized", "lowercased", "tokenized"]
"""``detokenized``: normal spacing, cased; ``lowercased``: the same, lower-cased; ``tokenized``: the corpus'
own tokens, lower-cased."""
MetricName = Literal["BLEU", "chrF", "chrF2++", "TER"]
References = Sequence[Sequence[str | None]]
"""[references, sentences]; None where a sentence has fewer references than others."""

METRICS: tuple[MetricName, ...] = ("BLEU", "chrF2++", "TER")
LOWER_IS_BETTER = frozenset({"TER"})
_NUM_RESAMPLES = 1000
_MIN_RESAMPLES = 100
_MAX_RESAMPLED_VALUES = 250_000_000
"""float32 values that sacreBLEU's bootstrap holds in memory at once; larger sets get fewer resamples."""
_NUM_STATISTICS: dict[MetricName, int] = {"BLEU": 10, "chrF": 18, "chrF2++": 24, "TER": 2}
"""Of a sentence: matching n-grams and their totals, lengths, edits."""
_SEED = 12345
"""sacreBLEU's."""


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
    low: float = field(init=False)
    """Lower end of the 95% confidence interval, at least 0."""
    high: float = field(init=False)
    """Upper end of the 95% confidence interval, at most 100 where higher is better."""

    def __post_init__(self) -> None:
        high = self.mean + self.margin
        object.__setattr__(self, "low", max(self.mean - self.margin, 0.0))
        object.__setattr__(self, "high", high if self.name in LOWER_IS_BETTER else min(high, 100.0))


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A score beside the baseline's score of the same metric and text form."""

    score: Score
    baseline: Score
    p_value: float | None
    """Of sacreBLEU's paired bootstrap test; None: the outputs score identically sentence by sentence."""


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

    def values(self, hypotheses: Sequence[str], rows: Sequence[int] | None = None) -> dict[str, float]:
        """The corpus scores by name, without intervals, of all sentences or of the given rows."""
        references = self._references
        if rows is not None:
            hypotheses = [hypotheses[row] for row in rows]
            references = [[of_set[row] for row in rows] for of_set in references]
        return {
            name: float(metric.corpus_score(hypotheses, references).score)
            for name, metric in self._metrics.items()
        }

    def signature(self, name: MetricName) -> str:
        """SacreBLEU's signature without resampling; valid once something was scored."""
        return str(self._metrics[name].get_signature())

    def sentence_values(self, hypotheses: Sequence[str], name: MetricName) -> list[float]:
        """The score of each sentence alone."""
        metric, values = self._metrics[name], []
        for text, references in zip(hypotheses, zip(*self._references, strict=True), strict=True):
            given = [reference for reference in references if reference is not None]
            values.append(float(metric.sentence_score(text, given).score))
        return values

    def scores(self, hypotheses: Sequence[str]) -> list[Score]:
        """Scores with confidence intervals."""
        return [self._tested(name, [hypotheses], self._references)[0][0] for name in self._metrics]

    def differences(self, hypotheses: Sequence[str], baseline: Sequence[str]) -> list[Difference]:
        """The scores beside a baseline's, with sacreBLEU's paired bootstrap test."""
        differences = []
        for name in self._metrics:
            (of_baseline, score), p_value = self._tested(name, [baseline, hypotheses], self._references)
            differences.append(Difference(score=score, baseline=of_baseline, p_value=p_value))
        return differences

    def _tested(
        self, name: MetricName, systems: Sequence[Sequence[str]], references: References
    ) -> tuple[list[Score], float | None]:
        """The scores of one system or two, and the p-value of the second against the first."""
        from sacrebleu.significance import PairedTest

        test = PairedTest(
            [(str(number), texts) for number, texts in enumerate(systems)],
            {name: _metric(name, self._form)},
            references,
            test_type="bs",
            n_samples=_num_resamples(len(systems[0]) * _NUM_STATISTICS[name]),
        )
        signatures, results = test()
        ((official_name, signature),) = signatures.items()
        scores = [
            Score(
                name=name,
                text=self._form,
                value=float(result.score),
                mean=float(result.mean),
                margin=float(result.ci),
                signature=str(signature),
            )
            for result in results[official_name]
        ]
        # Of systems that score alike sacreBLEU would report the significant p = 1 / (resamples + 1).
        is_same = replace(scores[0], signature="") == replace(scores[-1], signature="")
        return scores, None if is_same else results[official_name][-1].p_value


def mean_score(name: str, signature: Mapping[str, str], values: Sequence[float]) -> Score:
    """The mean of the scores of sentences; the resamples are those of sacreBLEU's bootstrap."""
    import numpy as np
    from sacrebleu.significance import estimate_ci

    of_sentences = np.array(values, np.float64)
    num_sentences = len(of_sentences)
    num_resamples = _num_resamples(num_sentences)
    rows = np.random.default_rng(_SEED).choice(num_sentences, (num_resamples, num_sentences))
    mean, margin = map(float, estimate_ci(of_sentences[rows].mean(axis=1)))
    parts = {"nrefs": 1, "bs": num_resamples, "seed": _SEED, **signature}
    shown = "|".join(f"{key}:{value}" for key, value in parts.items())
    value = float(of_sentences.mean())
    return Score(name=name, text="detokenized", value=value, mean=mean, margin=margin, signature=shown)


def _num_resamples(num_values: int) -> int:
    """As many as sacreBLEU draws, fewer if there are so many values that they would fill the memory."""
    return min(_NUM_RESAMPLES, max(_MIN_RESAMPLES, _MAX_RESAMPLED_VALUES // num_values))


def _metric(name: MetricName, form: TextForm) -> Any:
    from sacrebleu.metrics import BLEU, CHRF, TER

    is_tokenized, is_lowercase = form == "tokenized", form != "detokenized"
    if name == "TER":
        return TER()
    if name == "BLEU":
        # force: suppress the warning about tokenized input, which is intended for the tokenized form.
        return BLEU(tokenize="none" if is_tokenized else "13a", lowercase=is_lowercase, force=True)
    return CHRF(word_order=2 if name == "chrF2++" else 0, lowercase=is_lowercase)
