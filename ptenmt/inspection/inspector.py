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

_BLANK = [START, END]


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
        (reading,) = self.read_all([text], None if translation is None else [translation])
        for ids, given in ((reading.source, text), (reading.target, translation)):
            if ids == _BLANK and given is not None:
                raise DataError(f"nothing is left of {given!r} for the model to read", "give a word or more")
        return reading

    def read_words(self, text: str) -> ContextWords:
        """The last words of a text, as many as a next-word model reads; DataError without any, RunError."""
        check_task(self.run, self.config.task, "next-word")
        typed = context_words(text, self.tokenizers.source, self.config).last(self.config.data.window)
        if typed.warning:
            self._warn(typed.warning)
        return typed

    def read_all(self, texts: Sequence[str], translations: Sequence[str] | None = None) -> list[Reading]:
        """Encode several sentences and translations (see ``read``); they may be empty."""
        check_task(self.run, self.config.task, "translation")
        sources, num_truncated = self._encoding.sources(texts)
        if translations is None:
            targets = self._translated(sources)
            target_texts = self.tokenizers.target.decode(targets)  # with the spacing of the training corpus
            if self.config.tokenizer.kind == "wordpiece":
                target_texts = [repair_wordpiece(text) for text in target_texts]
        else:
            targets, num_truncated_targets = self._encoding.targets(translations)
            num_truncated += num_truncated_targets
            target_texts = [self._encoding.prepare_target(translation) for translation in translations]
        if num_truncated:
            texts_have = "1 text has" if num_truncated == 1 else f"{num_truncated:,} texts have"
            positions = self.config.model.max_positions
            self._warn(f"truncated: {texts_have} more tokens than the model's {positions} positions")
        return [
            Reading(
                source=source,
                target=target,
                source_text=self._encoding.prepare_source(text),
                target_text=target_text,
                source_pieces=self.tokenizers.source.pieces(source),
                target_pieces=self.tokenizers.target.pieces(target),
            )
            for text, source, target, target_text in zip(texts, sources, targets, target_texts, strict=True)
        ]

    def _translated(self, sources: Sequence[list[int]]) -> list[list[int]]:
        """The ids of the model's translations; blank for a blank sentence."""
        real = [source for source in sources if source != _BLANK]
        translated = iter(self.translator.best(real) if real else [])
        return [list(_BLANK) if source == _BLANK else next(translated) for source in sources]
