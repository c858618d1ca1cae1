"""Tokenizers: sentences to ids and back."""

from ptenmt.tokenizers.base import (
    END,
    PAD,
    SPECIAL_PIECES,
    START,
    UNK,
    Tokenizer,
    encode_framed,
    forbidden,
    frame,
)
from ptenmt.tokenizers.pair import TokenizerPair, build_tokenizers, load_tokenizers

__all__ = [
    "END",
    "PAD",
    "SPECIAL_PIECES",
    "START",
    "UNK",
    "Tokenizer",
    "TokenizerPair",
    "build_tokenizers",
    "encode_framed",
    "forbidden",
    "frame",
    "load_tokenizers",
]
