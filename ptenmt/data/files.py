"""Sentence pairs out of text files: two columns of one file, or the aligned lines of two."""

import csv
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from ptenmt.config import CorpusFile
from ptenmt.data.lines import configured_lines
from ptenmt.errors import DataError

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
