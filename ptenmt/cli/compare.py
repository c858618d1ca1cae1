"""``ptenmt compare``."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from ptenmt.atomic_files import json_text
from ptenmt.cli.console import Screen, standard_output
from ptenmt.cli.formatting import duration, option_value, shown_perplexity
from ptenmt.cli.options import run_names
from ptenmt.cli.tables import print_table
from ptenmt.data.corpus import HeldOutSplit
from ptenmt.evaluation import LoadOptions
from ptenmt.evaluation.comparison import RunComparison, RunScores, RunSummary, compare as compare_runs
from ptenmt.history import NOTHING, metric_name, metric_value
from ptenmt.inspection.figures import Table
from ptenmt.runs import UNITS


def compare(
    screen: Screen,
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", autocompletion=run_names)],
    split: Annotated[HeldOutSplit | None, typer.Option(show_default="compare the runs' files only")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Put runs side by side: sizes, times, the best validation, and the options that differ.

    With --split, their translations of the same pairs are scored, too; p is that of sacreBLEU's paired
    bootstrap test against the first run.

    Example: ptenmt compare base small --split test

    Args:
        runs: Two or more runs: folders, or names below checkpoints/.
        split: Score all runs on these pairs of the first one, each with its own decoding options.
        as_json: Write everything as one JSON object.
    """
    with screen.bar("loading") as show:
        comparison = compare_runs(runs, split, load=LoadOptions(on_warning=screen.warn), on_progress=show)
    if comparison.splits_that_differ:
        splits = " and ".join(comparison.splits_that_differ)
        screen.warn(f"the runs have different {splits} {_units(comparison)}")
    for name in comparison.without_weights:
        screen.warn(f"{name} has no weights: it cannot be used")
    if as_json:
        with standard_output() as stream:
            stream.write(json_text(comparison.facts(), indent=2) + "\n")
        return
    print_comparison(comparison)


def print_comparison(comparison: RunComparison) -> None:
    """Print the tables of a comparison."""
    header = ("", *(run.run for run in comparison.runs))
    print_table(Table(title="runs", header=header, rows=_results(comparison), numbers=range(1, len(header))))
    if comparison.differences:
        rows = [(name, *map(option_value, values)) for name, values in comparison.differences.items()]
        print_table(Table(title="\noptions that differ", header=header, rows=rows))


def _results(comparison: RunComparison) -> list[Sequence[str]]:
    rows: list[tuple[str, Callable[[RunSummary], str]]] = [
        ("parameters", lambda run: f"{run.parameters:,}"),
        (f"training {_units(comparison)}", lambda run: f"{run.pairs:,}"),
        ("steps", lambda run: _count(run.steps)),
        ("epochs", lambda run: NOTHING if run.epochs is None else f"{run.epochs:.4g}"),
        ("training time", lambda run: NOTHING if run.seconds is None else duration(run.seconds)),
        ("tokens/s", lambda run: _count(run.tokens_per_second)),
        ("best step", lambda run: _count(run.best_step)),
    ]
    table: list[Sequence[str]] = [(name, *map(show, comparison.runs)) for name, show in rows]
    table += _validations(comparison)
    table += _scores(comparison)
    first, *others = (run.options for run in comparison.runs)
    counts = (f"{sum(options[name] != value for name, value in first.items()):,}" for options in others)
    return [*table, ("options that differ from the first run", NOTHING, *counts)]


def _units(comparison: RunComparison) -> str:
    return " or ".join(dict.fromkeys(UNITS[run.task] for run in comparison.runs))


def _validations(comparison: RunComparison) -> list[Sequence[str]]:
    """The best validation of each run; next-word models have a perplexity instead of BLEU."""
    tasks = {run.task for run in comparison.runs}
    metrics = ["bleu", "chrf"] if "translation" in tasks else []
    rows: list[Sequence[str]] = []
    for metric in [*metrics, "loss", "accuracy"]:
        shown = [metric_value(metric, run.validation.get(metric)) for run in comparison.runs]
        rows.append((f"validation {metric_name(metric)}", *shown))
    if "next-word" in tasks:
        values = (shown_perplexity(run.validation.get("loss")) for run in comparison.runs)
        rows.append(("validation perplexity", *values))
    return rows


def _scores(comparison: RunComparison) -> list[Sequence[str]]:
    """Scores on the pairs that all runs translated, if they did."""
    if not comparison.scores:
        return []
    columns = [_column(each, is_first=each is comparison.scores[0]) for each in comparison.scores]
    title = f"{comparison.split} pairs"
    return [(f"{title}: {name}", *(column[name] for column in columns)) for name in columns[0]]


def _column(scores: RunScores, *, is_first: bool) -> dict[str, str]:
    column = {}
    for each in scores.differences:
        score = each.score
        p = "" if is_first else " (=)" if each.p_value is None else f" (p {each.formatted_p()})"
        column[score.name] = f"{score.value:.1f} ± {score.margin:.1f}{p}"
    return column | {"sentences/s": f"{scores.sentences_per_second:,.0f}"}


def _count(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"
