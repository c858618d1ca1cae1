"""``ptenmt inspect schedule``."""

from typing import Annotated

import typer

from ptenmt.cli.console import Screen
from ptenmt.cli.options import ConfigName, FigureFile, Overrides, Quiet, Verbose
from ptenmt.config.loading import load_config


def schedule(
    config: ConfigName,
    overrides: Overrides = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="How many steps the training has; ptenmt train --dry-run counts them.",
            show_default="training.max_steps, or five times the warm-up",
        ),
    ] = None,
    output: FigureFile = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw how the learning rate of a config will go, before anything is trained.

    Example: ptenmt inspect schedule --config base.yaml --steps 16200 --output rate.svg
    """
    from ptenmt.cli.charts import show
    from ptenmt.inspection.schedule import schedule_plot

    screen = Screen(quiet=quiet, verbose=verbose)
    show([schedule_plot(load_config(config, overrides or []), steps)], output, screen)
