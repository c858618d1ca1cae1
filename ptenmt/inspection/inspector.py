"""What is looked into: a run's model in NumPy, its tokenizers, and sentences as the model reads them."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from ptenmt.data.text import repair_wordpiece
from ptenmt.errors import DataError
from ptenmt.inspection.typed import TypedWords, read_typed
from ptenmt.model.numpy_transformer import NumpyNextWord, NumpyTransformer
from ptenmt.runs import Choice, Run
from ptenmt.tasks import check_task
from ptenmt.tokenizers import END, START
from ptenmt.trained_model import TrainedModel
from ptenmt.translation import Translator
from ptenmt.translation.segmentation import TextEncoder

_BLANK = [START, END]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A sentence and its translation as the model reads them."""

    source: list[int]
    """S ids, [START] and [END] included."""
    target: list[int]
    """T + 1 ids: [START] first, and [END] last, unless the translation was cut before it."""
    source_text: str
    """As the tokenizer sees it."""
    target_text: str
    """As the tokenizer sees it; of the model's own translation, what the tokenizer makes of the ids."""
    source_pieces: list[str]
    """What the source's ids stand for."""
    target_pieces: list[str]
    """What the target's ids stand for."""


class Inspector:
    """Looks into a run. Weights, and what translates, are loaded when they are first needed.

    Args:
        run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
        checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.
        on_warning: Told, in a sentence, of what is not as it should be.

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
    ) -> None:
        self._trained = TrainedModel.load(run, checkpoint=checkpoint, on_warning=on_warning)
        self.run = self._trained.run
        self.config = self._trained.config
        self.tokenizers = self._trained.tokenizers
        self._warn = on_warning
        self._encoding = TextEncoder(self.tokenizers, self.config)

    @cached_property
    def model(self) -> NumpyTransformer:
        """The translator's model.

        Raises:
            RunError: The run does not translate.
            CheckpointError: Its weights cannot be read.
        """
        check_task(self.run, self.config.task, "translation")
        return NumpyTransformer(self.config.model, self._trained.weights)

    @cached_property
    def next_word(self) -> NumpyNextWord:
        """The next-word model; errors as of ``model``."""
        check_task(self.run, self.config.task, "next-word")
        return NumpyNextWord(self.config.model, self._trained.weights)

    @cached_property
    def translator(self) -> Translator:
        """What translates with the run, as ``ptenmt translate`` does.

        Raises:
            CheckpointError: The weights cannot be read.
        """
        return Translator.of(self._trained)

    def read(self, text: str, translation: str | None = None) -> Reading:
        """Bring a sentence and its translation into the form that the model reads.

        Args:
            text: The sentence; of one that is longer than the model can read, the beginning.
            translation: Its translation; by default the model's own.

        Raises:
            DataError: One of them is empty.
            RunError: The run does not translate.
        """
        for what, given in {"sentence": text, "translation": translation}.items():
            if given is not None and not given.strip():
                raise DataError(f"the {what} is empty", "give one of a word or more")
        (reading,) = self.read_all([text], None if translation is None else [translation])
        for ids, given in ((reading.source, text), (reading.target, translation)):
            if ids == _BLANK and given is not None:
                raise DataError(f"nothing is left of {given!r} for the model to read", "give a word or more")
        return reading

    def read_words(self, text: str) -> TypedWords:
        """A text's last words, as many as a next-word model reads at a time.

        Raises:
            DataError: There is none.
            RunError: The run translates.
        """
        check_task(self.run, self.config.task, "next-word")
        typed = read_typed(text, self.tokenizers.source, self.config).last(self.config.data.window)
        if typed.remark:
            self._warn(typed.remark)
        return typed

    def read_all(self, texts: Sequence[str], translations: Sequence[str] | None = None) -> list[Reading]:
        """Bring several sentences into the form that the model reads (see ``read``); they may be empty."""
        check_task(self.run, self.config.task, "translation")
        sources, num_cut = self._encoding.sources(texts)
        if translations is None:
            targets = self._translated(sources)
            target_texts = [self._worded(ids) for ids in targets]
        else:
            targets, num_targets_cut = self._encoding.targets(translations)
            num_cut += num_targets_cut
            target_texts = [self._encoding.prepare_target(translation) for translation in translations]
        if num_cut:
            self._tell_of_long_ones(num_cut)
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

    def word_ids(self, word: str, side: Literal["source", "target"]) -> list[int]:
        """The ids of a word of one side's language, as the model reads it.

        Raises:
            DataError: The run is a next-word model, and there is no word in it.
        """
        if self.config.task == "next-word":
            return read_typed(word, self.tokenizers.source, self.config).ids
        encode = self._encoding.sources if side == "source" else self._encoding.targets
        ((ids,), _) = encode([word])
        return ids[1:-1]

    def _translated(self, sources: Sequence[list[int]]) -> list[list[int]]:
        """The ids of the model's translations; of nothing, nothing."""
        real = [source for source in sources if source != _BLANK]
        found = iter(self.translator.best(real) if real else [])
        return [list(_BLANK) if source == _BLANK else next(found) for source in sources]

    def _worded(self, ids: list[int]) -> str:
        """The text of ids, with the spacing of the training corpus."""
        (text,) = self.tokenizers.target.decode([ids])
        return repair_wordpiece(text) if self.config.tokenizer.kind == "wordpiece" else text

    def _tell_of_long_ones(self, count: int) -> None:
        what = "a text has more tokens" if count == 1 else f"{count} texts have more tokens"
        longest = self.config.model.max_positions
        self._warn(f"{what} than the model's {longest} positions: what is beyond is left out")
