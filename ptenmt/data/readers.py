r"""Readers of text files and of files of sentence pairs, plain or ``.gz``.

A line ends at ``\n`` or ``\r\n`` only: other characters that Unicode calls line ends occur inside sentences.
Text is UTF-8, with or without a byte order mark.
"""

import csv
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import IO, BinaryIO, Literal, cast

from ptenmt.config import CorpusFile
from ptenmt.errors import DataError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HINT = "save the file as UTF-8"


class Lines:
    """The lines of an open file without their ends; they can be read once.

    Args:
        file: The uncompressed bytes.
        name: The file's name in errors.
        stored: The file on disk, compressed or not; None if its size is unknown.
        skip_invalid: Read a line that is not UTF-8 as an empty one, instead of ending there.
        hint: How to fix a line that is not UTF-8.

    Attributes:
        num_invalid: Number of lines so far that were not UTF-8.
        num_bytes: Number of uncompressed bytes read so far.
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
        """Yield the next lines.

        Raises:
            DataError: The file cannot be read, or a line is not UTF-8.
        """
        with _readable(self._name):
            for number, line in enumerate(self._file, start=1):
                self.num_bytes += len(line)
                yield self._decoded(number, line)

    def expected_bytes(self) -> float | None:
        """Return the uncompressed size of the file, estimated for a compressed one; None if unknown."""
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
    """Return the status of a file that a config names.

    Raises:
        DataError: It does not exist or is not accessible; the hint explains relative paths.
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


SentencePair = tuple[str, str]
"""A sentence and its translation."""

DEMO_FILE = Path(__file__).with_name("demo.tsv.gz")
"""Written by ``tools/demo_corpus``: everyday Portuguese–English sentence pairs."""

_ENDINGS = (".tsv", ".tsv.gz", ".csv", ".csv.gz")


def demo_pairs(split: Literal["train", "validation", "test"]) -> list[SentencePair]:
    """Read a split of the bundled demo corpus: 300 pairs each for validation and test, the rest to train."""
    pairs = list(_column_pairs(DEMO_FILE))
    splits = {"validation": pairs[:300], "test": pairs[300:600], "train": pairs[600:]}
    return splits[split]


def read_pairs(file: CorpusFile) -> Iterator[SentencePair]:
    """Read a file of sentence pairs, or two aligned files.

    In ``.tsv`` a tab parts the two sentences and quotes are letters like others; in ``.csv`` a comma parts
    them and quotes work as usual. Blank lines are skipped in both. Of two aligned files every line counts,
    a blank one is an empty sentence.

    Args:
        file: Where the pairs are; its ``repeat`` plays no role here.

    Yields:
        The pairs in the file's order.

    Raises:
        DataError: The file cannot be read or is empty, or a line is not UTF-8 or not a pair of sentences.
    """
    pairs = _aligned_pairs(file) if file.path is None else _column_pairs(Path(file.path))
    is_empty = True
    for pair in pairs:
        is_empty = False
        yield pair
    if is_empty:
        names = [file.path] if file.path else [file.source, file.target]
        raise DataError(
            f"{' and '.join(map(str, names))} {'is' if file.path else 'are'} empty",
            "it needs a sentence and its translation at the least",
        )


def _column_pairs(path: Path) -> Iterator[SentencePair]:
    if not path.name.lower().endswith(_ENDINGS):
        raise DataError(
            f"{path} has an unknown ending",
            hint=f"a file of pairs ends in one of {', '.join(_ENDINGS)}; "
            "two aligned text files are given as {source: …, target: …}",
        )
    rows = _csv_rows(path) if _is_csv(path) else _tsv_rows(path)
    return (_pair(path, number, row) for number, row in rows)


def _aligned_pairs(file: CorpusFile) -> Iterator[SentencePair]:
    source, target = Path(str(file.source)), Path(str(file.target))
    lengths = [0, 0]
    for lines in zip_longest(configured_lines(source), configured_lines(target)):
        lengths = [length + (line is not None) for length, line in zip(lengths, lines, strict=True)]
        if lengths[0] == lengths[1]:
            yield lines
    if lengths[0] != lengths[1]:
        raise DataError(
            f"{source} has {lengths[0]:,} lines, but {target} has {lengths[1]:,}",
            hint="line n of one file has to be the translation of line n of the other",
        )


def _is_csv(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(".csv")


def _pair(path: Path, number: int, row: list[str]) -> SentencePair:
    if len(row) == 2:
        return row[0], row[1]
    separator = "commas" if _is_csv(path) else "tabs"
    columns = "1 column" if len(row) == 1 else f"{len(row)} columns"
    raise DataError(
        f"{path}, line {number}: {columns} instead of 2",
        hint=f"every line holds a sentence and its translation; columns are separated by {separator}",
    )


def _tsv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(configured_lines(path), start=1):
        if line.strip(" "):
            yield number, line.split("\t")


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    # To the csv module a lone \r is a broken line end, here it is a blank like others.
    reader = csv.reader((line.replace("\r", " ") + "\n" for line in configured_lines(path)), strict=True)
    first = 1
    try:
        for row in reader:
            if len(row) > 1 or "".join(row).strip():
                yield first, row
            first = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{path}, line {first}: not valid CSV: {error}",
            hint='a sentence with a comma or quotes in it stands in quotes, its own doubled: "a ""b"", c"',
        ) from error
