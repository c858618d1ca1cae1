"""Data on disk: arrays of sequences and the text of sentence pairs, memory-mapped, and a cache of them.

An entry of the cache is a folder of files and metadata, named after a checksum of everything it was made
from. It is written whole or not at all, and made again when it is damaged.
"""

import contextlib
import functools
import hashlib
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ptenmt.atomic_files import exclusive, folder_written_whole, json_checksum, output_errors
from ptenmt.data.readers import SentencePair

logger = logging.getLogger(__name__)

_FIELDS = ("values", "lengths", "offsets")


class Ragged:
    """Sequences concatenated in one flat array, so that millions need no Python objects.

    ``values`` are all sequences' elements, [total]; ``lengths`` those of each sequence, int32 [sequences];
    ``offsets`` where each begins in ``values``, int64 [sequences], by default after the one before.
    """

    def __init__(self, values: np.ndarray, lengths: np.ndarray, offsets: np.ndarray | None = None) -> None:
        self.values = values
        self.lengths = lengths
        self.offsets = np.cumsum(lengths, dtype=np.int64) - lengths if offsets is None else offsets

    @staticmethod
    def mapped(folder: Path, name: str, dtype: DTypeLike) -> "Ragged":
        """Memory-map the files that :func:`ragged_writer` wrote with these arguments."""
        arrays = []
        for field, kind in zip(_FIELDS, (dtype, np.int32, np.int64), strict=True):
            file = folder / f"{name}.{field}"
            # Slices of a memmap are slow; an empty file cannot be mapped.
            is_empty = file.stat().st_size == 0
            arrays.append(np.empty(0, kind) if is_empty else np.asarray(np.memmap(file, kind, "r")))
        return Ragged(*arrays)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> np.ndarray:
        start = int(self.offsets[row])
        return self.values[start : start + int(self.lengths[row])]

    def padded(
        self, rows: Sequence[int] | np.ndarray | slice = slice(None), width: int | None = None
    ) -> np.ndarray:
        """Return rows, by default all, as int64 [B, width], padded with 0, by default to the longest."""
        lengths, offsets = self.lengths[rows], self.offsets[rows]
        columns = np.arange(int(lengths.max(initial=0)) if width is None else width)
        is_inside = columns < lengths[:, None]  # -> [B, width]
        table = np.zeros(is_inside.shape, dtype=np.int64)
        table[is_inside] = self.values[(offsets[:, None] + columns)[is_inside]]
        return table


Packed = tuple[np.ndarray, np.ndarray]
"""Sequences as one array, and the length of each, int32 [sequences]."""


def packed_ids(sequences: Sequence[Sequence[int]], dtype: DTypeLike) -> Packed:
    """Pack sequences of token ids."""
    values = np.fromiter(chain.from_iterable(sequences), dtype)
    return values, np.array([len(sequence) for sequence in sequences], dtype=np.int32)


class RaggedIds(Ragged):
    """Token ids in memory, a sequence per sentence."""

    def __init__(self, sequences: Iterable[Sequence[int]]) -> None:
        super().__init__(*packed_ids(list(sequences), np.int32))


def packed_texts(texts: Iterable[str]) -> Packed:
    """Pack texts as UTF-8."""
    encoded = [text.encode() for text in texts]
    lengths = np.array([len(text) for text in encoded], dtype=np.int32)
    return np.frombuffer(b"".join(encoded), np.uint8), lengths


@contextmanager
def ragged_writer(folder: Path, name: str) -> Iterator[Callable[[Packed], None]]:
    """Write sequences to ``<name>.values``, ``.lengths`` and ``.offsets``: yields what appends them."""
    end = 0

    def append(packed: Packed) -> None:
        nonlocal end
        values, lengths = packed
        offsets = end + np.cumsum(lengths, dtype=np.int64) - lengths
        end += len(values)
        for file, array in zip(files, (values, lengths, offsets), strict=True):
            file.write(array.tobytes())

    with ExitStack() as stack:
        files = [stack.enter_context((folder / f"{name}.{field}").open("wb")) for field in _FIELDS]
        yield append


Chunk = list[SentencePair]
"""A few thousand pairs."""
NumberedChunk = tuple[int, Chunk]
"""The number of a file, from 0, and some of its pairs."""
_CHUNK_PAIRS = 10_000


class TextPairs(Sequence[SentencePair]):
    """Sentence pairs that :func:`write_texts` wrote; ``checksum`` is their ``fingerprint``."""

    def __init__(self, folder: Path, sizes: Sequence[int], checksum: str) -> None:
        self.folder = folder
        self.fingerprint = checksum
        self.sizes = tuple(sizes)
        self.source = Ragged.mapped(folder, "source", np.uint8)
        self.target = Ragged.mapped(folder, "target", np.uint8)

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, row: int) -> SentencePair:  # type: ignore[override]  # no slices
        return self.source[row].tobytes().decode(), self.target[row].tobytes().decode()

    def __iter__(self) -> Iterator[SentencePair]:
        return chain.from_iterable(self.chunks())

    def chunks(self, file: int | None = None) -> Iterator[Chunk]:
        """Yield the pairs of one file, or of all, in chunks."""
        begin, end = 0, len(self)
        if file is not None:
            begin = sum(self.sizes[:file])
            end = begin + self.sizes[file]
        for start in range(begin, end, _CHUNK_PAIRS):
            stop = min(start + _CHUNK_PAIRS, end)
            yield list(zip(_texts(self.source, start, stop), _texts(self.target, start, stop), strict=True))


def write_texts(folder: Path, chunks: Iterable[NumberedChunk], num_files: int) -> TextPairs:
    """Write the pairs of several files, one after the other, to an empty folder; raises OSError."""
    sizes = [0] * num_files
    checksum = hashlib.sha256()
    with ragged_writer(folder, "source") as append_source, ragged_writer(folder, "target") as append_target:
        for number, chunk in chunks:
            append_source(packed_texts(source for source, _ in chunk))
            append_target(packed_texts(target for _, target in chunk))
            sizes[number] += len(chunk)
            checksum.update(_checked_text(chunk))
    return TextPairs(folder, sizes, checksum.hexdigest())


def in_chunks(pairs: Iterable[SentencePair]) -> Iterator[Chunk]:
    """Yield the pairs in chunks."""
    iterator = iter(pairs)
    while chunk := list(islice(iterator, _CHUNK_PAIRS)):
        yield chunk


def fingerprint(pairs: Iterable[SentencePair]) -> str:
    """Return the SHA-256 checksum of sentence pairs in order, in hexadecimal."""
    return hashlib.sha256(_checked_text(pairs)).hexdigest()


def _checked_text(pairs: Iterable[SentencePair]) -> bytes:
    """The text of pairs of which ``fingerprint`` is the checksum."""
    return "".join([f"{source}\t{target}\n" for source, target in pairs]).encode()


def _texts(side: Ragged, begin: int, end: int) -> list[str]:
    """Return the texts of consecutive rows, which are contiguous."""
    ends = np.cumsum(side.lengths[begin:end], dtype=np.int64).tolist()
    start = int(side.offsets[begin])
    content = side.values[start : start + ends[-1]].tobytes()
    return [content[first:last].decode() for first, last in zip([0, *ends], ends, strict=False)]


Build = Callable[[Path], dict[str, Any]]
"""Writes an entry's files to an empty folder; returns its metadata as JSON values."""

_ENTRY_NAME = re.compile(r"(text|tokenizer|tokens)-[0-9a-f]{32}")
_INDEX = "entry.json"
_UNUSED_DAYS = 30


@dataclass(frozen=True)
class Entry:
    """The files and metadata of an entry."""

    folder: Path
    facts: dict[str, Any]


@dataclass(frozen=True)
class CorpusCache:
    """A folder of entries that any number of processes may share.

    Entries that were not used for 30 days are removed when another is made.
    """

    folder: Path
    """Created with the first entry."""

    def find(self, kind: str, key: Any) -> Entry | None:
        """Return the entry for ``key``, if there is an intact one."""
        folder = self.folder / _name(kind, key)
        try:
            index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
            if any((folder / name).stat().st_size != size for name, size in index["files"].items()):
                return None
            entry = Entry(folder, dict(index["facts"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        with contextlib.suppress(OSError):  # a read-only cache
            os.utime(folder)
        return entry

    def entry(self, kind: str, key: Any, build: Build) -> Entry:
        """Return the entry for ``key``; build it if there is none, or raise OutputError.

        ``key`` is everything that the entry depends on, as JSON values; the program's own code is added.
        """
        if entry := self.find(kind, key):
            return entry
        folder = self.folder / _name(kind, key)
        hint = "make room or fix the permissions there, or set data.cache_dir to another folder"
        with output_errors(f"write the prepared corpus to {self.folder}", hint):
            with exclusive(self._lock(folder.name)):
                if not (entry := self.find(kind, key)):  # nor did another process build it meanwhile
                    entry = Entry(folder, _written(folder, build))
            self._remove_unused()
        return entry

    def _lock(self, name: str) -> Path:
        return self.folder / f".{name}.lock"

    def _remove_unused(self) -> None:
        """Remove unfinished entries of killed processes, and entries that were not used for long."""
        oldest = time.time() - _UNUSED_DAYS * 24 * 3600
        for path in filter(Path.is_dir, self.folder.iterdir()):
            entry = _ENTRY_NAME.search(path.name)
            if entry and (path.name != entry[0] or path.stat().st_mtime < oldest):
                with contextlib.suppress(OSError), exclusive(self._lock(entry[0]), refusal=BlockingIOError):
                    shutil.rmtree(path, ignore_errors=True)


def corpus_cache(cache_dir: str | None) -> CorpusCache:
    """Return the cache of a run; ``data.cache_dir`` None means the user's cache folder."""
    from platformdirs import user_cache_path  # not needed to look into a model

    return CorpusCache(user_cache_path("ptenmt") / "tokens" if cache_dir is None else Path(cache_dir))


def _written(folder: Path, build: Build) -> dict[str, Any]:
    if folder.exists():
        logger.warning("%s is damaged and is made again", folder)
    with folder_written_whole(folder) as new:
        facts = build(new)
        files = sorted(file for file in new.rglob("*") if file.is_file())
        index = {
            "facts": facts,
            "files": {file.relative_to(new).as_posix(): file.stat().st_size for file in files},
        }
        (new / _INDEX).write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")
    return facts


@functools.cache
def _code() -> str:
    """Checksum of the code that prepares and tokenizes, so that no entry outlives it."""
    checksum = hashlib.sha256()
    package = Path(__file__).parent.parent
    for part in ("data", "tokenizers"):
        for file in sorted((package / part).rglob("*.py")):
            checksum.update(file.read_bytes())
    return checksum.hexdigest()


def _name(kind: str, key: Any) -> str:
    return f"{kind}-{json_checksum([key, _code()])[:32]}"
