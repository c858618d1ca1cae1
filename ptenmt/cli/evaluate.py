"""``ptenmt evaluate``.

Args:
    split: Which of the run's own pairs to score.
    source: Translate this instead of the run's own pairs: one sentence per line, plain or .gz.
    references: Reference translations, one per line. May be given several times; then each sentence needs a
        line that is not empty in one of them.
    hypotheses: Score these translations, one per line, instead of translating. With --reference no run is
        needed.
    robustness: Also translate the sources in capitals, with typos, without full stops, with emoji and so on,
        and report how much the scores drop. Takes nine times as long.
    comet: Also score with COMET, if unbabel-comet is installed: a checkpoint, or a name such as
        Unbabel/wmt22-comet-da, which it downloads.
    details: Show more of the error analysis: scores by source length, the worst sentences.
    output: Write sources, references and translations to text files in this folder, which is new or empty.
    report: Write or replace a report: one page, .html, with the tables of --details, versions and options.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ptenmt import evaluation
from ptenmt.atomic_files import make_folder
from ptenmt.cli import options
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.tables import print_tables
from ptenmt.data.corpus import HeldOutSplit
from ptenmt.errors import OutputError
from ptenmt.evaluation.report import check_report_file, evaluation_tables, write_report
from ptenmt.runs import find_run
from ptenmt.translation.translator import uses_keras

_file_option = partial(typer.Option, rich_help_panel="Files of your own")
_output_option = partial(typer.Option, rich_help_panel="Output")


def evaluate(
    screen: Screen,
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    split: Annotated[HeldOutSplit | None, typer.Option(show_default="test")] = None,
    source: Annotated[Path | None, _file_option(metavar="FILE")] = None,
    references: Annotated[list[Path] | None, _file_option("--reference", metavar="FILE")] = None,
    hypotheses: Annotated[Path | None, _file_option(metavar="FILE")] = None,
    engine: options.WhichEngine = "auto",
    beam_size: options.BeamSize = None,
    overrides: options.DecodingOverrides = None,
    robustness: Annotated[bool, typer.Option("--robustness")] = False,
    comet: Annotated[str | None, typer.Option(metavar="MODEL")] = None,
    details: Annotated[bool, _output_option("--details")] = False,
    output: Annotated[Path | None, _output_option("--output", "-o", metavar="DIR")] = None,
    report: Annotated[Path | None, _output_option("--report", metavar="FILE")] = None,
) -> dict[str, Any]:
    """Score a run, or finished translations: BLEU, chrF2++ and TER with confidence intervals; error analysis.

    The scores are sacreBLEU's, with its signatures and 95% bootstrap intervals: on detokenized text, and on
    the corpus' own tokens where it is tokenized (what the published tokenizer splits, n ' t, is joined
    before); on other files also lower-cased, if the run's text is lower-case. Decoding follows the section
    decoding of the run's config, or --set. Loss, perplexity and token accuracy are teacher-forced, in
    float32, whichever engine translates.

    Example: ptenmt evaluate --run base --robustness --report scores.html

    Example: ptenmt evaluate --run base --source talk.pt --reference talk.en --details

    Example: ptenmt evaluate --hypotheses theirs.en --reference one.en --reference other.en
    """
    options.refuse_together({"--split": split, "--reference": references})
    if report is not None:  # before the evaluation, which takes long
        check_report_file(report)
    if output is not None:
        make_folder(output)
        if any(not file.name.startswith(".") for file in output.iterdir()):
            raise OutputError(f"{output} is not empty", "choose another folder with --output, or empty it")
    files = evaluation.EvaluationFiles(source=source, references=references or (), hypotheses=hypotheses)
    load = evaluation.LoadOptions(
        checkpoint=checkpoint,
        engine=engine,
        overrides=options.decoding_overrides(overrides, beam_size),
        on_warning=screen.warn,
    )
    if hypotheses is None and uses_keras(engine, find_run(run, "translation").config()):
        load_tensorflow(screen)  # here, to hide its log lines
    with screen.bar("loading") as show:
        evaluated = evaluation.evaluate(
            run,
            split or "test",
            files=files,
            load=load,
            with_robustness=robustness,
            comet=comet,
            on_progress=show,
        )
    print_tables(evaluation_tables(evaluated, with_details=details))
    if output is not None:
        evaluated.write_texts(output)
    if report is not None:
        write_report(evaluated, report)
    return evaluated.facts()
