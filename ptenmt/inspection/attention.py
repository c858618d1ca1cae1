"""Who attends to whom: every layer, block and head, from one pass over a sentence and its translation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ptenmt.errors import ConfigError
from ptenmt.inspection.drawing import draw
from ptenmt.inspection.inspector import Inspector, Reading
from ptenmt.inspection.pictures import HeatMap, Palette

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Block = Literal["encoder", "self", "cross"]
"""Whose attention: the encoder's to the source, the decoder's to what it wrote, or to the source."""
Head = int | Literal["all", "mean"]
"""One head, counted from 1; all of them; or their mean."""

PANELS_A_ROW = 4
_LOOKS: dict[Block, tuple[str, Palette]] = {
    "encoder": ("Encoder, layer {}: from the source to the source", "reds"),
    "self": ("Decoder, layer {}: from the translation to what is written of it", "greys"),
    "cross": ("Decoder, layer {}: from the translation to the source", "blues"),
}

_OF_WORDS = "Encoder, layer {}: from the words to the words"
"""Of a next-word model, for which nothing is a source."""


@dataclass(frozen=True, kw_only=True)
class AttentionWeights:
    """Who attends to whom in one sentence and its translation."""

    source_pieces: list[str]
    """S pieces, [START] and [END] included; of a next-word model the words alone, as they were typed."""
    target_pieces: list[str]
    """The T pieces fed to the decoder: [START], and no [END]."""
    weights: dict[str, np.ndarray]
    """``encoder_layer{i}`` [H, S, S], ``decoder_layer{i}_block1`` [H, T, T], ``…_block2`` [H, T, S]."""

    @property
    def num_layers(self) -> int:
        """Of the encoder, and of the decoder."""
        return sum(name.startswith("encoder") for name in self.weights)


def name_of(block: Block, layer: int) -> str:
    """What a layer's weights are called: ``encoder_layer1``, ``decoder_layer1_block1``, ``…_block2``."""
    if block == "encoder":
        return f"encoder_layer{layer}"
    return f"decoder_layer{layer}_block{1 if block == 'self' else 2}"


def find_attention(inspector: Inspector, text: str, translation: str | None = None) -> AttentionWeights:
    """Tell who attends to whom while the model reads a sentence and writes its translation.

    A next-word model reads words alone, of a longer text the last.

    Args:
        inspector: Of the run.
        text: The sentence.
        translation: Its translation; by default the model's own.

    Raises:
        DataError: One of them is empty.
        ConfigError: There is a translation for a model that reads words alone.
    """
    if inspector.config.task == "next-word":
        if translation is not None:
            raise ConfigError("a next-word model reads one text, and no translation", "leave out --target")
        typed = inspector.read_words(text)
        told = inspector.next_word.attention(np.array([typed.ids]))
        return AttentionWeights(
            source_pieces=typed.words,
            target_pieces=[],
            weights={name: values[0] for name, values in told.items()},
        )
    return attention_of(inspector, inspector.read(text, translation))


def attention_of(inspector: Inspector, reading: Reading) -> AttentionWeights:
    """Tell who attends to whom in what is already read (see ``find_attention``)."""
    weights = inspector.model.attention(np.array([reading.source]), np.array([reading.target[:-1]]))
    return AttentionWeights(
        source_pieces=reading.source_pieces,
        target_pieces=reading.target_pieces[:-1],
        weights={name: values[0] for name, values in weights.items()},
    )


def attention_figure(
    inspector: Inspector,
    text: str,
    translation: str | None = None,
    *,
    block: Block | None = None,
    layer: int | None = None,
    head: Head = "all",
) -> "Figure":
    """Draw a heat map a head: rows attend, columns are attended to.

    Args:
        inspector: Of the run.
        text: A sentence.
        translation: Its translation; by default the model's own.
        block: Whose attention; by default from the translation to the source, if there is one.
        layer: Counted from 1; by default the last.
        head: Which heads.

    Raises:
        DataError: One of the texts is empty.
        ConfigError: There is no such layer or head.
    """
    found = find_attention(inspector, text, translation)
    title, panels = attention_panels(found, block=block, layer=layer, head=head)
    return draw(panels, title=title, columns=PANELS_A_ROW)


def attention_panels(
    found: AttentionWeights, *, block: Block | None = None, layer: int | None = None, head: Head = "all"
) -> tuple[str, list[HeatMap]]:
    """What ``attention_figure`` draws: the title of the whole, and a heat map a head.

    Raises:
        ConfigError: There is no such block, layer or head.
    """
    block = block or ("cross" if found.target_pieces else "encoder")
    if block != "encoder" and not found.target_pieces:
        raise ConfigError(f"there is no block {block}: the model has an encoder alone", "--block encoder")
    layer = check_number("layer", found.num_layers if layer is None else layer, found.num_layers)
    title, palette = _LOOKS[block]
    rows = found.source_pieces if block == "encoder" else found.target_pieces
    columns = found.target_pieces if block == "self" else found.source_pieces
    heads = chosen_heads(found.weights[name_of(block, layer)], head)
    panels = [
        HeatMap(
            title=title_of_head,
            values=values,
            high=float(max(each.max() for each in heads.values())),
            palette=palette,
            row_labels=rows,
            column_labels=columns,
        )
        for title_of_head, values in heads.items()
    ]
    if not found.target_pieces:
        title = _OF_WORDS
    return title.format(layer), panels


def chosen_heads(weights: np.ndarray, head: Head) -> dict[str, np.ndarray]:
    """Take heads out of a layer's weights [H, T, S]: for each, or for their mean, a name and [T, S].

    Raises:
        ConfigError: There is no such head.
    """
    num_heads = len(weights)
    if head == "mean":
        return {"mean over the heads" if num_heads > 1 else "the only head": weights.mean(axis=0)}
    if head == "all":
        return {f"head {number}": values for number, values in enumerate(weights, 1)}
    return {f"head {head}": weights[check_number("head", head, num_heads) - 1]}


def check_number(what: str, number: int, count: int) -> int:
    """Refuse a layer or head that a model does not have; they are counted from 1.

    Raises:
        ConfigError: It says the range.
    """
    if not 1 <= number <= count:
        known = f"{what}s 1 to {count}" if count > 1 else f"one {what}, which is 1"
        raise ConfigError(f"there is no {what} {number}: the model has {known}", f"choose with --{what}")
    return number
