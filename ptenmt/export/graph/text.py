"""Text to ids and back inside a TensorFlow graph, with TensorFlow Text.

Each class does what the tokenizer of the same kind does outside; the tests hold them against each other.
"""

import re
import string
import zlib
from collections.abc import Sequence
from typing import Any, Protocol

import tensorflow as tf
import tensorflow_text

from ptenmt.config import DataConfig
from ptenmt.data.text import lowers_typed, spacing
from ptenmt.errors import ExportError
from ptenmt.export.graph.patterns import WHITE_SPACE, WORD, single_blanks
from ptenmt.export.graph.splitting import split, split_like_treebank
from ptenmt.tokenizers import END, PAD, START, UNK, Tokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer
from ptenmt.tokenizers.wordpiece import WordPieceTokenizer
from ptenmt.tokenizers.words import WordTokenizer

_CONTROL = r"[\x00-\x1f\x7f]"
_NOT_TYPED = r"[\x00-\x1f\x7f-\x9f\x{feff}]"
_BLANK = rf"[\x00-\x1f\x7f-\x9f{WHITE_SPACE}]"
_INVISIBLE = r"[\x{ad}\x{200b}\x{200e}\x{200f}\x{2060}\x{feff}]"
_WORD = rf"({WORD}+(?:['’\-]{WORD}+)*|[^\pL\pN_ ])"
_MARKS, _BLANKED = (re.escape(marks) for marks in (string.punctuation, string.punctuation.replace("'", "")))
_SPLITTING = {
    "kept": (_WORD, r" \1 "),
    "deleted": (rf"[\pP{_MARKS}]", ""),
    "space": (f"[{_BLANKED}]", " "),
}
"""What is replaced, by what becomes of punctuation, before words are split at blanks."""


class GraphTokenizer(Protocol):
    """What a tokenizer does in a graph."""

    def encode(self, texts: Any) -> Any:
        """Give the ids of texts [B], without [START] and [END]: int64 [B, ragged]."""
        ...

    def decode(self, ids: Any) -> Any:
        """Give the texts [B] of ids [B, ragged] without [PAD], [START] and [END]."""
        ...


def graph_tokenizer(tokenizer: Tokenizer) -> "GraphTokenizer":
    """The tokenizer of a graph that does what another does outside."""
    if isinstance(tokenizer, SentencePieceTokenizer):
        return SentencePieces(tokenizer)
    if isinstance(tokenizer, WordPieceTokenizer):
        return WordPieces(tokenizer)
    if isinstance(tokenizer, WordTokenizer):
        return Words(tokenizer)
    raise ExportError(f"a graph has no tokenizer of kind {tokenizer.kind}")


def prepared(texts: Any, data: DataConfig) -> Any:
    """Prepare what a user typed in the source language, as ``TextPreparation.prepare_input`` does.

    Args:
        texts: UTF-8 strings [B]; what is not UTF-8 is replaced.
        data: The run's options.
    """
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
    texts = tf.strings.regex_replace(texts, _NOT_TYPED, " ")
    if data.normalization != "none":
        texts = tensorflow_text.normalize_utf8(texts, data.normalization)
    texts = single_blanks(tf.strings.regex_replace(texts, _CONTROL, " "))
    if spacing(data) == "given":
        texts = split_like_treebank(texts, data.source_language)
    elif spacing(data) == "moses":
        texts = split(texts, data.source_language)
    return tf.strings.lower(texts, encoding="utf-8") if lowers_typed(data) else texts


def without_framing(ids: Any) -> Any:
    """Leave [PAD], [START] and [END] out of ids [B, t] -> [B, ragged]."""
    is_text = (ids != PAD) & (ids != START) & (ids != END)
    return tf.ragged.boolean_mask(ids, is_text)


def _cleaned(texts: Any) -> Any:
    """What ``clean_text`` does."""
    texts = tensorflow_text.normalize_utf8(texts, "NFC")
    return tf.strings.regex_replace(tf.strings.regex_replace(texts, _BLANK, " "), _INVISIBLE, "")


def _all_pieces(tokenizer: Tokenizer) -> list[str]:
    return tokenizer.pieces(range(tokenizer.vocabulary_size))


def _table(pieces: Sequence[str]) -> Any:
    """From pieces to ids; what is unknown is [UNK]."""
    ids = tf.range(len(pieces), dtype=tf.int64)
    entries = tf.lookup.KeyValueTensorInitializer(tf.constant(pieces), ids)
    return tf.lookup.StaticHashTable(entries, default_value=UNK)


class SentencePieces(tf.Module):
    """See ``SentencePieceTokenizer``."""

    def __init__(self, tokenizer: SentencePieceTokenizer) -> None:
        super().__init__(name="sentencepieces")
        # Loaded models of one name are one to TensorFlow, whatever is in them, in other SavedModels too.
        name = f"sentencepiece_{zlib.crc32(tokenizer.model):08x}"
        self._tokenizer = tensorflow_text.SentencepieceTokenizer(
            model=tokenizer.model, out_type=tf.int32, name=name
        )

    def encode(self, texts: Any) -> Any:
        """See ``GraphTokenizer``."""
        return tf.cast(self._tokenizer.tokenize(_cleaned(texts)), tf.int64)

    def decode(self, ids: Any) -> Any:
        """See ``GraphTokenizer``."""
        return self._tokenizer.detokenize(tf.cast(ids, tf.int32))


class WordPieces(tf.Module):
    """See ``WordPieceTokenizer``."""

    def __init__(self, tokenizer: WordPieceTokenizer) -> None:
        super().__init__(name="wordpieces")
        self._pieces = tf.constant(_all_pieces(tokenizer))
        self._table = _table(_all_pieces(tokenizer))
        self._tokenizer = tensorflow_text.BertTokenizer(self._table, lower_case=True)

    def encode(self, texts: Any) -> Any:
        """See ``GraphTokenizer``."""
        return self._tokenizer.tokenize(texts).merge_dims(-2, -1)

    def decode(self, ids: Any) -> Any:
        """See ``GraphTokenizer``."""
        joined = tf.strings.reduce_join(tf.gather(self._pieces, ids), axis=-1, separator=" ")
        return tf.strings.regex_replace(joined, " ##", "")


class Words(tf.Module):
    """See ``WordTokenizer``."""

    def __init__(self, tokenizer: WordTokenizer) -> None:
        super().__init__(name="words")
        self._pieces = tf.constant(_all_pieces(tokenizer))
        self._table = _table(_all_pieces(tokenizer))
        self._pattern, self._replacement = _SPLITTING[tokenizer.punctuation]

    def split(self, texts: Any) -> Any:
        """The words of texts [B], and their marks where they are kept -> [B, ragged]."""
        parted = tf.strings.regex_replace(_cleaned(texts), self._pattern, self._replacement)
        return tf.strings.split(parted)

    def encode(self, texts: Any) -> Any:
        """See ``GraphTokenizer``."""
        return self._table.lookup(self.split(texts))

    def decode(self, ids: Any) -> Any:
        """See ``GraphTokenizer``."""
        return tf.strings.reduce_join(tf.gather(self._pieces, ids), axis=-1, separator=" ")
