"""Sweep over beam size and length penalty: BLEU and speed of each setting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from ptenmt.config.schema import NO_SAMPLING
from ptenmt.data.corpus import HeldOutSplit
from ptenmt.evaluation.evaluation import EvaluationRequest
from ptenmt.evaluation.systems import LoadOptions
from ptenmt.evaluation.test_set import EvaluationFiles
from ptenmt.progress import OnProgress
from ptenmt.runs import Run
from ptenmt.scores import SIGNIFICANCE_LEVEL, MetricName, Scorer

BEAM_SIZES = (1, 2, 4, 8)
LENGTH_PENALTIES = (0.0, 0.6, 1.0, 1.4)
_BLEU: MetricName = "BLEU"


@dataclass(frozen=True, kw_only=True)
class SweepSetting:
    """One beam size and length penalty, and the results."""

    beam_size: int
    length_penalty: float | None
    """None: greedy search does not use one."""
    bleu: float
    seconds: float
    p_value: float | None
    """Of the paired bootstrap test against the best setting; None: no difference."""

    @property
    def is_worse(self) -> bool:
        """Whether it is significantly worse than the best (uncorrected for multiple tests)."""
        return self.p_value is not None and self.p_value < SIGNIFICANCE_LEVEL


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What ``ptenmt evaluate --sweep`` found."""

    name: str
    pairs_name: str
    num_pairs: int
    engine: str
    signature: str
    settings: list[SweepSetting]
    """By beam size, then length penalty; greedy search occurs once."""
    best: SweepSetting
    """The one with the highest BLEU; among equals, the one with the smaller beam."""

    @property
    def fastest(self) -> SweepSetting:
        """The fastest setting that is not significantly worse than the best."""
        return min(
            (setting for setting in self.settings if not setting.is_worse),
            key=lambda setting: setting.seconds,
        )


def sweep(
    run: str | Path | Run | None = None,
    split: HeldOutSplit = "validation",
    *,
    files: EvaluationFiles | None = None,
    load: LoadOptions | None = None,
    beam_sizes: Sequence[int] = BEAM_SIZES,
    length_penalties: Sequence[float] = LENGTH_PENALTIES,
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> Sweep:
    """Translate with every combination of beam size and length penalty, and compare the BLEU scores.

    Arguments and errors are those of ``evaluate``; a choice made on the test pairs biases their scores, and
    sampling options have no effect. A beam size of 1 is greedy search, which has no length penalty.
    """
    request = EvaluationRequest.prepare(run, split, files or EvaluationFiles(), load or LoadOptions())
    system, test_set = request.load(), request.test_set
    scorer = Scorer("detokenized", test_set.references, (_BLEU,))
    pairs = product(sorted(set(beam_sizes)), [None, *sorted(set(length_penalties))])
    combinations = [(beams, penalty) for beams, penalty in pairs if (beams == 1) == (penalty is None)]

    def report(number: int, _activity: str, done: int, total: int) -> None:
        on_progress("sweeping", number * total + done, len(combinations) * total)

    statistics, scores, seconds = [], [], []
    for number, (beams, penalty) in enumerate(combinations):
        options = {"beam_size": beams} if penalty is None else {"beam_size": beams, "length_penalty": penalty}
        variant = replace(system, translator=system.translator.with_options(**options, **NO_SAMPLING))
        hypotheses, search = variant.translate(test_set, partial(report, number))
        statistics.append(scorer.statistics(hypotheses.texts))
        scores.append(scorer.values(hypotheses.texts)[_BLEU])
        seconds.append(search.seconds)
    best = max(range(len(combinations)), key=lambda number: (scores[number], -combinations[number][0]))
    settings = [
        SweepSetting(
            beam_size=beams,
            length_penalty=penalty,
            bleu=scores[number],
            seconds=seconds[number],
            p_value=scorer.differences(statistics[number], statistics[best])[0].p_value,
        )
        for number, (beams, penalty) in enumerate(combinations)
    ]
    return Sweep(
        name=system.trained.run.name,
        pairs_name=request.pairs_name,
        num_pairs=len(test_set),
        engine=system.translator.engine.name,
        signature=scorer.signature(_BLEU),
        settings=settings,
        best=settings[best],
    )
