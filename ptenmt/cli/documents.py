"""Documents for ``ptenmt translate --output-dir``."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from ptenmt.atomic_files import file_checksum, json_checksum, make_folder, write_bytes, write_text
from ptenmt.cli.console import Screen, counted
from ptenmt.cli.translate_lines import INTERRUPTED, TranslationJob, foreign_text, is_written
from ptenmt.documents import check_format, translate_document
from ptenmt.errors import DocumentError, OutputError

_RECORD = ".ptenmt-documents.json"
"""In the output folder until all documents are translated: which ones are, from what and how."""
_START_OVER = "choose another --output-dir"


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
    if not (folder / _RECORD).exists() and all(is_written(folder / file.name) for file in files):
        screen.note(f"{folder} has all translations; delete one to translate its document again")
        return
    job = load()
    done = _Done(screen, folder, json_checksum(job.facts()), resume=resume)
    translated = [file for file in files if done.has(file)]
    refused: list[DocumentError] = []
    try:
        for file in files:
            if file in translated:
                screen.say(f"{folder / file.name}: translated before")
                continue
            try:
                _translate(screen, job, file, folder / file.name)
                done.add(file)
            except DocumentError as error:
                refused.append(error)
                if len(files) > 1:
                    screen.warn_loudly(error.message)
    except KeyboardInterrupt:
        screen.say(f"stopped: {counted(done.count, 'document')} saved; resume with", style="bold")
        screen.say_command(resume_command)
        raise typer.Exit(INTERRUPTED) from None
    if refused and len(files) > 1:
        raise DocumentError(f"{len(refused)} of {len(files)} documents cannot be translated", "see above")
    if refused:
        raise refused[0]
    done.remove()


def _check(files: Sequence[Path], folder: Path, *, resume: bool) -> None:
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


class _Done:
    """Which documents of a folder are translated, in a file there; raises OutputError.

    ``facts`` is a checksum of what the translations depend on besides the documents.
    """

    def __init__(self, screen: Screen, folder: Path, facts: str, *, resume: bool) -> None:
        self._folder, self._facts = folder, facts
        self._record = folder / _RECORD
        self._checksums: dict[str, str] = {}
        if resume and self._record.exists():
            try:
                read = json.loads(self._record.read_text(encoding="utf-8"))
                is_same, self._checksums = read["facts"] == facts, dict(read["checksums"])
            except (OSError, ValueError, LookupError, TypeError) as error:
                raise OutputError(f"--resume: {self._record} is damaged", _START_OVER) from error
            if not is_same:
                message = f"--resume: {folder} was started with another model or other options"
                raise OutputError(message, _START_OVER)
        elif self._record.exists():
            screen.warn(f"{self._record}, left by an unfinished run, is replaced; --resume continues it")

    @property
    def count(self) -> int:
        """How many documents are translated."""
        return len(self._checksums)

    def has(self, file: Path) -> bool:
        """Whether a document is translated; raises OutputError if it has changed since."""
        output = self._folder / file.name
        if not is_written(output):
            return False
        if self._checksums.get(file.name) not in (None, file_checksum(file)):
            raise OutputError(
                f"{file} has changed since it was translated", f"delete {output} to translate it again"
            )
        return True

    def add(self, file: Path) -> None:
        """Record that a document is translated."""
        self._checksums[file.name] = file_checksum(file)
        write_text(self._record, json.dumps({"facts": self._facts, "checksums": self._checksums}))

    def remove(self) -> None:
        """Remove the record, as all documents are translated."""
        self._record.unlink(missing_ok=True)
