"""Completing texts with a next-word model; NumPy only."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ptenmt.config import Config, DecodingConfig
from ptenmt.data.text import TextPreparation
from ptenmt.errors import DataError
from ptenmt.model.numpy_transformer import NumpyNextWord
from ptenmt.runs import Choice, History, Run
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import SPECIAL_PIECES, UNK, Tokenizer
from ptenmt.tokenizers.words import WordTokenizer

LIKELIEST = DecodingConfig(beam_size=1)


@dataclass(frozen=True)
class NextWord:
    """A candidate for the next word, and its probability among all words and special tokens."""

    word: str
    probability: float


@dataclass(frozen=True)
class ContextWords:
    """The words of a text with their ids."""

    words: list[str]
    """As typed, but for the run's text preparation."""
    ids: list[int]
    """[UNK] for words outside the vocabulary."""

    @property
    def warning(self) -> str:
        """A message about words outside the vocabulary; empty if there are none."""
        unknown = [word for word, token in zip(self.words, self.ids, strict=True) if token == UNK]
        return f"the model has never seen: {', '.join(dict.fromkeys(unknown))}" if unknown else ""

    def last(self, count: int) -> "ContextWords":
        """The last words only."""
        return ContextWords(self.words[-count:], self.ids[-count:])


def context_words(text: str, tokenizer: Tokenizer, config: Config) -> ContextWords:
    """Split and encode a text like the training text of a next-word model; DataError if it has no words."""
    assert isinstance(tokenizer, WordTokenizer)  # the only kind that a config of the task may have
    prepared = TextPreparation(config.data).prepare_input(text, config.data.languages[1])
    words, ids = tokenizer.split(prepared), tokenizer.encode([prepared])[0]
    if not ids:
        raise DataError(f"there is no word in {text!r} for the model to read", "give a word or more")
    return ContextWords(words, ids)


class Completer:
    """Predicts the words after a text with a trained next-word model and its word tokenizer."""

    def __init__(self, model: NumpyNextWord, tokenizer: Tokenizer, config: Config) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self._config = config

    @classmethod
    def load(
        cls,
        run: str | Path | Run | None = None,
        on_warning: Callable[[str], None] = warnings.warn,
        checkpoint: Choice = "best",
    ) -> "Completer":
        """Load a trained run; arguments and errors are those of ``TrainedModel.load``."""
        trained = TrainedModel.load(run, checkpoint=checkpoint, task="next-word", on_warning=on_warning)
        model = NumpyNextWord(trained.config.model, trained.weights)
        return cls(model, trained.tokenizers.source, trained.config)

    def next_words(self, text: str, count: int = 5) -> list[NextWord]:
        """The ``count`` likeliest words after a text, the likeliest first; raises DataError if it has none.

        Of a text that is longer than the model's window, the last words are used.
        """
        probabilities = _softmax(self._logits(self.read(text).ids))
        first = len(SPECIAL_PIECES)
        order = np.argsort(-probabilities[first:], kind="stable")[:count] + first
        words = self.tokenizer.pieces(order.tolist())
        return [NextWord(word, float(probabilities[token])) for word, token in zip(words, order, strict=True)]

    def complete(self, text: str, words: int, how: DecodingConfig = LIKELIEST) -> str:
        """Generate the next ``words`` words of a text; raises DataError if it has none.

        ``how``: ``top_k``, ``top_p``, ``temperature`` and ``seed`` control sampling; the rest is ignored.
        """
        ids, random = self.read(text).ids, np.random.default_rng(how.seed)
        num_given = len(ids)
        for _ in range(words):
            ids.append(_next_id(self._logits(ids), how, random))
        return self.tokenizer.decode([ids[num_given:]])[0]

    def read(self, text: str) -> ContextWords:
        """Split a text into the words that the model reads; raises as ``next_words``."""
        return context_words(text, self.tokenizer, self._config)

    def _logits(self, ids: Sequence[int]) -> np.ndarray:
        """Scores [V] of the word after the ids."""
        window = np.array([ids[-self._config.data.window :]])
        return np.asarray(self.model.logits(window)[0], np.float64)


def held_out_loss(run: Run) -> float | None:
    """The held-out loss of a run's best model, in nats per word; None before the first validation."""
    best = History(run.path).best("loss")
    loss: float | None = None if best is None else best["validation"].get("loss")
    return loss


def _next_id(logits: np.ndarray, how: DecodingConfig, random: np.random.Generator) -> int:
    """The likeliest word, or a sampled one; never a special token."""
    first = len(SPECIAL_PIECES)
    if not how.is_sampled:
        return int(np.argmax(logits[first:])) + first
    order = np.argsort(-logits[first:], kind="stable")
    if how.top_k:
        order = order[: how.top_k]
    probabilities = _softmax(logits[first:][order] / how.temperature)
    cumulative_before = np.cumsum(probabilities) - probabilities
    kept = cumulative_before < how.top_p  # the smallest set of likeliest words that reaches top_p
    return int(random.choice(order[kept], p=probabilities[kept] / probabilities[kept].sum())) + first


def _softmax(logits: np.ndarray) -> np.ndarray:
    exponentials = np.exp(logits - logits.max())
    return np.asarray(exponentials / exponentials.sum())
