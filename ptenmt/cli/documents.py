"""Documents for ``ptenmt translate --output-dir``."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from ptenmt.atomic_files import make_folder, write_bytes
from ptenmt.cli.console import Screen, counted
from ptenmt.cli.translate_lines import INTERRUPTED, TranslationJob, foreign_text, is_written
from ptenmt.documents import check_format, translate_document
from ptenmt.errors import DocumentError, OutputError, PtenmtError


def translate_documents(
    screen: Screen,
    files: Sequence[Path],
    folder: Path,
    load: Callable[[], TranslationJob],
    resume_command: Sequence[str],
    *,
    resume: bool,
) -> None:
    """Translate documents into a folder, where they keep their names; what can be wrong is checked first.

    A damaged document is reported, and the others are translated. ``resume`` skips the documents whose
    translations exist, which are never replaced; ``resume_command`` is shown after an interruption.
    """
    _check(files, folder, resume=resume)
    make_folder(folder)
    done = [file for file in files if is_written(folder / file.name)]
    for file in done:
        screen.note(f"{folder / file.name}: translated before; delete it to translate the document again")
    if not (left := [file for file in files if file not in done]):
        return
    job = load()
    num_done, refused = len(done), list[DocumentError]()
    try:
        for file in left:
            try:
                _translate(screen, job, file, folder / file.name)
                num_done += 1
            except DocumentError as error:
                refused.append(error)
                if len(files) > 1:
                    screen.warn_loudly(error.message)
    except KeyboardInterrupt:
        screen.say(f"stopped: {counted(num_done, 'document')} saved; resume with", style="bold")
        screen.say_command(resume_command)
        raise typer.Exit(INTERRUPTED) from None
    if refused and len(files) > 1:
        raise DocumentError(f"{len(refused)} of {len(files)} documents cannot be translated", "see above")
    if refused:
        raise refused[0]


def _check(files: Sequence[Path], folder: Path, *, resume: bool) -> None:
    if not files:
        raise PtenmtError("--output-dir needs documents", "name files after the command")
    for file in files:
        if not file.is_file():
            raise DocumentError(f"{file} is a folder; name its files" if file.is_dir() else f"no file {file}")
        try:
            check_format(file.name)
        except DocumentError as error:
            raise DocumentError(f"{file}: {error.message}", error.hint) from error
        output = folder / file.name
        if output.exists() and output.samefile(file):
            raise OutputError(f"{file} would be replaced by its translation", "choose another --output-dir")
        if is_written(output) and not resume:
            hint = "choose another --output-dir, delete it, or keep it and translate the others with --resume"
            raise OutputError(f"{output} exists", hint)
    if len({file.name for file in files}) < len(files):
        raise OutputError("two of the documents have the same name", "translate them into different folders")


def _translate(screen: Screen, job: TranslationJob, file: Path, output: Path) -> None:
    began = time.monotonic()
    with screen.bar(file.name) as show:
        try:
            content, language = translate_document(
                job.translator, file.name, file.read_bytes(), show, job.glossary
            )
        except DocumentError as error:
            raise DocumentError(f"{file}: {error.message}", error.hint) from error
        except OSError as error:
            raise DocumentError(f"cannot read {file}: {error.strerror or error}") from error
    write_bytes(output, content)
    if language:
        target = job.translator.config.data.languages[1]
        screen.warn(f"{file} is in another language: {foreign_text(language, target)}")
    screen.say(f"{output}: {time.monotonic() - began:.1f} s")
