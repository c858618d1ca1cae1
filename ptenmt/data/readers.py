r"""Readers of text files and of files of sentence pairs, plain or ``.gz``.

A line ends at ``\n`` or ``\r\n`` only: other characters that Unicode calls line ends occur inside sentences.
Text is UTF-8, with or without a byte order mark.
"""

import gzip
import io
import os
import select
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Literal, cast

from ptenmt.config import CorpusFile
from ptenmt.errors import DataError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HINT = "save the file as UTF-8 (iconv -f latin1 -t utf-8); a compressed one needs a name that ends in .gz"
_CHUNK = 1 << 16


class Lines:
    """The lines of an open file without their line feeds; they can be read once.

    Errors have the ``name`` of the file. ``stored`` is the file on disk, compressed or not; None if its size
    is unknown. ``num_bytes`` counts the uncompressed bytes read.
    """

    def __init__(
        self, file: io.BufferedIOBase, name: str, *, stored: io.BufferedIOBase | None = None
    ) -> None:
        self._file, self._name, self._stored = file, name, stored
        self.num_bytes = self._num_read = self._num_ready = 0
        self._lines = self._read()

    def __iter__(self) -> Iterator[str]:
        """The lines that are left."""
        return self

    def __next__(self) -> str:
        """The next line; raises DataError if the file cannot be read, or the line is not UTF-8."""
        return next(self._lines)

    def _read(self) -> Iterator[str]:
        with _readable(self._name):
            for number, line in enumerate(self._split(), start=1):
                self.num_bytes += len(line)
                yield self._decoded(number, line)

    def has_more(self, seconds: float) -> bool:
        """Whether a next line, or the end of the file, comes within some seconds; of a pipe it may not."""
        if self._num_ready:
            return True
        if os.name == "nt":  # it cannot wait for a pipe
            return not self._file.isatty()
        try:
            return bool(select.select([self._file], [], [], seconds)[0])
        except io.UnsupportedOperation:  # bytes in memory
            return True

    def _split(self) -> Iterator[bytes]:
        """Lines with their ends as they arrive: a BufferedReader does not tell how many it still has."""
        begun: list[bytes] = []
        while chunk := self._file.read1(_CHUNK):
            self._num_read += len(chunk)
            first, *others = chunk.split(b"\n")
            begun.append(first)
            self._num_ready = len(others)
            for part in others:
                self._num_ready -= 1
                yield b"".join([*begun, b"\n"])
                begun = [part]
        if rest := b"".join(begun):
            yield rest

    def expected_bytes(self) -> float | None:
        """Return the uncompressed size of the file, estimated for a compressed one; None if unknown."""
        if self._stored is None:
            return None
        size, position = os.fstat(self._stored.fileno()).st_size, self._stored.tell()
        return self._num_read * size / position if position else None

    def _decoded(self, number: int, line: bytes) -> str:
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            if has_many_zeros(line):
                raise DataError(f"{self._name} is not UTF-8 but UTF-16, or no text", _HINT)
        try:
            return line.removesuffix(b"\n").decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self._name}, line {number}: byte {error.start + 1} is not valid UTF-8", _HINT
            ) from error


def has_many_zeros(content: bytes) -> bool:
    """Whether a third of the bytes are zero, as in UTF-16 of Latin letters: it is no text in UTF-8."""
    return 3 * content.count(0) > len(content) + 3


@contextmanager
def opened_lines(path: Path) -> Iterator[Lines]:
    """Open a text file, plain or ``.gz``, a pipe, or standard input (``-``); raises DataError."""
    if str(path) == "-":
        if sys.stdin is None:
            raise DataError("cannot read standard input: it is closed", "give a file")
        yield Lines(cast(io.BufferedIOBase, sys.stdin.buffer), "standard input")
        return
    with _readable(str(path)):
        stored = path.open("rb")
    with stored:
        file: io.BufferedIOBase = stored
        if path.suffix.lower() == ".gz":  # GzipFile's own lines are slow, a buffer's are not
            file = io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=stored)))
        is_regular = stat.S_ISREG(os.fstat(stored.fileno()).st_mode)
        yield Lines(file, str(path), stored=stored if is_regular else None)


def read_lines(path: Path) -> Iterator[str]:
    """Read the lines of a text file, plain or ``.gz``, without their ends; errors as of :class:`Lines`."""
    with opened_lines(path) as lines:
        for line in lines:
            yield line.removesuffix("\r")


def status(path: Path) -> os.stat_result:
    """Return the status of a file; raises DataError if it does not exist or is not accessible."""
    with _readable(str(path)):
        return path.stat()


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        hint = ""
        if isinstance(error, IsADirectoryError):
            hint = "give a file, not a folder"
        elif isinstance(error, FileNotFoundError):
            hint = "relative paths start at the folder in which ptenmt is run, or at that of the config"
        raise DataError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}", hint) from error


SentencePair = tuple[str, str]

DEMO_FILE = Path(__file__).with_name("demo.tsv.gz")
"""Everyday Portuguese–English sentence pairs; the README beside the file says how they were made."""

_ONE_LINE = str.maketrans("\t\n\r", "   ")


def demo_pairs(split: Literal["train", "validation", "test"]) -> list[SentencePair]:
    """Read a split of the bundled demo corpus: 300 pairs each for validation and test, the rest to train."""
    pairs = list(_column_pairs(DEMO_FILE))
    return {"validation": pairs[:300], "test": pairs[300:600], "train": pairs[600:]}[split]


def read_pairs(file: CorpusFile) -> Iterator[SentencePair]:
    """Read a file of sentence pairs, or two aligned files, in order.

    A file of pairs has a tab between the two sentences, and quotes are ordinary characters. Blank lines are
    skipped. A number in a third column, the score of the pair, is not read. In two aligned files every line
    counts: a blank one is an empty sentence.

    Raises:
        DataError: The file cannot be read or is empty, or a line is not UTF-8 or not a pair of sentences.
    """
    pairs = _aligned_pairs(file) if file.path is None else _column_pairs(Path(file.path))
    first = next(pairs, None)
    if first is None:
        names = f"{file.path} is" if file.path else f"{file.source} and {file.target} are"
        raise DataError(f"{names} empty", "give at least one sentence and its translation")
    yield first
    yield from pairs


def _column_pairs(path: Path) -> Iterator[SentencePair]:
    if not path.name.lower().endswith((".tsv", ".tsv.gz")):
        raise DataError(
            f"{path} has an unknown ending",
            hint="a file of pairs ends in .tsv or .tsv.gz, and has a tab between the sentences; "
            "two aligned text files are given as {source: …, target: …}",
        )
    for number, line in enumerate(read_lines(path), start=1):
        row = line.split("\t")
        if _is_pair(row):
            yield row[0], row[1]
        elif line.strip(" "):
            columns = "1 column" if len(row) == 1 else f"{len(row)} columns"
            raise DataError(
                f"{path}, line {number}: {columns} instead of 2",
                hint="every line holds a sentence and its translation, or these and a score; columns are "
                "separated by tabs",
            )


def tsv_line(*columns: str) -> str:
    """A line of a ``.tsv`` file; tabs and line ends in a column become spaces."""
    return "\t".join(column.translate(_ONE_LINE) for column in columns) + "\n"


def _is_pair(row: Sequence[str]) -> bool:
    """Whether a row has two columns, or a score in a third."""
    try:
        return len(row) == 2 or (len(row) == 3 and float(row[2]) is not None)
    except ValueError:
        return False


def _aligned_pairs(file: CorpusFile) -> Iterator[SentencePair]:
    source, target = Path(str(file.source)), Path(str(file.target))
    lengths = [0, 0]
    for lines in zip_longest(read_lines(source), read_lines(target)):
        lengths = [length + (line is not None) for length, line in zip(lengths, lines, strict=True)]
        if lengths[0] == lengths[1]:
            yield lines
    if lengths[0] != lengths[1]:
        raise DataError(
            f"{source} has {lengths[0]:,} lines, but {target} has {lengths[1]:,}",
            hint="line n of one file has to be the translation of line n of the other",
        )
