"""Which word of a sentence each word of its translation comes from, as cross-attention has it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ptenmt.data.batches import RaggedIds
from ptenmt.errors import DataError
from ptenmt.inspection.attention import check_number, chosen_heads, name_of
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.inspector import Inspector, Reading
from ptenmt.inspection.pictures import HeatMap
from ptenmt.inspection.words import membership, words_of
from ptenmt.tokenizers import END

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BATCH_SENTENCES = 32
WINDOW_SENTENCES = 1024


@dataclass(frozen=True, kw_only=True)
class WordAlignment:
    """Which word of a sentence each word of its translation comes from."""

    source_words: list[str]
    """M words."""
    target_words: list[str]
    """N words."""
    weights: np.ndarray
    """[N, M]: how much attention each word of the translation pays to each of the sentence. A row sums to 1
    at most; the rest goes to [START] and [END]."""
    layer: int
    """Whose cross-attention it is, counted from 1."""
    heads: str
    """Which of its heads': ``head 2``, or ``mean over the heads``."""

    @property
    def attention(self) -> str:
        """Whose it is, in words."""
        return f"decoder, layer {self.layer}: {self.heads}"

    @property
    def links(self) -> list[tuple[int, int]]:
        """Pairs of numbers, from 0: a word of the sentence, and a word of the translation that comes from it.

        Every word of the translation has one, unless nothing in it, or in the sentence, has a token.
        """
        places = [(int(row.argmax()), number) for number, row in enumerate(self.weights) if row.any()]
        return sorted(places)

    @property
    def pharaoh(self) -> str:
        """The links as ``0-0 1-2``."""
        return " ".join(f"{source}-{target}" for source, target in self.links)


def find_alignment(
    inspector: Inspector,
    text: str,
    translation: str | None = None,
    *,
    layer: int | None = None,
    head: int | Literal["mean"] = "mean",
) -> WordAlignment:
    """Align the words of a sentence and its translation.

    Args:
        inspector: Of the run.
        text: The sentence.
        translation: Its translation; by default the model's own.
        layer: Whose cross-attention, counted from 1; by default the last but one, or the only one.
        head: Which head's, counted from 1, or the mean over them.

    Raises:
        DataError: One of the texts is empty, or the model translates the sentence to nothing.
        ConfigError: There is no such layer or head.
    """
    found = next(_aligned(inspector, [inspector.read(text, translation)], layer, head))
    if not found.source_words:
        raise DataError(f"nothing is left of {text!r} to align", "give a word or more")
    if not found.target_words:
        raise DataError(f"the model translates {text!r} to nothing", "give a translation with --target")
    return found


def align_all(
    inspector: Inspector,
    texts: Sequence[str],
    translations: Sequence[str] | None = None,
    *,
    layer: int | None = None,
    head: int | Literal["mean"] = "mean",
) -> Iterator[WordAlignment]:
    """Align many sentences, in batches of similar length; for the arguments see ``find_alignment``.

    Yields:
        An alignment a sentence, in order; where there is no word, there is no link.

    Raises:
        DataError: There are not as many translations as sentences.
    """
    if translations is not None and len(translations) != len(texts):
        raise DataError(
            f"{len(texts):,} sentences have {len(translations):,} translations",
            "a line of one file belongs to the same line of the other",
        )
    for begin in range(0, len(texts), WINDOW_SENTENCES):
        window = range(begin, min(begin + WINDOW_SENTENCES, len(texts)))
        by_length = sorted(window, key=lambda row: len(texts[row]))  # or much of a batch would be padding
        found: dict[int, WordAlignment] = {}
        for first in range(0, len(by_length), BATCH_SENTENCES):
            rows = by_length[first : first + BATCH_SENTENCES]
            given = None if translations is None else [translations[row] for row in rows]
            readings = inspector.read_all([texts[row] for row in rows], given)
            found.update(zip(rows, _aligned(inspector, readings, layer, head), strict=True))
        yield from (found[row] for row in window)


def alignment_panel(found: WordAlignment) -> HeatMap:
    """What ``alignment_figure`` draws."""
    return HeatMap(
        title=f"Word alignment: rows come from columns ({found.attention})",
        values=found.weights,
        high=max(float(found.weights.max(initial=0)), 1e-6),
        row_labels=found.target_words,
        column_labels=found.source_words,
        marks=[(target, source) for source, target in found.links],
    )


def alignment_figure(
    inspector: Inspector,
    text: str,
    translation: str | None = None,
    *,
    layer: int | None = None,
    head: int | Literal["mean"] = "mean",
) -> "Figure":
    """Draw a grid: rows are words of the translation, columns those of the sentence, and links are marked.

    For arguments and errors see ``find_alignment``.
    """
    return draw([alignment_panel(find_alignment(inspector, text, translation, layer=layer, head=head))])


def _aligned(
    inspector: Inspector, readings: Sequence[Reading], layer: int | None, head: int | Literal["mean"]
) -> Iterator[WordAlignment]:
    """Align what is read, in one batch."""
    num_layers = inspector.model.config.num_layers
    layer = check_number("layer", max(num_layers - 1, 1) if layer is None else layer, num_layers)
    rows = np.arange(len(readings))
    source = RaggedIds(reading.source for reading in readings).padded(rows)
    target = RaggedIds(reading.target[:-1] for reading in readings).padded(rows)
    weights = inspector.model.attention(source, target)[name_of("cross", layer)]  # -> [B, H, T, S]
    for reading, heads in zip(readings, weights, strict=True):
        ((name, chosen),) = chosen_heads(heads, head).items()
        yield _words(inspector, reading, chosen, layer, name)


def _words(
    inspector: Inspector, reading: Reading, weights: np.ndarray, layer: int, heads: str
) -> WordAlignment:
    """Merge pieces to words: what a word's pieces get is added up, what they pay is averaged.

    Args:
        inspector: Of the run.
        reading: A sentence and its translation.
        weights: [T, S]: row t belongs to the token that is written after t have been read.
        layer: Whose they are.
        heads: Which of its heads'.
    """
    pair = inspector.tokenizers
    source, target = reading.source[1:-1], [token for token in reading.target[1:] if token != END]
    source_words, source_owners = words_of(pair.source, reading.source_text, source)
    target_words, target_owners = words_of(pair.target, reading.target_text, target)
    paid = weights[: len(target), 1 : len(source) + 1]  # without [START] and [END]
    written = membership(target_owners, len(target_words))  # -> [N, T]
    shares = written / np.maximum(written.sum(axis=1, keepdims=True), 1)
    return WordAlignment(
        source_words=source_words,
        target_words=target_words,
        weights=shares @ paid @ membership(source_owners, len(source_words)).T,
        layer=layer,
        heads=heads,
    )
