"""The published Portuguese–English WordPiece tokenizer, without the TensorFlow that it was published for.

The SavedModel ``ted_hrlr_translate_pt_en_converter`` is a vocabulary a language, and TensorFlow Text's
``BertTokenizer``. The vocabularies are read from it; cutting into words is bert_words.py, finding the pieces
of a word is left to the package ``tokenizers``.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import SPECIAL_PIECES, UNK, Tokenizer, without_framing
from ptenmt.tokenizers.bert_words import BREAK, split_words

FOLDER = "ted_hrlr_translate_pt_en_converter"
_CHECKSUMS = {
    "pt": "55c458462e8243cc00b4d2e0495faaeb931344f512de10527d6ec6ad19330eb5",
    "en": "675c8ee59d16db7ed44e7a94d198d609b77203c983326daa089d447217f043e4",
}
"""SHA-256 of the published vocabularies."""
_ANEW = "delete that folder, so that it is downloaded or copied anew"
_LONGEST_WORD = 100
"""Bytes; what is longer is unknown."""
_CONTINUES = "##"
_CHUNKS_KEPT = 1 << 14
_LONG_TEXT = 1000
"""Characters; nothing of that length is kept."""


class WordPieceTokenizer(Tokenizer):
    """One language of the published tokenizer; it lower-cases, and strips accents.

    Args:
        language: ``pt`` or ``en``.
        vocabulary: The content of its vocabulary's file, a piece a line, special tokens first.
    """

    kind = "wordpiece"
    splits_punctuation = True

    def __init__(self, language: str, vocabulary: bytes) -> None:
        self._language = language
        self._vocabulary = vocabulary
        self._pieces = vocabulary.decode().split("\n")[:-1]
        self._ids_of_short = lru_cache(_CHUNKS_KEPT)(self._find_ids)

    @property
    def vocabulary_size(self) -> int:
        """How many pieces there are, special tokens included."""
        return len(self._pieces)

    @property
    def checksum(self) -> str:
        """The SHA-256 checksum of the vocabulary."""
        return hashlib.sha256(self._vocabulary).hexdigest()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Give each text's ids, without the [START] and [END] that the published model adds."""
        encoded = []
        for text in texts:
            find = self._ids_of_short if len(text) < _LONG_TEXT else self._ids_of_any
            encoded.append([token for chunk in text.split(" ") for token in find(chunk)])
        return encoded

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Give each sequence's text, words and punctuation apart (``is n ' t it ?``)."""
        return [
            " ".join(self.pieces(without_framing(ids))).replace(f" {_CONTINUES}", "") for ids in sequences
        ]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give the piece that each id stands for; ``##`` marks one that continues a word."""
        return [self._pieces[token] for token in ids]

    def save(self, folder: Path, side: str) -> str:  # noqa: ARG002 - named after the language
        """Write the vocabulary as ``pt_vocab.txt`` or ``en_vocab.txt``."""
        _file(folder, self._language).write_bytes(self._vocabulary)
        return self._language

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Read back the languages that :meth:`save` named; older runs hold the whole SavedModel."""
        old = folder / FOLDER / "assets"
        return [cls._read(_file(old if old.is_dir() else folder, language), language) for language in names]

    @classmethod
    def load_published(cls, folder: Path, languages: Sequence[str]) -> list[Self]:
        """Read languages of the published SavedModel.

        Args:
            folder: The folder that holds ``assets/``.
            languages: ``pt`` and ``en``, in the order wanted.

        Raises:
            TokenizerError: If it is for other languages, or the folder does not hold that SavedModel.
        """
        if sorted(languages) != sorted(_CHECKSUMS):
            raise TokenizerError(
                f"the published tokenizer is for pt and en, not for {' and '.join(languages)}",
                hint="set tokenizer.kind: sentencepiece, which learns its pieces from your pairs",
            )
        files = [_file(folder / "assets", language) for language in languages]
        for file, language in zip(files, languages, strict=True):
            if hashlib.sha256(_content(file)).hexdigest() != _CHECKSUMS[language]:
                raise TokenizerError(f"{file} is damaged, or is not the published vocabulary", _ANEW)
        return list(map(cls._read, files, languages))

    @classmethod
    def _read(cls, file: Path, language: str) -> Self:
        try:
            tokenizer = cls(language, _content(file))
        except UnicodeDecodeError as error:
            raise TokenizerError(f"{file} is damaged: {error}", _ANEW) from error
        if tuple(tokenizer._pieces[: len(SPECIAL_PIECES)]) != SPECIAL_PIECES:
            raise TokenizerError(f"{file} is damaged: it does not begin with {SPECIAL_PIECES}", _ANEW)
        return tokenizer

    def _ids_of_any(self, chunk: str) -> list[int]:
        return self._ids_of_short(chunk) if len(chunk) < _LONG_TEXT else self._find_ids(chunk)

    def _find_ids(self, chunk: str) -> list[int]:
        """The ids of what stands between two blanks; nothing reaches over a blank."""
        words = BREAK.join(map(_or_unknown, split_words(chunk)))
        ids: list[int] = self._model.encode(words).ids
        return ids

    @cached_property
    def _model(self) -> Any:
        """What finds the pieces of words; a language that is only decoded does without."""
        import tokenizers

        ids = {piece: token for token, piece in enumerate(self._pieces)}
        model = tokenizers.Tokenizer(
            tokenizers.models.WordPiece(
                ids, unk_token=SPECIAL_PIECES[UNK], max_input_chars_per_word=_LONGEST_WORD
            )
        )
        model.pre_tokenizer = tokenizers.pre_tokenizers.CharDelimiterSplit(BREAK)
        return model


def _file(folder: Path, language: str) -> Path:
    return folder / f"{language}_vocab.txt"


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise TokenizerError(
            f"cannot read the vocabulary {file}: {error.strerror}",
            hint=f"tokenizer.path must name the unpacked folder {FOLDER}",
        ) from error


def _or_unknown(word: str) -> str:
    return word if len(word.encode()) <= _LONGEST_WORD else SPECIAL_PIECES[UNK]
