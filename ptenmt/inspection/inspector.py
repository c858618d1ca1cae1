"""The inspected run: its model in NumPy, its tokenizers, and sentences as the model reads them."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ptenmt.data.text import repair_wordpiece
from ptenmt.errors import DataError
from ptenmt.model.numpy_transformer import NumpyNextWord, NumpyTransformer
from ptenmt.runs import Choice, Run, check_task
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, START
from ptenmt.translation import Translator
from ptenmt.translation.completion import ContextWords, context_words
from ptenmt.translation.segmentation import TextEncoder


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A sentence and its translation as the model reads them."""

    source: list[int]
    """S ids, [START] and [END] included."""
    target: list[int]
    """T + 1 ids: [START] first, and [END] last, unless the translation was truncated."""
    source_text: str
    """The prepared text that is tokenized."""
    target_text: str
    """As ``source_text``; of the model's own translation, its decoded ids."""
    source_pieces: list[str]
    target_pieces: list[str]


class Inspector:
    """A run to inspect. Its weights and its translator are loaded when first used.

    Arguments and errors are those of ``TrainedModel.load``.
    """

    def __init__(
        self,
        run: str | Path | Run | None = None,
        *,
        checkpoint: Choice = "best",
        on_warning: Callable[[str], None] = warnings.warn,
    ) -> None:
        self._trained = trained = TrainedModel.load(run, checkpoint=checkpoint, on_warning=on_warning)
        self.run, self.config, self.tokenizers = trained.run, trained.config, trained.tokenizers
        self.alignment_layer = trained.alignment_layer
        self._warn = on_warning
        self._encoding = TextEncoder(self.tokenizers, self.config)

    @cached_property
    def model(self) -> NumpyTransformer:
        """The translator's model; RunError for a next-word model."""
        check_task(self.run, self.config.task, "translation")
        return NumpyTransformer(self.config.model, self._trained.weights)

    @cached_property
    def next_word(self) -> NumpyNextWord:
        """The next-word model; RunError for a translator."""
        check_task(self.run, self.config.task, "next-word")
        return NumpyNextWord(self.config.model, self._trained.weights)

    @cached_property
    def translator(self) -> Translator:
        """The run's translator, as ``ptenmt translate`` uses it."""
        return Translator.from_trained_model(self._trained)

    def read(self, text: str, translation: str | None = None) -> Reading:
        """Encode a sentence and its translation, by default the model's own; both truncated if too long.

        Raises DataError if one of them is empty, RunError if the run does not translate.
        """
        check_task(self.run, self.config.task, "translation")
        (source,), is_truncated = self._encoding.sources([text])
        self._check_not_blank(source, text)
        if translation is None:
            (target,) = self.translator.best([source])
            (target_text,) = self.tokenizers.target.decode([target])  # spaced as the training corpus
            if self.config.tokenizer.kind == "wordpiece":
                target_text = repair_wordpiece(target_text)
        else:
            (target,), is_target_truncated = self._encoding.targets([translation])
            self._check_not_blank(target, translation)
            is_truncated = is_truncated or is_target_truncated
            target_text = self._encoding.prepare_target(translation)
        if is_truncated:
            self._warn(f"truncated to the model's {self.config.model.max_positions} positions")
        return Reading(
            source=source,
            target=target,
            source_text=self._encoding.prepare_source(text),
            target_text=target_text,
            source_pieces=self.tokenizers.source.pieces(source),
            target_pieces=self.tokenizers.target.pieces(target),
        )

    @staticmethod
    def _check_not_blank(ids: Sequence[int], text: str) -> None:
        if ids == [START, END]:
            raise DataError(f"nothing is left of {text!r} for the model to read", "give a word or more")

    def read_words(self, text: str) -> ContextWords:
        """The last words of a text, as many as a next-word model reads; DataError without any, RunError."""
        check_task(self.run, self.config.task, "next-word")
        typed = context_words(text, self.tokenizers.source, self.config).last(self.config.data.window)
        if typed.warning:
            self._warn(typed.warning)
        return typed
