"""Arrays on disk: sequences of any length, and the text of sentence pairs, memory-mapped."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptenmt.data.readers import SentencePair

_FIELDS = ("values", "lengths", "offsets")


class Ragged:
    """Sequences concatenated in one flat array, so that millions need no Python objects.

    Args:
        values: All sequences' elements, [total].
        lengths: Of each sequence, int32 [sequences].
        offsets: Where each sequence begins in ``values``, int64 [sequences].
    """

    def __init__(self, values: np.ndarray, lengths: np.ndarray, offsets: np.ndarray) -> None:
        self.values = values
        self.lengths = lengths
        self.offsets = offsets

    @staticmethod
    def mapped(folder: Path, name: str, dtype: DTypeLike) -> "Ragged":
        """Memory-map the files that :func:`ragged_writer` wrote with these arguments."""
        files = (folder / f"{name}.{field}" for field in _FIELDS)
        return Ragged(*map(_mapped, files, (dtype, np.int32, np.int64)))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> np.ndarray:
        start = int(self.offsets[row])
        return self.values[start : start + int(self.lengths[row])]

    def padded(self, rows: Sequence[int] | np.ndarray, width: int | None = None) -> np.ndarray:
        """Return rows as int64 [B, width], padded with 0; the default width is that of the longest."""
        lengths, offsets = self.lengths[rows], self.offsets[rows]
        columns = np.arange(int(lengths.max(initial=0)) if width is None else width)
        is_inside = columns < lengths[:, None]  # -> [B, width]
        table = np.zeros(is_inside.shape, dtype=np.int64)
        table[is_inside] = self.values[(offsets[:, None] + columns)[is_inside]]
        return table


class RaggedIds(Ragged):
    """Token ids in memory.

    Args:
        sequences: The ids, a sequence a sentence.
    """

    def __init__(self, sequences: Iterable[Sequence[int]]) -> None:
        rows = [np.asarray(sequence, dtype=np.int32) for sequence in sequences]
        lengths = np.array([len(row) for row in rows], dtype=np.int32)
        values = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        super().__init__(values, lengths, np.cumsum(lengths, dtype=np.int64) - lengths)


@contextmanager
def ragged_writer(folder: Path, name: str, dtype: DTypeLike) -> Iterator[Callable[[Sequence[Any]], None]]:
    """Write sequences to the files ``<name>.values``, ``.lengths`` and ``.offsets``.

    Yields:
        A function that appends sequences of ids; for ``np.uint8``, texts as bytes.

    Raises:
        OSError: The folder cannot be written, or its disk is full.
    """
    end = 0

    def append(sequences: Sequence[Any]) -> None:
        nonlocal end
        if dtype is np.uint8:  # texts
            values = np.frombuffer(b"".join(sequences), dtype)
        else:
            values = np.fromiter(chain.from_iterable(sequences), dtype)
        lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int32)
        offsets = end + np.cumsum(lengths, dtype=np.int64) - lengths
        end += len(values)
        for file, array in zip(files, (values, lengths, offsets), strict=True):
            file.write(array.tobytes())

    with ExitStack() as stack:
        files = [stack.enter_context((folder / f"{name}.{field}").open("wb")) for field in _FIELDS]
        yield append


def _mapped(file: Path, dtype: DTypeLike) -> np.ndarray:
    """Map a file read-only; an empty one, which cannot be mapped, gives an empty array."""
    if file.stat().st_size == 0:
        return np.empty(0, dtype)
    return np.memmap(file, dtype=dtype, mode="r")


Chunk = list[SentencePair]
"""A few thousand pairs."""
Part = tuple[int, int]
"""The number of stored pairs of one file, and their repetitions per epoch."""

_CHUNK_PAIRS = 10_000


class TextPairs:
    """Sentence pairs that :func:`write_texts` wrote, in the order of an epoch.

    Args:
        folder: The folder that it wrote.
        parts: The parts that it returned.
        checksum: Their ``fingerprint``, if it is known.
    """

    def __init__(self, folder: Path, parts: Sequence[Part], checksum: str = "") -> None:
        self.fingerprint = checksum
        self.parts = tuple((count, repeat) for count, repeat in parts)
        self.source = Ragged.mapped(folder, "source", np.uint8)
        self.target = Ragged.mapped(folder, "target", np.uint8)
        self.rows = _rows(self.parts)

    def __len__(self) -> int:
        return sum(count * repeat for count, repeat in self.parts)

    def __getitem__(self, row: int) -> SentencePair:
        stored = row if self.rows is None else int(self.rows[row])
        return self.source[stored].tobytes().decode(), self.target[stored].tobytes().decode()

    def __iter__(self) -> Iterator[SentencePair]:
        for part, (_, repeat) in enumerate(self.parts):
            for _ in range(repeat):
                for chunk in self.chunks(part):
                    yield from chunk

    def chunks(self, part: int) -> Iterator[Chunk]:
        """Yield the pairs of one file, once, in chunks."""
        begin = sum(count for count, _ in self.parts[:part])
        end = begin + self.parts[part][0]
        for start in range(begin, end, _CHUNK_PAIRS):
            stop = min(start + _CHUNK_PAIRS, end)
            yield list(zip(_texts(self.source, start, stop), _texts(self.target, start, stop), strict=True))


def write_texts(folder: Path, parts: Iterable[tuple[Iterable[Chunk], int]]) -> list[Part]:
    """Write sentence pairs to a folder.

    Args:
        folder: An empty folder.
        parts: The pairs of each file, and their repetitions per epoch.

    Returns:
        The number of pairs of each file, and their repetitions.

    Raises:
        OSError: The folder cannot be written.
    """
    written = []
    with (
        ragged_writer(folder, "source", np.uint8) as append_source,
        ragged_writer(folder, "target", np.uint8) as append_target,
    ):
        for chunks, repeat in parts:
            count = 0
            for chunk in chunks:
                append_source([text.encode() for text, _ in chunk])
                append_target([text.encode() for _, text in chunk])
                count += len(chunk)
            written.append((count, repeat))
    return written


def in_chunks(pairs: Iterable[SentencePair]) -> Iterator[Chunk]:
    """Yield the pairs in chunks."""
    iterator = iter(pairs)
    while chunk := list(islice(iterator, _CHUNK_PAIRS)):
        yield chunk


def fingerprint(pairs: Iterable[SentencePair]) -> str:
    """Return the SHA-256 checksum of sentence pairs in order, in hexadecimal."""
    checksum = hashlib.sha256()
    for source, target in pairs:
        checksum.update(f"{source}\t{target}\n".encode())
    return checksum.hexdigest()


def _rows(parts: Sequence[Part]) -> np.ndarray | None:
    """Return the index of the stored pair for each pair of an epoch, int32; None for the identity."""
    if all(repeat == 1 for _, repeat in parts):
        return None
    ends = np.cumsum([count for count, _ in parts])
    return np.concatenate(
        [
            np.tile(np.arange(end - count, end, dtype=np.int32), repeat)
            for end, (count, repeat) in zip(ends, parts, strict=True)
        ]
    )


def _texts(side: Ragged, begin: int, end: int) -> list[str]:
    """Return the texts of consecutive rows, which are contiguous."""
    ends = np.cumsum(side.lengths[begin:end], dtype=np.int64).tolist()
    start = int(side.offsets[begin])
    content = side.values[start : start + ends[-1]].tobytes()
    return [content[first:last].decode() for first, last in zip([0, *ends], ends, strict=False)]
