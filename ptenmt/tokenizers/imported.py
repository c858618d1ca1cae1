"""Sub-words of a model that another program trained: SentencePiece, with ids from a vocabulary of its own."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import sentencepiece

from ptenmt.errors import TokenizerError
from ptenmt.tokenizers.base import SPECIAL_PIECES, UNK, Tokenizer, clean_text, without_framing


class ImportedTokenizer(Tokenizer):
    """One language of an imported model.

    SentencePiece splits a text into sub-words, and the vocabulary numbers them. Marian's models have one
    vocabulary for the SentencePiece models of two languages.

    Args:
        model: A SentencePiece model.
        vocabulary: Its sub-words and others, after the special tokens.
        tag: A token of the vocabulary to put before every text, such as ``>>por<<``; empty: none.

    Raises:
        TokenizerError: The model or the vocabulary cannot be used.
    """

    kind = "imported"
    splits_punctuation = False

    def __init__(self, model: bytes, vocabulary: Sequence[str], tag: str = "") -> None:
        self.model, self.tag = model, tag
        self._ids = {piece: token for token, piece in enumerate(vocabulary)}
        if len(self._ids) != len(vocabulary) or tuple(vocabulary[: len(SPECIAL_PIECES)]) != SPECIAL_PIECES:
            raise TokenizerError("a token stands twice in the vocabulary", "use a vocabulary of other tokens")
        if tag and tag not in self._ids:
            tags = [piece for piece in vocabulary if piece.startswith(">>")]
            raise TokenizerError(
                f"the vocabulary has no tag {tag}",
                f"its tags are {', '.join(tags)}" if tags else "leave --tag out: it has no tags",
            )
        self._options = json.dumps({"vocabulary": list(vocabulary), "tag": tag}, ensure_ascii=False)
        super().__init__(vocabulary, model + self._options.encode())

    @cached_property
    def _processor(self) -> Any:
        try:
            return sentencepiece.SentencePieceProcessor(model_proto=self.model)
        except RuntimeError as error:
            raise TokenizerError("a SentencePiece model is damaged", "copy or download it again") from error

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's ids, the tag's first, without [START] and [END]."""
        split = self._processor.encode([clean_text(text) for text in texts], out_type=str)
        tag = [self._ids[self.tag]] if self.tag else []
        encoded = [[self._ids.get(piece, UNK) for piece in pieces] for pieces in split]
        return [tag + ids if ids else [] for ids in encoded]

    def decode(self, sequences: Sequence[Sequence[int]]) -> list[str]:
        """Return each sequence's text; every unknown token reads ``[UNK]``."""
        kept = map(self.pieces, without_framing(sequences))
        # A token of the other language is no sub-word of this one, which leaves its mark of a space.
        return [self._processor.decode(pieces).replace("▁", " ").strip() for pieces in kept]

    def save(self, folder: Path, side: str) -> str:
        """Write the SentencePiece model as ``source.model``, and the vocabulary as ``source.json``."""
        (folder / f"{side}.model").write_bytes(self.model)
        (folder / f"{side}.json").write_text(self._options, encoding="utf-8")
        return side

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> list[Self]:
        """Load what :meth:`save` wrote."""
        options = [json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in names]
        models = [(folder / f"{name}.model").read_bytes() for name in names]
        return [cls(model, **option) for model, option in zip(models, options, strict=True)]
