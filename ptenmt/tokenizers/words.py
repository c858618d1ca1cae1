"""A vocabulary of whole words, for small runs whose every token one wants to read."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import SPECIAL_PIECES, UNK, Tokenizer, clean_text, without_framing

# A word keeps its inner apostrophes and hyphens (don't, disse-me); any other mark stands alone.
_WORD = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")


class WordTokenizer(Tokenizer):
    """Words and punctuation marks as tokens; what is not in the vocabulary is [UNK].

    Args:
        words: The vocabulary by id, special tokens first.
    """

    kind = "words"
    splits_punctuation = True

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._ids = {word: token for token, word in enumerate(self._words)}

    @classmethod
    def train(cls, texts: Iterable[str], *, vocabulary_size: int) -> Self:
        """Take the most frequent words, those seen first before others as frequent.

        Args:
            texts: The training sentences of one language, or of both.
            vocabulary_size: The most words, special tokens included.

        Raises:
            TokenizerError: If the texts hold no word.
        """
        counts = Counter(word for text in texts for word in cls.split(text))
        if not counts:
            raise TokenizerError(
                "the training sentences hold no words to build a vocabulary from",
                hint="check the data section: is the text where data.path or data.train says?",
            )
        frequent = counts.most_common(vocabulary_size - len(SPECIAL_PIECES))
        return cls([*SPECIAL_PIECES, *(word for word, _ in frequent)])

    @staticmethod
    def split(text: str) -> list[str]:
        """Give a text's words and punctuation marks, one for each id that :meth:`encode` gives."""
        return _WORD.findall(clean_text(text))

    @property
    def vocabulary_size(self) -> int:
        """How many words there are, special tokens included."""
        return len(self._words)

    @property
    def checksum(self) -> str:
        """The SHA-256 checksum of the words in their order."""
        return hashlib.sha256("\n".join(self._words).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Give each text's ids, without [START] and [END]."""
        return [[self._ids.get(word, UNK) for word in self.split(text)] for text in texts]

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Give each sequence's words joined by blanks; unknown ones read ``[UNK]``."""
        return [" ".join(self.pieces(without_framing(ids))) for ids in sequences]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give the word that each id stands for."""
        return [self._words[token] for token in ids]

    def save(self, folder: Path, side: str) -> str:
        """Write the vocabulary, a word a line in the order of the ids."""
        name = f"{side}.txt"
        (folder / name).write_bytes("".join(f"{word}\n" for word in self._words).encode())
        return name

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Read back vocabularies that :meth:`save` wrote."""
        return [cls._read(folder / name) for name in names]

    @classmethod
    def _read(cls, path: Path) -> Self:
        try:
            words = path.read_bytes().decode().split("\n")[:-1]
        except (OSError, UnicodeDecodeError) as error:
            raise TokenizerError(f"cannot read the vocabulary {path}: {error}") from error
        if tuple(words[: len(SPECIAL_PIECES)]) != SPECIAL_PIECES:
            raise TokenizerError(f"{path} is not a vocabulary: it does not begin with {SPECIAL_PIECES}")
        return cls(words)
