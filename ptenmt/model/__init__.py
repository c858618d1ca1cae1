"""The Transformer and its parts, as Keras layers; ``numpy_transformer`` is its forward pass without Keras.

Each name is imported when it is first used, so that ``ptenmt.model.numpy_transformer`` loads no Keras.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptenmt.model.attention import MultiHeadAttention, causal_mask, padding_mask
    from ptenmt.model.blocks import DecoderBlock, EncoderBlock
    from ptenmt.model.dropout import Dropout, dropout_seed
    from ptenmt.model.embedding import PositionalEmbedding, TiedProjection
    from ptenmt.model.functional import functional_transformer
    from ptenmt.model.loss import TokenSums, real_positions, token_sums, training_loss
    from ptenmt.model.next_word import NextWordModel, TrainableModel
    from ptenmt.model.stacks import Decoder, DecoderState, Encoder, decoder_mask
    from ptenmt.model.sublayers import AddAndNorm, FeedForward
    from ptenmt.model.transformer import Transformer

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

_MODULES = (
    "attention", "blocks", "dropout", "embedding", "functional", "loss", "stacks", "sublayers", "transformer",
    "next_word",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in __all__:
        for module in (import_module(f"ptenmt.model.{each}") for each in _MODULES):
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
