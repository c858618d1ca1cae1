"""Several runs side by side: sizes, training, scores on the same pairs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptenmt.config import TaskName
from ptenmt.config.loading import flat_options, without_paths
from ptenmt.data.corpus import HeldOutSplit
from ptenmt.errors import OnProgress, RunError
from ptenmt.evaluation.evaluation import held_out_test_set
from ptenmt.evaluation.systems import LoadOptions, SearchFacts, System
from ptenmt.runs import History, Run, find_run
from ptenmt.runs.weights import list_weights
from ptenmt.scores import Difference, Scorer

_SPLITS = ("train", "validation", "test")
_METRICS = ("bleu", "chrf", "loss", "accuracy")


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A run and the course of its training, from its files alone."""

    run: str
    """The folder's name; its path where several of the compared runs have that name."""
    options: dict[str, Any]
    """By dotted name; of files the names, without folders of this machine."""
    parameters: int
    pairs: int | None
    """Training pairs; windows for a next-word model; None for an imported one."""
    fingerprints: dict[str, str]
    steps: int | None
    """None without a history, as for an average of checkpoints."""
    epochs: float | None
    seconds: float | None
    """Of training, including validations and saving."""
    tokens_per_second: float | None
    """Real target tokens in training steps, without validations and saving."""
    best_step: int | None
    """Of the best validation by ``validation.metric``."""
    validation: dict[str, float | None]
    """Loss, accuracy, BLEU and chrF of that validation; None for a value that was not finite."""
    task: TaskName


@dataclass(frozen=True, kw_only=True)
class RunScores:
    """How well and how fast a run translates the pairs that all runs are compared on."""

    differences: list[Difference]
    """BLEU, chrF2++ and TER, detokenized, each beside the first run's."""
    search: SearchFacts
    sentences_per_second: float


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Runs side by side, in the requested order."""

    runs: list[RunSummary]
    differences: dict[str, list[Any]]
    """The options that differ, each with its value in every run."""
    splits_that_differ: list[str]
    """``train``, ``validation``, ``test``: where not all runs have the same pairs."""
    without_weights: list[str]
    split: HeldOutSplit | None
    """Which of the first run's pairs all runs translated, if they did."""
    scores: list[RunScores]
    """Of each run; empty if they did not."""


def compare(
    runs: Sequence[str | Path | Run],
    split: HeldOutSplit | None = None,
    *,
    load: LoadOptions | None = None,
    on_progress: OnProgress = lambda _activity, _done, _total: None,
) -> RunComparison:
    """Put two or more runs side by side, paths or names below ``checkpoints/``.

    With ``split`` all runs, loaded as ``load`` says, translate these pairs of the first one, each with its
    own decoding options; without it their stored figures are compared, and no model is loaded.

    Raises:
        RunError: There are fewer than two, or one cannot be found or read.
        CheckpointError: One has no readable weights.
        DataError: The first run's pairs cannot be read any more.
    """
    if len(runs) < 2:
        raise RunError("comparing takes two runs or more", "ptenmt info lists the runs")
    directories = list(map(find_run, runs))
    names = Counter(run.name for run in {run.path.absolute(): run for run in directories}.values())
    summaries = [summarize(run, run.name if names[run.name] == 1 else str(run.path)) for run in directories]
    values = {name: [summary.options[name] for summary in summaries] for name in summaries[0].options}
    return RunComparison(
        runs=summaries,
        differences={
            name: of_runs for name, of_runs in values.items() if any(value != of_runs[0] for value in of_runs)
        },
        splits_that_differ=[
            name for name in _SPLITS if len({summary.fingerprints.get(name) for summary in summaries}) > 1
        ],
        without_weights=[
            summary.run for run, summary in zip(directories, summaries, strict=True) if not run.has_weights
        ],
        split=split,
        scores=[] if split is None else _score(directories, split, load or LoadOptions(), on_progress),
    )


def _score(
    runs: Sequence[Run], split: HeldOutSplit, load: LoadOptions, on_progress: OnProgress
) -> list[RunScores]:
    test_set = held_out_test_set(runs[0], split, load)
    scorer = Scorer("detokenized", test_set.references)
    results = []
    for run in runs:
        hypotheses, search = System.load(run, load).translate(test_set, on_progress)
        results.append((hypotheses.texts, search))
    baseline = results[0][0]
    return [
        RunScores(
            differences=scorer.differences(texts, baseline),
            search=search,
            sentences_per_second=len(test_set) / search.seconds,
        )
        for texts, search in results
    ]


def summarize(run: Run, name: str = "") -> RunSummary:
    """A run's figures; raises RunError if its files are damaged."""
    facts, splits, config = run.facts({"data", "parameters", "steps_per_epoch"}), run.splits(), run.config()
    history = History(run.path)
    curve, validations = history.curve(), history.validations()
    last, best = history.last(), history.best(config.validation.metric)
    latest = list_weights(run.weights_folder, "latest")  # may be further than the last line
    steps = None if last is None else max([last["step"], *(info.step for info in latest)])
    per_epoch = None if steps is None else run.steps_per_epoch()
    times = [sum(line["seconds"].values()) for line in [*curve, *validations]]
    tokens_per_second = None
    if curve:
        seconds = curve[-1]["seconds"]
        tokens_per_second = sum(point["tokens"] for point in curve) / (seconds["data"] + seconds["step"])
    return RunSummary(
        run=name or run.name,
        options=flat_options(without_paths(config)),
        parameters=facts["parameters"],
        pairs=splits["train"].size if "train" in splits else None,
        fingerprints={split: part.fingerprint for split, part in splits.items()},
        steps=steps,
        epochs=None if steps is None or per_epoch is None else steps / per_epoch,
        seconds=max(times, default=None),
        tokens_per_second=tokens_per_second,
        best_step=None if best is None else best["step"],
        validation={} if best is None else {metric: best["validation"].get(metric) for metric in _METRICS},
        task=config.task,
    )
