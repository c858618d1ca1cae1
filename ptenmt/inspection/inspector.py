"""The inspected run: its model in NumPy, its tokenizers, and sentences as the model reads them.

The panels of a sentence and its translation show ids, labels and masks.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ptenmt.data.text import repair_wordpiece
from ptenmt.errors import DataError
from ptenmt.inspection.figures import HeatMap, Panel, Table
from ptenmt.runs import Choice, Run, check_task
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, PAD, START, UNK, Tokenizer
from ptenmt.translation import Translator
from ptenmt.translation.completion import ContextWords, context_words
from ptenmt.translation.segmentation import TextEncoder

MAX_ONE_HOT = 40
"""Labels of a larger vocabulary are not shown one-hot."""


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

    @property
    def model(self) -> Any:
        """The model in NumPy: a ``NumpyTransformer``, or a ``NumpyNextWord``."""
        return self._trained.numpy_model

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


def token_panels(
    inspector: Inspector, text: str, translation: str | None = None, length: int | None = None
) -> list[Panel]:
    """Tables of source and target, the masks and, for a small vocabulary, the labels one-hot.

    In the model, a mask is True where a token may be attended to; the panels show the other convention of
    Vaswani et al.'s implementations, 1 = hidden; their titles state it. The translation is by default the
    model's own. Both sides are padded to ``length``, as in a batch with longer sentences. Raises DataError if
    a text is empty, or has more tokens than that.
    """
    reading = inspector.read(text, translation)
    tokenizers = inspector.tokenizers
    source = _padded(reading.source, length)
    inputs, labels = _padded(reading.target[:-1], length), _padded(reading.target[1:], length)
    source_pieces, input_pieces = tokenizers.source.pieces(source), tokenizers.target.pieces(inputs)
    label_pieces = tokenizers.target.pieces(labels)
    source_mask, target_mask = np.array([source]) != PAD, np.array([inputs]) != PAD  # -> [1, S], [1, T]
    causal_mask = np.tri(len(inputs), dtype=bool)  # -> [T, T]
    panels: list[Panel] = [
        Table(
            title="Source",
            header=("position", "id", "piece", ""),
            rows=_rows(source, source_pieces, map(_note, source)),
            numbers={0, 1},
        ),
        Table(
            title="Target",
            header=("position", "id", "decoder input", "id", "label", ""),
            rows=_rows(inputs, input_pieces, labels, label_pieces, map(_note, labels)),
            numbers={0, 1, 3},
        ),
        _mask_panel("Padding mask of the source", source_mask, ["every token"], source_pieces),
        _mask_panel("Padding mask of the target", target_mask, ["every token"], input_pieces),
        _mask_panel("Look-ahead mask", causal_mask, input_pieces, input_pieces),
        _mask_panel("Look-ahead and padding mask", causal_mask & target_mask, input_pieces, input_pieces),
    ]
    if tokenizers.target.vocabulary_size <= MAX_ONE_HOT:
        panels.append(_one_hot_panel(labels, tokenizers.target))
    return panels


def _one_hot_panel(labels: Sequence[int], tokenizer: Tokenizer) -> HeatMap:
    return HeatMap(
        title="Labels, one-hot",
        values=np.eye(tokenizer.vocabulary_size, dtype=int)[labels],
        row_name="label",
        column_name="vocabulary",
        row_labels=tokenizer.pieces(labels),
        column_labels=tokenizer.vocabulary,
        has_numbers=True,
    )


def _padded(ids: Sequence[int], length: int | None) -> list[int]:
    if length is not None and length < len(ids):
        raise DataError(f"{len(ids)} tokens cannot be padded to {length}", "give a larger --length")
    return [*ids, *[PAD] * ((length or len(ids)) - len(ids))]


def _rows(*columns: Iterable[object]) -> list[tuple[str, ...]]:
    return [(str(position), *map(str, row)) for position, row in enumerate(zip(*columns, strict=True))]


def _note(token: int) -> str:
    return {UNK: "unknown", PAD: "padding"}.get(token, "")


def _mask_panel(title: str, mask: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> HeatMap:
    """A mask (True = may be attended to), inverted to show 1 = hidden."""
    return HeatMap(
        title=f"{title} (1 = hidden)",
        values=1 - mask.astype(int),
        palette="greys",
        row_name="attending token" if len(rows) > 1 else "",
        column_name="attended token",
        row_labels=rows,
        column_labels=columns,
        has_numbers=True,
    )
