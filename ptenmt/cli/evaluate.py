"""``ptenmt evaluate``."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ptenmt.cli.console import Screen, quiet_tensorflow
from ptenmt.cli.options import BeamSize, Quiet, RunName, Verbose, WhichEngine, WhichWeights
from ptenmt.cli.tables import Grid, print_grid
from ptenmt.corpus.pairs import HeldOutSplit
from ptenmt.runs import find_run
from ptenmt.writing import written_whole

if TYPE_CHECKING:
    from ptenmt.evaluation import Evaluation


def evaluate(
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    split: Annotated[HeldOutSplit, typer.Option(help="Which of the run's own pairs to score.")] = "test",
    engine: WhichEngine = "auto",
    beam_size: BeamSize = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.json", help="Write the figures as JSON too.")
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Score a run: loss, perplexity and token accuracy; BLEU and chrF of its translations.

    BLEU and chrF are sacreBLEU's, with its signatures: on detokenised text, and on the corpus' own
    tokens where it comes tokenised. What the published tokenizer splits (n ' t) is joined before.
    It translates as the section decoding of the run's config says. Loss and accuracy are the Keras
    model's, whichever engine translates.

    Example: ptenmt evaluate --run base --split validation --report scores.json

    Example: ptenmt evaluate --run base --engine keras --beam-size 1
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    found = find_run(run)
    with quiet_tensorflow(screen):
        from ptenmt.evaluation import evaluate as evaluate_run
    # The report is opened first: that it cannot be written should not come out after all the work.
    with nullcontext() if report is None else written_whole(report) as stream:
        with screen.bar("loading", "") as bar:
            evaluation = evaluate_run(
                found,
                split,
                checkpoint=checkpoint,
                engine=engine,
                beam_size=beam_size,
                on_progress=bar.show,
                on_warning=screen.warn,
            )
        if stream is not None:
            stream.write(json.dumps(evaluation.facts(), indent=2, ensure_ascii=False) + "\n")
    print_grid(_grid(evaluation))


def _grid(evaluation: "Evaluation") -> Grid:
    """The figures, and how they were computed."""
    rows = [
        ("loss", f"{evaluation.loss:.4f}", "nats a token, right prefix given"),
        ("perplexity", f"{evaluation.perplexity:.2f}", "exp(loss)"),
        ("token accuracy", f"{evaluation.accuracy:.4f}", "right prefix given"),
    ]
    for score in evaluation.scores:
        how = f"{score.text}: {score.signature.replace('|', ' ')}"
        rows.append((score.name, f"{score.value:.2f}", how))
    rate = evaluation.num_pairs / evaluation.seconds
    search = "greedy" if evaluation.beam_size == 1 else f"beam {evaluation.beam_size}"
    how = f"sentences a second: {evaluation.engine}, {evaluation.compute_type}, {search}"
    rows.append(("speed", f"{rate:,.1f}", how))
    rows.append(("cut translations", f"{evaluation.num_cut:,}", "the length limit came before the end"))
    if evaluation.num_split:
        rows.append(("split sources", f"{evaluation.num_split:,}", "longer than model.max_positions"))
    title = f"{evaluation.run}: {evaluation.num_pairs:,} {evaluation.split} pairs"
    return Grid(title=title, header=("score", "value", "how"), rows=rows, numbers=frozenset({1}))
