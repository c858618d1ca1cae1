"""``ptenmt average``."""

from typing import Annotated

import typer

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.options import RunName
from ptenmt.runs import Run
from ptenmt.training.averaging import average as average_run


def average(
    screen: Screen,
    run: RunName = None,
    last: Annotated[int | None, typer.Option(min=1, metavar="K")] = None,
    best: Annotated[int | None, typer.Option(min=1, metavar="K")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="NAME|DIR")] = None,
) -> None:
    """Average the weights of a run's checkpoints into a new run, which often translates better.

    The training's checkpoint.keep and checkpoint.keep_best limit how many there are. With optimizer.ema, the
    moving averages are averaged.

    Example: ptenmt average --run base --last 5

    Args:
        last: Average the last K checkpoints; by default all.
        best: Average the K models that scored best instead.
        to: The new run; by default RUN-averaged, beside it.
    """
    if best is None:
        load_tensorflow(screen)
    path = average_run(run, last=last, best=best, to=to)
    averaged = Run(path)
    origin = averaged.record({"averaged_from"}).averaged_from
    of = ", ".join(origin.checkpoints if origin else ())
    if averaged.config().task == "next-word":
        purpose, command = "complete", ["complete", "--run", str(path), "TEXT"]
    else:
        purpose, command = "score it", ["evaluate", "--run", str(path), "--split", "validation"]
    screen.say(f"averaged {of}: {path}; {purpose} with")
    screen.say_command(["ptenmt", *command])
