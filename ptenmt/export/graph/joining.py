"""Words and punctuation together inside a TensorFlow graph: ``Moses.join``."""

from typing import Any

import tensorflow as tf

from ptenmt.data.moses_tables import character_class
from ptenmt.export.graph.patterns import single_blanks

_CHINESE = (
    r"[\x{1100}-\x{11ff}\x{2e80}-\x{a4cf}\x{a840}-\x{a87f}\x{ac00}-\x{d7af}\x{f900}-\x{faff}\x{fe30}-\x{fe4f}"
    r"\x{ff65}-\x{ffdc}\x{17000}-\x{18aff}\x{1b000}-\x{1b12f}\x{1b170}-\x{1b2ff}\x{20000}-\x{2ffff}]"
)
_CLOSING = r"[,.?!:;\\%}\])]+"
_QUOTE = "['\"„“`]+"
_DOUBLE_QUOTE = "[„“]+"


def join(texts: Any, language: str) -> Any:
    """Write words and punctuation without needless blanks, as ``Moses.join`` does.

    Args:
        texts: Strings [B]; white space is between their tokens.
        language: ISO 639-1 code; none of those that Moses joins otherwise.
    """
    tokens = _tokens(texts)
    flat = tokens.values
    before = _before(tokens)
    is_chinese = tf.strings.regex_full_match(flat, f"(?s){_CHINESE}.*")
    is_opening = tf.strings.regex_full_match(flat, rf"[(\[{{¿¡{character_class('IsSc')}]+") & ~is_chinese
    is_closing = tf.strings.regex_full_match(flat, _CLOSING)
    is_quote = tf.strings.regex_full_match(flat, _QUOTE)
    opens = is_quote & _opens(tokens, is_quote, before, language)
    sticks = is_closing | (is_quote & ~opens)
    sticks |= is_chinese & tf.strings.regex_full_match(before, f"(?s).*{_CHINESE}")
    if language == "en":
        sticks |= tf.strings.regex_full_match(flat, f"(?s)'[{character_class('IsAlpha')}].*")
    sticks |= _before(tokens.with_values(tf.where(is_opening | opens, "(", "-"))) == "("
    sticks |= before == ""
    parts = tf.where(sticks, flat, tf.strings.join([" ", flat]))
    return tf.strings.reduce_join(tokens.with_values(parts), axis=-1)


def _tokens(texts: Any) -> Any:
    """The tokens of texts, [B, ragged]; those that ``@-@`` stands between are joined by a hyphen."""
    texts = tf.strings.join([" ", single_blanks(texts), " "])
    return tf.strings.split(tf.strings.regex_replace(texts, " @-@ ", "-"))


def _before(tokens: Any) -> Any:
    """For each of the tokens [B, ragged], flat, the one before it; the first has an empty one."""
    flat, rows = tokens.values, tokens.value_rowids()
    is_first = rows != tf.concat([[-1], rows[:-1]], axis=0)
    return tf.where(is_first, "", tf.concat([[""], flat[:-1]], axis=0))


def _opens(tokens: Any, is_quote: Any, before: Any, language: str) -> Any:
    """Which quotes open, flat: quotes of a kind open and close in turn."""
    flat = tokens.values
    kind = tf.where(tf.strings.regex_full_match(flat, _DOUBLE_QUOTE), '"', flat)
    quotes, numbers = tf.unique(tf.where(is_quote, kind, ""))
    is_of_kind = tf.one_hot(numbers, tf.size(quotes), on_value=True, off_value=False) & is_quote[:, None]
    after_s = (flat == "'") & tf.strings.regex_full_match(before, "(?s).*s")  # the doctors' idea
    if language != "en":
        after_s = tf.zeros_like(after_s)
    steps = (_columns(tokens, is_of_kind), _columns(tokens, after_s[:, None]))
    first = tf.zeros([tokens.nrows(), tf.size(quotes)], tf.bool)

    def turn(state: Any, step: Any) -> Any:
        opened, _ = state
        is_now, is_exempt = step
        opens = is_now & ~opened & ~is_exempt
        return (opened & ~is_now) | opens, opens

    _, opens = tf.scan(turn, steps, (first, first))  # -> [T + 1, B, Q]
    columns = tf.transpose(tf.reduce_any(opens, axis=-1))  # -> [B, T + 1]
    return tf.RaggedTensor.from_tensor(columns, lengths=tokens.row_lengths()).values


def _columns(tokens: Any, flat: Any) -> Any:
    """What is known of each of the tokens, [N, Q], a token of every text at a time: [T + 1, B, Q].

    Nothing is known of the last ones: they are there because no scan goes over nothing.
    """
    columns = tf.RaggedTensor.from_row_splits(flat, tokens.row_splits).to_tensor(False)
    return tf.pad(tf.transpose(columns, [1, 0, 2]), [[0, 1], [0, 0], [0, 0]])
