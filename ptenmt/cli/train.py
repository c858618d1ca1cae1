"""``ptenmt train``."""

import signal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptenmt.cli.console import Screen, quiet_tensorflow
from ptenmt.cli.options import ConfigName, Overrides, Quiet, RunToBeginWith, RunToTrain, Verbose
from ptenmt.cli.tables import print_facts
from ptenmt.cli.training_view import TrainingView
from ptenmt.cli.writing import metric_name, metric_value, rehearsal_facts
from ptenmt.runs import Run
from ptenmt.tasks import COMMANDS

if TYPE_CHECKING:
    from ptenmt.config import Config
    from ptenmt.training import TrainingResult


def train(
    config: ConfigName,
    overrides: Overrides = None,
    run: RunToTrain = None,
    init_from: RunToBeginWith = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew; a run of that name is renamed, not deleted.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and run the largest step; train nothing.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train a model, or resume its training from the latest checkpoint.

    Ctrl-C (or SIGTERM) finishes the step, saves and says how to go on; a second one ends it at once, without
    saving. What the model learns from, its sizes and
    for how long are options of the config (sections data, tokenizer, model, batch, training and
    checkpoint); any of them can be changed with --set. A dry run tells sizes, memory and expected time
    and writes nothing into the run's folder; what training reads it may fetch and prepare (data.cache_dir).

    Example: ptenmt train --config base.yaml --set training.epochs=10

    Example: ptenmt train --config mine.yaml --init-from base
    """
    from ptenmt.config.loading import find_config, load_config

    screen = Screen(quiet=quiet, verbose=verbose)
    options = load_config(config, overrides or [])
    name = find_config(config).stem if run is None else run
    given: dict[str, Any] = {"fresh": fresh, "init_from": init_from}
    with quiet_tensorflow(screen):
        from ptenmt.training import train as train_run
        from ptenmt.training.dry_run import dry_run as rehearse
    view = TrainingView(screen, options)
    with screen.downloads() as downloads, view.showing():
        if dry_run:
            with screen.working("rehearsing"):
                found = rehearse(options, name, on_event=view.show, on_download=downloads.show, **given)
            print_facts(f"{name}: a rehearsal", rehearsal_facts(found))
            return
        result = train_run(options, name, on_event=view.show, on_download=downloads.show, **given)
    if not result.is_chief:  # whose messages are enough
        raise typer.Exit(0 if result.stopped_by is None else 128 + signal.Signals(result.stopped_by))
    if result.stopped_by is None:
        command = COMMANDS[options.task]
        screen.say(f"done: {result.run}{_best(result, options)}; {command} with")
        screen.say_command(["ptenmt", command, "--run", name, "TEXT"])
        return
    is_anew = fresh and not view.has_saved
    screen.say(f"{_how_it_stopped(result, is_anew)}; go on with", style="bold")
    origin = None if view.has_saved else init_from
    screen.say_command(_command(config, overrides or [], run=run, init_from=origin, fresh=is_anew))
    raise typer.Exit(128 + signal.Signals(result.stopped_by))


def _how_it_stopped(result: "TrainingResult", is_anew: bool) -> str:
    if result.is_saved:
        return "stopped"
    if not is_anew and Run(result.run).checkpoints():
        return "stopped at once; the last checkpoint stands"
    return "stopped before there was anything to save"


def _command(config: str, overrides: list[str], **options: str | bool | None) -> list[str]:
    """The words of a training's command line."""
    words = ["ptenmt", "train", "--config", config]
    for override in overrides:
        words += ["--set", override]
    for name, value in options.items():
        if value:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def _best(result: "TrainingResult", options: "Config") -> str:
    """What the best model scored, if one is kept."""
    metric = options.validation.metric
    for model in Run(result.run).best_models()[:1]:
        if model.score is not None:
            return f", best {metric_name(metric)} {metric_value(metric, model.score)} at step {model.step:,}"
    return ""
