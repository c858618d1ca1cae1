"""``ptenmt info``."""

from collections.abc import Callable, Sequence
from typing import Any

from ptenmt.cli import formatting
from ptenmt.cli.console import Screen
from ptenmt.cli.formatting import amount, shown_perplexity
from ptenmt.cli.options import RunToDescribe
from ptenmt.cli.tables import print_facts, print_table
from ptenmt.config import Config
from ptenmt.config.loading import flat_options
from ptenmt.errors import RunError
from ptenmt.inspection.figures import Table
from ptenmt.runs import COMMANDS, UNITS, Run, find_run, list_runs
from ptenmt.runs.directory import RUNS_FOLDER, RunRecord
from ptenmt.runs.history import NOTHING, History, metric_name, metric_value
from ptenmt.runs.weights import best_weights, list_weights

_SHOWN_FACTS = {"created", "trained", "versions", "data", "vocabulary_sizes", "parameters"}


def info(screen: Screen, run: RunToDescribe = None) -> None:
    """Show a run's config, sizes, progress, best score, time and memory. Without --run: list all runs.

    Example: ptenmt info --run base
    """
    if run is not None:
        found = find_run(run)
        print_facts(str(found.path), _summary(found))
        options = flat_options(found.config())
        print_facts("\noptions", {name: formatting.option_value(value) for name, value in options.items()})
        return
    runs = list_runs(on_unreadable=screen.warn)
    if not runs:
        hint = "train one: ptenmt train --config demo.yaml; the bundled model: ptenmt info --run starter"
        raise RunError(f"no run in {RUNS_FOLDER.absolute()}", hint)
    print_table(_all_runs(runs, screen.warn))


def _all_runs(runs: list[Run], warn: Callable[[str], None]) -> Table:
    rows, tasks = [], set()
    for run in runs:
        try:
            record, config = run.record(_SHOWN_FACTS), run.config()
            history = History(run.path).validations()
        except RunError as error:
            warn(error.message)
            continue
        epochs = _epochs(config, record, history[-1]["step"]) if history else NOTHING
        best = _best_score([line["validation"] for line in history]) if run.has_weights else "no weights"
        is_default = run.has_weights and config.task not in tasks
        if is_default:
            tasks.add(config.task)
        parameters, started = f"{record.parameters:,}", _time(record.trained)
        rows.append((run.name + " *" * is_default, config.data.source, epochs, parameters, best, started))
    header = ("run", "data", "epoch", "parameters", "best score", "last started")
    title = f"{RUNS_FOLDER}, newest first; *: default without --run"
    return Table(title=title, header=header, rows=rows, numbers={2, 3, 4})


def _best_score(validations: Sequence[dict[str, Any]]) -> str:
    """The highest BLEU; without one, as for next-word models, the lowest perplexity."""
    bleu, losses = (
        [scores[name] for scores in validations if scores.get(name) is not None] for name in ("bleu", "loss")
    )
    if bleu:
        return f"BLEU {max(bleu):.1f}"
    shown = shown_perplexity(min(losses, default=None))
    return shown if shown == NOTHING else f"perplexity {shown}"


def _summary(run: Run) -> dict[str, str]:
    record, last = run.record(_SHOWN_FACTS), History(run.path).last()
    latest = list_weights(run.weights_folder, "latest")  # saved together with the newest checkpoint
    rows = {
        "format": str(run.facts()["format_version"]),
        "first started": _time(record.created),
        "last started": _time(record.trained),
        "versions": ", ".join(f"{name} {version}" for name, version in record.versions.items()),
        UNITS[run.config().task]: ", ".join(f"{part.size:,} {split}" for split, part in record.data.items()),
        "data fingerprint": record.data["train"].fingerprint[:16],
        "vocabularies": " and ".join(f"{size:,}" for size in record.vocabulary_sizes),
        "parameters": f"{record.parameters:,}",
    }
    if record.initialized_from:
        rows["initialized from"] = record.initialized_from
    if (origin := record.averaged_from) is not None:
        rows["averaged from"] = f"{', '.join(origin.checkpoints)} of {origin.run}"
    else:
        recorded = 0 if last is None else last["step"]
        step = max([recorded, *(info.step for info in latest)])
        rows["progress"] = f"step {step:,}, epoch {_epochs(run.config(), record, step)}"
    rows |= _best(run)
    if not run.has_weights:
        rows["weights"] = f"none: {COMMANDS[run.config().task]} cannot use this run"
    names = ", ".join(path.name for path in reversed(run.checkpoints()))
    newest = "".join(f" of step {info.step:,}" for info in latest)
    rows["checkpoints"] = names + newest if names else "none: training cannot be resumed"
    if last is not None and "seconds" in last:
        rows |= _costs(last)
    files = [file for file in run.path.rglob("*") if file.is_file()]
    rows["files"] = f"{len(files):,}, {amount(sum(file.stat().st_size for file in files))}"
    return rows


def _epochs(config: Config, record: RunRecord, step: int) -> str:
    per_epoch = record.steps_per_epoch
    if per_epoch is None:
        return NOTHING
    total_steps = per_epoch.total(config.training.epochs, config.training.max_steps)
    return formatting.epochs_done(step, per_epoch, total_steps)


def _best(run: Run) -> dict[str, str]:
    config, models = run.config(), best_weights(run.weights_folder)
    metric = config.validation.metric
    best = History(run.path).best(metric)
    if best is None:
        return {"best model": models[0].label} if models else {}
    scores = best["validation"]
    names = [name for name in ("bleu", "chrf", "loss", "accuracy") if name in scores]
    others = [f"{metric_name(name)} {metric_value(name, scores[name])}" for name in names]
    shown = shown_perplexity(scores.get("loss"))
    if "bleu" not in scores and shown != NOTHING:
        apart = ", unknown words excluded" if config.task == "next-word" else ""
        others.append(f"perplexity {shown}{apart}")
    return {
        f"best {metric_name(metric)}": f"{metric_value(metric, scores.get(metric))} at step {best['step']:,}"
        f" in epoch {best['epoch']}",
        "all scores": ", ".join(others),
    }


def _costs(last: dict[str, Any]) -> dict[str, str]:
    whole = sum(last["seconds"].values()) or 1.0
    shares = sorted(last["seconds"].items(), key=lambda item: -item[1])
    parts = ", ".join(f"{kind} {part / whole:.0%}" for kind, part in shares)
    return {
        "time": f"{formatting.duration(whole)}: {parts}",
        "peak memory": "unknown" if last["peak_memory"] is None else amount(last["peak_memory"]),
        "skipped steps": f"{last['skipped_steps']:,}",
    }


def _time(stamp: str) -> str:
    return f"{stamp[:16].replace('T', ' ')} UTC"
