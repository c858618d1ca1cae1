"""The Transformer and its parts, as Keras layers; ``numpy_transformer`` is its forward pass without Keras.

Each name is imported when it is first used, so that ``ptenmt.model.numpy_transformer`` loads no Keras.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptenmt.model.layers import (
        AddAndNorm,
        Dropout,
        FeedForward,
        MultiHeadAttention,
        PositionalEmbedding,
        TiedProjection,
        causal_mask,
        decoder_mask,
        dropout_seed,
        padding_mask,
    )
    from ptenmt.model.loss import TokenSums, real_positions, token_sums, training_loss
    from ptenmt.model.next_word import NextWordModel, TrainableModel
    from ptenmt.model.transformer import (
        Decoder,
        DecoderBlock,
        DecoderState,
        Encoder,
        EncoderBlock,
        Transformer,
        functional_transformer,
    )

__all__ = [
    "AddAndNorm",
    "Decoder",
    "DecoderBlock",
    "DecoderState",
    "Dropout",
    "Encoder",
    "EncoderBlock",
    "FeedForward",
    "MultiHeadAttention",
    "NextWordModel",
    "PositionalEmbedding",
    "TiedProjection",
    "TokenSums",
    "TrainableModel",
    "Transformer",
    "causal_mask",
    "decoder_mask",
    "dropout_seed",
    "functional_transformer",
    "padding_mask",
    "real_positions",
    "token_sums",
    "training_loss",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        for module in ("layers", "loss", "transformer", "next_word"):
            names = vars(import_module(f"ptenmt.model.{module}"))
            if name in names:
                return names[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
