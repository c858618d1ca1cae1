"""``ptenmt evaluate``."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.evaluation_options import (
    Baseline,
    Details,
    Hypotheses,
    References,
    Reports,
    Source,
    Split,
    TextsFolder,
    Tokenised,
    WithSweep,
)
from ptenmt.cli.evaluation_view import print_evaluation, print_sweep
from ptenmt.cli.options import (
    BeamSize,
    DecodingOverrides,
    Quiet,
    RunName,
    Verbose,
    WhichEngine,
    WhichWeights,
    decoding_overrides,
)
from ptenmt.errors import PtenmtError

if TYPE_CHECKING:
    from ptenmt.evaluation import Evaluation


def evaluate(
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    split: Split = None,
    source: Source = None,
    references: References = None,
    hypotheses: Hypotheses = None,
    tokenised: Tokenised = False,
    baseline: Baseline = None,
    engine: WhichEngine = "auto",
    beam_size: BeamSize = None,
    overrides: DecodingOverrides = None,
    sweep: WithSweep = False,
    details: Details = False,
    output: TextsFolder = None,
    reports: Reports = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Score a run, or finished translations: BLEU, chrF2++ and TER, how sure they are, and where it fails.

    The scores are sacreBLEU's, with its signatures and 95 % bootstrap intervals: on detokenised text, and on
    the corpus' own tokens where it comes tokenised. What the published tokenizer splits (n ' t) is joined
    before. It translates as the section decoding of the run's config says, or --set. Loss, perplexity and
    token accuracy are the Keras model's, whichever engine translates.

    Example: ptenmt evaluate --run base --baseline older --report scores.html

    Example: ptenmt evaluate --run base --source talk.pt --reference talk.en --details

    Example: ptenmt evaluate --hypotheses theirs.en --reference one.en --reference other.en

    Example: ptenmt evaluate --run base --sweep
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    shared: dict[str, Any] = {
        "source": source,
        "references": references or (),
        "tokenised": tokenised,
        "checkpoint": checkpoint,
        "engine": engine,
        "on_warning": screen.warn,
        "on_tensorflow": partial(load_tensorflow, screen),
    }
    if references and split is not None:
        raise PtenmtError("--split and --reference exclude each other", "leave one of them out")
    if sweep:
        _refuse_with_sweep(
            {
                "--hypotheses": hypotheses,
                "--baseline": baseline,
                "--beam-size": beam_size,
                "--set": overrides or None,
                "--output": output,
                "--report": reports or None,
                "--details": details or None,
            }
        )
        _sweep(screen, run, split or "validation", shared)
        return
    shared |= {
        "hypotheses": hypotheses,
        "baseline": baseline,
        "overrides": decoding_overrides(overrides or [], beam_size=beam_size),
    }
    evaluation = _evaluation(screen, run, split or "test", shared, output, reports or [])
    print_evaluation(evaluation, with_details=details)


def _evaluation(
    screen: Screen,
    run: str | None,
    split: Any,
    options: dict[str, Any],
    output: Path | None,
    reports: Sequence[Path],
) -> "Evaluation":
    """What is found, written already where it is to be.

    What is to be written is opened first: that it cannot be should not come out after all the work.
    """
    from ptenmt.evaluation.report import opened_report
    from ptenmt.evaluation.written import make_folder, write_texts

    if output is not None:
        make_folder(output)
    with ExitStack() as stack:
        writers = [stack.enter_context(opened_report(report)) for report in reports]
        from ptenmt.evaluation import evaluate as evaluate_run

        with screen.bar("loading", "") as bar:
            evaluation = evaluate_run(run, split, on_progress=bar.show, **options)
        for write_report in writers:
            write_report(evaluation)
    if output is not None:
        write_texts(evaluation, output)
    return evaluation


def _refuse_with_sweep(options: dict[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise PtenmtError(f"--sweep and {name} exclude each other", "leave one of them out")


def _sweep(screen: Screen, run: str | None, split: Any, shared: dict[str, Any]) -> None:
    from ptenmt.evaluation import sweep

    if split == "test":
        screen.warn("what is chosen on the test pairs says nothing about them any more")
    with screen.bar("loading", "") as bar:
        found = sweep(run, split, on_progress=bar.show, **shared)
    print_sweep(found)
