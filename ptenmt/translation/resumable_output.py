"""Output files that appear when they are complete, and can be resumed if the run is interrupted.

Until the output is complete, two files stand beside it: ``.NAME.partial`` with the translations so far, and a
journal ``.NAME.partial.jsonl``, a JSON object per line: first what the translations depend on, then, after
each buffer of texts, their number, with checksums of texts and translations. A run is resumed after a buffer,
since buffers decide which texts share batches: the result is, byte for byte, that of an uninterrupted run.
"""

import errno
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ptenmt.atomic_files import exclusive, holder, sync
from ptenmt.errors import OutputError

_FORMAT = 1


class ResumeError(OutputError):
    """The output of an interrupted run cannot be resumed."""


def partial_file(file: Path) -> Path:
    """The file with the translations so far."""
    return file.with_name(f".{file.name}.partial")


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep other processes from writing the same output; raises OutputError."""
    target = file.resolve()
    if os.path.isdir(target) or not os.path.isdir(target.parent):
        code = errno.EISDIR if os.path.isdir(target) else errno.ENOENT
        raise OutputError(f"cannot write {file}: {os.strerror(code)}")
    lock = target.with_name(f".{target.name}.lock")
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive(lock, wait=False))
        except BlockingIOError as error:
            raise OutputError(
                f"{file} is being written by process {holder(lock)}", "wait for it, or choose another file"
            ) from error
        except OSError as error:
            raise OutputError(f"cannot write {file}: {error.strerror or error}") from error
        yield


@contextmanager
def open_resumable(
    file: Path, facts: Mapping[str, Any], texts: Iterator[str], *, resume: bool
) -> Iterator["ResumableOutput"]:
    """Open an output that is ``locked``; it replaces the file when the block ends without an error.

    Args:
        file: The output; a link is followed.
        facts: What the translations depend on besides the texts, as JSON values by name.
        texts: The texts to translate; those that are translated already are skipped.
        resume: Continue an interrupted run, if there is one.

    Raises:
        OutputError: It cannot be written.
        ResumeError: The interrupted run is damaged, or was of other texts or facts.
    """
    output = ResumableOutput(file.resolve(), facts)
    try:
        with output.opened(resume):
            output.skip_done(texts)
            yield output
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """A line of the journal: the state after a buffer."""

    texts: int = 0
    num_bytes: int = 0
    """Of the translations."""
    sources: int = 0
    """CRC-32 of the texts, each with a line end."""
    translations: int = 0
    """CRC-32 of the translations."""


class ResumableOutput:
    """An output file in progress; see ``open_resumable``."""

    def __init__(self, file: Path, facts: Mapping[str, Any]) -> None:
        self._file = file
        self._partial = partial_file(file)
        self._journal = file.with_name(f".{file.name}.partial.jsonl")
        self._facts = {"format": _FORMAT, **facts}
        self._saved = self._written = _Mark()

    @property
    def num_saved(self) -> int:
        """How many texts need not be translated again when the run is resumed."""
        return self._saved.texts

    def skip_done(self, texts: Iterator[str]) -> None:
        """Skip the texts that are translated already; raises ResumeError if they differ."""
        num_skipped = checksum = 0
        for text in islice(texts, self._saved.texts):
            num_skipped, checksum = num_skipped + 1, _checksum([text], checksum)
        if (num_skipped, checksum) != (self._saved.texts, self._saved.sources):
            raise ResumeError(
                f"the input does not start with the {self._saved.texts:,} lines translated before "
                f"for {self._file.name}"
            )

    def append(self, texts: Sequence[str], translations: str) -> None:
        """Write the translations of a buffer, as they are to stand in the file."""
        self._save()  # the previous buffer was complete; this one may be the last, cut short by an error
        written = translations.encode()
        self._stream.write(written)
        self._written = _Mark(
            texts=self._written.texts + len(texts),
            num_bytes=self._written.num_bytes + len(written),
            sources=_checksum(texts, self._written.sources),
            translations=zlib.crc32(written, self._written.translations),
        )

    @contextmanager
    def opened(self, resume: bool) -> Iterator[None]:
        """Open the partial file and its journal; if the block ends without an error, complete the output."""
        resume = resume and os.path.exists(self._partial) and os.path.exists(self._journal)
        journal_end = self._read_journal() if resume else 0
        mode = "r+b" if resume else "wb"
        try:
            with self._partial.open(mode) as self._stream, self._journal.open(mode) as self._marks:
                for file, place in ((self._stream, self._saved.num_bytes), (self._marks, journal_end)):
                    file.truncate(place)
                    file.seek(place)
                if not resume:
                    self._write_line(self._facts)
                try:
                    yield
                except (KeyboardInterrupt, SystemExit):
                    self._save()  # unlike after an error of the input, all buffers are complete
                    raise
                self._stream.flush()
                os.fsync(self._stream.fileno())
            self._partial.replace(self._file)
            self._saved = _Mark()  # nothing is left to resume
            sync(self._file.parent)
        finally:
            if not self._saved.texts:
                self._partial.unlink(missing_ok=True)
                self._journal.unlink(missing_ok=True)

    def _save(self) -> None:
        """Record that all buffers written so far are complete."""
        if self._written != self._saved:
            self._stream.flush()
            self._write_line(asdict(self._written))
            self._saved = self._written

    def _write_line(self, values: Mapping[str, Any]) -> None:
        self._marks.write(json.dumps(values).encode() + b"\n")
        self._marks.flush()

    def _read_journal(self) -> int:
        """Find the last mark whose translations are intact; returns where its line ends.

        After a power failure, marks may have reached the disk without their translations.
        """
        mark = None
        try:
            with self._journal.open("rb") as journal, self._partial.open("rb") as partial:
                first = journal.readline()
                end = len(first)
                found = dict(json.loads(first))
                different = [
                    f"{name} {found.get(name)}, not {value}"
                    for name, value in self._facts.items()
                    if found.get(name) != value
                ]
                if different:
                    raise ResumeError(f"{self._file.name} was started with {'; '.join(different)}")
                for line in journal:
                    if not line.endswith(b"\n"):  # not written to its end
                        break
                    mark = _Mark(**json.loads(line))
                    written = partial.read(mark.num_bytes - self._saved.num_bytes)
                    if zlib.crc32(written, self._saved.translations) != mark.translations:
                        break
                    self._saved, end = mark, end + len(line)
        except OSError as error:
            raise ResumeError(
                f"cannot read {error.filename or self._partial}: {error.strerror or error}"
            ) from error
        except (ValueError, TypeError) as error:
            raise ResumeError(f"{self._journal} is damaged") from error
        if mark is not None and not self._saved.texts:
            raise ResumeError(f"{self._partial} is damaged")
        self._written = self._saved
        return end


def _checksum(texts: Sequence[str], previous: int) -> int:
    return zlib.crc32("".join(f"{text}\n" for text in texts).encode(), previous)
