"""A big file of translations in the making: there when it is whole, and gone on with if interrupted.

Beside the output stand, until it is done, ``.NAME.partial``, the translations so far, and a journal,
``.NAME.partial.jsonl``: a JSON object a line, first what they depend on, then, after each window of texts,
how many there are, with checksums of both languages. Whoever goes on does so behind a window, since windows
decide which texts are translated together; so the result is, byte for byte, that of a run without
interruption.
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
from typing import IO, Any

from ptenmt.atomic_files import sync
from ptenmt.errors import OutputError
from ptenmt.locks import exclusive, holder

_FORMAT = 1
_CHUNK_TEXTS = 64
_CHUNK_BYTES = 1 << 20


class ResumeError(OutputError):
    """What an interrupted run left cannot be gone on with."""


@contextmanager
def reserved(file: Path) -> Iterator[None]:
    """Keep other processes from writing the same output.

    Raises:
        OutputError: One does already, or the file cannot be written.
    """
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
def drafted(file: Path, facts: Mapping[str, Any], texts: Iterator[str], *, resume: bool) -> Iterator["Draft"]:
    """Write translations into a file that is ``reserved``.

    The file appears when the block ends without an error; else what was translated is kept for the next time.

    Args:
        file: The output; a link is followed.
        facts: What the translations depend on, besides the texts: names and values that JSON knows.
        texts: What is translated; those that are translated already are read past.
        resume: Go on with what an interrupted run left; if it left nothing, begin.

    Raises:
        OutputError: It cannot be written.
        ResumeError: What was left is damaged, or belongs to other texts or facts.
    """
    draft = Draft(file.resolve(), facts)
    try:
        with draft.opened(resume):
            draft.pass_over(texts)
            yield draft
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error


def partial_file(file: Path) -> Path:
    """Where the translations so far are, until the file is whole."""
    return file.with_name(f".{file.name}.partial")


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """The end of a window: what is done up to there."""

    texts: int = 0
    num_bytes: int = 0
    """Of the translations."""
    sources: int = 0
    """CRC-32 of the texts, each with a line end."""
    translations: int = 0
    """CRC-32 of the translations."""


class Draft:
    """Translations on their way into a file; see ``drafted``."""

    def __init__(self, file: Path, facts: Mapping[str, Any]) -> None:
        self._file = file
        self._partial = partial_file(file)
        self._journal = file.with_name(f".{file.name}.partial.jsonl")
        self._facts = {"format": _FORMAT, **facts}
        self._kept = self._done = _Mark()

    @property
    def num_kept(self) -> int:
        """How many texts need not be translated again by who goes on."""
        return self._kept.texts

    def pass_over(self, texts: Iterator[str]) -> None:
        """Read past the texts that are translated already.

        Raises:
            ResumeError: They are not the same.
        """
        checksum, left = 0, self._kept.texts
        while some := list(islice(texts, min(left, _CHUNK_TEXTS))):
            checksum, left = _checksum(some, checksum), left - len(some)
        if left or checksum != self._kept.sources:
            raise ResumeError(
                f"the input does not begin with the {self._kept.texts:,} lines that were "
                f"translated before for {self._file.name}"
            )

    def append(self, texts: Sequence[str], translations: str) -> None:
        """Write the translations of a window.

        Args:
            texts: The window's.
            translations: As the file is to hold them.
        """
        self.keep()  # what another window follows is whole; the last one may be cut short by an error
        written = translations.encode()
        self._stream.write(written)
        self._done = _Mark(
            texts=self._done.texts + len(texts),
            num_bytes=self._done.num_bytes + len(written),
            sources=_checksum(texts, self._done.sources),
            translations=zlib.crc32(written, self._done.translations),
        )

    def keep(self) -> None:
        """Note that all windows so far are whole."""
        if self._done == self._kept:
            return
        self._stream.flush()
        self._note(asdict(self._done))
        self._kept = self._done

    @contextmanager
    def opened(self, resume: bool) -> Iterator[None]:
        """Begin or go on; when the block ends without an error, the file is put into its place."""
        is_begun = resume and os.path.exists(self._partial) and os.path.exists(self._journal)
        end = self._read() if is_begun else 0
        mode = "r+b" if is_begun else "wb"
        try:
            with self._partial.open(mode) as self._stream, self._journal.open(mode) as self._notes:
                for file, place in ((self._stream, self._kept.num_bytes), (self._notes, end)):
                    file.truncate(place)
                    file.seek(place)
                if not is_begun:
                    self._note(self._facts)
                with self._kept_if_interrupted():
                    yield
                self._stream.flush()
                os.fsync(self._stream.fileno())
            self._partial.replace(self._file)
            self._kept = _Mark()  # there is nothing more to go on with
            sync(self._file.parent)
        finally:
            if not self._kept.texts:
                self._partial.unlink(missing_ok=True)
                self._journal.unlink(missing_ok=True)

    @contextmanager
    def _kept_if_interrupted(self) -> Iterator[None]:
        """Who is interrupted has written whole windows only, unlike who met an error."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            self.keep()
            raise

    def _note(self, facts: Mapping[str, Any]) -> None:
        self._notes.write(json.dumps(facts).encode() + b"\n")
        self._notes.flush()

    def _read(self) -> int:
        """Find the place to go on from; see ``_last_mark``."""
        try:
            return self._last_mark()
        except OSError as error:
            raise ResumeError(
                f"cannot read {error.filename or self._partial}: {error.strerror or error}"
            ) from error

    def _last_mark(self) -> int:
        """Find the last window whose translations are there; gives where its line in the journal ends.

        After a loss of power, marks may have reached the disk whose translations have not.
        """
        is_any = False
        with self._journal.open("rb") as notes, self._partial.open("rb") as partial:
            first = notes.readline()
            self._check_facts(first)
            end = len(first)
            for line in notes:
                mark = _mark(line)
                if mark is None:
                    break
                is_any = True
                if _checksum_on(partial, self._kept, mark) != mark.translations:
                    break
                self._kept, end = mark, end + len(line)
        if is_any and not self._kept.texts:
            raise ResumeError(f"{self._partial} is damaged")
        self._done = self._kept
        return end

    def _check_facts(self, line: bytes) -> None:
        try:
            found = dict(json.loads(line))
        except (ValueError, TypeError) as error:
            raise ResumeError(f"{self._journal} is damaged") from error
        wrong = [
            f"{name} {found.get(name)}, not {value}"
            for name, value in self._facts.items()
            if found.get(name) != value
        ]
        if wrong:
            raise ResumeError(f"{self._file.name} was begun with {'; '.join(wrong)}")


def _checksum_on(partial: IO[bytes], before: _Mark, mark: _Mark) -> int:
    """That of the translations up to a mark, read on from the mark before; of fewer if there are fewer."""
    checksum, left = before.translations, mark.num_bytes - before.num_bytes
    while some := partial.read(min(left, _CHUNK_BYTES)):
        checksum, left = zlib.crc32(some, checksum), left - len(some)
    return checksum


def _checksum(texts: Sequence[str], before: int) -> int:
    return zlib.crc32("".join(f"{text}\n" for text in texts).encode(), before)


def _mark(line: bytes) -> _Mark | None:
    """A mark out of the journal; None for a line that was not written to its end."""
    try:
        return _Mark(**json.loads(line)) if line.endswith(b"\n") else None
    except (ValueError, TypeError):
        return None
