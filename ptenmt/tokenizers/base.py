"""The interface of all tokenizers, and the four special tokens that they share."""

import hashlib
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar, Self

from ptenmt.config import TokenizerConfig

PAD, UNK, START, END = 0, 1, 2, 3
SPECIAL_PIECES = ("[PAD]", "[UNK]", "[START]", "[END]")
_FRAMING = frozenset((PAD, START, END))

# Control characters and white space other than the plain space; then zero-width marks, joiners, marks of
# direction, private use, and lone surrogates, which command-line arguments may contain but UTF-8 cannot.
_BLANK = re.compile(r"[\x00-\x1f\x7f-\x9f]|[^\S ]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\uf8ff]")
_MIN_SCRIPT_SHARE = 0.01
"""Of the letters in a vocabulary. Rarer scripts are those of names in other languages."""


def suppressed_ids(config: TokenizerConfig) -> list[int]:
    """Return the suppressed ids, which search never generates.

    [UNK] is allowed for a word vocabulary, where no sub-words can spell an unknown word.
    """
    return [PAD, START] if config.kind == "words" else [PAD, START, UNK]


class Tokenizer(ABC):
    """Converts the sentences of one language to ids and back.

    Ids 0 to 3 are [PAD], [UNK], [START] and [END]. No text encodes to 0, 2 or 3, not even text that
    contains the names of these tokens; :func:`frame` adds [START] and [END].
    """

    kind: ClassVar[str]
    """The tokenizer's name in ``tokenizer.kind``."""
    splits_punctuation: ClassVar[bool]
    """Whether :meth:`decode` separates words and punctuation: ``well .`` instead of ``well.``"""

    def __init__(self, vocabulary: Sequence[str], content: bytes) -> None:
        self.vocabulary = list(vocabulary)
        """The token of each id, special tokens included."""
        self._content = content

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, special tokens included."""
        return len(self.vocabulary)

    @property
    def checksum(self) -> str:
        """SHA-256 checksum in hexadecimal; equal for tokenizers that encode identically."""
        return hashlib.sha256(self._content).hexdigest()

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts of the language, such as LATIN, by the letters of the vocabulary."""
        counts: Counter[str] = Counter()
        for char, count in Counter("".join(self.vocabulary[len(SPECIAL_PIECES) :])).items():
            if char.isalpha():
                counts[script_of(char)] += count
        least = _MIN_SCRIPT_SHARE * counts.total()
        return frozenset(script for script, count in counts.items() if count >= least)

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters of the vocabulary's tokens."""
        return frozenset("".join(self.vocabulary[len(SPECIAL_PIECES) :]))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the token of each id."""
        return [self.vocabulary[token] for token in ids]

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's ids, without [START] and [END]; fastest with many texts in one call."""

    @abstractmethod
    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Return each sequence's text, without [PAD], [START] and [END], but with [UNK]."""

    @abstractmethod
    def save(self, folder: Path, side: str) -> str:
        """Write this tokenizer's files to a folder that both sides share; returns the name for :meth:`load`.

        ``side`` is ``source``, ``target`` or ``shared``.
        """

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Load the tokenizers that :meth:`save` wrote under these names; the files are intact."""


@lru_cache(maxsize=1 << 14)
def script_of(letter: str) -> str:
    """The script of a letter, such as LATIN, by its name in Unicode."""
    return unicodedata.name(letter, "").partition(" ")[0]


def clean_text(text: str) -> str:
    """Compose accents (NFC), replace white space and control characters by spaces, drop invisible marks."""
    text = unicodedata.normalize("NFC", text)
    # Printable text has no character to replace; most text is, and asking is ten times as fast.
    return text if text.isprintable() else _INVISIBLE.sub("", _BLANK.sub(" ", text))


def without_framing(sequences: Sequence[Sequence[int]]) -> list[list[int]]:
    """Remove [PAD], [START] and [END] from each sequence of ids."""
    return [[token for token in ids if token not in _FRAMING] for ids in sequences]


def frame(ids: Sequence[int], max_length: int) -> list[int]:
    """Truncation: add [START] and [END], and truncate the ids to ``max_length`` in all."""
    assert max_length >= 3, f"max_length={max_length} leaves no room for a token"
    return [START, *ids[: max_length - 2], END]


def encode_framed(tokenizer: Tokenizer, texts: Sequence[str], max_length: int) -> tuple[list[list[int]], int]:
    """Encode texts as :func:`frame` returns them; also return the number of truncated texts."""
    encoded = tokenizer.encode(texts)
    num_truncated = sum(len(ids) > max_length - 2 for ids in encoded)
    return [frame(ids, max_length) for ids in encoded], num_truncated
