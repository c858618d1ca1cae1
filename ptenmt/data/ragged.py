"""Sequences of any lengths in flat arrays, in memory or mapped from files."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

_FIELDS = ("values", "lengths", "offsets")


class Ragged:
    """Sequences behind one another in one flat array, so that millions cost no Python objects.

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
        """Map what :func:`ragged_writer` wrote under these arguments; nothing is read before it is used."""
        files = (folder / f"{name}.{field}" for field in _FIELDS)
        return Ragged(*map(_mapped, files, (dtype, np.int32, np.int64)))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> np.ndarray:
        start = int(self.offsets[row])
        return self.values[start : start + int(self.lengths[row])]

    def padded(self, rows: Sequence[int] | np.ndarray, width: int | None = None) -> np.ndarray:
        """The given sequences as int64 [B, width], padded with 0; by default as wide as the longest."""
        lengths, offsets = self.lengths[rows], self.offsets[rows]
        columns = np.arange(int(lengths.max(initial=0)) if width is None else width)
        is_inside = columns < lengths[:, None]  # -> [B, width]
        table = np.zeros(is_inside.shape, dtype=np.int64)
        table[is_inside] = self.values[(offsets[:, None] + columns)[is_inside]]
        return table


class RaggedIds(Ragged):
    """Ids in memory.

    Args:
        sequences: The ids, a sequence a sentence.
    """

    def __init__(self, sequences: Iterable[Sequence[int]]) -> None:
        rows = [np.asarray(sequence, dtype=np.int32) for sequence in sequences]
        lengths = np.array([len(row) for row in rows], dtype=np.int32)
        values = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        super().__init__(values, lengths, np.cumsum(lengths, dtype=np.int64) - lengths)


class RaggedWriter:
    """Appends sequences to the three files of :func:`ragged_writer`."""

    def __init__(self, files: Sequence[Any], dtype: DTypeLike) -> None:
        self._files = files
        self._dtype = dtype
        self._end = 0

    def append(self, sequences: Sequence[bytes] | Sequence[Sequence[int]]) -> None:
        """Write some sequences: texts as bytes, or ids."""
        lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int32)
        offsets = self._end + np.cumsum(lengths, dtype=np.int64) - lengths
        self._end += int(lengths.sum())
        for file, content in zip(self._files, (self._flat(sequences), lengths, offsets), strict=True):
            file.write(content.tobytes() if isinstance(content, np.ndarray) else content)

    def _flat(self, sequences: Sequence[Any]) -> bytes:
        if sequences and isinstance(sequences[0], bytes):
            return b"".join(sequences)
        flat = [token for sequence in sequences for token in sequence]
        return np.array(flat, dtype=self._dtype).tobytes()


@contextmanager
def ragged_writer(folder: Path, name: str, dtype: DTypeLike) -> Iterator[RaggedWriter]:
    """Write sequences one after the other into the files ``<name>.values``, ``.lengths`` and ``.offsets``.

    Raises:
        OSError: The folder cannot be written, or its disk is full.
    """
    with ExitStack() as stack:
        files = [stack.enter_context((folder / f"{name}.{field}").open("wb")) for field in _FIELDS]
        yield RaggedWriter(files, dtype)


def _mapped(file: Path, dtype: DTypeLike) -> np.ndarray:
    """A read-only array of a file's content; an empty file cannot be mapped."""
    if file.stat().st_size == 0:
        return np.empty(0, dtype)
    return np.memmap(file, dtype=dtype, mode="r")
