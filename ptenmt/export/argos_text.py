"""A SentencePiece model that prepares text itself, for programs that pass it what a user typed.

ptenmt prepares a text before tokenization: white space and control characters become spaces, accents are
composed, text is lower-cased if the corpus was. SentencePiece has a normalization table for that, of
characters and short sequences; ptenmt trains with an empty one.
"""

import tempfile
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ptenmt.config import DataConfig
from ptenmt.data.text import TextPreparation, lowers_typed
from ptenmt.errors import OutputError
from ptenmt.tokenizers.base import clean_text

_NO_TEXT = frozenset({"Cn", "Co", "Cs"})
"""Unicode categories: unassigned, private use, surrogates."""
_NO_FILE = b"\x1a\x02\x32\x00"
"""A message that clears the name of the table's file."""
_NEIGHBOUR = "q"
"""A letter that no accent composes with and no preparation changes."""


def with_preparation(model: bytes, data: DataConfig) -> bytes:
    """Give a SentencePiece model the run's text preparation, except for splitting off punctuation.

    Args:
        model: The model's bytes, with an empty table.
        data: The run's options.

    Raises:
        OutputError: There is no room for a temporary file.
    """
    import sentencepiece

    rules = [f"{_hexadecimal(before)}\t{_hexadecimal(after)}\n" for before, after in _rules(data)]
    try:
        with tempfile.TemporaryDirectory(prefix="ptenmt-") as folder:
            file = Path(folder) / "rules.tsv"
            file.write_text("".join(rules), encoding="ascii")
            normalizer = sentencepiece.SentencePieceNormalizer(
                rule_tsv=str(file),
                add_dummy_prefix=True,
                escape_whitespaces=True,
                remove_extra_whitespaces=True,
            )
    except OSError as error:
        raise OutputError(f"cannot write into {tempfile.gettempdir()}: {error.strerror or error}") from error
    # Concatenated Protocol Buffers messages merge; the later table wins.
    changed = model + normalizer.serialized_model_proto() + _NO_FILE
    return bytes(sentencepiece.SentencePieceProcessor(model_proto=changed).serialized_model_proto())


def _rules(data: DataConfig) -> Iterator[tuple[str, str]]:
    """Characters and sequences that preparation changes, and their replacements."""
    preparation = TextPreparation(replace(data, tokenization="none", lowercase=lowers_typed(data)))

    def prepared(text: str) -> str:
        between = f"{_NEIGHBOUR}{text}{_NEIGHBOUR}"  # spaces at the edges would be lost
        return clean_text(preparation.prepare_input(between, data.source_language))[1:-1]

    for code in range(1, 0x20000):
        character = chr(code)
        if unicodedata.category(character) in _NO_TEXT:
            continue
        for text in (character, *_decompositions(character)):
            if (after := prepared(text)) != text:
                yield text, after


def _decompositions(character: str) -> set[str]:
    """The sequences of a letter and accents that are equivalent to a character."""
    parts = unicodedata.decomposition(character)
    if not parts or parts.startswith("<"):
        return set()
    halves = "".join(chr(int(code, 16)) for code in parts.split())
    sequences = {halves, unicodedata.normalize("NFD", character)}
    return {sequence for sequence in sequences if len(sequence) > 1}


def _hexadecimal(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)
