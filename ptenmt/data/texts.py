"""The training pairs' text in files: read chunk by chunk, never in memory as a whole."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from ptenmt.data.files import SentencePair
from ptenmt.data.ragged import Ragged, ragged_writer

Chunk = list[SentencePair]
"""Some thousand pairs."""
Part = tuple[int, int]
"""How many pairs of one file are stored, and how often an epoch goes through them."""

_CHUNK_PAIRS = 10_000


class TextPairs:
    """Sentence pairs that :func:`write_texts` wrote, in their order of an epoch.

    Args:
        folder: Where they are.
        parts: What it returned.
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
        """The pairs of one file, once, some thousand at a time."""
        begin = sum(count for count, _ in self.parts[:part])
        end = begin + self.parts[part][0]
        for start in range(begin, end, _CHUNK_PAIRS):
            stop = min(start + _CHUNK_PAIRS, end)
            yield list(zip(_texts(self.source, start, stop), _texts(self.target, start, stop), strict=True))


def write_texts(folder: Path, parts: Iterable[tuple[Iterable[Chunk], int]]) -> list[Part]:
    """Write sentence pairs into a folder.

    Args:
        folder: An empty one.
        parts: The pairs of each file, and how often an epoch goes through them.

    Returns:
        How many pairs each file had, with the same repetition.

    Raises:
        OSError: The folder cannot be written.
    """
    written = []
    with (
        ragged_writer(folder, "source", np.uint8) as source,
        ragged_writer(folder, "target", np.uint8) as target,
    ):
        for chunks, repeat in parts:
            count = 0
            for chunk in chunks:
                source.append([text.encode() for text, _ in chunk])
                target.append([text.encode() for _, text in chunk])
                count += len(chunk)
            written.append((count, repeat))
    return written


def in_chunks(pairs: Iterable[SentencePair]) -> Iterator[Chunk]:
    """The pairs, some thousand at a time."""
    iterator = iter(pairs)
    while chunk := list(islice(iterator, _CHUNK_PAIRS)):
        yield chunk


def fingerprint(pairs: Iterable[SentencePair]) -> str:
    """The SHA-256 checksum of sentence pairs in their order, in hexadecimal."""
    checksum = hashlib.sha256()
    for source, target in pairs:
        checksum.update(f"{source}\t{target}\n".encode())
    return checksum.hexdigest()


def _rows(parts: Sequence[Part]) -> np.ndarray | None:
    """Which stored pair each pair of an epoch is, int32; None if that is itself."""
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
    """The texts of consecutive rows, which lie one after the other."""
    ends = np.cumsum(side.lengths[begin:end], dtype=np.int64).tolist()
    start = int(side.offsets[begin])
    content = side.values[start : start + ends[-1]].tobytes()
    return [content[first:last].decode() for first, last in zip([0, *ends], ends, strict=False)]
