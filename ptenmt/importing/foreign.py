"""A model of another program: its files, and its conversion for good into ptenmt's weights and tokenizers.

What differs between programs are the order of the vocabulary and its special tokens, the order of a state's
components (where positions have their sines first), and the names and layout of weights. Afterwards nothing
in ptenmt needs to know where a run came from.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.config import DecodingConfig, ModelConfig, TokenizerConfig
from ptenmt.errors import ConfigError, ModelImportError, TokenizerError
from ptenmt.model.layouts import Place, in_order, interleaving, variable_shapes
from ptenmt.tokenizers import SPECIAL_PIECES, UNK, TokenizerPair
from ptenmt.tokenizers.imported import ImportedTokenizer
from ptenmt.tokenizers.sentencepiece import SentencePieceTokenizer

TO_FLOAT32 = "convert the model to float32 first"
_AS_SAFETENSORS = (
    "write it where you trust the folder: python -c 'from transformers import AutoModelForSeq2SeqLM as M; "
    'M.from_pretrained("{folder}").save_pretrained("{folder}", max_shard_size="10GB")\''
)
_SENTENCEPIECE_FILES = (
    ("source.spm", "target.spm"),
    ("sentencepiece.model", "sentencepiece.model"),
    ("spm.model", "spm.model"),
)
_LEAST_KNOWN = 0.9
"""Least share of a vocabulary's tokens that are pieces of the SentencePiece model that belongs to it."""
NEVER = -1e4
"""Logit of tokens that a model cannot generate: their probability is 0, and float16 can hold it."""


@dataclass(frozen=True)
class Tensors:
    """The arrays of a file."""

    file: Path
    shapes: Mapping[str, tuple[int, ...]]
    read: Callable[[str], np.ndarray]

    def get(self, place: Place, shape: tuple[int, ...]) -> np.ndarray:
        """Read a variable, as float32; ModelImportError if it is missing, damaged or of another shape."""
        name = next((name for name in place.names if name in self.shapes), None)
        if name is None:
            if place.is_optional:
                return np.zeros(shape, np.float32)
            raise ModelImportError(
                f"{self.file} has no weight {place.names[-1]}", "it is of another architecture"
            )
        rows, *columns = shape[::-1] if place.is_transposed else shape
        stored, found = (place.num_parts * rows, *columns), self.shapes[name]
        if _without_ones(found) != _without_ones(stored):
            raise ModelImportError(
                f"{self.file}: {name} has the shape {found}, and the model's sizes need {stored}",
                "the weights and the config are of different models",
            )
        with reading(self.file):
            array = self.read(name).reshape(stored)[place.part * rows : (place.part + 1) * rows]
        return (array.T if place.is_transposed else array).astype(np.float32, copy=False)


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


def check_architecture(file: Path, options: Mapping[str, tuple[Any, tuple[Any, ...]]]) -> None:
    """Raise ModelImportError for an option of another program whose value is none that ptenmt can express.

    ``options``: by name, the value and those that it may have.
    """
    for option, (value, values) in options.items():
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


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]


def open_tensors(folder: Path) -> Tensors:
    """Open the weights in a folder of Hugging Face's; raises ModelImportError."""
    import safetensors

    file = folder / "model.safetensors"
    if not file.exists():
        raise ModelImportError(f"{folder} has no model.safetensors", _AS_SAFETENSORS.format(folder=folder))
    with reading(file):
        opened: Any = safetensors.safe_open(file, "numpy")
        slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
    for name, content in slices.items():
        if content.get_dtype() == "BF16":
            raise ModelImportError(f"{file}: {name} is in bfloat16", TO_FLOAT32)
    shapes = {name: tuple(content.get_shape()) for name, content in slices.items()}
    return Tensors(file, shapes, opened.get_tensor)


def most_unpacked(archive: Path) -> int:
    """The most bytes that an archive of weights, which hardly shrink, may have unpacked."""
    return max(1_000_000_000, 4 * archive.stat().st_size)


def sentencepiece_models(*folders: Path) -> tuple[bytes, bytes]:
    """Read the SentencePiece models of both languages, from the first folder that has one."""
    for folder in folders:
        for source, target in _SENTENCEPIECE_FILES:
            if (folder / source).exists():
                with reading(folder / target):
                    return (folder / source).read_bytes(), (folder / target).read_bytes()
    names = ", ".join(dict.fromkeys(name for pair in _SENTENCEPIECE_FILES for name in pair))
    raise ModelImportError(
        f"{folders[0]} has no SentencePiece model ({names})",
        "copy the one that the model was trained with there; models with sub-words by BPE cannot be imported",
    )


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Raise ModelImportError for a file that is missing, truncated or damaged."""
    try:
        yield
    except ModelImportError:
        raise
    except ConfigError as error:
        raise ModelImportError(f"{file}: {error.message}", error.hint) from error
    except FileNotFoundError as error:
        raise ModelImportError(f"{file} is missing", "copy the whole folder") from error
    except KeyError as error:
        raise ModelImportError(f"{file} has no {error.args[0]}", "copy the whole file") from error
    except Exception as error:  # every format has errors of its own
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelImportError(f"{file} cannot be read: {reason}", "copy or download it again") from error


def read_json(file: Path, *, needed: bool = True) -> dict[str, Any]:
    """Read an object of JSON; ModelImportError if it is damaged, or missing and ``needed``."""
    if not needed and not file.exists():
        return {}
    with reading(file):
        return dict(json.loads(file.read_text(encoding="utf-8")))
