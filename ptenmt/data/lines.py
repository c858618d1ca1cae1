r"""The lines of text files, plain or packed.

A line ends at ``\n`` or ``\r\n`` and nowhere else: the other characters that Unicode calls line ends occur
inside sentences. Text is UTF-8, with or without a byte order mark; ``.gz`` files are unpacked on the way.
"""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from ptenmt.errors import DataError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HINT = "save the file as UTF-8"


class Lines:
    """The lines of an open file, without their ends; they can be read once.

    Args:
        file: Gives bytes, unpacked.
        name: By which it goes in errors.
        stored: The file as it lies on the disk, packed or not; None if nobody knows how long it is.
        skip_invalid: Read a line that is not UTF-8 as an empty one, instead of ending there.
        hint: How to mend a line that is not UTF-8.

    Attributes:
        num_invalid: How many lines so far were not UTF-8.
        num_bytes: How many bytes, unpacked, were read so far.
    """

    def __init__(
        self,
        file: IO[bytes],
        name: str,
        *,
        stored: IO[bytes] | None = None,
        skip_invalid: bool = False,
        hint: str = _HINT,
    ) -> None:
        self._file, self._name, self._stored = file, name, stored
        self._skip_invalid, self._hint = skip_invalid, hint
        self.num_invalid = self.num_bytes = 0

    def __iter__(self) -> Iterator[str]:
        """Read on.

        Raises:
            DataError: The file cannot be read, or a line is not UTF-8.
        """
        with _readable(self._name):
            for number, line in enumerate(self._file, start=1):
                self.num_bytes += len(line)
                yield self._decoded(number, line)

    def expected_bytes(self) -> float | None:
        """How many bytes the whole file has, unpacked; of a packed one, an estimate. None: nobody knows."""
        if self._stored is None:
            return None
        size, position = os.fstat(self._stored.fileno()).st_size, self._stored.tell()
        return self.num_bytes * size / position if position else None

    def _decoded(self, number: int, line: bytes) -> str:
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        try:
            return line.removesuffix(b"\n").removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            self.num_invalid += 1
            if self._skip_invalid:
                return ""
            raise DataError(
                f"{self._name}, line {number}: byte {error.start + 1} is not valid UTF-8",
                hint=self._hint,
            ) from error


@contextmanager
def opened_lines(path: Path, *, skip_invalid: bool = False, hint: str = _HINT) -> Iterator[Lines]:
    """Open a text file, plain or ``.gz``.

    Args:
        path: Where it is; a pipe will do.
        skip_invalid: See ``Lines``.
        hint: See ``Lines``.

    Raises:
        DataError: It cannot be opened.
    """
    with ExitStack() as stack:
        with _readable(str(path)):
            stored = stack.enter_context(path.open("rb"))
        is_file = stat.S_ISREG(os.fstat(stored.fileno()).st_mode)
        file: IO[bytes] = stored
        if path.suffix.lower() == ".gz":
            file = _unpacked(stored)
        known = stored if is_file else None
        yield Lines(file, str(path), stored=known, skip_invalid=skip_invalid, hint=hint)


def read_lines(path: Path) -> Iterator[str]:
    """Read the lines of a text file, plain or ``.gz``, without their ends.

    Raises:
        DataError: The file cannot be read, or a line is not UTF-8.
    """
    with opened_lines(path) as lines:
        yield from lines


def configured_lines(path: Path) -> Iterator[str]:
    """Read the lines of a file that a config names.

    Raises:
        DataError: See ``read_lines``, and ``status``.
    """
    status(path)
    yield from read_lines(path)


def status(path: Path) -> os.stat_result:
    """What the file system says of a file that a config names.

    Raises:
        DataError: It is not there, or nobody may know; with what a config's paths are relative to.
    """
    try:
        return path.stat()
    except OSError as error:
        raise DataError(
            f"cannot read {path}: {error.strerror or error}",
            "a config's paths are relative to the folder in which ptenmt is run; data.path may be beside the "
            "config, too",
        ) from error


def _unpacked(stored: BinaryIO) -> BinaryIO:
    # GzipFile's own lines are slow, a buffer's are not.
    return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=stored)))


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "give a file, not a folder" if isinstance(error, IsADirectoryError) else ""
        raise DataError(f"cannot read {name}: {reason}", hint) from error
