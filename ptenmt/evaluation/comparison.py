"""Several runs side by side: what they differ in, and what came of it."""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptenmt.config import TaskName
from ptenmt.config.loading import flat_options, storage_options
from ptenmt.data.corpus import HeldOutSplit
from ptenmt.errors import RunError
from ptenmt.evaluation.judging import own_material
from ptenmt.evaluation.results import Difference, SearchFacts, facts_of
from ptenmt.evaluation.scores import Scorer
from ptenmt.evaluation.systems import Loading, Progress
from ptenmt.history import History
from ptenmt.run_facts import needed_facts
from ptenmt.runs import Run, find_run
from ptenmt.tasks import UNITS

_SPLITS = ("train", "validation", "test")
_METRICS = ("bleu", "chrf", "loss", "accuracy")
"""What a validation tells."""
_NEEDED_FACTS = {"data", "parameters"}


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """What a run is and what its training came to, from its files alone."""

    run: str
    """The folder's name; its path, where several of those compared are called so."""
    options: dict[str, Any]
    """By dotted names, all but those that say where on a machine something is kept."""
    parameters: int
    pairs: int
    """That it learns from; windows, if it predicts next words."""
    fingerprints: dict[str, str]
    """Of each split's pairs."""
    steps: int | None
    """Done so far; None if the run has told nothing, as an average has not."""
    epochs: float | None
    """Done so far."""
    seconds: float | None
    """Of training, validations and saves included."""
    tokens_per_second: float | None
    """Real target tokens learnt, validations and saves not counted."""
    best_step: int | None
    """Of the best validation by ``validation.metric``."""
    validation: dict[str, float | None]
    """Loss, accuracy, BLEU and chrF there; None for what was no number."""

    @property
    def task(self) -> TaskName:
        """What it has learnt."""
        task: TaskName = self.options["task"]
        return task


@dataclass(frozen=True, kw_only=True)
class RunScores:
    """How well and how fast a run translates the pairs that all are compared on."""

    differences: list[Difference]
    """BLEU, chrF2++ and TER, detokenised, each beside the first run's."""
    search: SearchFacts
    sentences_per_second: float


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Runs side by side, in the order asked for."""

    runs: list[RunSummary]
    differences: dict[str, list[Any]]
    """The options whose values are not the same everywhere, each with its value in every run."""
    splits_that_differ: list[str]
    """``train``, ``validation``, ``test``: where not all runs have the same pairs."""
    split: HeldOutSplit | None
    """Which of the first run's pairs all of them have translated, if they have."""
    scores: list[RunScores]
    """Of each run; empty if they have not."""

    def facts(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        facts: dict[str, Any] = facts_of(self)
        return facts


def compare(
    runs: Sequence[str | Path | Run],
    split: HeldOutSplit | None = None,
    *,
    on_progress: Progress = lambda _what, _done, _total: None,
    on_warning: Callable[[str], None] = warnings.warn,
    on_tensorflow: Callable[[], None] = lambda: None,
) -> RunComparison:
    """Put runs side by side.

    Args:
        runs: Two or more: paths, or names below ``checkpoints/``.
        split: Have all of them translate these pairs of the first run, each as its own config says. None:
            what their files tell is enough, and nothing is loaded.
        on_progress: Told how far the translating is.
        on_warning: Told of a damaged checkpoint that was passed over for an older one, and the like.
        on_tensorflow: Called before TensorFlow is imported.

    Raises:
        RunError: There are fewer than two, or one cannot be found or read.
        CheckpointError: One has no checkpoint that can be read.
        DataError: The first run's pairs cannot be read any more.
    """
    if len(runs) < 2:
        raise RunError("comparing takes two runs or more", "ptenmt info lists the runs there are")
    found = [run if isinstance(run, Run) else find_run(run) for run in runs]
    names = Counter(run.name for run in {run.path.absolute(): run for run in found}.values())
    summaries = [_summary(run, run.name if names[run.name] == 1 else str(run.path)) for run in found]
    loading = Loading(
        checkpoint="best",
        engine="auto",
        overrides=(),
        on_warning=on_warning,
        on_tensorflow=on_tensorflow,
    )
    return RunComparison(
        runs=summaries,
        differences=_differences(summaries),
        splits_that_differ=[name for name in _SPLITS if _differ(name, summaries)],
        split=split,
        scores=[] if split is None else _scores(found, split, loading, on_progress),
    )


def _differences(summaries: Sequence[RunSummary]) -> dict[str, list[Any]]:
    values = {name: [summary.options[name] for summary in summaries] for name in summaries[0].options}
    return {name: each for name, each in values.items() if any(value != each[0] for value in each)}


def _differ(split: str, summaries: Sequence[RunSummary]) -> bool:
    """Whether not all runs have the same pairs."""
    return len({summary.fingerprints.get(split) for summary in summaries}) > 1


def _scores(runs: Sequence[Run], split: HeldOutSplit, loading: Loading, show: Progress) -> list[RunScores]:
    """All runs on the first one's pairs, by one scorer."""
    material = own_material(runs[0], split, loading)
    scorer = Scorer("detokenised", material.references)
    found = []
    for run in runs:
        output, search = loading.system(run, run.config()).translate(material, show)
        found.append((scorer.count(output.texts), search))
    (baseline, _), *_ = found
    return [
        RunScores(
            differences=scorer.differences(counts, baseline),
            search=search,
            sentences_per_second=len(material) / search.seconds,
        )
        for counts, search in found
    ]


def _summary(run: Run, name: str) -> RunSummary:
    facts, config = needed_facts(run, _NEEDED_FACTS), run.config()
    history = History(run.path)
    options, elsewhere = flat_options(config), storage_options()
    last, best = history.last(), history.best(config.validation.metric)
    steps, per_epoch = None if last is None else last["step"], facts.get("steps_per_epoch")
    return RunSummary(
        run=name,
        options={name: value for name, value in options.items() if name not in elsewhere},
        parameters=facts["parameters"],
        pairs=facts["data"]["train"][UNITS[config.task]],
        fingerprints={split: part["fingerprint"] for split, part in facts["data"].items()},
        steps=steps,
        epochs=None if steps is None or per_epoch is None else steps / per_epoch,
        seconds=_seconds([*history.curve(), *history.validations()]),
        tokens_per_second=_tokens_per_second(history.curve()),
        best_step=None if best is None else best["step"],
        validation={} if best is None else {metric: best["validation"].get(metric) for metric in _METRICS},
    )


def _seconds(lines: Sequence[dict[str, Any]]) -> float | None:
    """All that the training took; each line tells it so far, but those of old runs do not."""
    return max((sum(line["seconds"].values()) for line in lines if "seconds" in line), default=None)


def _tokens_per_second(curve: Sequence[dict[str, Any]]) -> float | None:
    """Of all steps told so far; None if they do not tell it."""
    if not curve or not all("tokens" in point and "seconds" in point for point in curve):
        return None
    seconds = curve[-1]["seconds"]["data"] + curve[-1]["seconds"]["step"]
    return sum(point["tokens"] for point in curve) / seconds if seconds else None
