"""``ptenmt info``."""

from collections.abc import Callable
from typing import Any

from rich.table import Table

from ptenmt.cli.console import Screen, print_result
from ptenmt.cli.options import Quiet, RunToDescribe, Verbose
from ptenmt.config.files import flat_options, show_value
from ptenmt.errors import RunError
from ptenmt.runs import RUNS_FOLDER, Run, find_run, list_runs

_SHOWN_FACTS = {"created", "trained", "versions", "data", "vocabulary_sizes", "parameters"}


def info(
    run: RunToDescribe = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show what a run is: config, sizes, progress, best score, files. Without --run: all runs.

    Example: ptenmt info --run base
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    if run is not None:
        for table in _describe(find_run(run)):
            print_result(table)
        return
    runs = list_runs(on_unreadable=screen.warn)
    if not runs:
        raise RunError(
            f"no run in {RUNS_FOLDER.absolute()}", "train one first: ptenmt train --config demo.yaml"
        )
    print_result(_all_runs(runs, screen.warn))


def _all_runs(runs: list[Run], warn: Callable[[str], None]) -> Table:
    table = Table()
    for name in ("run", "data", "epochs", "parameters", "best BLEU", "trained"):
        table.add_column(name, justify="right" if name in {"epochs", "parameters", "best BLEU"} else "left")
    for run in runs:
        try:
            facts, config, history = _facts(run), run.config(), run.history()
        except RunError as error:
            warn(error.message)
            continue
        best = _best(history)
        table.add_row(
            run.name,
            config.data.source,
            f"{len(history)}/{config.training.epochs}",
            f"{facts['parameters']:,}",
            f"{best['validation']['bleu']:.1f}" if best else "–",
            facts["trained"][:16].replace("T", " "),
        )
    return table


def _describe(run: Run) -> list[Table]:
    facts, history = _facts(run), run.history()
    summary = Table(title=str(run.path), title_justify="left", show_header=False)
    for name, value in _summary(run, facts, history).items():
        summary.add_row(name, value)
    options = Table(title="options", title_justify="left", show_header=False)
    for name, value in flat_options(run.config()).items():
        options.add_row(name, "–" if value in (None, ()) else show_value(value))
    return [summary, options]


def _summary(run: Run, facts: dict[str, Any], history: list[dict[str, Any]]) -> dict[str, str]:
    data = facts["data"]
    rows = {
        "format": str(facts["format_version"]),
        "created": facts["created"],
        "trained": facts["trained"],
        "versions": ", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
        "pairs": ", ".join(f"{part['pairs']:,} {split}" for split, part in data.items()),
        "data fingerprint": data["train"]["fingerprint"][:16],
        "vocabularies": " and ".join(f"{size:,}" for size in facts["vocabulary_sizes"]),
        "parameters": f"{facts['parameters']:,}",
        "epochs": f"{len(history)} of {run.config().training.epochs}",
    }
    best = _best(history)
    if best:
        scores = best["validation"]
        rows["best epoch"] = (
            f"{best['epoch']}: BLEU {scores['bleu']:.2f}, chrF {scores['chrf']:.2f}, "
            f"loss {scores['loss']:.4f}"
        )
    rows["checkpoints"] = ", ".join(path.name for path in reversed(run.checkpoints())) or "none yet"
    files = [file for file in run.path.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    rows["files"] = f"{len(files):,}, {size:,.1f} MB"
    return rows


def _facts(run: Run) -> dict[str, Any]:
    facts = run.facts()
    missing = _SHOWN_FACTS - facts.keys()
    if missing:
        raise RunError(f"{run.path / 'run.json'} is damaged: it lacks {', '.join(sorted(missing))}")
    return facts


def _best(history: list[dict[str, Any]]) -> dict[str, Any] | None:
    return max(history, key=lambda epoch: epoch["validation"]["bleu"], default=None)
