"""A model of another program, and its conversion for good into ptenmt's own weights and tokenizers.

What differs between programs are the order of the vocabulary and its special tokens, the order of a state's
components (where positions have their sines first), and the names and layout of weights. Afterwards nothing
in ptenmt needs to know where a run came from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptenmt.config import ModelConfig, TokenizerConfig
from ptenmt.errors import ModelImportError
from ptenmt.model.layouts import in_order, interleaving, layer_shapes
from ptenmt.tokenizers import SPECIAL_PIECES, TokenizerPair
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

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
    """What another program's files say; arrays are read when they are asked for."""

    form: str
    """Such as ``Marian``."""
    model: ModelConfig
    source: Vocabulary
    target: Vocabulary
    spm: tuple[bytes, bytes]
    """The SentencePiece models of both languages."""
    layer: Callable[[str, tuple[int, ...]], dict[str, np.ndarray]]
    """The variables of a layer, by its path and shape (``ptenmt.model.layouts``)."""
    embedding: Callable[[str], np.ndarray]
    """The embedding matrix [V, D] of the ``encoder`` or ``decoder``."""
    bias: Callable[[], np.ndarray | None]
    """Of the logits, [V]."""
    projection: Callable[[], np.ndarray] | None = None
    """The output projection [D, V], unless embeddings are tied."""
    has_sines_first: bool = False
    """Whether positions have their sines in the first half of a state and their cosines in the second."""
    languages: tuple[str, str] | None = None
    licence: str = ""
    decoding: Mapping[str, Any] = field(default_factory=dict)
    """Options of the section ``decoding`` that the model comes with."""

    def tokenizers(self, tag: str = "") -> tuple[TokenizerConfig, TokenizerPair]:
        """The tokenizers, and their options; ``tag`` as for ``ImportedTokenizer``."""
        vocabulary = self.source.tokens
        if self.source.is_own and self.spm[0] == self.spm[1] and not tag:
            own = SentencePieceTokenizer(self.spm[0])
            if own.vocabulary == list(vocabulary) == list(self.target.tokens):
                config = TokenizerConfig(kind="sentencepiece", shared=True, vocabulary_size=len(vocabulary))
                return config, TokenizerPair(own, own)
        source = ImportedTokenizer(self.spm[0], self.source.rows()[0], tag)
        target = ImportedTokenizer(self.spm[1], self.target.rows()[0])
        return TokenizerConfig(kind="imported"), TokenizerPair(source, target)

    def weights(self) -> dict[str, np.ndarray]:
        """All weights, float32, by the path of their variable in ptenmt."""
        order = np.arange(self.model.d_model)
        if self.has_sines_first:
            order = interleaving(self.model.d_model)
        weights: dict[str, np.ndarray] = {}

        def add(path: str, array: np.ndarray) -> None:
            ordered = in_order(path, array, order)
            weights[f"transformer/{path}"] = np.ascontiguousarray(ordered, dtype=np.float32)

        # The largest first, while nothing else is in memory beside its copies.
        for stack, vocabulary in (("encoder", self.source), ("decoder", self.target)):
            if stack == "encoder" or self.model.tied_embeddings != "all":
                _, rows = vocabulary.rows()
                add(f"{stack}/embedding/tokens/embeddings", _gathered(self.embedding(stack), rows, 0.0))
        _, rows = self.target.rows()
        bias = self.bias()
        bias = np.zeros(len(self.target.tokens), np.float32) if bias is None else bias
        add("final/bias", np.maximum(_gathered(bias, rows, NEVER), NEVER))
        if self.projection is not None:
            add("final/kernel", _gathered(self.projection().T, rows, 0.0).T)
        for layer, shape in layer_shapes(self.model):
            for variable, array in self.layer(layer, shape).items():
                add(f"{layer}/{variable}", array)
        return weights


def _gathered(array: np.ndarray, rows: np.ndarray, missing: float) -> np.ndarray:
    """Rows of an array in the order of ptenmt's ids."""
    gathered: np.ndarray = array[np.maximum(rows, 0)]
    gathered[rows < 0] = missing
    return gathered
