"""Next-word data: a text's words, and sliding windows over them, each with the word after it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ptenmt.config import DataConfig
from ptenmt.config.schema import Punctuation
from ptenmt.data.batches import Batch
from ptenmt.data.corpus import published_pairs
from ptenmt.data.readers import configured_lines
from ptenmt.data.text import TextPreparation
from ptenmt.errors import DataError
from ptenmt.tokenizers import PAD, START, UNK
from ptenmt.tokenizers.words import split_words


def read_prose(data: DataConfig, punctuation: Punctuation) -> list[str]:
    """Read the words of a run's text.

    Args:
        data: ``path`` names a text file, plain or ``.gz``; without one the text is the target side of the
            corpus' training pairs. ``characters`` cuts it; ``lowercase`` and ``normalization`` apply.
        punctuation: What becomes of punctuation marks.

    Raises:
        DataError: The file cannot be read or is not UTF-8, or holds no word.
    """
    prepare, language = TextPreparation(data).prepare, data.target_language
    lines = configured_lines(Path(data.path)) if data.path else _target_side(data)
    words = [
        word
        for line in _first(lines, data.characters)
        for word in split_words(prepare(line, language), punctuation)
    ]
    if not words:
        raise DataError(
            f"there is no word in {data.path or 'the corpus'}", "give a text with --set data.path=FILE"
        )
    return words


def _target_side(data: DataConfig) -> Iterator[str]:
    return (target for _, target in published_pairs(data, "train"))


def _first(lines: Iterable[str], characters: int | None) -> Iterator[str]:
    """Yield lines up to a number of characters, line ends included."""
    left = characters
    for line in lines:
        if left is None:
            yield line
            continue
        if left <= 0:
            return
        yield line[:left]
        left -= len(line) + 1


Predicts = Literal["window", "every", "last"]

TRAINING_SHARE = 4, 5
"""The share of training windows; the rest is held out."""


def split_for_windows(words: Sequence[str], window: int) -> tuple[list[str], list[str]]:
    """Split a text in two, so that each part has the windows of its split and no window is in both.

    Args:
        words: n of them, which have n - ``window`` windows, each followed by a word.
        window: W.

    Returns:
        The words of the first 80 % of the windows, rounded down, with the words after them; and of the
        others. The two share W words, which the held-out windows read and do not predict.
    """
    count = len(words) - window
    num_training = count * TRAINING_SHARE[0] // TRAINING_SHARE[1]
    return list(words[: num_training + window]), list(words[num_training:])


class WordWindows:
    """Windows of W words as sources; [START] and the words to predict as targets.

    [UNK] is read, but never to be predicted: a window that has nothing known to predict is left out. If every
    word predicts, that is one without any known label; of windows cut by lot, which keep the last for sure,
    as of the others one before an unknown word.

    Args:
        ids: Of the text's words, in their order.
        window: W.
        stride: A window begins every so many words.
        predicts: What the labels are: one a ``window``, the word after it; or one a word, the word after
            ``every`` word, or after the ``last`` alone.
        varies: Cut each window to its last words, 1 to W by lot.
    """

    def __init__(
        self,
        ids: Sequence[int],
        window: int,
        *,
        stride: int = 1,
        predicts: Predicts = "window",
        varies: bool = False,
    ) -> None:
        self._ids = np.asarray(ids, dtype=np.int64)
        self._window = window
        self._predicts = predicts
        self._varies = varies
        starts = np.arange(0, len(self._ids) - window, stride)
        first_label = starts + (1 if predicts == "every" and not varies else window)
        num_known = np.concatenate([[0], np.cumsum(self._ids != UNK)])  # before each place
        self._starts = starts[num_known[starts + window + 1] > num_known[first_label]]
        self.num_left_out = len(starts) - len(self._starts)

    def __len__(self) -> int:
        return len(self._starts)

    def longest(self) -> np.ndarray:
        """W for each window, int32 [windows]."""
        return np.full(len(self), self._window, dtype=np.int32)

    def batch(self, rows: np.ndarray, width: int | None, seed: Sequence[int]) -> Batch:  # noqa: ARG002
        """Return some windows as ids.

        Args:
            rows: Which.
            width: Of no use, since windows have one width.
            seed: What lengths drawn by lot follow from.

        Returns:
            Sources [B, W], and targets [B, 2], or [B, W + 1] if there is a label a word.
        """
        starts, window = self._starts[rows], self._window
        lengths = np.full(len(rows), window)
        if self._varies:
            lengths = np.random.default_rng(seed).integers(1, window + 1, size=len(rows))
        offsets = np.arange(window)
        places = (starts + window - lengths)[:, None] + offsets  # -> [B, W]
        is_inside = offsets < lengths[:, None]
        places = np.where(is_inside, places, 0)
        source = np.where(is_inside, self._ids[places], PAD)
        asked = is_inside if self._predicts == "every" else offsets == lengths[:, None] - 1
        labels = np.where(asked, self._ids[places + 1], PAD)
        if self._predicts == "window":
            labels = self._ids[starts + window][:, None]  # -> [B, 1]
        labels = np.where(labels == UNK, PAD, labels)
        first = np.full((len(rows), 1), START)
        return source, np.concatenate([first, labels], axis=1)

    def batches(self, windows: int) -> Iterator[Batch]:
        """Yield all windows once in batches, in the order of the text."""
        for start in range(0, len(self), windows):
            yield self.batch(np.arange(start, min(start + windows, len(self))), None, ())

    def window(self, row: int) -> tuple[list[int], int]:
        """Return the ids of a window's words, and of the word after it."""
        start = int(self._starts[row])
        *words, after = self._ids[start : start + self._window + 1].tolist()
        return words, after
