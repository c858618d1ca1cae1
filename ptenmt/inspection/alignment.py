"""Word alignments from cross-attention: which source word each target word comes from."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ptenmt.data.batches import encode_pairs
from ptenmt.data.readers import SentencePair
from ptenmt.data.store import RaggedIds
from ptenmt.errors import DataError
from ptenmt.inspection.attention import check_number, chosen_heads, weights_name
from ptenmt.inspection.figures import HeatMap
from ptenmt.inspection.inspector import Inspector, Reading
from ptenmt.model.ctranslate2_model import default_alignment_layer
from ptenmt.model.numpy_transformer import NumpyTransformer
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.translation.word_alignment import word_weights, words_of

BATCH_SENTENCES = 32
BUFFER_SENTENCES = 1024
_MAX_SURE_PAIRS = 100
_MIN_SURE_WORDS = 10


@dataclass(frozen=True, kw_only=True)
class AlignedPair:
    """A sentence and its translation with the attention between their words."""

    source_words: list[str]
    """M words, separated by white space in the text as the model reads it."""
    target_words: list[str]
    """N words."""
    weights: np.ndarray
    """[N, M]: the attention of each target word to the source words. A row sums to 1, or to 0 if its word has
    no tokens or attends to none."""
    layer: int
    """The layer of the cross-attention, counted from 1."""
    heads: str
    """``head 2``, or ``mean over the heads``."""

    @property
    def origin(self) -> str:
        """The layer and heads as a text."""
        return f"decoder, layer {self.layer}: {self.heads}"

    @property
    def links(self) -> list[tuple[int, int]]:
        """(source word, target word), from 0: each target word with the source word it attends to most.

        A target word without tokens has no link.
        """
        return sorted((int(row.argmax()), number) for number, row in enumerate(self.weights) if row.any())

    @property
    def pharaoh(self) -> str:
        """The links in Pharaoh format: ``0-0 1-2``."""
        return " ".join(f"{source}-{target}" for source, target in self.links)


def choose_layer(trained: TrainedModel, pairs: Sequence[SentencePair]) -> int:
    """Choose the layer whose cross-attention links most sure words: names, numbers and punctuation.

    A word is sure if it stands once on both sides of one of the held-out pairs, which are in the form of the
    training corpus. All distinct words count alike, or full stops would decide. With too few of them, the
    model's depth decides.
    """
    config, tokenizers = trained.config.model, trained.tokenizers
    model = NumpyTransformer(config, trained.weights)
    sure_pairs = [pair for pair in pairs if _sure_words(*pair)][:_MAX_SURE_PAIRS]
    layers = range(1, config.num_decoder_layers + 1)
    hits: dict[str, list[list[bool]]] = {}  # of each word, for each time that it occurs, of each layer
    for first in range(0, len(sure_pairs), BATCH_SENTENCES):
        batch = sure_pairs[first : first + BATCH_SENTENCES]
        encoded, _ = encode_pairs(tokenizers, batch, config.max_positions)
        source, target = encoded.batch(np.arange(len(batch)), None, ())
        attention = model.attention(source, target[:, :-1])
        for row, pair in enumerate(batch):
            words = tuple(_stripped_words(text) for text in pair)
            sides = (
                (words[0], tokenizers.source.pieces(source[row].tolist())),
                (words[1], tokenizers.target.pieces(target[row, 1:].tolist())),
            )
            heads = [attention[weights_name("cross", layer)][row] for layer in layers]  # [H, T, S] each
            of_layers = [word_weights(weights.mean(axis=0), *sides) for weights in heads]
            for word in _sure_words(*pair):
                place, wanted = words[1].index(word), words[0].index(word)
                linked = [int(np.argmax(weights[place])) == wanted for weights in of_layers]
                hits.setdefault(word, []).append(linked)
    default = default_alignment_layer(config.num_decoder_layers)
    if sum(map(len, hits.values())) < _MIN_SURE_WORDS:
        return default
    shares = np.mean([np.mean(of_word, axis=0) for of_word in hits.values()], axis=0)  # [layers]
    return max(layers, key=lambda layer: (shares[layer - 1], layer == default))


def _sure_words(source: str, target: str) -> list[str]:
    """The words that stand once on both sides."""
    counts = [Counter(_stripped_words(text)) for text in (source, target)]
    return [word for word, count in counts[0].items() if count == counts[1][word] == 1]


def _stripped_words(text: str) -> list[str]:
    return [word.strip() for word in words_of(text)]


def word_alignment(
    inspector: Inspector,
    text: str,
    translation: str | None = None,
    *,
    layer: int | None = None,
    head: int | Literal["mean"] = "mean",
) -> AlignedPair:
    """Align the words of a sentence and its translation, by default the model's own.

    ``layer`` is that of the cross-attention, by default ``TrainedModel.alignment_layer``; layers and heads
    are counted from 1.

    Raises:
        DataError: One of the texts is empty, or the model's translation is.
        ConfigError: There is no such layer or head.
    """
    pair = next(_aligned(inspector, [inspector.read(text, translation)], layer, head))
    if not pair.target_words:
        raise DataError(f"the model's translation of {text!r} is empty", "give a translation with --target")
    return pair


def word_alignments(
    inspector: Inspector,
    texts: Sequence[str],
    translations: Sequence[str] | None = None,
    *,
    layer: int | None = None,
    head: int | Literal["mean"] = "mean",
) -> Iterator[AlignedPair]:
    """Align many sentences, in order, in batches of similar length; arguments as ``word_alignment``.

    An empty sentence or translation has no links. Raises DataError if the numbers of texts differ.
    """
    if translations is not None and len(translations) != len(texts):
        raise DataError(
            f"{len(texts):,} sentences have {len(translations):,} translations",
            "each line of one file must belong to the same line of the other",
        )
    for begin in range(0, len(texts), BUFFER_SENTENCES):
        buffer = range(begin, min(begin + BUFFER_SENTENCES, len(texts)))
        by_length = sorted(buffer, key=lambda row: len(texts[row]))  # less padding
        aligned: dict[int, AlignedPair] = {}
        for first in range(0, len(by_length), BATCH_SENTENCES):
            rows = by_length[first : first + BATCH_SENTENCES]
            given = None if translations is None else [translations[row] for row in rows]
            readings = inspector.read_all([texts[row] for row in rows], given)
            aligned.update(zip(rows, _aligned(inspector, readings, layer, head), strict=True))
        yield from (aligned[row] for row in buffer)


def alignment_panel(pair: AlignedPair) -> HeatMap:
    """Target words (rows) and source words (columns) with the links marked."""
    return HeatMap(
        title=f"Word alignment ({pair.origin})",
        values=pair.weights,
        high=max(float(pair.weights.max(initial=0)), 1e-6),
        row_name="target word",
        column_name="source word",
        row_labels=pair.target_words,
        column_labels=pair.source_words,
        marks=[(target, source) for source, target in pair.links],
    )


def _aligned(
    inspector: Inspector, readings: Sequence[Reading], layer: int | None, head: int | Literal["mean"]
) -> Iterator[AlignedPair]:
    num_layers = inspector.model.config.num_decoder_layers
    layer = inspector.alignment_layer if layer is None else layer
    layer = check_number("layer", layer, num_layers, "decoder")
    source = RaggedIds(reading.source for reading in readings).padded()
    target = RaggedIds(reading.target[:-1] for reading in readings).padded()
    weights = inspector.model.attention(source, target)[weights_name("cross", layer)]  # -> [B, H, T, S]
    for reading, of_heads in zip(readings, weights, strict=True):
        ((heads, chosen),) = chosen_heads(of_heads, head).items()
        source_words, target_words = reading.source_text.split(), reading.target_text.split()
        of_words = word_weights(
            chosen[: len(reading.target) - 1, : len(reading.source)],  # without padding
            (source_words, reading.source_pieces),
            (target_words, reading.target_pieces[1:]),  # row t is for writing token t + 1
        )
        yield AlignedPair(
            source_words=source_words,
            target_words=target_words,
            weights=np.array(of_words, float).reshape(len(target_words), len(source_words)),
            layer=layer,
            heads=heads,
        )
