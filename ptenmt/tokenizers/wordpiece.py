"""The published Portuguese–English WordPiece tokenizer, without the TensorFlow that it was published for.

The SavedModel ``ted_hrlr_translate_pt_en_converter`` is TensorFlow Text's ``BertTokenizer`` with a vocabulary
per language. The vocabularies are read from it; the package ``tokenizers`` does the rest.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import SPECIAL_PIECES, UNK, Tokenizer, without_framing

FOLDER = "ted_hrlr_translate_pt_en_converter"
_CHECKSUMS = {
    "pt": "55c458462e8243cc00b4d2e0495faaeb931344f512de10527d6ec6ad19330eb5",
    "en": "675c8ee59d16db7ed44e7a94d198d609b77203c983326daa089d447217f043e4",
}
_MAX_WORD_LENGTH = 100
"""Characters; a longer word is [UNK]."""


class WordPieceTokenizer(Tokenizer):
    """One language of the published tokenizer, ``pt`` or ``en``; it lower-cases, and strips accents.

    ``vocabulary`` is the content of its vocabulary file, one token a line, special tokens first; ``##`` marks
    a token that continues a word.
    """

    kind = "wordpiece"
    splits_punctuation = True

    def __init__(self, language: str, vocabulary: bytes) -> None:
        super().__init__(vocabulary.decode().split("\n")[:-1], vocabulary)
        self._language = language

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's ids, without the [START] and [END] that the published model adds."""
        # A lone surrogate, which UTF-8 cannot hold, becomes a question mark.
        valid = [text.encode(errors="replace").decode() for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(valid)]

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Return each sequence's text, words and punctuation separated by spaces (``is n ' t it ?``)."""
        return [" ".join(self.pieces(ids)).replace(" ##", "") for ids in without_framing(sequences)]

    def save(self, folder: Path, side: str) -> str:  # noqa: ARG002 - named after the language
        """Write the vocabulary as ``pt_vocab.txt`` or ``en_vocab.txt``."""
        _file(folder, self._language).write_bytes(self._content)
        return self._language

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Load the languages that :meth:`save` named."""
        return [cls(language, _file(folder, language).read_bytes()) for language in names]

    @classmethod
    def load_published(cls, folder: Path, languages: Sequence[str]) -> list[Self]:
        """Load ``pt`` and ``en``, in the order wanted, of the published SavedModel, which has ``assets/``.

        Raises TokenizerError if the languages are others, or the folder does not contain that SavedModel.
        """
        if sorted(languages) != sorted(_CHECKSUMS):
            raise TokenizerError(
                f"the published tokenizer is for pt and en, not for {' and '.join(languages)}",
                hint="set tokenizer.kind: sentencepiece, which learns its sub-words from your pairs",
            )
        assets = folder / "assets"
        return [cls(language, _published(_file(assets, language), language)) for language in languages]

    @cached_property
    def _tokenizer(self) -> Any:
        """The encoder; a language that is only decoded does not need it."""
        import tokenizers

        normalizers = tokenizers.normalizers
        ids = {piece: token for token, piece in enumerate(self.vocabulary)}
        tokenizer = tokenizers.Tokenizer(
            tokenizers.models.WordPiece(
                ids, unk_token=SPECIAL_PIECES[UNK], max_input_chars_per_word=_MAX_WORD_LENGTH
            )
        )
        # TensorFlow Text's order: Unicode's NFKC_Casefold; control characters to spaces; accents off.
        # Lowercase is Casefold but for the two letters that are replaced.
        tokenizer.normalizer = normalizers.Sequence(
            [
                normalizers.NFKC(),
                normalizers.Lowercase(),
                normalizers.Replace("ß", "ss"),
                normalizers.Replace("ς", "σ"),
                normalizers.Replace(tokenizers.Regex(r"\p{Default_Ignorable_Code_Point}"), ""),
                normalizers.Replace(tokenizers.Regex(r"[\p{Cc}\p{Cf}]"), " "),
                normalizers.BertNormalizer(
                    clean_text=False, handle_chinese_chars=True, strip_accents=True, lowercase=False
                ),
            ]
        )
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        return tokenizer


def _published(file: Path, language: str) -> bytes:
    """The published vocabulary; raises TokenizerError if the file is missing or another one."""
    try:
        vocabulary = file.read_bytes()
    except OSError as error:
        raise TokenizerError(
            f"cannot read the vocabulary {file}: {error.strerror}",
            hint=f"tokenizer.path must name the unpacked folder {FOLDER}",
        ) from error
    if hashlib.sha256(vocabulary).hexdigest() != _CHECKSUMS[language]:
        raise TokenizerError(
            f"{file} is damaged, or is not the published vocabulary",
            hint="delete that folder, so that it is downloaded or copied again",
        )
    return vocabulary


def _file(folder: Path, language: str) -> Path:
    return folder / f"{language}_vocab.txt"
