"""The translator: text in, text out."""

import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptenmt.config import Config
from ptenmt.config.schema import MAX_ALTERNATIVES, require
from ptenmt.ctranslate2_export import ctranslate2_model, why_not_ctranslate2
from ptenmt.errors import ConfigError
from ptenmt.runs import Choice, Run
from ptenmt.tokenizers import UNK, TokenizerPair, forbidden
from ptenmt.trained_model import TrainedModel
from ptenmt.translation.batching import BLANK, Batch, Buffer, Pipeline, read_buffers
from ptenmt.translation.engine import Engine, EngineName
from ptenmt.translation.postprocessing import Alternative, Postprocessor, Translation, word_weights, words_of
from ptenmt.translation.segmentation import SegmentedText, TextEncoder

if TYPE_CHECKING:
    import numpy as np

    from ptenmt.model import Transformer

BUFFER_SIZE = 2048
"""Enough for full batches of similar length: with half as many texts, twice as many tokens are padding."""


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Which source tokens each token of a translation attends to."""

    source: str
    translation: str
    source_tokens: list[str]
    """S tokens, [START] and [END] included."""
    target_tokens: list[str]
    """T tokens in the order of generation; [END] last if it was generated."""
    weights: "np.ndarray"
    """[T, S]; a row sums to 1. The last layer's cross-attention, averaged over its heads."""

    def of_words(self) -> "WordAlignment":
        """Sum the weights of sub-words over words."""
        source_words, target_words = words_of(self.source), words_of(self.translation)
        source, target = (source_words, self.source_tokens), (target_words, self.target_tokens)
        return WordAlignment(
            translation=self.translation,
            source_words=source_words,
            target_words=target_words,
            weights=word_weights(self.weights, source, target),
        )


@dataclass(frozen=True, kw_only=True)
class WordAlignment:
    """Which words of a sentence each word of its translation attends to."""

    translation: str
    source_words: list[str]
    """Joined they give the sentence."""
    target_words: list[str]
    """Joined they give the translation."""
    weights: list[list[float]]
    """A row for each target word, a column for each source word; see ``word_weights``."""


class Translator:
    """Translates sentences with a trained model.

    Args:
        engine: Translates token ids to token ids.
        tokenizers: Of both languages.
        config: The run's options.
    """

    def __init__(self, engine: Engine, tokenizers: TokenizerPair, config: Config) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.config = config
        self.encoder = TextEncoder(tokenizers, config)
        self._postprocessor = Postprocessor(tokenizers, config)

    @classmethod
    def load(
        cls,
        run: str | Path | Run | None = None,
        on_warning: Callable[[str], None] = warnings.warn,
        checkpoint: Choice = "best",
        *,
        engine: EngineName = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> "Translator":
        """Load a trained run.

        Args:
            run: A path, a name in ``checkpoints/``, or None for the run trained or averaged last.
            on_warning: Called with a message for each damaged file of weights.
            checkpoint: ``best``: the weights with the best validation score; ``latest``: the newest.
            engine: ``ctranslate2``, the fast one; ``keras``, the reference; or ``auto``: the fast one, unless
                it cannot express the model.
            device: What CTranslate2 computes on: ``cpu``, ``cuda`` or ``auto``.
            threads: How many batches CTranslate2 translates in parallel; by default one per core.

        Raises:
            RunError: There is no such run, or it is not a translation model.
            CheckpointError: It has no readable weights.
            ExportError: CTranslate2 cannot express the model.
            ConfigError: This machine has no such device.
        """
        trained = TrainedModel.load(run, checkpoint=checkpoint, task="translation", on_warning=on_warning)
        return cls.of(trained, engine, device=device, threads=threads)

    @classmethod
    def of(
        cls,
        trained: TrainedModel,
        engine: EngineName = "auto",
        *,
        device: str = "cpu",
        threads: int | None = None,
    ) -> "Translator":
        """Translate with a loaded run; arguments and errors as of ``load``."""
        loaded = load_engine(trained, engine, device=device, threads=threads)
        return cls(loaded, trained.tokenizers, trained.config)

    @classmethod
    def from_model(cls, model: "Transformer", tokenizers: TokenizerPair, config: Config) -> "Translator":
        """Translate with a live Keras model, whose weights may still change."""
        from ptenmt.translation.keras_engine import KerasEngine

        return cls(KerasEngine(model, forbidden(config.tokenizer)), tokenizers, config)

    def with_options(self, **changes: Any) -> "Translator":
        """The same translator with other options of the section ``decoding``, such as ``beam_size=1``.

        Raises:
            ConfigError: The options are incompatible.
        """
        config = replace(self.config, decoding=replace(self.config.decoding, **changes))
        return Translator(self.engine, self.tokenizers, config)

    def translate(
        self, texts: str | Iterable[str], *, prefix: str = "", max_segments: int | None = None
    ) -> list[Translation]:
        """Translate one text or several, in order.

        Blank texts have an empty translation. Long texts are translated sentence by sentence.

        Args:
            texts: The texts.
            prefix: The target prefix: what every translation starts with.
            max_segments: The most sentences that the texts may have together.

        Raises:
            ConfigError: They have more.
        """
        texts = [texts] if isinstance(texts, str) else texts
        return list(chain(*self.translate_buffers(texts, prefix=prefix, max_segments=max_segments)))

    def translate_iterable(
        self, texts: Iterable[str], *, prefix: str = "", buffer_size: int = BUFFER_SIZE
    ) -> Iterator[Translation]:
        """Translate a stream of texts in constant memory; see ``translate_buffers``.

        Yields:
            A translation for each text, in order.
        """
        return chain.from_iterable(self.translate_buffers(texts, prefix=prefix, buffer_size=buffer_size))

    def translate_buffers(
        self,
        texts: Iterable[str],
        *,
        prefix: str = "",
        next_token_alternatives: int = 0,
        buffer_size: int = BUFFER_SIZE,
        max_segments: int | None = None,
        with_scores: bool = True,
        on_done: Callable[[Collection[Translation]], None] = lambda _translations: None,
    ) -> Iterator[list[Translation]]:
        """Translate a stream of texts in constant memory.

        Batches never mix texts of different buffers, so translations, to the last digit of their scores,
        depend on the texts of their buffer only: a stream resumed at the start of a buffer continues
        identically.

        Args:
            texts: The texts. If reading them fails, those before are translated, then the error is raised.
            prefix: The target prefix: what every translation starts with.
            next_token_alternatives: If above 0, translate each text, a single sentence, as ``alternatives``
                does.
            buffer_size: How many texts to read at a time, fewer if they are long; their segments are batched
                by length. With 1, each text is translated before the next is read; otherwise the next buffer
                is read while the engine works.
            max_segments: The most sentences that the texts of a buffer may have together.
            with_scores: Greedy search is about 4 % faster without scores, which then are NaN.
            on_done: Called with translations as soon as they are complete, in no particular order, and with
                all of a buffer before it is yielded.

        Yields:
            The translations of a buffer, in order.
        """
        require(buffer_size >= 1, f"buffer_size={buffer_size} must be 1 or more")
        target_prefix = self.encoder.target_prefix(prefix)
        segment: Callable[[Sequence[str]], list[SegmentedText]] = self.encoder.segment
        if next_token_alternatives:
            segment = self.encoder.segment_single
            # [END] is none of the alternatives.
            most = self.tokenizers.target.vocabulary_size - len(forbidden(self.config.tokenizer)) - 1
            next_token_alternatives = min(next_token_alternatives, most)
        pipeline = self._pipeline(target_prefix, next_token_alternatives, with_scores=with_scores)
        buffers: deque[Buffer] = deque()

        def complete(finished: Iterable[tuple[Buffer, list[int]]]) -> Iterator[list[Translation]]:
            """Post-process finished texts; yields the buffers that are done, in order."""
            for buffer, rows in finished:
                if rows:
                    on_done(self._postprocess(buffer, rows).values())
            while buffers and buffers[0].is_done:
                yield buffers.popleft().in_order()

        error = None
        for buffer in read_buffers(texts, buffer_size, segment):
            _check_segments(buffer, max_segments)
            error = buffer.error
            buffers.append(buffer)
            yield from complete([(buffer, buffer.blank_rows)])
            for batch in self._batches(buffer, len(target_prefix)):
                pipeline.submit(batch)
                yield from complete(pipeline.finished())
            if buffer_size == 1 or buffer.is_done:  # blank buffers must not pile up behind a pending one
                yield from complete(pipeline.finished(wait_for_all=True))
        yield from complete(pipeline.finished(wait_for_all=True))
        if error is not None:
            raise error

    def translate_prepared(
        self, sources: Sequence[str], *, with_scores: bool = True
    ) -> Iterator[dict[int, Translation]]:
        """Translate sentences in the form of the training corpus, e.g. of its test set.

        Args:
            sources: The sentences.
            with_scores: See ``translate_buffers``.

        Yields:
            Translations by the index of the sentence, until all are done.
        """
        buffer = Buffer(list(sources), self.encoder.segment(sources, is_prepared=True))
        pipeline = self._pipeline(with_scores=with_scores)
        yield self._postprocess(buffer, buffer.blank_rows)
        for batch in self._batches(buffer):
            pipeline.submit(batch)
            for _, rows in pipeline.finished():
                yield self._postprocess(buffer, rows)
        for _, rows in pipeline.finished(wait_for_all=True):
            yield self._postprocess(buffer, rows)

    def alternatives(self, text: str, prefix: str, count: int) -> list[Alternative]:
        """Translations of a sentence that differ in the first token after a target prefix.

        Args:
            text: A sentence.
            prefix: The target prefix; empty for different first tokens.
            count: How many, 1 to ``MAX_ALTERNATIVES``; a small vocabulary has fewer.

        Returns:
            Whole translations, those with the most probable token first; of a blank text, one empty
            translation.

        Raises:
            ConfigError: The engine does not support it, the text is not a single sentence, or ``count`` is
                out of range.
        """
        require(1 <= count <= MAX_ALTERNATIVES, f"{count} alternatives: give 1 to {MAX_ALTERNATIVES:,}")
        ((best,),) = self.translate_buffers([text], prefix=prefix, next_token_alternatives=count)
        return [best, *best.alternatives]

    def align(self, text: str, prefix: str = "") -> Alignment:
        """Translate a sentence, and return which source tokens each target token attends to.

        Args:
            text: A sentence.
            prefix: The target prefix.

        Raises:
            ConfigError: The text is not a single sentence.
        """
        (segmented,) = self.encoder.segment_single([text])
        (segment,) = segmented.segments
        best, weights = BLANK[0], None
        if not segment.is_blank:
            target_prefix = self.encoder.target_prefix(prefix)
            wait = self._engine().submit(
                [segment.ids],
                self.max_length(len(segment.ids), len(target_prefix)),
                self.config.decoding,
                target_prefixes=[target_prefix],
                with_attention=True,
            )
            best = wait()[0][0]
            weights = best.attention
        if weights is None:
            import numpy as np

            weights = np.zeros((len(best.ids) - 1, len(segment.ids)))
        return Alignment(
            source=text,
            translation=self._postprocessor.alternatives([segmented], [[[best]]])[0][0].text,
            source_tokens=self.tokenizers.source.pieces(segment.ids),
            target_tokens=self.tokenizers.target.pieces(best.ids[1:]),
            weights=weights,
        )

    def best(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Translate a batch of token ids to those of the best translations.

        Args:
            sources: The ids of each sentence, [START] and [END] included.

        Returns:
            For each sentence ids, [START] first; [END] last if it was generated.
        """
        max_length = self.max_length(max(map(len, sources)))
        wait = self._engine().submit(sources, max_length, self.config.decoding)
        return [hypotheses[0].ids for hypotheses in wait()]

    def max_length(self, num_source_tokens: int, num_prefix_tokens: int = 0) -> int:
        """The most tokens of a translation, [END] and the target prefix counted.

        See ``DecodingConfig.limit``; never more than the model has positions.
        """
        length: int = self.config.decoding.limit(num_source_tokens)
        return min(length + num_prefix_tokens, self.config.model.max_positions)

    def _engine(self) -> Engine:
        """The engine; for sampling, with its random number generator reset."""
        options = self.config.decoding
        return self.engine.seeded(options.seed) if options.is_sampled else self.engine

    def _pipeline(
        self, target_prefix: Sequence[int] = (), next_token_alternatives: int = 0, *, with_scores: bool
    ) -> Pipeline:
        return Pipeline(
            self._engine(),
            self.config.decoding,
            target_prefix,
            next_token_alternatives,
            copies_unknown=self.config.tokenizer.kind == "words",
            with_scores=with_scores,
        )

    def _batches(self, buffer: Buffer, num_prefix_tokens: int = 0) -> Iterator[Batch]:
        return buffer.batches(
            lambda num_tokens: self.max_length(num_tokens, num_prefix_tokens),
            self.engine.batch_sentences,
            self.engine.batch_tokens,
        )

    def _postprocess(self, buffer: Buffer, rows: Sequence[int]) -> dict[int, Translation]:
        """Store and return the translations of these texts, of which all segments are translated."""
        segmented = [buffer.segmented[row] for row in rows]
        ranked = self._postprocessor.alternatives(segmented, [buffer.hypotheses[row] for row in rows])
        translations = {
            row: Translation(
                **vars(best),
                source=buffer.texts[row],
                alternatives=others,
                is_split=text.is_split,
                unknown=self._postprocessor.unknown_words(text),
                milliseconds=buffer.milliseconds[row],
            )
            for row, text, (best, *others) in zip(rows, segmented, ranked, strict=True)
        }
        buffer.translations.update(translations)
        return translations


def uses_keras(name: EngineName, config: Config) -> bool:
    """Whether the Keras engine, and so TensorFlow, is loaded for this name and model."""
    return name == "keras" or (name == "auto" and bool(why_not_ctranslate2(config.model)))


def load_engine(
    trained: TrainedModel, name: EngineName = "auto", *, device: str = "cpu", threads: int | None = None
) -> Engine:
    """Load an engine.

    Args:
        trained: A translation model.
        name: ``auto`` is CTranslate2, or Keras if CTranslate2 cannot express the model.
        device: What CTranslate2 computes on: ``cpu``, ``cuda`` or ``auto``.
        threads: How many batches CTranslate2 translates in parallel; by default one per core.

    Raises:
        ExportError: CTranslate2 cannot express the model.
        CheckpointError: The weights cannot be read.
        ConfigError: This machine has no such device.
        PtenmtError: The Keras engine needs TensorFlow, which is not installed.
    """
    config, warn = trained.config, trained.on_warning
    never = forbidden(config.tokenizer)
    if uses_keras(name, config):
        if name == "auto":
            warn(f"{why_not_ctranslate2(config.model)}: the Keras engine translates, which is slower")
        if device != "cpu" or threads is not None:
            warn("device and threads are options of CTranslate2; the Keras engine uses what TensorFlow finds")
        model = trained.keras_model
        from ptenmt.translation.keras_engine import KerasEngine

        return KerasEngine(model, never)
    from ptenmt.translation.ctranslate2_engine import CTranslate2Engine

    converted = ctranslate2_model(trained)
    engine = CTranslate2Engine(
        converted, trained.tokenizers, with_unknown=UNK not in never, device=device, threads=threads
    )
    if engine.compute_type != converted.quantization:
        warn(
            f"{device} cannot compute in {converted.quantization}, as the model is stored: "
            f"using {engine.compute_type}"
        )
    return engine


def _check_segments(buffer: Buffer, max_segments: int | None) -> None:
    num_segments = sum(not part.is_blank for text in buffer.segmented for part in text.segments)
    if max_segments is not None and num_segments > max_segments:
        raise ConfigError(
            f"the text has {num_segments:,} sentences; {max_segments:,} are allowed", "send fewer at a time"
        )
