"""A text as the words that a next-word model reads."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from ptenmt.config import DataConfig
from ptenmt.config.schema import Punctuation
from ptenmt.data.lines import configured_lines
from ptenmt.data.pairs import published_pairs
from ptenmt.data.text import TextPreparation
from ptenmt.errors import DataError
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
    """The lines up to so many characters, line ends counted."""
    left = characters
    for line in lines:
        if left is None:
            yield line
            continue
        if left <= 0:
            return
        yield line[:left]
        left -= len(line) + 1
