"""Which beam size and length penalty a run translates best with."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ptenmt.data.corpus import HeldOutSplit
from ptenmt.evaluation.evaluation import EvaluationRequest
from ptenmt.evaluation.scores import SIGNIFICANCE_LEVEL, MetricName, Scorer, Statistics
from ptenmt.evaluation.systems import LoadOptions, OnProgress, translate_test_set
from ptenmt.evaluation.test_set import EvaluationFiles, TestSet
from ptenmt.runs import Run
from ptenmt.translation import Translator

BEAM_SIZES = (1, 2, 4, 8)
LENGTH_PENALTIES = (0.0, 0.6, 1.0, 1.4)
_BLEU: MetricName = "BLEU"
_NO_SAMPLING = {"top_k": 1, "top_p": 1.0, "temperature": 1.0, "num_hypotheses": 1}


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
    """Of BLEU."""
    settings: list[SweepSetting]
    """By beam size, then length penalty; greedy search occurs once."""
    best: SweepSetting
    """The one with the highest BLEU; among equals, the one with the smaller beam."""

    @property
    def fastest(self) -> SweepSetting:
        """The fastest setting that is not significantly worse than the best."""
        return min(
            (setting for setting in self.settings if not setting.is_worse), key=lambda each: each.seconds
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

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
        split: Which of the run's own pairs; a choice made on the test pairs biases their scores.
        files: Other sources and references instead.
        load: How to load the run; sampling options among its overrides have no effect.
        beam_sizes: 1 is greedy search.
        length_penalties: Tried with each beam size but 1.
        on_progress: Called after every step.

    Raises:
        PtenmtError: As for ``evaluate``.
    """
    request = EvaluationRequest.prepare(run, split, files or EvaluationFiles(), load or LoadOptions())
    run = request.require_run()
    translator, test_set = request.load(run).translator, request.test_set
    scorer = Scorer("detokenised", test_set.references, (_BLEU,))
    pairs = product(sorted(set(beam_sizes)), [None, *sorted(set(length_penalties))])
    combinations = [(beams, penalty) for beams, penalty in pairs if (beams == 1) == (penalty is None)]
    translators = [_with_search(translator, beams, penalty) for beams, penalty in combinations]
    trials = []
    for number, each in enumerate(translators):

        def report(_activity: str, done: int, total: int, past: int = number) -> None:
            on_progress("sweeping", past * total + done, len(translators) * total)

        trials.append(_try(each, test_set, scorer, report))
    best = max(range(len(trials)), key=lambda number: (trials[number].bleu, -combinations[number][0]))
    settings = [
        SweepSetting(
            beam_size=beams,
            length_penalty=penalty,
            bleu=trial.bleu,
            seconds=trial.seconds,
            p_value=scorer.differences(trial.statistics, trials[best].statistics)[0].p_value,
        )
        for (beams, penalty), trial in zip(combinations, trials, strict=True)
    ]
    return Sweep(
        name=run.name,
        pairs_name=request.pairs_name,
        num_pairs=len(test_set),
        engine=translator.engine.name,
        signature=scorer.signature(_BLEU),
        settings=settings,
        best=settings[best],
    )


@dataclass(frozen=True)
class _Trial:
    seconds: float
    statistics: Statistics
    bleu: float


def _with_search(translator: Translator, beam_size: int, length_penalty: float | None) -> Translator:
    penalty = {} if length_penalty is None else {"length_penalty": length_penalty}
    return translator.with_options(beam_size=beam_size, **penalty, **_NO_SAMPLING)


def _try(translator: Translator, test_set: TestSet, scorer: Scorer, on_progress: OnProgress) -> _Trial:
    started = time.perf_counter()
    translations = translate_test_set(translator, test_set, on_progress)
    seconds = time.perf_counter() - started
    texts = test_set.hypotheses_from_translations(translations).texts
    return _Trial(seconds, scorer.statistics(texts), scorer.values(texts)[_BLEU])
