"""``ptenmt translate``."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ptenmt.cli.console import Screen, load_tensorflow
from ptenmt.cli.destination import Destination
from ptenmt.cli.options import (
    COMMAND_LINE,
    BeamSize,
    DecodingOverrides,
    Device,
    Quiet,
    RunName,
    Threads,
    Verbose,
    WhichEngine,
    WhichWeights,
    decoding_overrides,
)
from ptenmt.cli.translation_form import TranslationForm
from ptenmt.cli.translation_job import TranslationJob
from ptenmt.cli.translation_options import (
    Alternatives,
    AsJson,
    InputFile,
    Interactive,
    MaxLength,
    NBest,
    OutputFile,
    Prefix,
    Raw,
    Resume,
    SkipInvalid,
    Texts,
    chosen_decoding,
)
from ptenmt.cli.translation_view import TranslationView
from ptenmt.data.readers import Lines, opened_lines
from ptenmt.errors import DataError, OutputError, PtenmtError
from ptenmt.runs import Choice, Run, find_run

if TYPE_CHECKING:
    from ptenmt.translation import Translator
    from ptenmt.translation.loading import EngineName

_HINT = "save the file as UTF-8, or leave such lines empty with --skip-invalid"
_NAMES = {"beam_size": "--beam-size", "num_hypotheses": "--n-best", "max_length": "--max-length"}


def translate(
    context: typer.Context,
    texts: Texts = None,
    run: RunName = None,
    checkpoint: WhichWeights = "best",
    engine: WhichEngine = "auto",
    device: Device = "cpu",
    threads: Threads = None,
    beam_size: BeamSize = None,
    n_best: NBest = None,
    max_length: MaxLength = None,
    prefix: Prefix = "",
    alternatives: Alternatives = None,
    overrides: DecodingOverrides = None,
    input_file: InputFile = None,
    output_file: OutputFile = None,
    resume: Resume = False,
    skip_invalid: SkipInvalid = False,
    raw: Raw = False,
    as_json: AsJson = False,
    interactive: Interactive = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Translate sentences: arguments, a file, standard input, or what is typed at a prompt.

    Every line is a text: empty ones stay empty, the order is kept, and only translations go to standard
    output. Long texts are translated sentence by sentence. Where the training corpus comes tokenised, spacing
    is repaired. How translations are searched for is up to the section decoding of the run's config.

    Example: ptenmt translate "este modelo parece funcionar bem"

    Example: ptenmt translate --input letter.pt.txt --output letter.en.txt
    """
    screen = Screen(quiet=quiet, verbose=verbose)
    words = ["ptenmt", *context.meta[COMMAND_LINE]]
    destination = Destination(file=output_file, resume=resume, command=words)
    _check(texts, input_file, output_file, interactive=interactive)
    if n_best is not None and alternatives is not None:
        raise PtenmtError("--n-best and --alternatives exclude each other", "give one of them")
    found = find_run(run)
    changes = decoding_overrides(overrides or [], beam_size=beam_size, n_best=n_best, max_length=max_length)
    decoding = chosen_decoding(found.config().decoding, changes, _NAMES) if changes else None
    with _opened(texts, input_file, skip_invalid=skip_invalid) as lines, destination.reserved():
        if destination.left_over is not None:
            screen.warn(
                f"{destination.left_over} is of an interrupted run, and is begun anew without --resume"
            )
        translator, weights = _loaded(
            found, screen, checkpoint, engine=engine, device=device, threads=threads
        )
        if decoding is not None:
            translator = translator.with_options(**asdict(decoding))
        num_best = translator.config.decoding.num_hypotheses
        num_rows = alternatives or (num_best if n_best or num_best > 1 else 0)
        job = TranslationJob(
            translator=translator,
            weights=weights,
            form=TranslationForm(raw=raw, as_json=as_json, num_rows=num_rows),
            prefix=_writable(prefix),
            alternatives=alternatives,
        )
        is_typed = not texts and input_file is None and sys.stdin.isatty()
        if is_typed and sys.stderr.isatty() and (interactive or not (output_file or as_json)):
            from ptenmt.cli.interactive import converse

            converse(screen, job)
            return
        if is_typed:
            screen.say("Type a sentence and press Enter; Ctrl-D ends.")
        file = lines if isinstance(lines, Lines) else None
        is_shown = not is_typed and (output_file or (input_file and not sys.stdout.isatty()))
        view = TranslationView(screen, file, is_shown=bool(file and is_shown))
        job.run(lines, destination, view, line_by_line=is_typed or interactive)


def _check(
    texts: list[str] | None, input_file: Path | None, output_file: Path | None, *, interactive: bool
) -> None:
    """Refuse what does not go together."""
    if texts and input_file is not None:
        raise PtenmtError("TEXT and --input exclude each other", "give one of them")
    others = {"TEXT": texts, "--input": input_file, "--output": output_file}
    for name, value in others.items():
        if interactive and value:
            raise PtenmtError(f"--interactive and {name} exclude each other", "give one of them")
    if input_file is not None and output_file is not None and _same_file(input_file, output_file):
        raise OutputError(f"--output {output_file} is the input itself", "choose another file")


@contextmanager
def _opened(
    texts: list[str] | None, input_file: Path | None, *, skip_invalid: bool
) -> Iterator[Lines | list[str]]:
    """What is to be translated; a missing file is told now, not once the model is loaded."""
    if input_file is not None:
        with opened_lines(input_file, skip_invalid=skip_invalid, hint=_HINT) as lines:
            yield lines
    elif texts:
        yield list(map(_writable, texts))
    elif sys.stdin is None:
        raise DataError("cannot read standard input: it is closed", "give a TEXT, or --input FILE")
    else:
        yield Lines(sys.stdin.buffer, "standard input", skip_invalid=skip_invalid, hint=_HINT)


def _loaded(
    run: Run, screen: Screen, checkpoint: Choice, *, engine: "EngineName", device: str, threads: int | None
) -> tuple["Translator", str]:
    """The translator, and a name for its weights."""
    from ptenmt.trained_model import TrainedModel
    from ptenmt.translation import Translator
    from ptenmt.translation.loading import uses_keras

    trained = TrainedModel.load(run, checkpoint=checkpoint, task="translation", on_warning=screen.warn)
    if uses_keras(engine, trained.config):
        load_tensorflow(screen)
    return Translator.of(trained, engine, device=device, threads=threads), trained.info.checksum


def _writable(text: str) -> str:
    """Bytes that are not UTF-8 reach Python as halves of surrogate pairs, which cannot be written."""
    return text.encode(errors="replace").decode()


def _same_file(one: Path, other: Path) -> bool:
    return os.path.exists(other) and os.path.exists(one) and one.samefile(other)
