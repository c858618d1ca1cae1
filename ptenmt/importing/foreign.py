"""A model of another program, and its conversion for good into ptenmt's own weights and tokenizers.

What differs between programs are the order of the vocabulary and its special tokens, the order of a state's
components (where positions have their sines first), and the names and layout of weights. Afterwards nothing
in ptenmt needs to know where a run came from.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.config import DecodingConfig, ModelConfig, TokenizerConfig
from ptenmt.errors import ConfigError, ModelImportError, TokenizerError
from ptenmt.importing.tensors import Tensors
from ptenmt.model.layouts import Place, in_order, interleaving, variable_shapes
from ptenmt.tokenizers import SPECIAL_PIECES, UNK, TokenizerPair
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

_LEAST_KNOWN = 0.9
"""Least share of a vocabulary's tokens that are pieces of the SentencePiece model that belongs to it."""
NEVER = -1e4
"""Logit of tokens that a model cannot generate: their probability is 0, and float16 can hold it."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The tokens of one language in another program, in the order of its ids."""

    tokens: Sequence[str]
    unknown: str
    end: str
    start: str | None
    """None: the decoder starts from a zero vector."""

    def __post_init__(self) -> None:
        for token in (self.unknown, self.end, self.start):
            if token is not None and token not in self.tokens:
                raise ModelImportError(
                    f"the vocabulary has no token {token}", "the vocabulary and the config do not fit"
                )

    @property
    def is_own(self) -> bool:
        """Whether it is one of ptenmt's."""
        return tuple(self.tokens[: len(SPECIAL_PIECES)]) == SPECIAL_PIECES

    def rows(self) -> tuple[list[str], np.ndarray]:
        """The vocabulary as ptenmt orders it, and the id that each token had; -1: none."""
        if self.is_own:
            return list(self.tokens), np.arange(len(self.tokens))
        ids = {token: id for id, token in enumerate(self.tokens)}
        start = -1 if self.start is None else ids[self.start]
        special = [-1, ids[self.unknown], start, ids[self.end]]
        others = [id for id in range(len(self.tokens)) if id not in special]
        return [*SPECIAL_PIECES, *(self.tokens[id] for id in others)], np.array(special + others)


@dataclass(frozen=True, kw_only=True)
class ForeignModel:
    """What another program's files say."""

    form: str
    """Such as ``Marian``."""
    model: ModelConfig
    source: Vocabulary
    target: Vocabulary
    spm: tuple[bytes, bytes]
    """The SentencePiece models of both languages."""
    tensors: Tensors
    place: Callable[[str], Place]
    """Where a variable of ptenmt's is, by its path."""
    has_sines_first: bool = True
    """Whether positions have their sines in the first half of a state and their cosines in the second."""
    languages: tuple[str, str] = ("", "")
    """As the files state them; empty: not stated."""
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    exported: Mapping[str, Any] = field(default_factory=dict)
    """``licence``, and what else ptenmt's own exports say, see ``Run.exported_facts``."""

    def tokenizers(self, tag: str = "") -> tuple[TokenizerConfig, TokenizerPair]:
        """The tokenizers, and their options; ``tag`` as for ``ImportedTokenizer``.

        Raises ModelImportError if a vocabulary and the SentencePiece models do not fit, TokenizerError.
        """
        try:
            own, other = map(SentencePieceTokenizer, self.spm)
        except RuntimeError as error:
            raise TokenizerError("a SentencePiece model is damaged", "copy or download it again") from error
        known = {*own.vocabulary, *other.vocabulary}
        self._check_pieces(self.source, own.vocabulary, known)
        self._check_pieces(self.target, other.vocabulary, known)
        is_own = self.source.is_own and own.model == other.model and not tag
        if is_own and own.vocabulary == self.source.tokens == self.target.tokens:
            config = TokenizerConfig(kind="sentencepiece", shared=True, vocabulary_size=own.vocabulary_size)
            return config, TokenizerPair(own, own)
        source = ImportedTokenizer(self.spm[0], self.source.rows()[0], tag)
        target = ImportedTokenizer(self.spm[1], self.target.rows()[0])
        return TokenizerConfig(kind="imported"), TokenizerPair(source, target)

    def _check_pieces(self, vocabulary: Vocabulary, pieces: Sequence[str], known: Set[str]) -> None:
        """Compare a vocabulary with the pieces of its SentencePiece model, ``known`` those of both languages.

        Other programs order their vocabularies in their own way; only ptenmt's has the order of the pieces.
        """
        special = {vocabulary.unknown, vocabulary.end, vocabulary.start}
        tokens = [
            token for token in vocabulary.tokens if len(token) > 1 and not token.startswith(("<", ">>"))
        ]
        num_unknown = len({*tokens} - known - special)
        is_own = tuple(pieces[: len(SPECIAL_PIECES)]) == SPECIAL_PIECES
        if num_unknown > (1 - _LEAST_KNOWN) * len(tokens) or (is_own and pieces != vocabulary.tokens):
            reason = f"it lacks {num_unknown:,} of {len(tokens):,} tokens" if num_unknown else "another order"
            raise ModelImportError(
                f"{self.tensors.file.parent}: the vocabulary does not fit the SentencePiece model: {reason}",
                "the files are of two models, or were changed: copy or download the whole folder again",
            )

    def weights(self) -> dict[str, np.ndarray]:
        """All weights, float32, by the path of their variable in ptenmt."""
        order = np.arange(self.model.d_model)
        if self.has_sines_first:
            order = interleaving(self.model.d_model)
        _, source_rows = self.source.rows()
        _, target_rows = self.target.rows()
        weights: dict[str, np.ndarray] = {}
        # The largest variables first, while nothing else is in memory beside their copies.
        for path, shape in variable_shapes(self.model, (len(self.source.tokens), len(self.target.tokens))):
            array = self.tensors.get(self.place(path), shape)
            if path.endswith("embeddings"):
                array = _gathered(array, source_rows if path.startswith("encoder") else target_rows, 0.0)
            elif path == "final/kernel":
                array = _gathered(array.T, target_rows, 0.0).T
            elif path == "final/bias":
                array = np.maximum(_gathered(array, target_rows, NEVER), NEVER)
                if array[UNK] == NEVER:  # search never generates it, but it may be a label of a fine-tuning
                    array[UNK] = 0.0
            ordered = in_order(path, array, order)
            weights[f"transformer/{path}"] = np.ascontiguousarray(ordered, dtype=np.float32)
        return weights


def model_config(file: Path, *, depths: tuple[int, int], **options: Any) -> ModelConfig:
    """The section ``model``; ``depths``: blocks of both stacks. Raises ModelImportError for wrong sizes."""
    encoder, decoder = depths
    try:
        return ModelConfig(
            num_layers=encoder, decoder_layers=None if encoder == decoder else decoder, **options
        )
    except ConfigError as error:
        raise ModelImportError(f"{file}: {error.message}", error.hint) from error


def check_architecture(
    file: Path, found: Mapping[str, Any], expressible: Mapping[str, tuple[Any, ...]]
) -> None:
    """Raise ModelImportError for an option of another program with a value that ptenmt cannot express.

    ``expressible`` has the values that it can; the first is that of an option that is not given.
    """
    for option, values in expressible.items():
        value = found.get(option, values[0])
        if value not in values:
            known = ", ".join(map(repr, values))
            raise ModelImportError(
                f"{file}: ptenmt cannot express {option}={value!r}", f"it knows {option}: {known}"
            )


def _gathered(array: np.ndarray, rows: np.ndarray, missing: float) -> np.ndarray:
    """Rows of an array in the order of ptenmt's ids."""
    gathered: np.ndarray = array[np.maximum(rows, 0)]
    gathered[rows < 0] = missing
    return gathered
