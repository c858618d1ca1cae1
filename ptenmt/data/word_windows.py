"""Next-word data: a text's words, and sliding windows over them, each with the word after it."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ptenmt.config import DataConfig
from ptenmt.config.schema import Punctuation
from ptenmt.data.batches import Batch
from ptenmt.data.corpus import raw_training_pairs
from ptenmt.data.readers import read_lines
from ptenmt.data.text import TextPreparation
from ptenmt.errors import DataError
from ptenmt.tokenizers import PAD, START, UNK
from ptenmt.tokenizers.words import split_words


def read_prose(data: DataConfig, punctuation: Punctuation) -> list[str]:
    """Read the words of a run's text: of ``data.path``, or the target side of the corpus' training pairs.

    ``data.characters`` limits it; ``lowercase`` and ``normalization`` apply. Raises DataError if the file
    cannot be read or is not UTF-8, or has no word.
    """
    prepare, language = TextPreparation(data).prepare, data.languages[1]
    lines = read_lines(Path(data.path)) if data.path else (target for _, target in raw_training_pairs(data))
    words = [
        word
        for line in _first(lines, data.characters or sys.maxsize)
        for word in split_words(prepare(line, language), punctuation)
    ]
    if not words:
        raise DataError(
            f"there is no word in {data.path or 'the corpus'}", "give a text with --set data.path=FILE"
        )
    return words


def _first(lines: Iterable[str], characters: int) -> Iterator[str]:
    """Yield lines up to a number of characters, line ends included."""
    for line in lines:
        if characters <= 0:
            return
        yield line[:characters]
        characters -= len(line) + 1


Predicts = Literal["window", "every", "last"]


def split_for_windows(words: Sequence[str], window: int) -> tuple[list[str], list[str]]:
    """Split a text into training and held-out words, so that no window is in both.

    n words have n - ``window`` windows that are followed by a word. The first 80% of them, rounded down, are
    for training. The parts share ``window`` words, which held-out windows contain but do not predict.
    """
    num_training = (len(words) - window) * 4 // 5
    return list(words[: num_training + window]), list(words[num_training:])


class WordWindows:
    """Windows of W words as sources; [START] and the words to predict as targets.

    [UNK] is an input, but never a label: a window without a known label is left out.

    Args:
        ids: The text's words as ids.
        window: W.
        stride: Number of words from the start of a window to the start of the next.
        predicts: The labels. ``window``: the word after it; ``every``: the word after every word; ``last``: a
            label per word, of which only the last is set.
    """

    def __init__(
        self, ids: Sequence[int], window: int, *, stride: int = 1, predicts: Predicts = "window"
    ) -> None:
        self._ids = np.asarray(ids, dtype=np.int64)
        self._window = window
        self._predicts = predicts
        starts = np.arange(0, len(self._ids) - window, stride)
        first_label = starts + (1 if predicts == "every" else window)
        num_known = np.concatenate([[0], np.cumsum(self._ids != UNK)])  # [words + 1], before each position
        self._starts = starts[num_known[starts + window + 1] > num_known[first_label]]
        self.num_left_out = len(starts) - len(self._starts)

    def __len__(self) -> int:
        return len(self._starts)

    def longest(self) -> np.ndarray:
        """W for each window, int32 [windows]."""
        return np.full(len(self), self._window, dtype=np.int32)

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:  # noqa: ARG002
        """Return windows as ids: sources [B, W], and targets [B, 2], or [B, W + 1] with a label per word.

        ``width`` is not used, since all windows have one, and neither is ``seed``.
        """
        starts = self._starts[rows]
        windows = self._ids[starts[:, None] + np.arange(self._window + 1)]  # -> [B, W + 1]
        labels = windows[:, 1:].copy()
        if self._predicts == "last":
            labels[:, :-1] = PAD
        if self._predicts == "window":
            labels = labels[:, -1:]  # -> [B, 1]
        labels[labels == UNK] = PAD
        first = np.full((len(rows), 1), START)
        return windows[:, :-1], np.concatenate([first, labels], axis=1)

    def batches(self, windows: int) -> Iterator[Batch]:
        """Yield all windows once in batches, in the order of the text."""
        for start in range(0, len(self), windows):
            yield self.batch(np.arange(start, min(start + windows, len(self))), None, ())

    def window(self, row: int) -> tuple[list[int], int]:
        """Return the ids of a window's words, and of the word after it."""
        start = int(self._starts[row])
        *words, after = self._ids[start : start + self._window + 1].tolist()
        return words, after
