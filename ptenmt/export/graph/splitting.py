"""Words and punctuation apart inside a TensorFlow graph: ``Moses.split`` and what stands around it.

Patterns of ``data/moses.py`` that TensorFlow understands, too, are taken as they are.
"""

import re
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from ptenmt.data.moses import Moses, moses
from ptenmt.data.moses_tables import ranges
from ptenmt.export.graph.patterns import replaced, single_blanks

_ONE_FULL_STOP = r"(?s).*[^.]\."
_NOTHING = r"[^\x00-\x{10ffff}]"


def split_like_treebank(texts: Any, language: str) -> Any:
    """What is done to what a user typed, where the corpus comes with words and punctuation apart.

    Args:
        texts: Strings [B] with single blanks.
        language: ISO 639-1 code.
    """
    parts = tf.strings.split(texts, "''")
    # Joining passes over separators behind nothing but empty strings; a blank in each of them does no harm.
    apart = parts.with_values(tf.strings.join([" ", split(parts.values, language)]))
    texts = tf.strings.reduce_join(apart, axis=-1, separator=" '' ")
    if moses(language).language == "en":
        texts = replaced(texts, r"(?i)(n) ('t)( |$)", r" \1\2\3")
        texts = replaced(texts, r"(?i)(^| )' ((?:s|m|re|ve|ll|d)(?: |$))", r"\1'\2")
    return single_blanks(texts)


def split(texts: Any, language: str) -> Any:
    """Put blanks between words and punctuation, as ``Moses.split`` does; strings [B] with single blanks."""
    rules = moses(language)
    texts = tf.strings.regex_replace(texts, f"([^{ranges(rules.staying)} ])", r" \1 ")
    texts = tf.strings.regex_replace(texts, r"\.{2,}", r" \0 ")
    texts = tf.strings.regex_replace(texts, ", ", " , ")
    for pattern, replacement in (*rules.commas, *rules.apostrophes):
        texts = tf.strings.regex_replace(texts, pattern.pattern, replacement)
    tokens = tf.strings.split(texts)
    texts = tf.strings.reduce_join(_full_stops_apart(tokens, rules), axis=-1, separator=" ")
    return tf.strings.regex_replace(texts, r"\.'$", " . ' ")


def _full_stops_apart(tokens: Any, rules: Moses) -> Any:
    """Tokens [B, ragged], with a blank before each full stop that ends a sentence."""
    flat, rows = tokens.values, tokens.value_rowids()
    is_last = rows != tf.concat([rows[1:], [-1]], axis=0)
    following = tf.where(is_last, "", tf.concat([flat[1:], [""]], axis=0))
    word = tf.strings.regex_replace(flat, r"\.$", "")
    is_word_of = tf.strings.regex_full_match
    has_letters = is_word_of(word, f"(?s).*[{ranges(rules.letters)}].*")
    stays = is_word_of(word, r"(?s).*\..*") & has_letters
    stays |= is_word_of(word, _any_of(rules.abbreviations))
    stays |= is_word_of(following, f"(?s)[{ranges(rules.lower)}].*")
    stays |= is_word_of(word, _any_of(rules.before_numbers)) & is_word_of(following, "(?s)[0-9].*")
    moves = is_word_of(flat, _ONE_FULL_STOP) & ~stays
    return tokens.with_values(tf.where(moves, tf.strings.join([word, " ."]), flat))


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words))) or _NOTHING
