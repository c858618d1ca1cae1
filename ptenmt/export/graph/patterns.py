"""Replacing in texts inside a TensorFlow graph, whose patterns cannot look ahead or behind."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

# The same characters as in data/text.py and tokenizers/base.py: \s and \w are ASCII's alone here.
WHITE_SPACE = r"\t-\r\x1c-\x20\x85\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
WORD = r"[\pL\pN_]"
"""A character of a word."""
DIGIT, NO_DIGIT = r"\p{Nd}", r"\P{Nd}"

Rules = Sequence[tuple[str, str]]


def single_blanks(texts: Any) -> Any:
    """Make one blank of any white space, and none of that at the edges."""
    return tf.strings.strip(tf.strings.regex_replace(texts, f"[{WHITE_SPACE}]+", " "))


def replaced(texts: Any, pattern: str, replacement: str) -> Any:
    """Replace where a pattern fits, what it only looks at included, which is put back.

    What one place looks at may be what the next one looks at too, which is then passed over: so twice.
    """
    for _ in range(2):
        texts = tf.strings.regex_replace(texts, pattern, replacement)
    return texts


def apply(rules: Rules, texts: Any) -> Any:
    """Replace one after the other; see ``replaced``."""
    for pattern, replacement in rules:
        texts = replaced(texts, pattern, replacement)
    return texts
