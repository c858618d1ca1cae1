"""``ptenmt info``, ``compare``, ``average``, ``import`` and ``export``: what becomes of trained runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ptenmt.cli.charts import print_facts, print_table
from ptenmt.cli.console import (
    Screen,
    amount,
    duration,
    epochs_done,
    load_tensorflow,
    option_value,
    shown_perplexity,
    silent_libraries,
)
from ptenmt.cli.options import NewRun, RunName, RunToDescribe, WhichWeights, run_names
from ptenmt.config import Config
from ptenmt.config.loading import flat_options
from ptenmt.errors import RunError
from ptenmt.export.packaging import Format, export_model
from ptenmt.importing.run import import_model
from ptenmt.inspection.figures import Table
from ptenmt.model.ctranslate2_model import Quantization
from ptenmt.runs import COMMANDS, UNITS, Run, find_run, list_runs
from ptenmt.runs.directory import RUNS_FOLDER, RunRecord
from ptenmt.runs.history import NOTHING, History, metric_name, metric_value
from ptenmt.runs.weights import best_weights, list_weights

if TYPE_CHECKING:
    from ptenmt.evaluation.comparison import RunComparison

_SHOWN_FACTS = {"created", "trained", "versions", "data", "vocabulary_sizes", "parameters"}


def info(screen: Screen, run: RunToDescribe = None) -> dict[str, Any]:
    """Show a run's config, sizes, progress, best score, time and memory. Without --run: list all runs.

    Example: ptenmt info --run base
    """
    if run is not None:
        described = find_run(run)
        print_facts(str(described.path), _summary(described))
        options = flat_options(described.config())
        print_facts("\noptions", {name: option_value(value) for name, value in options.items()})
        return run_document(described) | {"options": options}
    runs = list_runs(on_unreadable=screen.warn)
    if not runs:
        hint = "train one: ptenmt train --config demo.yaml; the bundled model: ptenmt info --run starter"
        raise RunError(f"no run in {RUNS_FOLDER.absolute()}", hint)
    table, shown = _all_runs(runs, screen.warn)
    print_table(table)
    return {"runs": list(map(run_document, shown))}


def run_document(run: Run) -> dict[str, Any]:
    """The facts of a run for programs: those of ``run.json``, and lines of ``history.jsonl``."""
    history, metric = History(run.path), run.config().validation.metric
    return {
        "run": run.name,
        "path": str(run.path),
        "has_weights": run.has_weights,
        "checkpoints": [path.name for path in run.checkpoints()],
        "best": history.best(metric),
        "last": history.last(),
        **run.facts(),
    }


def _all_runs(runs: list[Run], warn: Callable[[str], None]) -> tuple[Table, list[Run]]:
    """A table of the runs that can be read, and these runs."""
    rows, tasks, shown = [], set(), []
    for run in runs:
        try:
            record, config = run.record(_SHOWN_FACTS), run.config()
            history = History(run.path).validations()
        except RunError as error:
            warn(error.message)
            continue
        shown.append(run)
        epochs = _epochs(config, record, history[-1]["step"]) if history else NOTHING
        best = _best_score([line["validation"] for line in history]) if run.has_weights else "no weights"
        is_default = run.has_weights and config.task not in tasks
        if is_default:
            tasks.add(config.task)
        parameters, started = f"{record.parameters:,}", _time(record.trained)
        name = f"{run.name} *" if is_default else run.name
        rows.append((name, config.data.source, epochs, parameters, best, started))
    header = ("run", "data", "epoch", "parameters", "best score", "last started")
    title = f"{RUNS_FOLDER}, newest first; *: default without --run"
    return Table(title=title, header=header, rows=rows, numbers={2, 3, 4}), shown


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
        UNITS[run.config().task]: ", ".join(f"{part.size:,} {split}" for split, part in record.data.items())
        or NOTHING,
        "data fingerprint": record.data["train"].fingerprint[:16] if "train" in record.data else NOTHING,
        "vocabularies": " and ".join(f"{size:,}" for size in record.vocabulary_sizes),
        "parameters": f"{record.parameters:,}",
    }
    if (origin := record.imported_from) is not None:
        licence = record.licence or "not stated"
        rows["imported from"] = f"{origin['path']}, {origin['form']}; licence: {licence}"
    if record.initialized_from:
        rows["initialized from"] = record.initialized_from
    if (average_of := record.averaged_from) is not None:
        rows["averaged from"] = f"{', '.join(average_of['checkpoints'])} of {average_of['run']}"
    else:
        recorded = 0 if last is None else last["step"]
        step = max([recorded, *(info.step for info in latest)])
        rows["progress"] = f"step {step:,}, epochs {_epochs(run.config(), record, step)}"
    rows |= _best(run)
    if not run.has_weights:
        rows["weights"] = f"none: {COMMANDS[run.config().task]} cannot use this run"
    names = ", ".join(path.name for path in reversed(run.checkpoints()))
    newest = "".join(f" of step {info.step:,}" for info in latest)
    rows["checkpoints"] = names + newest if names else "none"
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
    return epochs_done(step, per_epoch, total_steps)


def _best(run: Run) -> dict[str, str]:
    config, model = run.config(), best_weights(run.weights_folder)
    metric = config.validation.metric
    best = History(run.path).best(metric)
    if best is None:
        return {"best model": model.label} if model else {}
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
        "time": f"{duration(whole)}: {parts}",
        "peak memory": "unknown" if last["peak_memory"] is None else amount(last["peak_memory"]),
        "skipped steps": f"{last['skipped_steps']:,}",
    }


def _time(stamp: str) -> str:
    return f"{stamp[:16].replace('T', ' ')} UTC"


def compare(
    screen: Screen,
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", autocompletion=run_names)],
    split: Annotated[
        Literal["validation", "test"] | None, typer.Option(show_default="compare the runs' files only")
    ] = None,
) -> dict[str, Any]:
    """Put runs side by side: sizes, times, the best validation, and the options that differ.

    With --split, their translations of the same pairs are scored, too; p is that of sacreBLEU's paired
    bootstrap test against the first run.

    Example: ptenmt compare base small --split test

    Args:
        runs: Two or more runs: folders, or names below checkpoints/.
        split: Score all runs on these pairs of the first one, each with its own decoding options.
    """
    from ptenmt.evaluation import LoadOptions
    from ptenmt.evaluation.comparison import compare as compare_runs

    with screen.bar("loading") as show:
        comparison = compare_runs(runs, split, load=LoadOptions(on_warning=screen.warn), on_progress=show)
    if comparison.splits_that_differ:
        splits = " and ".join(comparison.splits_that_differ)
        screen.warn(f"the runs have different {splits} {_units(comparison)}")
    for name in comparison.without_weights:
        screen.warn(f"{name} has no weights: it cannot be used")
    print_comparison(comparison)
    return comparison.facts()


def print_comparison(comparison: "RunComparison") -> None:
    """Print the tables of a comparison."""
    header = ("", *(run.run for run in comparison.runs))
    columns = [_column(comparison, number) for number in range(len(comparison.runs))]
    results = [(name, *(column[name] for column in columns)) for name in columns[0]]
    print_table(Table(title="runs", header=header, rows=results, numbers=range(1, len(header))))
    if comparison.differences:
        rows = [(name, *map(option_value, values)) for name, values in comparison.differences.items()]
        print_table(Table(title="\noptions that differ", header=header, rows=rows))


def _column(comparison: "RunComparison", number: int) -> dict[str, str]:
    """The figures of a run by name; next-word models have a perplexity instead of BLEU."""
    run, tasks = comparison.runs[number], {run.task for run in comparison.runs}
    metrics = [*(["bleu", "chrf"] if "translation" in tasks else []), "loss", "accuracy"]
    column = {
        "parameters": f"{run.parameters:,}",
        f"training {_units(comparison)}": _count(run.pairs),
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
        for difference in scores.differences:
            score = f"{difference.score.value:.1f} ± {difference.score.margin:.1f}"
            if number:
                score += " (=)" if difference.p_value is None else f" (p {difference.p_value:.3f})"
            column[f"{pairs}: {difference.score.name}"] = score
        column[f"{pairs}: sentences/s"] = f"{scores.sentences_per_second:,.0f}"
    return column


def _units(comparison: "RunComparison") -> str:
    return " or ".join(dict.fromkeys(UNITS[run.task] for run in comparison.runs))


def _count(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"


def average(
    screen: Screen,
    run: RunName = None,
    last: Annotated[int | None, typer.Option(min=1, metavar="K")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="NAME|DIR")] = None,
) -> dict[str, Any]:
    """Average the weights of a run's checkpoints into a new run, which often translates better.

    The training's checkpoint.keep limits how many there are. With optimizer.ema, the moving averages are
    averaged.

    Example: ptenmt average --run base --last 5

    Args:
        last: Average the last K checkpoints; by default all.
        to: The new run; by default RUN-averaged, beside it.
    """
    from ptenmt.training.averaging import average as average_run

    load_tensorflow(screen)
    path = average_run(run, last=last, to=to)
    averaged = Run(path)
    of = ", ".join(averaged.facts()["averaged_from"]["checkpoints"])
    if averaged.config().task == "next-word":
        purpose, command = "complete", ["complete", "--run", str(path), "TEXT"]
    else:
        purpose, command = "score it", ["evaluate", "--run", str(path), "--split", "validation"]
    screen.say(f"averaged {of}: {path}; {purpose} with")
    screen.say_command(["ptenmt", *command])
    return run_document(averaged)


def import_(
    screen: Screen,
    path: Annotated[Path, typer.Argument(metavar="FOLDER|ARCHIVE")],
    run: NewRun,
    source_language: Annotated[
        str | None, typer.Option(metavar="CODE", show_default="as the files say, else pt")
    ] = None,
    target_language: Annotated[
        str | None, typer.Option(metavar="CODE", show_default="as the files say, else en")
    ] = None,
    tag: Annotated[str, typer.Option(metavar="TAG", show_default=False)] = "",
    licence: Annotated[str, typer.Option(metavar="TEXT", show_default="as the files say")] = "",
) -> dict[str, Any]:
    """Make a run of a model that another program trained, for everything that runs are for.

    Marian's and OPUS-MT's models, as OPUS-MT or Hugging Face has them; Argos packages; folders of CTranslate2
    with a SentencePiece model.

    Example: ptenmt import opus-mt-ROMANCE-en --run opus

    Args:
        path: The model's folder, or a zip archive such as an Argos package.
        source_language: The language that it translates from.
        target_language: The language that it translates into.
        tag: A token before every source that chooses the target language, such as '>>por<<'.
        licence: The licence of the weights.
    """
    imported = import_model(
        path,
        run,
        source_language=source_language,
        target_language=target_language,
        tag=tag,
        licence=licence,
        on_warning=screen.warn,
    )
    record = imported.record()
    assert record.imported_from is not None
    form, languages = record.imported_from["form"], " → ".join(imported.config().data.languages)
    stated = record.licence or "not stated: look where the model comes from"
    screen.say(f"imported a model of {form}, {languages}, {record.parameters:,} parameters: {imported.path}")
    screen.say(f"licence: {stated}; translate with")
    screen.say_command(["ptenmt", "translate", "--run", str(run), "TEXT"])
    return run_document(imported)


def export(
    screen: Screen,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    form: Annotated[Format, typer.Option("--format")] = "ctranslate2",
    quantization: Annotated[Quantization | None, typer.Option(show_default="int8")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR|FILE", show_default="below the run's export/"),
    ] = None,
) -> dict[str, Any]:
    """Export a run's model for another program, with a model card and checksums.

    ptenmt translate and ptenmt serve need no export. A savedmodel translates text in the form of the training
    corpus, with greedy search.

    Example: ptenmt export --run mine --format argos --output mine.argosmodel

    Args:
        form: ctranslate2; savedmodel for TensorFlow (Serving), text in and text out; argos for Argos
            Translate and LibreTranslate; huggingface for transformers; web for a page that translates in a
            browser, without a server; weights for any framework.
        quantization: How weights are stored (ctranslate2, argos): int8 is the smallest and fastest.
        output: A new folder, or for argos and web a file. Without it, the run's earlier export is replaced.
    """
    with silent_libraries(screen) as warn:  # log lines of TensorFlow and SentencePiece
        exported = export_model(
            run, format=form, quantization=quantization, output=output, checkpoint=checkpoint, on_warning=warn
        )
    stored = exported.quantization or "float32"
    screen.say(
        f"exported {exported.weights.label} as {form} in {stored}: {exported.path}, "
        f"{amount(exported.num_bytes)}, {exported.seconds:.1f} s"
    )
    facts = {"path": str(exported.path), "format": form, "quantization": exported.quantization}
    return facts | {"num_bytes": exported.num_bytes, "step": exported.weights.step}
