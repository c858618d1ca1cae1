"""What every tokenizer of ptenmt offers, and the four special tokens they share."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

from ptenmt.config import TokenizerConfig

PAD, UNK, START, END = 0, 1, 2, 3
SPECIAL_PIECES = ("[PAD]", "[UNK]", "[START]", "[END]")
_FRAMING = frozenset((PAD, START, END))

# Control characters and white space other than the plain blank; then marks without width, and lone
# surrogates, which Python's command-line arguments may hold but UTF-8 cannot.
_BLANK = re.compile(r"[\x00-\x1f\x7f-\x9f]|[^\S ]")
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff\ud800-\udfff]")


def forbidden(config: TokenizerConfig) -> list[int]:
    """Ids that no translation has.

    A sub-word tokenizer can spell every word; whole words need a way to say "one I do not know".
    """
    return [PAD, START] if config.kind == "words" else [PAD, START, UNK]


class Tokenizer(ABC):
    """Turns one language's sentences into ids and back.

    Ids 0 to 3 are [PAD], [UNK], [START] and [END]. No text encodes to 0, 2 or 3, not even text that
    spells these tokens out; :func:`frame` adds [START] and [END].
    """

    kind: ClassVar[str]
    """The tokenizer's name in ``tokenizer.kind``."""
    splits_punctuation: ClassVar[bool]
    """Whether :meth:`decode` gives words and punctuation apart: ``well .`` instead of ``well.``"""

    @property
    @abstractmethod
    def vocabulary_size(self) -> int:
        """How many ids there are, special tokens included."""

    @property
    @abstractmethod
    def checksum(self) -> str:
        """The same for tokenizers that encode alike, in hexadecimal."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Give each text's ids, without [START] and [END]; many texts in one call are fastest."""

    @abstractmethod
    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Give each sequence's text; [PAD], [START] and [END] are left out, [UNK] is shown."""

    @abstractmethod
    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give the piece that each id stands for, special tokens included."""

    @abstractmethod
    def save(self, folder: Path, side: str) -> str:
        """Write this tokenizer's files into a folder that both sides share.

        Args:
            folder: An existing folder.
            side: ``source``, ``target`` or ``shared``: what the files may be named after.

        Returns:
            The name by which :meth:`load` finds this tokenizer in that folder.
        """

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Read back the tokenizers that :meth:`save` named so.

        Raises:
            TokenizerError: If a file is missing or damaged.
        """


def clean_text(text: str) -> str:
    """Compose accents (NFC), turn white space and control characters into blanks, drop invisible marks."""
    return _INVISIBLE.sub("", _BLANK.sub(" ", unicodedata.normalize("NFC", text)))


def without_framing(ids: Sequence[int]) -> list[int]:
    """Leave out [PAD], [START] and [END]."""
    return [token for token in ids if token not in _FRAMING]


def frame(ids: Sequence[int], max_length: int) -> list[int]:
    """Put [START] and [END] around ids, cutting the ids so that at most ``max_length`` remain in all."""
    assert max_length >= 3, f"max_length={max_length} leaves no room for a token"
    return [START, *ids[: max_length - 2], END]


def encode_framed(tokenizer: Tokenizer, texts: Sequence[str], max_length: int) -> tuple[list[list[int]], int]:
    """Encode texts as the model wants them.

    Args:
        tokenizer: The texts' tokenizer.
        texts: Any number of texts.
        max_length: The most ids a sequence may have, [START] and [END] counted; 3 or more.

    Returns:
        A sequence ``[START] … [END]`` for each text, and how many of them had to be cut.
    """
    encoded = tokenizer.encode(texts)
    cut = sum(len(ids) > max_length - 2 for ids in encoded)
    return [frame(ids, max_length) for ids in encoded], cut
