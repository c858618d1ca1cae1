"""``ptenmt clean``."""

from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.tables import print_tables
from ptenmt.config.loading import load_config
from ptenmt.data.corpus import fetch_data
from ptenmt.evaluation.tables import data_tables
from ptenmt.runs import find_run
from ptenmt.translation.cleaning import Cleaning


def clean(
    screen: Screen,
    config: options.ConfigName,
    forward: options.ForwardRun,
    backward: options.BackwardRun,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE")],
    keep: Annotated[float, typer.Option(metavar="SHARE")] = 0.8,
    overrides: options.Overrides = None,
    device: options.Device = "cpu",
    threads: options.Threads = None,
) -> None:
    """Keep the training pairs that two trained models, one in each direction, find the most probable.

    The pairs are those that the filters of the config leave. They are scored by dual conditional
    cross-entropy (Junczys-Dowmunt 2018). The output can take the place of data.train in the same config; its
    third column is the score, between 0 and 1. Scores are cached: another --keep needs no scoring, and after
    an interruption the same command continues.

    Example: ptenmt clean --config mine.yaml --forward pt-en --backward en-pt --keep 0.8 --output clean.tsv.gz

    Args:
        output: A .tsv or .tsv.gz file, written whole or not at all.
        keep: The share of the pairs to keep.
    """
    job = Cleaning(
        config=load_config(config, overrides or []),
        forward=find_run(forward),
        backward=find_run(backward),
        keep=keep,
        output=output,
    )
    if job.config.data.source == "tfds":
        load_tensorflow(screen)
    with screen.downloads() as show_download:
        fetch_data(job.config.data, show_download)
    with screen.bar("loading the models") as show:
        reports = job.run(show, device=device, threads=threads, on_warning=screen.warn)
    print_tables(data_tables(reports))
    screen.say(f"clean pairs: {output}")
