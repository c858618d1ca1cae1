"""Corpus scores, how sure they are, and whether two differ: all of it computed by sacreBLEU.

sacreBLEU counts something in every sentence (n-grams that match, edits, lengths), adds the counts up, and
makes a score of the sums. The counts are kept here, so that scores of any of the sentences, and of thousands
of resamples, cost no counting. Its significance module reads the same methods of its metrics.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ptenmt.evaluation.results import Difference, Score, TextForm

MetricName = Literal["BLEU", "chrF", "chrF2++", "TER"]
Counts = Mapping[str, Sequence[Sequence[float]]]
"""For each metric, for each sentence, what sacreBLEU counted."""
References = Sequence[Sequence[str | None]]
"""One or several references of every sentence, first all sentences' first; None: it has no such one."""

METRICS: tuple[MetricName, ...] = ("BLEU", "chrF2++", "TER")
RESAMPLES = 1000
_LEAST_RESAMPLES = 100
_MOST_NUMBERS = 250_000_000
"""That sacreBLEU may hold in memory at a time, 4 bytes each: of very large sets it draws fewer resamples."""


class Scorer:
    """Scores hypotheses against the same references.

    Args:
        form: ``detokenised``: as sacreBLEU does by default, BLEU by tokenisation 13a and cased;
            ``tokenised``: lower-cased, and nothing is tokenised again.
        references: What is right.
        metrics: Which scores.
    """

    def __init__(
        self, form: TextForm, references: References, metrics: Sequence[MetricName] = METRICS
    ) -> None:
        self._form, self._references = form, references
        self._metrics = {name: _metric(name, form) for name in metrics}

    def count(self, hypotheses: Sequence[str]) -> Counts:
        """Count what the scores are made of, for each sentence."""
        return {
            name: metric._extract_corpus_statistics(hypotheses, self._references)
            for name, metric in self._metrics.items()
        }

    def values(self, counts: Counts) -> dict[str, float]:
        """The scores alone, by name."""
        return {
            name: float(metric._aggregate_and_compute(counts[name]).score)
            for name, metric in self._metrics.items()
        }

    def signature(self, name: MetricName) -> str:
        """The signature of a score without resampling; something has to be counted before."""
        return str(self._metrics[name].get_signature())

    def sentence_values(self, counts: Counts, name: MetricName) -> list[float]:
        """The score of each sentence alone."""
        metric = self._metrics[name]
        return [float(metric._compute_score_from_stats(row).score) for row in counts[name]]

    def scores(self, counts: Counts, rows: Sequence[int] | None = None) -> list[Score]:
        """The scores of all sentences, or of those of these numbers, with confidence intervals."""
        scores = []
        for name, metric in self._metrics.items():
            chosen = counts[name] if rows is None else [counts[name][row] for row in rows]
            results, signature = _resampled(metric, [chosen])
            scores.append(self._score(name, results[0], signature))
        return scores

    def differences(self, counts: Counts, baseline: Counts) -> list[Difference]:
        """The scores of some hypotheses beside a baseline's, with sacreBLEU's paired bootstrap."""
        differences = []
        for name, metric in self._metrics.items():
            (ours, theirs) = counts[name], baseline[name]
            (their_result, our_result), signature = _resampled(metric, [theirs, ours])
            # Where nothing differs, the module would call that significant: p = 1 / (resamples + 1).
            p_value = None if list(ours) == list(theirs) else float(our_result.p_value)
            differences.append(
                Difference(
                    score=self._score(name, our_result, signature),
                    baseline=self._score(name, their_result, signature),
                    p_value=p_value,
                )
            )
        return differences

    def _score(self, name: str, result: Any, signature: str) -> Score:
        return Score(
            name=name,
            text=self._form,
            value=float(result.score),
            mean=float(result.mean),
            margin=float(result.ci),
            signature=signature,
        )


class _Counted:
    """A metric of sacreBLEU for hypotheses in which everything is counted already."""

    def __init__(self, metric: Any) -> None:
        self._metric = metric

    def _extract_corpus_statistics(self, counts: Any, _references: Any) -> Any:
        return counts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metric, name)


def _resampled(metric: Any, systems: Sequence[Sequence[Sequence[float]]]) -> tuple[list[Any], str]:
    """What sacreBLEU's bootstrap says of one system, or of a baseline and another, and its signature."""
    from sacrebleu.significance import PairedTest

    numbers = len(systems[0]) * len(systems[0][0])
    resamples = min(RESAMPLES, max(_LEAST_RESAMPLES, _MOST_NUMBERS // numbers))
    named = [(str(number), counts) for number, counts in enumerate(systems)]
    test = PairedTest(named, {"": _Counted(metric)}, None, test_type="bs", n_samples=resamples)
    signatures, results = test()
    ((name, signature),) = signatures.items()
    return results[name], str(signature)


def _metric(name: MetricName, form: TextForm) -> Any:
    from sacrebleu.metrics import BLEU, CHRF, TER

    own_tokens = form == "tokenised"
    if name == "TER":
        return TER()
    if name == "BLEU":
        # force: the texts may look tokenised to sacreBLEU, and where they are, that is what was asked for.
        return BLEU(tokenize="none" if own_tokens else "13a", lowercase=own_tokens, force=True)
    return CHRF(word_order=2 if name == "chrF2++" else 0, lowercase=own_tokens)
