"""``ptenmt translate`` and ``ptenmt backtranslate``.

Args:
    texts: Sentences, or with --output-dir documents; standard input by default, or for a single -.
    prefix: Target prefix: what every translation starts with.
    glossary: Terms and their translations, a pair a line, separated by a tab; equal: not translated.
    input_file: Translate this file, plain or .gz.
    output_file: Write the translations to this file, complete or not at all; -: standard output.
    output_folder: Translate documents (.txt, .html, .md, .docx, .odt, .pptx, .epub, .srt, .vtt, .po,
        .json, .yaml) into this folder, where they keep their names and layout.
    shard: Translate only the K-th of N parts of the input, such as 3/16, on one of N machines; their outputs,
        joined in order, are that of the whole. A part is a multiple of 2,048 lines, fewer if long.
    as_json: Write a JSON object for each text: source, translation, raw, score, tokens, alternatives,
        is_complete, is_retried, is_split, detected, unknown, sentences.
"""

import os
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from ptenmt.cli import options
from ptenmt.cli.console import Screen, counted, load_tensorflow, model_label
from ptenmt.cli.output_formats import output_format
from ptenmt.cli.translate_lines import Destination, TranslationJob, TranslationView, run_job
from ptenmt.config import DecodingConfig
from ptenmt.data.languages import language_name
from ptenmt.data.readers import Lines, opened_lines
from ptenmt.errors import OutputError, PtenmtError
from ptenmt.runs import Choice, Run, find_run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.translation.batching import shard as find_shard
from ptenmt.translation.engine import EngineName
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.translator import BUFFER_SIZE, Translator, uses_keras

DOCUMENTS = (
    *(".html", ".htm", ".md", ".srt", ".vtt", ".docx", ".odt", ".pptx", ".epub"),
    *(".po", ".pot", ".json", ".yaml", ".yml"),
)
"""File name suffixes of documents that are no lines of text; known without the formats' libraries."""
_file_option = partial(typer.Option, rich_help_panel="Files")
_ONE = "decoding.num_hypotheses=1"
_SAMPLED = ["decoding.beam_size=1", "decoding.top_k=0"]


def _texts(given: list[str] | None) -> list[str] | None:
    """The texts of the command line; none for a single -, which is standard input."""
    return None if given == ["-"] else options.as_text(given)


def translate(
    screen: Screen,
    context: typer.Context,
    texts: Annotated[list[str] | None, typer.Argument(metavar="TEXT...", callback=_texts)] = None,
    run: options.RunName = None,
    checkpoint: options.WhichWeights = "best",
    engine: options.WhichEngine = "auto",
    device: options.Device = "cpu",
    threads: options.Threads = None,
    beam_size: options.BeamSize = None,
    prefix: Annotated[str, options.search(metavar="TEXT", show_default=False, callback=options.as_text)] = "",
    glossary: Annotated[Path | None, typer.Option(metavar="FILE", show_default=False)] = None,
    overrides: options.DecodingOverrides = None,
    input_file: Annotated[Path | None, _file_option("--input", "-i", metavar="FILE")] = None,
    output_file: Annotated[Path | None, _file_option("--output", "-o", metavar="FILE")] = None,
    output_folder: Annotated[Path | None, _file_option("--output-dir", metavar="DIR")] = None,
    resume: options.Resume = False,
    shard: Annotated[str | None, _file_option("--shard", metavar="K/N", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Translate sentences: arguments, a file, standard input, or as they are typed.

    Every line is a text, translated sentence by sentence: order, line ends and lines without words stay as
    they are, and only translations go to standard output. Where the training corpus is tokenized, the
    translation is detokenized. The section decoding of the run's config sets how to search.

    Example: ptenmt translate "este modelo parece funcionar bem"

    Example: ptenmt translate --input letter.pt.txt --output letter.en.txt

    Example: ptenmt translate report.docx page.html film.srt --output-dir en
    """
    output_file = None if str(output_file) == "-" else output_file
    destination = Destination(file=output_file, input_file=input_file, resume=resume and not output_folder)
    for_lines = {"--output": output_file, "--prefix": prefix, "--shard": shard, "--json": as_json}
    options.refuse_together({"TEXT": texts, "--input": input_file})
    options.refuse_together({"--output-dir": output_folder, **for_lines})
    if destination.is_done(screen):
        return
    terms = None if glossary is None else Glossary.read(glossary)
    directory = find_run(run, "translation")
    decoding = options.chosen_decoding(directory.config().decoding, overrides, beam_size)
    part = None if shard is None else _part(shard, input_file, output_file)
    command = options.resume_command(context, add="--resume")

    def load() -> TranslationJob:
        trained, translator = _load(screen, directory, checkpoint, engine, device, threads, decoding)
        return TranslationJob(
            translator=translator,
            options=decoding,
            weights=trained.info.checksum,
            glossary=terms,
            prefix=prefix,
            form=output_format(decoding, as_json=as_json),
            first_number=part[0] if part else 0,
        )

    if output_folder is not None:
        from ptenmt.cli.documents import translate_documents  # office files' libraries

        documents = [input_file] if input_file else list(map(Path, texts or []))
        translate_documents(screen, documents, output_folder, load, command, resume=resume)
        return
    for text in filter(os.path.isfile, texts or []):
        screen.warn(f"{text} is a file: --input translates its lines, --output-dir a document")
    with nullcontext(texts) if texts else _opened(input_file) as lines, destination.locked():
        job = load()
        is_typed = not texts and input_file is None and sys.stdin.isatty()
        if is_typed:
            screen.say("Type a sentence and press Enter; Ctrl-D ends.")
        reads_file = input_file is not None and not sys.stdout.isatty()
        view = TranslationView(
            screen,
            lines if part is None and isinstance(lines, Lines) else None,
            is_shown=not texts and not is_typed and (output_file is not None or reads_file),
            target=job.translator.config.data.languages[1],
        )
        problems = run_job(job, lines if part is None else islice(lines, *part), destination, view, command)
    for problem, count in problems.items():
        screen.warn(f"{problem}: {count:,}")


def _opened(input_file: Path | None) -> AbstractContextManager[Lines]:
    if input_file is not None and input_file.suffix.lower() in DOCUMENTS:
        raise PtenmtError(
            f"--input {input_file} is a document, not lines of text",
            f"ptenmt translate {input_file} --output-dir DIR keeps its layout",
        )
    return opened_lines(input_file or Path("-"))


def _part(shard: str, input_file: Path | None, output_file: Path | None) -> tuple[int, int]:
    """The lines of the input that ``--shard`` means, see ``batching.shard``; raises PtenmtError."""
    if input_file is None or output_file is None:
        raise PtenmtError("--shard needs --input and --output files")
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", shard)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count:
        raise PtenmtError(f"--shard {shard} is not K/N with K from 1 to N", "such as --shard 3/16")
    with opened_lines(input_file) as lines:
        return find_shard(lines, number, count, BUFFER_SIZE)


def _load(
    screen: Screen,
    run: Run,
    checkpoint: Choice,
    engine: EngineName,
    device: str,
    threads: int | None,
    decoding: DecodingConfig,
) -> tuple[TrainedModel, Translator]:
    """Load a run to translate, as the options say."""
    trained = TrainedModel.load(run, checkpoint=checkpoint, task="translation", on_warning=screen.warn)
    if uses_keras(engine, trained.config):
        load_tensorflow(screen)
    if sys.stderr.isatty():
        screen.note(model_label(trained))
    return trained, Translator.from_trained_model(trained, engine, decoding, device=device, threads=threads)


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
    overrides: options.DecodingOverrides = None,
    resume: options.Resume = False,
) -> None:
    """Translate text of a target language back, to train a model on it: back-translation.

    The run translates in the reverse direction of the future model. Each line of the output is a synthetic
    source, the original line and the score of the translation, its mean log-probability per token, separated
    by tabs: name the file in data.train, with a tag. Lines that are empty, of more than 100 words or in
    another language are left out, and those whose translation is truncated. Sampling with the same
    decoding.seed gives the same file.

    Example: ptenmt backtranslate --run english-portuguese --input mono.en.gz --output bt.tsv.gz

    Example: ptenmt backtranslate --run english-portuguese -i mono.en.gz -o bt.tsv.gz --sample

    Args:
        input_file: Text in the run's source language, a sentence a line; .gz too.
        output_file: The pairs, complete or not at all: .tsv or .tsv.gz.
        sample: Sample each token from the model's distribution instead of searching for the most probable
            translation; restrict it with --set decoding.top_k=10.
    """
    from ptenmt.translation.backtranslation import EMPTY, FOREIGN, PAIRS, BackTranslation, left_out  # NumPy

    if not output_file.name.lower().endswith((".tsv", ".tsv.gz")):
        raise OutputError(f"--output {output_file} must end in .tsv or .tsv.gz")
    destination = Destination(file=output_file, input_file=input_file, resume=resume)
    if destination.is_done(screen):
        return
    directory = find_run(run)
    overrides = [_ONE, *(_SAMPLED if sample else []), *(overrides or [])]
    decoding = options.chosen_decoding(directory.config().decoding, overrides)
    with opened_lines(input_file) as lines, destination.locked():
        trained, translator = _load(screen, directory, checkpoint, engine, device, threads, decoding)
        job = BackTranslation(translator=translator, weights=trained.info.checksum, on_warning=screen.warn)
        view = TranslationView(screen, lines, is_shown=True)
        command = options.resume_command(context, add="--resume")
        counts = run_job(job, lines, destination, view, command, left_out)
    if 2 * counts[FOREIGN] > counts.total() - counts[EMPTY]:
        name = language_name(translator.config.data.languages[0])
        screen.warn(f"most lines are not in {name}, from which the run translates")
    described = f"; left out: {left_out(counts)}" if left_out(counts) else ""
    screen.say(f"{counted(counts[PAIRS], 'pair')} in {output_file}{described}")
