"""A vocabulary of whole words, for small models whose every token should be readable."""

import json
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Self

from ptenmt.config.schema import Punctuation, WordOrder
from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import SPECIAL_PIECES, UNK, Tokenizer, clean_text, without_framing

_COMBINING = (
    *(range(0x300, 0x3100), range(0xA600, 0xAC00), range(0xFB00, 0xFF00), range(0x10000, 0x12000)),
    *(range(0x13400, 0x13500), range(0x16000, 0x17000), range(0x1BC00, 0x1BD00), range(0x1CF00, 0x1F000)),
    range(0xE0100, 0xE01F0),
)
"""Where Unicode has combining marks, such as the vowels of Hindi: not among Chinese or Korean signs."""
_BLANKED = str.maketrans(dict.fromkeys(string.punctuation.replace("'", ""), " "))
_OPTIONS_FILE = "words.json"


class WordTokenizer(Tokenizer):
    """Whole words as tokens; words outside the vocabulary are [UNK].

    ``punctuation`` ``kept``: each mark is a token; ``deleted``: ``I'm`` becomes ``Im``; ``space``: ASCII's
    marks except the apostrophe become spaces.
    """

    kind = "words"
    splits_punctuation = True

    def __init__(self, words: Sequence[str], punctuation: Punctuation = "kept") -> None:
        super().__init__(words, "\n".join([*words, f"\n{punctuation}"]).encode())
        self._ids = {word: token for token, word in enumerate(words)}
        self.punctuation: Punctuation = punctuation

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary_size: int,
        punctuation: Punctuation = "kept",
        order: WordOrder = "frequency",
    ) -> Self:
        """Build a vocabulary of the most frequent words; ties are broken by first appearance.

        ``vocabulary_size`` is the maximum number of words, special tokens included; ``order`` is that of ids.
        Raises TokenizerError if the texts contain no word.
        """
        counts = Counter(word for text in texts for word in split_words(text, punctuation))
        if not counts:
            raise TokenizerError(
                "the training sentences have no words to build a vocabulary from",
                hint="check data.path or data.train: does it name the text?",
            )
        frequent = [word for word, _ in counts.most_common(vocabulary_size - len(SPECIAL_PIECES))]
        if order == "appearance":
            chosen = set(frequent)
            frequent = [word for word in counts if word in chosen]
        return cls([*SPECIAL_PIECES, *frequent], punctuation)

    def split(self, text: str) -> list[str]:
        """Return a text's words and punctuation marks, one for each id of :meth:`encode`."""
        return split_words(text, self.punctuation)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's ids, without [START] and [END]."""
        return [[self._ids.get(word, UNK) for word in self.split(text)] for text in texts]

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Return each sequence's words joined by spaces; unknown ones read ``[UNK]``."""
        return [" ".join(self.pieces(ids)) for ids in without_framing(sequences)]

    def save(self, folder: Path, side: str) -> str:
        """Write the vocabulary, one word per line in the order of ids, and the handling of punctuation."""
        name = f"{side}.txt"
        (folder / name).write_bytes("".join(f"{word}\n" for word in self.vocabulary).encode())
        options = json.dumps({"punctuation": self.punctuation})
        (folder / _OPTIONS_FILE).write_text(f"{options}\n", encoding="utf-8")
        return name

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Load vocabularies that :meth:`save` wrote."""
        options = json.loads((folder / _OPTIONS_FILE).read_text(encoding="utf-8"))
        files = [(folder / name).read_bytes() for name in names]
        return [cls(content.decode().split("\n")[:-1], options["punctuation"]) for content in files]


def split_words(text: str, punctuation: Punctuation) -> list[str]:
    """Return a text's words, and its punctuation marks if they are kept."""
    text = clean_text(text)
    if punctuation == "kept":
        return word_pattern().findall(text)
    if punctuation == "space":
        return text.translate(_BLANKED).split()
    # Without Unicode's punctuation, and ASCII's symbols such as $.
    kept = (sign for sign in text if unicodedata.category(sign)[0] != "P" and sign not in string.punctuation)
    return "".join(kept).split()


@cache
def word_pattern() -> re.Pattern[str]:
    """Match a word with its inner apostrophes and hyphens (don't, disse-me), or any other single sign.

    The one definition of a word in ptenmt. A combining mark belongs to the character before it: ``re`` alone
    does not count those as part of a word.
    """
    signs = map(chr, chain(*_COMBINING))
    marks = "".join(sign for sign in signs if unicodedata.category(sign)[0] == "M")
    return re.compile(rf"\w[\w{marks}]*(?:['’\-]\w[\w{marks}]*)*|[^\w\s][{marks}]*")


def capitalized(text: str) -> str:
    """Begin each word with a capital."""
    return word_pattern().sub(lambda word: word[0][:1].upper() + word[0][1:], text)
