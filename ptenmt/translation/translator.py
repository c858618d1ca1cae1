"""The translator: text in, text out."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ptenmt.config import Config
from ptenmt.corpus.batches import RaggedIds
from ptenmt.corpus.text import TextPreparation, join_tokens, repair_wordpiece
from ptenmt.runs import Run, find_run
from ptenmt.tokenizers import END, PAD, START, UNK, TokenizerPair, frame, load_tokenizers
from ptenmt.translation.search import Hypothesis

if TYPE_CHECKING:
    from ptenmt.checkpoints import Choice
    from ptenmt.model import Transformer
    from ptenmt.translation.keras_engine import KerasEngine

BATCH_SENTENCES = 64
WINDOW_SENTENCES = 2048
FRAME = [START, END]  # what an empty sentence consists of


@dataclass(frozen=True, kw_only=True)
class Translation:
    """One sentence and its translation."""

    source: str
    """The sentence as it was given."""
    text: str
    """The translation, its spacing repaired where the model writes words and punctuation apart."""
    raw: str
    """The translation with the spacing of the training corpus."""
    tokens: list[str]
    """The target pieces, [START] first, and [END] last if it was reached."""
    is_complete: bool
    """False where the translation was cut because [END] was not reached within the limit."""
    is_source_cut: bool
    """True where the sentence has more tokens than the model has positions, and the rest was left out."""


@dataclass(frozen=True, kw_only=True)
class AttentionWeights:
    """Who attends to whom in one sentence and its translation."""

    source_pieces: list[str]
    """S pieces, [START] and [END] included."""
    target_pieces: list[str]
    """The T pieces fed to the decoder: [START], and no [END]."""
    weights: dict[str, np.ndarray]
    """``encoder_layer{i}`` [H, S, S], ``decoder_layer{i}_block1`` [H, T, T], ``…_block2`` [H, T, S]."""


class Translator:
    """Translates sentences with a trained model.

    Args:
        engine: Translates ids to ids.
        tokenizers: Of both languages.
        config: The run's options.
    """

    def __init__(self, engine: "KerasEngine", tokenizers: TokenizerPair, config: Config) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.config = config
        self._preparation = TextPreparation(config.data)

    @classmethod
    def load(
        cls,
        run: str | Path | Run | None = None,
        on_warning: Callable[[str], None] = warnings.warn,
        checkpoint: "Choice" = "best",
    ) -> "Translator":
        """Load a trained run.

        Args:
            run: A path, a name below ``checkpoints/``, or None for the run trained or averaged last.
            on_warning: Told of a damaged checkpoint that was passed over for an older one.
            checkpoint: ``best``: the weights that scored best in validation; ``latest``: the newest.

        Raises:
            RunError: There is no such run.
            CheckpointError: It has no checkpoint that can be read.
        """
        from ptenmt.checkpoints import restore_weights
        from ptenmt.model import Transformer

        run = run if isinstance(run, Run) else find_run(run)
        config = run.config()
        tokenizers = load_tokenizers(run.tokenizer_folder)
        model = Transformer(
            config.model, tokenizers.source.vocabulary_size, tokenizers.target.vocabulary_size
        )
        model.build_weights()
        restore_weights(model, run, on_warning, checkpoint)
        return cls.from_model(model, tokenizers, config)

    @classmethod
    def from_model(cls, model: "Transformer", tokenizers: TokenizerPair, config: Config) -> "Translator":
        """Translate with a live model, whose weights may go on changing."""
        from ptenmt.translation.keras_engine import KerasEngine

        # A sub-word tokenizer can spell every word; whole words need a way to say "one I do not know".
        forbidden = [PAD, START] if config.tokenizer.kind == "words" else [PAD, START, UNK]
        return cls(KerasEngine(model, forbidden), tokenizers, config)

    def translate(self, texts: str | Iterable[str]) -> list[Translation]:
        """Translate a sentence, or any number of them, in order.

        Empty and blank sentences have an empty translation.
        """
        return list(self.translate_iterable([texts] if isinstance(texts, str) else texts))

    def translate_iterable(
        self, texts: Iterable[str], window: int = WINDOW_SENTENCES
    ) -> Iterator[Translation]:
        """Translate a stream of sentences in constant memory.

        Args:
            texts: Sentences; they are read ``window`` at a time and batched by length within it. If reading
                fails, those before are still translated, then the error is raised.
            window: How many sentences are read before the first is translated.

        Yields:
            A translation a sentence, in order.
        """
        language = self.config.data.source_language
        stream = iter(texts)
        failure: Exception | None = None
        while failure is None:
            sources, failure = _take(stream, window)
            if not sources and failure is None:
                return
            prepared = [self._preparation.prepare_input(text, language) for text in sources]
            translations: dict[int, Translation] = {}
            for batch in self.translate_batches(sources, prepared):
                translations |= batch
            yield from (translations[row] for row in range(len(sources)))
        raise failure

    def translate_batches(
        self, sources: Sequence[str], prepared: Sequence[str], share: tuple[int, int] = (0, 1)
    ) -> Iterator[dict[int, Translation]]:
        """Translate sentences that were prepared like the training corpus, e.g. the corpus itself.

        Args:
            sources: The sentences as the caller knows them.
            prepared: The same, as the tokenizer is to see them.
            share: Where several share the work, which of them this is, from 0, and how many they are. All
                get the same number of batches, some of which may be empty.

        Yields:
            The translations of some sentences of similar length by their number, until all are done.
        """
        longest = self.config.model.max_positions
        encoded = self.tokenizers.source.encode(prepared)
        ids = RaggedIds(frame(row, longest) for row in encoded)
        blank = [row for row in range(len(encoded)) if not encoded[row]]
        if blank:
            yield {row: self._finish(sources[row], Hypothesis(FRAME), False) for row in blank}
        order = np.argsort(ids.lengths, kind="stable")
        order = order[ids.lengths[order] > len(FRAME)]
        number, count = share
        for start in range(0, len(order), BATCH_SENTENCES * count):
            batch = order[start + number * BATCH_SENTENCES :][:BATCH_SENTENCES]
            if not len(batch):
                yield {}
                continue
            limits = [self.limit(int(length)) for length in ids.lengths[batch]]
            hypotheses = self.engine.translate(ids.padded(batch), limits)
            yield {
                int(row): self._finish(sources[row], hypothesis, len(encoded[row]) + len(FRAME) > longest)
                for row, hypothesis in zip(batch, hypotheses, strict=True)
            }

    def attention(self, text: str, translation: str | None = None) -> AttentionWeights:
        """Who attends to whom while the model reads a sentence and writes its translation.

        Args:
            text: The sentence.
            translation: Its translation; by default the model's own.
        """
        data = self.config.data
        longest = self.config.model.max_positions
        prepared = self._preparation.prepare_input(text, data.source_language)
        source = frame(self.tokenizers.source.encode([prepared])[0], longest)
        if translation is None:
            hypothesis = self.engine.translate(np.array([source]), [self.limit(len(source))])[0]
            target = hypothesis.ids[:-1]
        else:
            prepared = self._preparation.prepare_input(translation, data.target_language)
            target = frame(self.tokenizers.target.encode([prepared])[0], longest)[:-1]
        weights = self.engine.attention(np.array([source]), np.array([target]))
        return AttentionWeights(
            source_pieces=self.tokenizers.source.pieces(source),
            target_pieces=self.tokenizers.target.pieces(target),
            weights={name: values[0] for name, values in weights.items()},
        )

    def limit(self, num_source_tokens: int) -> int:
        """The most tokens a translation may have, [END] counted."""
        length = self.config.decoding.max_length or 2 * num_source_tokens + 20
        return min(length, self.config.model.max_positions)

    def _finish(self, source: str, hypothesis: Hypothesis, is_source_cut: bool) -> Translation:
        tokenizer = self.tokenizers.target
        raw = tokenizer.decode([hypothesis.ids])[0]
        if self.config.tokenizer.kind == "wordpiece":
            raw = repair_wordpiece(raw)
        join = join_tokens if tokenizer.splits_punctuation else self._preparation.finish
        return Translation(
            source=source,
            text=join(raw, self.config.data.target_language),
            raw=raw,
            tokens=tokenizer.pieces(hypothesis.ids),
            is_complete=hypothesis.is_complete,
            is_source_cut=is_source_cut,
        )


def _take(stream: Iterator[str], count: int) -> tuple[list[str], Exception | None]:
    """The next items, and the error that cut them short, if one did."""
    taken: list[str] = []
    try:
        taken.extend(islice(stream, count))
    except Exception as error:  # whatever it is: it is raised once what came before is translated
        return taken, error
    return taken, None
