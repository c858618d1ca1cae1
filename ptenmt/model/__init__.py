"""The Transformer and its parts, as Keras layers."""

from ptenmt.model.attention import MultiHeadAttention, causal_mask, padding_mask
from ptenmt.model.blocks import (
    AddAndNorm,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    PositionalEmbedding,
    positional_encoding,
)
from ptenmt.model.loss import TokenSums, token_sums
from ptenmt.model.transformer import Decoder, DecoderState, Encoder, Transformer, decoder_mask

__all__ = [
    "AddAndNorm",
    "Decoder",
    "DecoderBlock",
    "DecoderState",
    "Encoder",
    "EncoderBlock",
    "FeedForward",
    "MultiHeadAttention",
    "PositionalEmbedding",
    "TokenSums",
    "Transformer",
    "causal_mask",
    "decoder_mask",
    "padding_mask",
    "positional_encoding",
    "token_sums",
]
