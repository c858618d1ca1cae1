"""The published Portuguese–English WordPiece tokenizer, a TensorFlow SavedModel."""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import SPECIAL_PIECES, Tokenizer, without_framing

_FOLDER = "ted_hrlr_translate_pt_en_converter"
_LANGUAGES = ("pt", "en")
_BATCH = 4096
_FILES = (
    "saved_model.pb",
    "variables/variables.index",
    "assets/pt_vocab.txt",
    "assets/en_vocab.txt",
)
_METHODS = ("tokenize", "detokenize", "vocab")
_Item = TypeVar("_Item")


class WordPieceTokenizer(Tokenizer):
    """One language of the published tokenizer; it lower-cases, and strips accents.

    Args:
        folder: The SavedModel's folder, copied when the tokenizer is saved.
        language: The member, ``pt`` or ``en``.
        member: That member of the loaded SavedModel.
    """

    kind = "wordpiece"
    splits_punctuation = True

    def __init__(self, folder: Path, language: str, member: Any) -> None:
        self._folder = folder
        self._language = language
        self._member = member
        self._pieces = [piece.decode() for piece in member.vocab.numpy().tolist()]

    @property
    def vocabulary_size(self) -> int:
        """How many pieces there are, special tokens included."""
        return len(self._pieces)

    @property
    def checksum(self) -> str:
        """The SHA-256 checksum of the SavedModel's files and the language."""
        checksum = hashlib.sha256(self._language.encode())
        for name in _FILES:
            checksum.update((self._folder / name).read_bytes())
        return checksum.hexdigest()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Give each text's ids, without the [START] and [END] that the published model adds."""
        return [ids for batch in _batches(texts) for ids in self._encode(batch)]

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Give each sequence's text, words and punctuation apart (``is n ' t it ?``)."""
        return [text for batch in _batches(sequences) for text in self._decode(batch)]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Give the piece that each id stands for; ``##`` marks one that continues a word."""
        return [self._pieces[token] for token in ids]

    def save(self, folder: Path, side: str) -> str:  # noqa: ARG002 - both sides are in one SavedModel
        """Copy the SavedModel, unless the other side has done so."""
        copy = folder / _FOLDER
        if not copy.exists():
            _copy_files(self._folder, copy)
        return self._language

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Read back the members that :meth:`save` named."""
        return cls.load_published(folder / _FOLDER, names)

    @classmethod
    def load_published(cls, folder: Path, languages: Sequence[str]) -> list[Self]:
        """Load members of the published SavedModel.

        Args:
            folder: The folder that holds ``saved_model.pb``.
            languages: ``pt`` and ``en``, in the order wanted.

        Raises:
            TokenizerError: If it is for other languages, if TensorFlow Text is not installed, or if
                the folder does not hold that SavedModel.
        """
        if sorted(languages) != sorted(_LANGUAGES):
            raise TokenizerError(
                f"the published tokenizer is for pt and en, not for {' and '.join(languages)}",
                hint="set tokenizer.kind: sentencepiece, which learns its pieces from your pairs",
            )
        model = _load_model(folder)
        return [cls(folder, language, getattr(model, language)) for language in languages]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        import tensorflow as tf

        with tf.device("CPU"):
            ragged = self._member.tokenize(tf.constant([text.encode("utf-8", "replace") for text in texts]))
        ids, splits = ragged.values.numpy().tolist(), ragged.row_splits.numpy().tolist()
        return [ids[begin + 1 : end - 1] for begin, end in zip(splits, splits[1:], strict=False)]

    def _decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        import tensorflow as tf

        rows = [without_framing(ids) for ids in sequences]
        with tf.device("CPU"):
            ids = tf.constant([token for row in rows for token in row], tf.int64)
            ragged = tf.RaggedTensor.from_row_lengths(ids, [len(row) for row in rows])
            texts = self._member.detokenize(ragged).numpy().tolist()
        return [text.decode() for text in texts]


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[begin : begin + _BATCH] for begin in range(0, len(items), _BATCH))


def _copy_files(source: Path, target: Path) -> None:
    """Copy contents only: a copy of a read-only folder must be writable, and so deletable."""
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def _load_model(folder: Path) -> Any:
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise TokenizerError(
            f"no published tokenizer in {folder}: {missing[0]} is missing",
            hint=f"tokenizer.path must name the unpacked folder {_FOLDER}",
        )
    tf = _tensorflow_with_text()
    try:
        with tf.device("CPU"):
            model = tf.saved_model.load(str(folder))
    except (OSError, ValueError, LookupError, tf.errors.OpError) as error:
        reason = str(error).partition("\n")[0]
        raise TokenizerError(
            f"the published tokenizer in {folder} cannot be loaded: {reason}",
            hint="delete that folder, so that it is downloaded or copied anew",
        ) from error
    for language in _LANGUAGES:
        _check_member(folder, language, getattr(model, language, None))
    return model


def _tensorflow_with_text() -> Any:
    try:
        import tensorflow as tf
        import tensorflow_text  # noqa: F401 - registers the operations that the SavedModel uses
    except ImportError as error:
        raise TokenizerError(
            f"the published tokenizer needs TensorFlow Text, which cannot be imported: {error}",
            hint="where there is no tensorflow-text (Windows), set tokenizer.kind: sentencepiece",
        ) from error
    return tf


def _check_member(folder: Path, language: str, member: Any) -> None:
    """The ids come from the text file, the pieces from the variable: a damaged file goes unnoticed."""
    if not all(hasattr(member, name) for name in _METHODS):
        raise TokenizerError(
            f"the SavedModel in {folder} is not the published tokenizer: "
            f"it has no member {language} with {', '.join(_METHODS)}",
            hint=f"tokenizer.path must name the unpacked folder {_FOLDER}",
        )
    file = folder / "assets" / f"{language}_vocab.txt"
    pieces = file.read_bytes().splitlines()
    specials = tuple(piece.decode() for piece in pieces[: len(SPECIAL_PIECES)])
    if specials != SPECIAL_PIECES or pieces != member.vocab.numpy().tolist():
        raise TokenizerError(
            f"{file} is damaged: it is not the vocabulary that the tokenizer was made with",
            hint="delete that folder, so that it is downloaded or copied anew",
        )
