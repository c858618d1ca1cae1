"""``ptenmt train``."""

import signal
from typing import Annotated

import typer

from ptenmt.cli.console import Screen, quiet_tensorflow
from ptenmt.cli.options import ConfigName, Overrides, Quiet, RunToBeginWith, RunToTrain, Verbose
from ptenmt.cli.training_view import TrainingView


def train(
    config: ConfigName,
    overrides: Overrides = None,
    run: RunToTrain = None,
    init_from: RunToBeginWith = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew; a run of that name is renamed, not deleted.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train a model, or resume its training from the latest checkpoint.

    Ctrl-C finishes the step, saves and says how to go on. What the model learns from, its sizes and
    for how long are options of the config (sections data, tokenizer, model, batch, training and
    checkpoint); any of them can be changed with --set.

    Example: ptenmt train --config base.yaml --set training.epochs=10
    """
    from ptenmt.config.files import find_config, load_config

    screen = Screen(quiet=quiet, verbose=verbose)
    options = load_config(config, overrides or [])
    name = find_config(config).stem if run is None else run
    with quiet_tensorflow(screen):
        from ptenmt.training import train as train_run
    view = TrainingView(screen, (options.data.source_language, options.data.target_language))
    with screen.downloads() as downloads, view.showing():
        result = train_run(
            options, name, fresh=fresh, init_from=init_from, on_event=view.show, on_download=downloads.show
        )
    if result.stopped_by is None:
        screen.say(f"done: {result.run}; translate with")
        screen.say_command(["ptenmt", "translate", "--run", name, "TEXT"])
        return
    again = ["ptenmt", "train", "--config", config]
    for override in overrides or []:
        again += ["--set", override]
    screen.say("stopped; go on with", style="bold")
    again += [] if run is None else ["--run", run]
    screen.say_command(again + ([] if init_from is None else ["--init-from", init_from]))
    raise typer.Exit(128 + signal.Signals(result.stopped_by))
