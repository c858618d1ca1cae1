"""Attention weights of every layer, block and head, and the word alignments that they give."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ptenmt.data.batches import encode_pairs
from ptenmt.data.readers import SentencePair
from ptenmt.errors import ConfigError, DataError
from ptenmt.inspection.figures import HeatMap, Palette
from ptenmt.inspection.inspector import Inspector
from ptenmt.model.ctranslate2_model import default_alignment_layer
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.translation.word_alignment import word_weights, words_of

Block = Literal["encoder", "self", "cross"]
"""The encoder's self-attention, the decoder's self-attention, or its cross-attention to the source."""
Head = int | Literal["all", "mean"]
"""One head, counted from 1; all of them; or their mean."""

MAX_PANELS_IN_A_ROW = 4
_BATCH_SENTENCES = 32
_MAX_SURE_PAIRS = 100
_MIN_SURE_WORDS = 10

_SEEN: dict[Block, tuple[str, str, Palette]] = {
    "encoder": ("Encoder self-attention", "source tokens (columns) seen from each (rows)", "reds"),
    "self": ("Decoder self-attention", "previous tokens (columns) seen when writing a token (rows)", "greys"),
    "cross": ("Decoder cross-attention", "source tokens (columns) seen when writing a token (rows)", "blues"),
}


@dataclass(frozen=True, kw_only=True)
class AttentionWeights:
    """The attention weights of one pass over a sentence and its translation."""

    source_pieces: list[str]
    """S pieces with [START] and [END]; of a next-word model the words alone, as typed."""
    target_pieces: list[str]
    """The T decoder inputs: [START] first, without [END]."""
    written_pieces: list[str]
    """The T labels: row t of the decoder's weights is computed to write ``written_pieces[t]``."""
    weights: dict[str, np.ndarray]
    """``encoder_layer{i}`` [H, S, S], ``decoder_layer{i}_block1`` [H, T, T], ``…_block2`` [H, T, S]."""
    alignment_layer: int | None = None
    """The decoder layer whose cross-attention aligns words best, counted from 1; None: unknown."""


def weights_name(block: Block, layer: int) -> str:
    """The key of a layer's weights: ``encoder_layer1``, ``decoder_layer1_block1``, ``…_block2``."""
    if block == "encoder":
        return f"encoder_layer{layer}"
    return f"decoder_layer{layer}_block{1 if block == 'self' else 2}"


def attention_weights(inspector: Inspector, text: str, translation: str | None = None) -> AttentionWeights:
    """Compute all attention weights of a sentence and its translation.

    By default the translation is the model's own. A next-word model reads words alone; of a long text it
    reads the last ones.

    Raises:
        DataError: One of them is empty.
        ConfigError: A translation is given for a next-word model.
    """
    if inspector.config.task == "translation":
        reading = inspector.read(text, translation)
        weights = inspector.model.attention(np.array([reading.source]), np.array([reading.target[:-1]]))
        source, target = reading.source_pieces, reading.target_pieces
    elif translation is None:
        typed = inspector.read_words(text)
        weights = inspector.model.attention(np.array([typed.ids]))
        source, target = typed.words, []
    else:
        raise ConfigError("a next-word model reads one text, without a translation", "leave out --target")
    return AttentionWeights(
        source_pieces=source,
        target_pieces=target[:-1],
        written_pieces=target[1:],
        weights={name: values[0] for name, values in weights.items()},
        alignment_layer=inspector.alignment_layer if target else None,
    )


def attention_panels(
    shown: AttentionWeights, *, block: Block | None = None, layer: int | None = None, head: Head = "all"
) -> tuple[str, list[HeatMap]]:
    """A title, and one heat map per head: rows attend, columns are attended to.

    A row of the decoder is labelled with the token that is written there, not the one just read. By default
    the block is cross-attention, or the encoder's of a next-word model; the layer, counted from 1, is of
    cross-attention the one that aligns best, otherwise the last. Raises ConfigError if there is no such
    block, layer or head.
    """
    block = block or ("cross" if shown.target_pieces else "encoder")
    if block != "encoder" and not shown.target_pieces:
        raise ConfigError(f"there is no block {block}: the model is an encoder alone", "--block encoder")
    owner = "encoder" if block == "encoder" else "decoder"
    numbers = range(1, len(shown.weights) + 1)
    num_layers = sum(weights_name(block, number) in shown.weights for number in numbers)
    if layer is None:
        layer = shown.alignment_layer if block == "cross" and shown.alignment_layer else num_layers
    check_number("layer", layer, num_layers, owner)
    name, seen, palette = _SEEN[block]
    if not shown.target_pieces:
        seen = seen.replace("source tokens", "words")
    heads = chosen_heads(shown.weights[weights_name(block, layer)], head)
    panels = [
        HeatMap(
            title=of_heads,
            values=values,
            high=float(max(weights.max() for weights in heads.values())),
            palette=palette,
            row_labels=shown.source_pieces if block == "encoder" else shown.written_pieces,
            column_labels=shown.target_pieces if block == "self" else shown.source_pieces,
        )
        for of_heads, values in heads.items()
    ]
    return f"{name}, layer {layer}: {seen}", panels


def chosen_heads(weights: np.ndarray, head: Head) -> dict[str, np.ndarray]:
    """Select heads of a layer's weights [H, T, S]: their names, or that of their mean, and [T, S]."""
    num_heads = len(weights)
    if head == "mean":
        return {"mean over the heads" if num_heads > 1 else "the only head": weights.mean(axis=0)}
    if head == "all":
        return {f"head {number}": values for number, values in enumerate(weights, 1)}
    check_number("head", head, num_heads)
    return {f"head {head}": weights[head - 1]}


def check_number(what: str, number: int, count: int, owner: str = "model") -> None:
    """Raise ConfigError if the owner has no layer or head of a number, counted from 1."""
    if not 1 <= number <= count:
        known = f"{what}s 1 to {count}" if count > 1 else f"one {what}, which is 1"
        raise ConfigError(f"there is no {what} {number}: the {owner} has {known}", f"choose with --{what}")


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

    @property
    def links(self) -> list[tuple[int, int]]:
        """(source word, target word), from 0: each target word with the source word it attends to most.

        A target word without tokens has no link.
        """
        return sorted((int(row.argmax()), number) for number, row in enumerate(self.weights) if row.any())


def choose_layer(trained: TrainedModel, pairs: Sequence[SentencePair]) -> int:
    """Choose the layer whose cross-attention links most sure words: names, numbers and punctuation.

    A word is sure if it stands once on both sides of one of the held-out pairs, which are in the form of the
    training corpus. All distinct words count alike, or full stops would decide. With too few of them, the
    model's depth decides.
    """
    config, tokenizers = trained.config.model, trained.tokenizers
    model: Any = trained.numpy_model
    sure_pairs = [pair for pair in pairs if _sure_words(*pair)][:_MAX_SURE_PAIRS]
    layers = range(1, config.num_decoder_layers + 1)
    hits: dict[str, list[list[bool]]] = {}  # of each word, for each time that it occurs, of each layer
    for first in range(0, len(sure_pairs), _BATCH_SENTENCES):
        batch = sure_pairs[first : first + _BATCH_SENTENCES]
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


def word_alignment(inspector: Inspector, text: str, translation: str | None = None) -> AlignedPair:
    """Align the words of a sentence and its translation, by default the model's own.

    The attention is the mean over the heads of ``TrainedModel.alignment_layer``. Raises DataError if one of
    the texts is empty, or the model's translation is.
    """
    reading = inspector.read(text, translation)
    source_words, target_words = reading.source_text.split(), reading.target_text.split()
    if not target_words:
        raise DataError(f"the model's translation of {text!r} is empty", "give a translation with --target")
    attention = inspector.model.attention(np.array([reading.source]), np.array([reading.target[:-1]]))
    of_words = word_weights(
        attention[weights_name("cross", inspector.alignment_layer)][0].mean(axis=0),
        (source_words, reading.source_pieces),
        (target_words, reading.target_pieces[1:]),  # row t is for writing token t + 1
    )
    return AlignedPair(
        source_words=source_words,
        target_words=target_words,
        weights=np.array(of_words, float),
        layer=inspector.alignment_layer,
    )


def alignment_panel(pair: AlignedPair) -> HeatMap:
    """Target words (rows) and source words (columns) with the links marked."""
    return HeatMap(
        title=f"Word alignment (decoder, layer {pair.layer}: mean over the heads)",
        values=pair.weights,
        high=max(float(pair.weights.max(initial=0)), 1e-6),
        row_name="target word",
        column_name="source word",
        row_labels=pair.target_words,
        column_labels=pair.source_words,
        marks=[(target, source) for source, target in pair.links],
    )
