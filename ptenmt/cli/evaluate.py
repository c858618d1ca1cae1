"""``ptenmt evaluate``."""

from pathlib import Path
from typing import Any

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.evaluation_options import (
    Baseline,
    Details,
    HypothesesFile,
    References,
    Reports,
    SourceFile,
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


def evaluate(
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    split: Split = None,
    source: SourceFile = None,
    references: References = None,
    hypotheses: HypothesesFile = None,
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
    """Score a run, or finished translations: BLEU, chrF2++ and TER with confidence intervals; error analysis.

    The scores are sacreBLEU's, with its signatures and 95% bootstrap intervals: on detokenized text, and on
    the corpus' own tokens where it is tokenized (what the published tokenizer splits, n ' t, is joined
    before). Decoding follows the section decoding of the run's config, or --set. Loss, perplexity and token
    accuracy are teacher-forced, in float32, whichever engine translates.

    Example: ptenmt evaluate --run base --baseline older --report scores.html

    Example: ptenmt evaluate --run base --source talk.pt --reference talk.en --details

    Example: ptenmt evaluate --hypotheses theirs.en --reference one.en --reference other.en

    Example: ptenmt evaluate --run base --sweep
    """
    if references and split is not None:
        raise _conflict("--split", "--reference")
    if sweep:
        _refuse_with_sweep(
            {
                "--hypotheses": hypotheses,
                "--baseline": baseline,
                "--beam-size": beam_size,
                "--set": overrides,
                "--output": output,
                "--report": reports,
                "--details": details,
            }
        )
    _check_outputs(output, reports or [])
    from ptenmt import evaluation
    from ptenmt.evaluation.report import write_report

    screen = Screen(quiet=quiet, verbose=verbose)
    if sweep and split == "test":
        screen.warn("settings chosen on the test pairs bias their scores; the default is --split validation")
    files = evaluation.EvaluationFiles(
        source=source, references=references or (), hypotheses=hypotheses, is_tokenised=tokenised
    )
    load = evaluation.LoadOptions(
        checkpoint=checkpoint,
        engine=engine,
        overrides=decoding_overrides(overrides or [], beam_size=beam_size),
        on_warning=screen.warn,
    )
    if engine == "keras":
        load_tensorflow(screen)
    with screen.bar("loading", "") as bar:
        arguments: dict[str, Any] = {"files": files, "load": load, "on_progress": bar.show}
        if sweep:
            swept = evaluation.sweep(run, split or "validation", **arguments)
        else:
            evaluated = evaluation.evaluate(run, split or "test", baseline=baseline, **arguments)
    if sweep:
        print_sweep(swept)
        return
    print_evaluation(evaluated, with_details=details)
    if output is not None:
        evaluated.write_texts(output)
    for report in reports or []:
        write_report(evaluated, report)


def _conflict(one: str, other: str) -> PtenmtError:
    return PtenmtError(f"{one} and {other} cannot be used together", "leave one of them out")


def _refuse_with_sweep(options: dict[str, object]) -> None:
    for name, value in options.items():
        if value:
            raise _conflict("--sweep", name)


def _check_outputs(folder: Path | None, reports: list[Path]) -> None:
    """Find out before the evaluation, not after it, that results cannot be written."""
    from ptenmt.evaluation.evaluation import make_folder
    from ptenmt.evaluation.report import check_report_file

    for report in reports:
        check_report_file(report)
    if folder is not None:
        make_folder(folder)
