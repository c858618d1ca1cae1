"""Which beam size and length penalty to translate with."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from ptenmt.evaluation.material import Material, output_of_translations
from ptenmt.evaluation.results import SIGNIFICANT
from ptenmt.evaluation.scores import Counts, MetricName, Scorer
from ptenmt.evaluation.systems import Progress, translate_all
from ptenmt.translation import Translator

BEAM_SIZES = (1, 2, 4, 8)
LENGTH_PENALTIES = (0.0, 0.6, 1.0, 1.4)
_BLEU: MetricName = "BLEU"
_NOT_DRAWN = {"top_k": 1, "top_p": 1.0, "temperature": 1.0, "num_hypotheses": 1}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One way to search, and what it gave."""

    beam_size: int
    length_penalty: float | None
    """None: greedy search has no use for one."""
    bleu: float
    seconds: float
    p_value: float | None
    """Of its difference from the best setting; None: there is none."""

    @property
    def is_worse(self) -> bool:
        """Whether it is significantly worse than the best; taken alone, not corrected for their number."""
        return self.p_value is not None and self.p_value < SIGNIFICANT


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What ``ptenmt evaluate --sweep`` found."""

    name: str
    pairs_name: str
    num_pairs: int
    engine: str
    signature: str
    """Of BLEU."""
    settings: list[Setting]
    """By beam size, then length penalty; greedy search, which has no use for a penalty, is there once."""
    best: Setting
    """The one with the highest BLEU; of equals, the one with the fewer beams."""

    @property
    def quickest(self) -> Setting:
        """The quickest one that is not significantly worse than the best (p < 0.05)."""
        good = [setting for setting in self.settings if not setting.is_worse]
        return min(good, key=lambda setting: setting.seconds)


@dataclass(frozen=True)
class _Tried:
    """A way to search, how long it took, and what sacreBLEU counted in its translations."""

    beam_size: int
    length_penalty: float | None
    seconds: float
    counts: Counts
    bleu: float


def sweep_settings(
    translator: Translator,
    material: Material,
    name: str,
    pairs_name: str,
    show: Progress,
    *,
    beam_sizes: Sequence[int] = BEAM_SIZES,
    length_penalties: Sequence[float] = LENGTH_PENALTIES,
) -> Sweep:
    """Translate with every beam size and length penalty, and hold the scores against each other.

    Args:
        translator: Of the run; its other options of how to search stay, but none is drawn by lot.
        material: What to translate; the corpus is prepared as the run's.
        name: Of the run.
        pairs_name: Of the material.
        show: Told how far it is.
        beam_sizes: Those to try.
        length_penalties: Those to try, with two beams or more.

    Raises:
        ConfigError: A beam size or a penalty is none.
    """
    scorer = Scorer("detokenised", material.references, (_BLEU,))
    wanted = [
        (beams, penalty)
        for beams, penalty in product(sorted(set(beam_sizes)), [None, *sorted(set(length_penalties))])
        if (beams == 1) == (penalty is None)
    ]
    translators = [(beams, penalty, _with(translator, beams, penalty)) for beams, penalty in wanted]
    tried = []
    for number, (beams, penalty, each) in enumerate(translators):

        def shown(_what: str, done: int, total: int, past: int = number) -> None:
            show("sweeping", past * total + done, len(translators) * total)

        tried.append(_try(each, material, scorer, beams, penalty, shown))
    best = max(tried, key=lambda one: (one.bleu, -one.beam_size))
    settings = [_setting(one, best, scorer) for one in tried]
    return Sweep(
        name=name,
        pairs_name=pairs_name,
        num_pairs=len(material),
        engine=translator.engine.name,
        signature=scorer.signature(_BLEU),
        settings=settings,
        best=settings[tried.index(best)],
    )


def _with(translator: Translator, beam_size: int, length_penalty: float | None) -> Translator:
    penalty = {} if length_penalty is None else {"length_penalty": length_penalty}
    return translator.with_options(beam_size=beam_size, **penalty, **_NOT_DRAWN)


def _try(
    translator: Translator,
    material: Material,
    scorer: Scorer,
    beam_size: int,
    length_penalty: float | None,
    show: Progress,
) -> _Tried:
    started = time.perf_counter()
    translations = translate_all(translator, material, show)
    seconds = time.perf_counter() - started
    counts = scorer.count(output_of_translations(translations, material).texts)
    return _Tried(beam_size, length_penalty, seconds, counts, scorer.values(counts)[_BLEU])


def _setting(tried: _Tried, best: _Tried, scorer: Scorer) -> Setting:
    (difference,) = scorer.differences(tried.counts, best.counts)
    return Setting(
        beam_size=tried.beam_size,
        length_penalty=tried.length_penalty,
        bleu=tried.bleu,
        seconds=tried.seconds,
        p_value=difference.p_value,
    )
