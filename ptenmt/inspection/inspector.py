"""What is looked into: a run's model in NumPy, its tokenizers, and sentences as the model reads them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ptenmt.errors import DataError
from ptenmt.export.weights import arrays_of
from ptenmt.inspection.forward import NumpyTransformer
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tokenizers import load_tokenizers
from ptenmt.translation import Translator
from ptenmt.translation.encoding import Encoding
from ptenmt.translation.loading import Loader


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A sentence and its translation as the model reads them."""

    source: list[int]
    """S ids, [START] and [END] included."""
    target: list[int]
    """T + 1 ids: [START] first, and [END] last, unless the translation was cut before it."""
    source_pieces: list[str]
    """What the source's ids stand for."""
    target_pieces: list[str]
    """What the target's ids stand for."""

    @property
    def inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """What the model is fed: source ids [1, S] and decoder input ids [1, T]."""
        return np.array([self.source]), np.array([self.target[:-1]])


class Inspector:
    """Looks into a run. Weights, and what translates, are loaded when they are first needed.

    Args:
        run: What to look into.
        checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
        on_warning: Told, in a sentence, of what is not as it should be.
        on_tensorflow: Called before TensorFlow is imported, if it has to be: to export what no training has
            exported yet.

    Raises:
        RunError: There is no such run.
        TokenizerError: Its tokenizers cannot be read.
    """

    def __init__(
        self,
        run: str | Path | Run | None = None,
        *,
        checkpoint: Choice = "best",
        on_warning: Callable[[str], None] = warnings.warn,
        on_tensorflow: Callable[[], None] = lambda: None,
    ) -> None:
        self.run = run if isinstance(run, Run) else find_run(run)
        self.config = self.run.config()
        self.tokenizers = load_tokenizers(self.run.tokenizer_folder)
        self._warn = on_warning
        self._loader = Loader(
            self.run, self.config, self.tokenizers, checkpoint, on_warning, on_tensorflow
        )
        self._encoding = Encoding(self.tokenizers, self.config)

    @cached_property
    def model(self) -> NumpyTransformer:
        """The model.

        Raises:
            CheckpointError: The run has no checkpoint that can be read.
            ExportError: Its weights are not exported, and cannot be.
        """
        exported = self._loader.weights()
        return NumpyTransformer(exported.facts.model, arrays_of(exported))

    @cached_property
    def translator(self) -> Translator:
        """Translates with the run, as ``ptenmt translate`` does.

        Raises:
            CheckpointError: The run has no checkpoint that can be read.
            ExportError: CTranslate2 cannot use its export.
        """
        return Translator(self._loader.engine("auto"), self.tokenizers, self.config)

    def read(self, text: str, translation: str | None = None) -> Reading:
        """Bring a sentence and its translation into the form that the model reads.

        Args:
            text: The sentence; of one that is longer than the model can read, the beginning.
            translation: Its translation; by default the model's own.

        Raises:
            DataError: One of them is empty.
        """
        source = self._ids(text, "sentence", self._encoding.source)
        if translation is None:
            target = self.translator.best(source)
        else:
            target = self._ids(translation, "translation", self._encoding.target)
        return Reading(
            source=source,
            target=target,
            source_pieces=self.tokenizers.source.pieces(source),
            target_pieces=self.tokenizers.target.pieces(target),
        )

    def _ids(self, text: str, what: str, encode: Callable[[str], list[int]]) -> list[int]:
        """Encode a text that is not empty; that it is perhaps cut is told."""
        ids, longest = encode(text), self.config.model.max_positions
        if len(ids) == 2:  # [START] and [END]
            raise DataError(f"the {what} is empty", f"give one of a word or more, not {text!r}")
        if len(ids) == longest:
            self._warn(f"the {what} fills all {longest} positions of the model: what is beyond is left out")
        return ids
