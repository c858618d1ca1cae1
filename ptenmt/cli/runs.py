"""``ptenmt info``, ``compare``, ``average``, ``import`` and ``export``: what becomes of trained runs."""

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ptenmt.cli.console import Screen, amount, duration, load_tensorflow, option_value, shown_perplexity
from ptenmt.cli.options import RUN_VARIABLE, NewRun, RunName, RunToDescribe, WhichWeights, run_names
from ptenmt.cli.tables import metric_name, metric_value, print_facts, print_table
from ptenmt.config.loading import flat_options
from ptenmt.errors import RunError
from ptenmt.export.packaging import Format, export_model
from ptenmt.importing.run import import_model
from ptenmt.inspection.figures import Table
from ptenmt.model.ctranslate2_model import Quantization
from ptenmt.processes import silent_stderr
from ptenmt.runs import COMMANDS, NOTHING, UNITS, History, Run, find_run, list_runs
from ptenmt.runs.directory import RUNS_FOLDER

if TYPE_CHECKING:
    from ptenmt.evaluation.comparison import RunComparison, RunSummary

_SHOWN_FACTS = {"created", "trained", "versions", "data", "vocabulary_sizes", "parameters"}


def info(screen: Screen, run: RunToDescribe = None) -> dict[str, Any]:
    """Show a run's sizes, training, best scores and config. Without --run: list all runs.

    Example: ptenmt info --run base
    """
    from ptenmt.evaluation.comparison import summarize

    if run is not None:
        described = find_run(run)
        options = flat_options(described.config())
        print_facts(str(described.path), _facts(described) | _figures([summarize(described)])[0])
        print_facts("\noptions", {name: option_value(value) for name, value in options.items()})
        return run_document(described) | {"options": options}
    runs = list_runs(on_unreadable=screen.warn)
    if not runs:
        hint = "train one: ptenmt train --config demo.yaml; the bundled model: ptenmt info --run starter"
        raise RunError(f"no run in {RUNS_FOLDER.absolute()}", hint)
    table, shown = _all_runs(runs, screen.warn)
    print_table(table)
    return {"runs": list(map(run_document, shown))}


def _all_runs(runs: Sequence[Run], warn: Callable[[str], None]) -> tuple[Table, list[Run]]:
    """A table of the runs that can be read, and these runs."""
    from ptenmt.evaluation.comparison import summarize

    rows, tasks, shown = [], set(), []
    chosen = os.environ.get(RUN_VARIABLE)
    for run in runs:
        try:
            trained, summary = run.facts(_SHOWN_FACTS)["trained"], summarize(run)
        except RunError as error:
            warn(error.message)
            continue
        shown.append(run)
        is_default = run.has_weights and summary.task not in tasks and not chosen
        if is_default:
            tasks.add(summary.task)
        best = metric_value("bleu", summary.validation.get("bleu"))
        if summary.task == "next-word":
            best = f"perplexity {shown_perplexity(summary.validation.get('loss'))}"
        elif best != NOTHING:
            best = f"BLEU {best}"
        name = f"{run.name} *" if is_default else run.name
        figures = f"{summary.parameters:,}", _count(summary.pairs), _epochs(summary)
        rows.append((name, *figures, best if run.has_weights else "no weights", _time(trained)))
    header = ("run", "parameters", "pairs", "epochs", "best score", "last started")
    default = f"default without --run: {chosen} (of {RUN_VARIABLE})" if chosen else "*: default without --run"
    title = f"{RUNS_FOLDER}, newest first; {default}"
    return Table(title=title, header=header, rows=rows, numbers={1, 2, 3}), shown


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


def _facts(run: Run) -> dict[str, str]:
    """Where a run comes from, and what it consists of."""
    facts = run.facts(_SHOWN_FACTS)
    rows = {
        "first started": _time(facts["created"]),
        "last started": _time(facts["trained"]),
        "versions": ", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
        "vocabularies": " and ".join(f"{size:,}" for size in facts["vocabulary_sizes"]),
    }
    if origin := facts.get("imported_from"):
        licence = run.licence or "not stated"
        rows["imported from"] = f"{origin['path']}, {origin['form']}; licence: {licence}"
    if "initialized_from" in facts:
        rows["initialized from"] = facts["initialized_from"]
    if average_of := facts.get("averaged_from"):
        rows["averaged from"] = f"{', '.join(average_of['checkpoints'])} of {average_of['run']}"
    if not run.has_weights:
        rows["weights"] = f"none: {COMMANDS[run.config().task]} cannot use this run"
    files = [file for file in run.path.rglob("*") if file.is_file()]
    return rows | {
        "checkpoints": ", ".join(path.name for path in reversed(run.checkpoints())) or "none",
        "files": f"{len(files):,}, {amount(sum(file.stat().st_size for file in files))}",
    }


def _figures(runs: Sequence["RunSummary"]) -> list[dict[str, str]]:
    """The figures of runs by name; next-word models have a perplexity instead of BLEU."""
    tasks = {run.task for run in runs}
    metrics = [*(["bleu", "chrf"] if "translation" in tasks else []), "loss", "accuracy"]
    columns = []
    for run in runs:
        column = {
            "parameters": f"{run.parameters:,}",
            f"training {_units(runs)}": _count(run.pairs),
            "steps": _count(run.steps),
            "epochs": _epochs(run),
            "training time": NOTHING if run.seconds is None else duration(run.seconds),
            "tokens/s": _count(run.tokens_per_second),
            "best step": _count(run.best_step),
        }
        for metric in metrics:
            value = metric_value(metric, run.validation.get(metric))
            column[f"best validation: {metric_name(metric)}"] = value
        if "next-word" in tasks:
            column["best validation: perplexity"] = shown_perplexity(run.validation.get("loss"))
        columns.append(column)
    return columns


def _time(stamp: str) -> str:
    return f"{stamp[:16].replace('T', ' ')} UTC"


def _epochs(run: "RunSummary") -> str:
    return NOTHING if run.epochs is None else f"{run.epochs:.4g}"


def _units(runs: Sequence["RunSummary"]) -> str:
    return " or ".join(dict.fromkeys(UNITS[run.task] for run in runs))


def _count(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"


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
        screen.warn(f"the runs have different {splits} {_units(comparison.runs)}")
    for name in comparison.without_weights:
        screen.warn(f"{name} has no weights: it cannot be used")
    print_comparison(comparison)
    return asdict(comparison)


def print_comparison(comparison: "RunComparison") -> None:
    """Print the tables of a comparison."""
    header = ("", *(run.run for run in comparison.runs))
    columns = _figures(comparison.runs)
    for number, scores in enumerate(comparison.scores):
        pairs = f"{comparison.split} pairs"
        for difference in scores.differences:
            score = f"{difference.score.value:.1f} ± {difference.score.margin:.1f}"
            if number:
                score += " (=)" if difference.p_value is None else f" (p {difference.p_value:.3f})"
            columns[number][f"{pairs}: {difference.score.name}"] = score
        columns[number][f"{pairs}: sentences/s"] = f"{scores.sentences_per_second:,.0f}"
    results = [(name, *(column[name] for column in columns)) for name in columns[0]]
    print_table(Table(title="runs", header=header, rows=results, numbers=range(1, len(header))))
    if comparison.differences:
        rows = [(name, *map(option_value, values)) for name, values in comparison.differences.items()]
        print_table(Table(title="\noptions that differ", header=header, rows=rows))


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
    command = COMMANDS[averaged.config().task]
    screen.say(f"averaged {of}: {path}; {command} with")
    screen.say_command(["ptenmt", command, "--run", str(path), "TEXT"])
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
    facts = imported.facts()
    form, languages = facts["imported_from"]["form"], " → ".join(imported.config().data.languages)
    stated = imported.licence or "not stated: look where the model comes from"
    screen.say(
        f"imported a model of {form}, {languages}, {facts['parameters']:,} parameters: {imported.path}"
    )
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
    warnings: list[str] = []
    with nullcontext() if screen.verbose else silent_stderr():  # of TensorFlow and SentencePiece
        exported = export_model(
            run,
            format=form,
            quantization=quantization,
            output=output,
            checkpoint=checkpoint,
            on_warning=warnings.append,
        )
    for warning in warnings:
        screen.warn(warning)
    stored = exported.quantization or "float32"
    screen.say(
        f"exported {exported.weights.label} as {form} in {stored}: {exported.path}, "
        f"{amount(exported.num_bytes)}, {exported.seconds:.1f} s"
    )
    facts = {"path": str(exported.path), "format": form, "quantization": exported.quantization}
    return facts | {"num_bytes": exported.num_bytes, "step": exported.weights.step}
