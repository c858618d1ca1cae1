"""The Transformer and its parts, as Keras layers."""

from ptenmt.model.attention import MultiHeadAttention, causal_mask, padding_mask
from ptenmt.model.blocks import DecoderBlock, EncoderBlock
from ptenmt.model.dropout import Dropout, dropout_seed
from ptenmt.model.embedding import PositionalEmbedding, TiedProjection
from ptenmt.model.functional import functional_transformer
from ptenmt.model.loss import TokenSums, real_positions, token_sums, training_loss
from ptenmt.model.next_word import NextWordModel
from ptenmt.model.stacks import Decoder, DecoderState, Encoder, decoder_mask
from ptenmt.model.sublayers import AddAndNorm, FeedForward
from ptenmt.model.transformer import Transformer

TrainableModel = Transformer | NextWordModel
"""What predicts ``targets[:, 1:]`` from sources and ``targets[:, :-1]``."""

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
