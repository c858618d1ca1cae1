"""``ptenmt compare``."""

from typing import Annotated

import typer

from ptenmt.atomic_files import json_text
from ptenmt.cli.console import Screen, standard_output
from ptenmt.cli.formatting import duration, option_value, shown_perplexity
from ptenmt.cli.options import run_names
from ptenmt.cli.tables import print_table
from ptenmt.data.corpus import HeldOutSplit
from ptenmt.evaluation import LoadOptions
from ptenmt.evaluation.comparison import RunComparison, compare as compare_runs
from ptenmt.evaluation.evaluation import json_facts
from ptenmt.inspection.figures import Table
from ptenmt.runs import UNITS
from ptenmt.runs.history import NOTHING, metric_name, metric_value


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
            stream.write(json_text(json_facts(comparison), indent=2) + "\n")
        return
    print_comparison(comparison)


def print_comparison(comparison: RunComparison) -> None:
    """Print the tables of a comparison."""
    header = ("", *(run.run for run in comparison.runs))
    columns = [_column(comparison, number) for number in range(len(comparison.runs))]
    results = [(name, *(column[name] for column in columns)) for name in columns[0]]
    print_table(Table(title="runs", header=header, rows=results, numbers=range(1, len(header))))
    if comparison.differences:
        rows = [(name, *map(option_value, values)) for name, values in comparison.differences.items()]
        print_table(Table(title="\noptions that differ", header=header, rows=rows))


def _column(comparison: RunComparison, number: int) -> dict[str, str]:
    """The figures of a run by name; next-word models have a perplexity instead of BLEU."""
    run, tasks = comparison.runs[number], {run.task for run in comparison.runs}
    metrics = [*(["bleu", "chrf"] if "translation" in tasks else []), "loss", "accuracy"]
    column = {
        "parameters": f"{run.parameters:,}",
        f"training {_units(comparison)}": f"{run.pairs:,}",
        "steps": _count(run.steps),
        "epochs": NOTHING if run.epochs is None else f"{run.epochs:.4g}",
        "training time": NOTHING if run.seconds is None else duration(run.seconds),
        "tokens/s": _count(run.tokens_per_second),
        "best step": _count(run.best_step),
    }
    for metric in metrics:
        column[f"best validation: {metric_name(metric)}"] = metric_value(metric, run.validation.get(metric))
    if "next-word" in tasks:
        column["best validation: perplexity"] = shown_perplexity(run.validation.get("loss"))
    if comparison.scores:
        scores, pairs = comparison.scores[number], f"{comparison.split} pairs"
        for each in scores.differences:
            p = " (=)" if each.p_value is None else f" (p {each.formatted_p()})"
            column[f"{pairs}: {each.score.name}"] = (
                f"{each.score.value:.1f} ± {each.score.margin:.1f}{p if number else ''}"
            )
        column[f"{pairs}: sentences/s"] = f"{scores.sentences_per_second:,.0f}"
    differing = sum(run.options[name] != value for name, value in comparison.runs[0].options.items())
    return column | {"options that differ from the first run": f"{differing:,}" if number else NOTHING}


def _units(comparison: RunComparison) -> str:
    return " or ".join(dict.fromkeys(UNITS[run.task] for run in comparison.runs))


def _count(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"
