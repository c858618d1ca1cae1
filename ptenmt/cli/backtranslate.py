"""``ptenmt backtranslate``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.formatting import counted
from ptenmt.cli.translation_job import Destination, TranslationView, run_job
from ptenmt.data.readers import opened_lines
from ptenmt.data.text import language_name
from ptenmt.errors import PtenmtError
from ptenmt.runs import find_run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.translation.backtranslation import EMPTY, FOREIGN, PAIRS, BackTranslation, left_out
from ptenmt.translation.translator import Translator, uses_keras

_ONE = "decoding.num_hypotheses=1"
_SAMPLED = ["decoding.beam_size=1", "decoding.top_k=0"]


def backtranslate(
    screen: Screen,
    context: typer.Context,
    run: options.RunOfReverse,
    input_file: Annotated[Path, typer.Option("--input", "-i", metavar="FILE")],
    output_file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE")],
    checkpoint: options.WhichWeights = "best",
    engine: options.WhichEngine = "auto",
    device: options.Device = "cpu",
    threads: options.Threads = None,
    sample: Annotated[bool, options.search("--sample")] = False,
    beam_size: options.BeamSize = None,
    overrides: options.DecodingOverrides = None,
    min_score: Annotated[float | None, typer.Option(max=0, metavar="X", show_default="all")] = None,
    max_words: Annotated[int, typer.Option(min=1, metavar="N")] = 100,
    skip_invalid: Annotated[bool, typer.Option("--skip-invalid")] = False,
    resume: options.Resume = False,
) -> None:
    """Translate text of a target language back, to train a model on it: back-translation.

    The run translates in the reverse direction of the future model. Each line of the output is a synthetic
    source, the original line and the score of the translation, its mean log-probability per token, separated
    by tabs: name the file in data.train, with a tag. Lines that are empty, too long or in another language
    are left out, and those whose translation is truncated. Sampling with the same decoding.seed gives the
    same file.

    Example: ptenmt backtranslate --run english-portuguese --input mono.en.gz --output bt.tsv.gz

    Example: ptenmt backtranslate --run english-portuguese -i mono.en.gz -o bt.tsv.gz --sample --min-score -2

    Args:
        input_file: Text in the run's source language, a sentence a line; .gz too.
        output_file: The pairs, complete or not at all: .tsv or .tsv.gz.
        sample: Sample each token from the model's distribution instead of searching for the most probable
            translation; restrict it with --set decoding.top_k=10.
        min_score: Leave out pairs that score below X, for example -1.
        max_words: Leave out lines of more words.
        skip_invalid: Leave out lines that are not valid UTF-8, instead of stopping.
    """
    options.refuse_together({"--sample": sample, "--beam-size": beam_size})
    if not output_file.name.lower().endswith((".tsv", ".tsv.gz")):
        raise PtenmtError(f"--output {output_file}: the name of a file of pairs ends in .tsv or .tsv.gz")
    destination = Destination(file=output_file, input_file=input_file, resume=resume)
    found = find_run(run)
    overrides = [_ONE, *(_SAMPLED if sample else []), *(overrides or [])]
    decoding = options.chosen_decoding(found.config().decoding, overrides, {"beam_size": beam_size})
    hint = "save the file as UTF-8, or leave out such lines with --skip-invalid"
    with opened_lines(input_file, skip_invalid=skip_invalid, hint=hint) as lines, destination.locked():
        destination.warn_of_leftover(screen)
        trained = TrainedModel.load(found, checkpoint=checkpoint, task="translation", on_warning=screen.warn)
        if uses_keras(engine, trained.config):
            load_tensorflow(screen)
        translator = Translator.from_trained_model(trained, engine, device=device, threads=threads)
        job = BackTranslation(
            translator=translator.with_options(**asdict(decoding)),
            weights=trained.info.checksum,
            max_words=max_words,
            min_score=min_score,
            on_warning=screen.warn,
        )
        view = TranslationView(screen, lines, is_shown=True)
        command = options.resume_command(context, add="--resume")
        counts = run_job(job, lines, destination, view, command, left_out)
    if 2 * counts[FOREIGN] > counts.total() - counts[EMPTY]:
        name = language_name(translator.config.data.languages[0])
        screen.warn(f"most lines are not in {name}, from which the run translates")
    described = f"; left out: {left_out(counts)}" if left_out(counts) else ""
    screen.say(f"{counted(counts[PAIRS], 'pair')} in {output_file}{described}")
