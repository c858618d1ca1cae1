"""Attention weights of every layer, block and head, as heat maps."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ptenmt.errors import ConfigError
from ptenmt.inspection.figures import HeatMap, Palette
from ptenmt.inspection.inspector import Inspector

Block = Literal["encoder", "self", "cross"]
"""The encoder's self-attention, the decoder's self-attention, or its cross-attention to the source."""
Head = int | Literal["all", "mean"]
"""One head, counted from 1; all of them; or their mean."""

MAX_PANELS_IN_A_ROW = 4

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

    def num_layers(self, block: Block) -> int:
        """The number of layers that have this block: those of the encoder, or of the decoder."""
        numbers = range(1, len(self.weights) + 1)
        return sum(weights_name(block, number) in self.weights for number in numbers)

    def default_layer(self, block: Block) -> int:
        """The layer that is shown first: of cross-attention the one that aligns best, otherwise the last."""
        return self.alignment_layer if block == "cross" and self.alignment_layer else self.num_layers(block)


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
        weights = inspector.next_word.attention(np.array([typed.ids]))
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
    the block is cross-attention, or the encoder's of a next-word model; the layer, counted from 1, is that of
    ``default_layer``. Raises ConfigError if there is no such block, layer or head.
    """
    block = block or ("cross" if shown.target_pieces else "encoder")
    if block != "encoder" and not shown.target_pieces:
        raise ConfigError(f"there is no block {block}: the model is an encoder alone", "--block encoder")
    owner = "encoder" if block == "encoder" else "decoder"
    layer = shown.default_layer(block) if layer is None else layer
    layer = check_number("layer", layer, shown.num_layers(block), owner)
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
    return {f"head {head}": weights[check_number("head", head, num_heads) - 1]}


def check_number(what: str, number: int, count: int, owner: str = "model") -> int:
    """Return the number of a layer or head, counted from 1; a ConfigError if its owner has no such one."""
    if not 1 <= number <= count:
        known = f"{what}s 1 to {count}" if count > 1 else f"one {what}, which is 1"
        raise ConfigError(f"there is no {what} {number}: the {owner} has {known}", f"choose with --{what}")
    return number
