"""Texts and the words that may come next: what a next-word model is for. It needs no TensorFlow."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ptenmt.config import Config, DecodingConfig
from ptenmt.export.weights import arrays_of
from ptenmt.history import History
from ptenmt.inspection.typed import TypedWords, read_typed
from ptenmt.model.numpy_transformer import NumpyNextWord
from ptenmt.runs import Choice, Run, find_run
from ptenmt.tasks import check_task
from ptenmt.tokenizers import SPECIAL_PIECES, Tokenizer, load_tokenizers
from ptenmt.tokenizers.words import WordTokenizer
from ptenmt.translation.loading import Loader

LIKELIEST = DecodingConfig(beam_size=1)
"""Draw no lots: take the likeliest word."""


@dataclass(frozen=True)
class NextWord:
    """A word that may come next."""

    word: str
    probability: float
    """From 0 to 1, of all words and special tokens together."""


class Completer:
    """Predicts the words after a text with a trained next-word model.

    Args:
        model: Scores all words.
        tokenizer: Of the words.
        config: The run's options.
    """

    def __init__(self, model: NumpyNextWord, tokenizer: Tokenizer, config: Config) -> None:
        assert isinstance(tokenizer, WordTokenizer), "a next-word model reads words"
        self.model = model
        self.tokenizer = tokenizer
        self._config = config

    @classmethod
    def load(
        cls,
        run: str | Path | Run | None = None,
        on_warning: Callable[[str], None] = warnings.warn,
        checkpoint: Choice = "best",
        *,
        on_tensorflow: Callable[[], None] = lambda: None,
    ) -> "Completer":
        """Load a trained run.

        Args:
            run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
            on_warning: Told, in a sentence, of a damaged checkpoint that was passed over, or an old export.
            checkpoint: ``best``: the weights with the lowest held-out loss; ``latest``: the newest.
            on_tensorflow: Called before TensorFlow is imported, if it has to be: to export what no training
                has exported yet.

        Raises:
            RunError: There is no such run, or it translates.
            CheckpointError: It has no checkpoint that can be read.
            ExportError: Its weights are not exported, and cannot be.
        """
        run = run if isinstance(run, Run) else find_run(run)
        config = run.config()
        check_task(run, config.task, "next-word")
        tokenizers = load_tokenizers(run.tokenizer_folder)
        exported = Loader(run, config, tokenizers, checkpoint, on_warning, on_tensorflow).weights()
        model = NumpyNextWord(exported.facts.model, arrays_of(exported))
        return cls(model, tokenizers.source, config)

    def next_words(self, text: str, count: int = 5) -> list[NextWord]:
        """The words that are likeliest to come after a text, the likeliest first.

        Args:
            text: Of a longer one than the model's window, the last words count.
            count: How many.

        Raises:
            DataError: There is no word in it.
        """
        probabilities = _softmax(self._scores(self.read(text).ids))
        first = len(SPECIAL_PIECES)
        order = np.argsort(-probabilities[first:], kind="stable")[:count] + first
        words = self.tokenizer.pieces(order.tolist())
        return [NextWord(word, float(probabilities[id])) for word, id in zip(words, order, strict=True)]

    def complete(self, text: str, words: int, how: DecodingConfig = LIKELIEST) -> str:
        """Go on with a text.

        Args:
            text: Its beginning.
            words: How many to add.
            how: ``top_k``, ``top_p`` and ``temperature`` say how they are drawn, ``seed`` which lots; the
                rest of the section is for translations.

        Returns:
            What is added.

        Raises:
            DataError: There is no word in the text.
        """
        ids, chance = self.read(text).ids, np.random.default_rng(how.seed)
        begun = len(ids)
        for _ in range(words):
            ids.append(_chosen(self._scores(ids), how, chance))
        return self.tokenizer.decode([ids[begun:]])[0]

    def read(self, text: str) -> TypedWords:
        """A text's words as the model reads them.

        Raises:
            DataError: There is none.
        """
        return read_typed(text, self.tokenizer, self._config)

    def _scores(self, ids: Sequence[int]) -> np.ndarray:
        """The logits [V] of what comes after the ids."""
        read = np.array([ids[-self._config.data.window :]])
        return np.asarray(self.model.logits(read)[0], np.float64)


def held_out_loss(run: Run) -> float | None:
    """The loss, in nats a word, of a run's best model on what was held out; None before any validation."""
    best = History(run.path).best("loss")
    loss: float | None = None if best is None else best["validation"].get("loss")
    return loss


def _chosen(logits: np.ndarray, how: DecodingConfig, chance: np.random.Generator) -> int:
    """The word that is likeliest, or one drawn by lot; special tokens are never chosen."""
    first = len(SPECIAL_PIECES)
    if not how.is_sampled:
        return int(np.argmax(logits[first:])) + first
    order = np.argsort(-logits[first:], kind="stable")
    if how.top_k:
        order = order[: how.top_k]
    probabilities = _softmax(logits[first:][order] / how.temperature)
    before = np.cumsum(probabilities) - probabilities
    kept = before < how.top_p  # as many of the likeliest as reach top_p together
    return int(chance.choice(order[kept], p=probabilities[kept] / probabilities[kept].sum())) + first


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum())
