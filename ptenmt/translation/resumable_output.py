"""Output files that appear when they are complete, and can be resumed if the run is interrupted.

Until the output is complete, two files stand beside it: ``.NAME.partial`` with the translations so far, and
``.NAME.partial.json``, a record of what they depend on and how many are complete, replaced after each buffer
of texts. A run is resumed after a buffer, since buffers decide which texts share batches: the result is, byte
for byte, that of an uninterrupted run. If the name ends in .gz, each buffer is a member of a gzip file.
"""

import errno
import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ptenmt.atomic_files import held, output_errors, sync, write_text
from ptenmt.errors import OutputError
from ptenmt.translation.translator import BUFFER_SIZE

_FORMAT = 6


class OutputChunk(NamedTuple):
    """What a buffer of texts became."""

    texts: Sequence[str]
    output: str
    """The translations as they are to stand in the file."""
    counts: Mapping[str, int] = {}
    """Numbers that are summed over all chunks."""
    languages: Sequence[str | None] = ()
    """Of each text its language, if it is in another one than the model's."""
    unknown: Sequence[str] = ()
    """Words outside the model's vocabulary."""


class ResumeError(OutputError):
    """The output of an interrupted run cannot be resumed."""


def partial_file(file: Path) -> Path:
    """The file with the translations so far."""
    return file.with_name(f".{file.name}.partial")


def locked(file: Path) -> AbstractContextManager[None]:
    """Keep other processes from writing the same output; raises OutputError."""
    target = file.resolve()
    if os.path.isdir(target) or not os.path.isdir(target.parent):
        code = errno.EISDIR if os.path.isdir(target) else errno.ENOENT
        raise OutputError(f"cannot write {file}: {os.strerror(code)}")
    hint = "wait for it, or choose another file"
    return held(file, lambda process: OutputError(f"{file} is being written by process {process}", hint))


@contextmanager
def open_resumable(
    file: Path, facts: Mapping[str, Any], texts: Iterator[str], *, resume: bool
) -> Iterator["ResumableOutput"]:
    """Open an output that is ``locked``; it replaces the file when the block ends without an error.

    ``facts`` are what the translations depend on besides the texts, as JSON values by name. With ``resume``
    an interrupted run, if there is one, is continued: texts that are translated already are skipped. Raises
    OutputError; ResumeError if that run is damaged, or was of other texts or facts.
    """
    output = ResumableOutput(file.resolve(), facts)
    with output_errors(f"write {file}"):
        if resume:
            output.skip_done(texts)
        with output.opened():
            yield output


@dataclass(frozen=True, kw_only=True)
class _Progress:
    """What is complete after a buffer."""

    texts: int = 0
    checksum: int = 0
    """CRC-32 of the texts, each with a line end."""
    num_bytes: int = 0
    """Of the translations, as they are stored."""
    counts: dict[str, int] = field(default_factory=dict)
    """The sums of the chunks' counts."""


class ResumableOutput:
    """An output file in progress; see ``open_resumable``."""

    def __init__(self, file: Path, facts: Mapping[str, Any]) -> None:
        self._file, self._partial = file, partial_file(file)
        self._record = file.with_name(f".{file.name}.partial.json")
        self._facts = {"format": _FORMAT, **facts}
        self._saved = self._written = _Progress()

    @property
    def num_saved(self) -> int:
        """How many texts need not be translated again when the run is resumed."""
        return self._saved.texts

    @property
    def saved_counts(self) -> Mapping[str, int]:
        """The sums of the counts of their chunks."""
        return self._saved.counts

    def skip_done(self, texts: Iterator[str]) -> None:
        """Skip the texts that an interrupted run has translated; raises ResumeError if they differ."""
        if not self._record.exists():
            return
        done = self._read_record()
        skipped = replace(done, texts=0, checksum=0)
        for text in islice(texts, done.texts):
            skipped = _with_texts(skipped, [text])
        if skipped != done:
            raise ResumeError(
                f"the input does not start with the {done.texts:,} lines translated before "
                f"for {self._file.name}"
            )
        self._saved = self._written = done

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the partial file at its last complete buffer; it becomes the output if no error occurs."""
        if not self._saved.texts:
            self._record.unlink(missing_ok=True)
        try:
            with self._partial.open("r+b" if self._saved.texts else "wb") as self._stream:
                self._stream.truncate(self._saved.num_bytes)
                self._stream.seek(self._saved.num_bytes)
                try:
                    yield
                except (KeyboardInterrupt, SystemExit):
                    self._save()  # unlike after an error of the input, all buffers are complete
                    raise
                if not self._written.num_bytes:
                    self._write("")
                self._sync_stream()
            self._partial.replace(self._file)
            self._saved = _Progress()  # nothing is left to resume
            sync(self._file.parent)
        finally:
            if not self._saved.texts:
                self._partial.unlink(missing_ok=True)
                self._record.unlink(missing_ok=True)

    def append(self, chunk: OutputChunk) -> None:
        """Write what a buffer became."""
        self._save()  # the previous buffer was complete; this one may be the last, cut short by an error
        done = self._written
        num_bytes = done.num_bytes + (self._write(chunk.output) if chunk.output else 0)
        counts = dict(Counter(done.counts) + Counter(chunk.counts))
        self._written = _with_texts(replace(done, num_bytes=num_bytes, counts=counts), chunk.texts)

    def _write(self, text: str) -> int:
        """Write a text, or a member of a gzip file, and return the number of its bytes."""
        content = text.encode()
        if self._file.suffix.lower() == ".gz":
            content = gzip.compress(content, mtime=0)
        return self._stream.write(content)

    def _save(self) -> None:
        """Record that all buffers written so far are complete, once there is something to keep."""
        if self._written.num_bytes and self._written != self._saved:
            self._sync_stream()  # the record must not reach the disk before the translations
            write_text(self._record, json.dumps({"facts": self._facts, "done": asdict(self._written)}))
            self._saved = self._written

    def _sync_stream(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def _read_record(self) -> _Progress:
        try:
            record = json.loads(self._record.read_text(encoding="utf-8"))
            facts, done = dict(record["facts"]), _Progress(**record["done"])
            is_whole = self._partial.stat().st_size >= done.num_bytes
        except OSError as error:
            raise ResumeError(f"cannot read {error.filename}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ResumeError(f"{self._record} is damaged") from error
        different = [
            f"{name} {facts.get(name)}, not {value}"
            for name, value in self._facts.items()
            if facts.get(name) != value
        ]
        if different:
            raise ResumeError(f"{self._file.name} was started with {'; '.join(different)}")
        if not is_whole:
            raise ResumeError(f"{self._partial} is damaged")
        return done


def write_buffers(
    file: Path, texts: Iterator[str], work: Callable[[list[str]], str], on_done: Callable[[int], None]
) -> None:
    """Write what each buffer of texts becomes to a file, unless it is there; an interrupted call is resumed.

    The file's name stands for all that the output depends on. ``work`` returns a buffer's output. ``on_done``
    is called with the number of texts that are done, at first those of an interrupted call. Raises
    OutputError.
    """
    if file.exists():
        return
    try:
        with locked(file), open_resumable(file, {}, texts, resume=True) as output:
            on_done(num_done := output.num_saved)
            while buffer := list(islice(texts, BUFFER_SIZE)):
                output.append(OutputChunk(buffer, work(buffer)))
                on_done(num_done := num_done + len(buffer))
    except ResumeError as error:
        hint = f"remove {partial_file(file)}* and run the command again"
        raise OutputError(error.message, hint) from error


def _with_texts(progress: _Progress, texts: Sequence[str]) -> _Progress:
    checksum = zlib.crc32("".join(f"{text}\n" for text in texts).encode(), progress.checksum)
    return replace(progress, texts=progress.texts + len(texts), checksum=checksum)
