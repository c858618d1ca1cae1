"""The Transformer and its parts, as Keras layers."""

from ptenmt.model.attention import MultiHeadAttention, causal_mask, padding_mask
from ptenmt.model.blocks import DecoderBlock, EncoderBlock
from ptenmt.model.dropout import Dropout, dropout_seed
from ptenmt.model.embedding import PositionalEmbedding, TiedProjection
from ptenmt.model.loss import TokenSums, real_positions, token_sums, training_loss
from ptenmt.model.sublayers import AddAndNorm, FeedForward
from ptenmt.model.transformer import Decoder, DecoderState, Encoder, Transformer, decoder_mask

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
    "PositionalEmbedding",
    "TiedProjection",
    "TokenSums",
    "Transformer",
    "causal_mask",
    "decoder_mask",
    "dropout_seed",
    "padding_mask",
    "real_positions",
    "token_sums",
    "training_loss",
]
