"""Tokenizers: sentences to ids and back."""

from ptenmt.tokenizers.base import (
    END as END,
    PAD as PAD,
    SPECIAL_PIECES as SPECIAL_PIECES,
    START as START,
    UNK as UNK,
    Tokenizer as Tokenizer,
    encode_framed as encode_framed,
    frame as frame,
    suppressed_ids as suppressed_ids,
)
from ptenmt.tokenizers.pair import (
    TokenizerPair as TokenizerPair,
    build_tokenizers as build_tokenizers,
    load_tokenizers as load_tokenizers,
    require_symbols as require_symbols,
    tokenizer_fingerprint as tokenizer_fingerprint,
)
