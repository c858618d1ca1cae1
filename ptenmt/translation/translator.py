"""The translator: text in, text out.

``Translator.translate_buffers`` is the pipeline: a text is read into a buffer, split into sentences and
encoded (segmentation.py), batched with others of similar length (batching.py), translated by an engine
(ctranslate2_engine.py, or keras_engine.py with search.py), and detokenized (postprocessing.py). Safeguards
stand beside it (safeguards/).
"""

import warnings
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptenmt.config import Config
from ptenmt.errors import ConfigError
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.runs import Choice, Run
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.tokenizers import UNK, TokenizerPair, suppressed_ids
from ptenmt.translation.batching import BatchQueue, Buffer, max_length, read_buffers
from ptenmt.translation.confidence import Calibration
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.engine import Engine, EngineName, SearchRequest
from ptenmt.translation.postprocessing import Postprocessor, Translation
from ptenmt.translation.safeguards import safeguards_of
from ptenmt.translation.safeguards.glossary import Glossary
from ptenmt.translation.segmentation import TextEncoder
from ptenmt.translation.sentence import Sentence

if TYPE_CHECKING:
    from ptenmt.model.transformer import Transformer

BUFFER_SIZE = 2048
"""Enough for full batches of similar length: with half as many texts, twice as many tokens are padding."""


class Translator:
    """Translates sentences with a trained model; see ``load``."""

    def __init__(
        self,
        engine: Engine,
        tokenizers: TokenizerPair,
        config: Config,
        glossary: Glossary | None = None,
        calibration: Callable[[], Calibration | None] = lambda: None,
    ) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.config = config
        self.glossary = glossary
        self.calibration = calibration
        self._is_sampled = config.decoding.is_sampled
        searches_again = engine.name == "ctranslate2"
        safeguards = safeguards_of(tokenizers, config, glossary, searches_again=searches_again)
        self._safeguards = safeguards
        self.encoder = TextEncoder(tokenizers, config, safeguards)
        self.postprocessor = Postprocessor(tokenizers, config, safeguards)

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
            PtenmtError: The Keras engine needs TensorFlow, which is not installed.
        """
        trained = TrainedModel.load(run, checkpoint=checkpoint, task="translation", on_warning=on_warning)
        return cls.from_trained_model(trained, engine, device=device, threads=threads)

    @classmethod
    def from_trained_model(
        cls,
        trained: TrainedModel,
        engine: EngineName = "auto",
        *,
        device: str = "cpu",
        threads: int | None = None,
    ) -> "Translator":
        """Translate with a loaded run; arguments and errors as of ``load``."""
        config, tokenizers, warn = trained.config, trained.tokenizers, trained.on_warning
        if uses_keras(engine, config):
            if engine == "auto":
                warn(f"{why_not_ctranslate2(config.model)}: the Keras engine translates, which is slower")
            if device != "cpu" or threads is not None:
                warn("device and threads are options of CTranslate2, not of the Keras engine")
            return cls.from_model(trained.keras_model, tokenizers, config, trained.alignment_layer)
        model = ctranslate2_model(trained)
        with_unknown = UNK not in suppressed_ids(config.tokenizer)
        fast = CTranslate2Engine(model, tokenizers, with_unknown=with_unknown, device=device, threads=threads)
        if fast.compute_type != model.quantization:
            warn(
                f"{device} cannot compute in {model.quantization}, as the model is stored: "
                f"using {fast.compute_type}"
            )
        is_latest = trained.info.file.stem == "latest"  # training calibrates the best weights
        on_stale = (lambda _message: None) if is_latest else warn
        calibration = cache(partial(Calibration.load, trained.run, trained.info.checksum, on_stale))
        return cls(fast, tokenizers, config, calibration=calibration)

    @classmethod
    def from_model(
        cls,
        model: "Transformer",
        tokenizers: TokenizerPair,
        config: Config,
        alignment_layer: int | None = None,
    ) -> "Translator":
        """Translate with a live Keras model, whose weights may still change; as for ``KerasEngine``."""
        from ptenmt.translation.keras_engine import KerasEngine

        return cls(KerasEngine(model, suppressed_ids(config.tokenizer), alignment_layer), tokenizers, config)

    def with_options(self, **changes: Any) -> "Translator":
        """The same translator with other options of the section ``decoding``, such as ``beam_size=1``."""
        config = replace(self.config, decoding=replace(self.config.decoding, **changes))
        return Translator(self.engine, self.tokenizers, config, self.glossary, self.calibration)

    def with_glossary(self, glossary: Glossary | None) -> "Translator":
        """The same translator with another glossary, or without one."""
        return Translator(self.engine, self.tokenizers, self.config, glossary, self.calibration)

    def translate(
        self, texts: str | Iterable[str], *, prefix: str = "", max_sentences: int | None = None
    ) -> list[Translation]:
        """Translate one text or several, in order, each after the target prefix.

        Texts are translated sentence by sentence. What has no word of the source language, such as ``123``
        or an emoji, stays as it is, but for the notation of numbers, and so do line ends.

        Raises:
            ConfigError: The texts of a buffer have more than ``max_sentences`` sentences.
            TypeError: One is not str.
        """
        texts = [texts] if isinstance(texts, str) else texts
        return list(chain(*self.translate_buffers(texts, prefix=prefix, max_sentences=max_sentences)))

    def translate_iterable(
        self, texts: Iterable[str], *, prefix: str = "", buffer_size: int = BUFFER_SIZE
    ) -> Iterator[Translation]:
        """Translate a stream of texts in constant memory, in order; see ``translate_buffers``."""
        return chain.from_iterable(self.translate_buffers(texts, prefix=prefix, buffer_size=buffer_size))

    def translate_buffers(
        self,
        texts: Iterable[str],
        *,
        prefix: str = "",
        buffer_size: int = BUFFER_SIZE,
        max_sentences: int | None = None,
        with_scores: bool = True,
        on_done: Callable[[Collection[Translation]], None] = lambda _translations: None,
        on_progress: Callable[[int], None] = lambda _num_bytes: None,
        has_more: Callable[[float], bool] | None = None,
    ) -> Iterator[list[Translation]]:
        """Translate a stream of texts in constant memory.

        Batches never mix texts of different buffers, so translations, to the last digit of their scores,
        depend on the texts of their buffer only, sampled ones too: a stream resumed at the start of a buffer
        continues identically.

        Args:
            texts: The texts. If reading them fails, those before are translated, then the error is raised.
            prefix: The target prefix: what every translation starts with.
            buffer_size: How many texts to read at a time, fewer if they are long; their segments are batched
                by length. With 1, each text is translated before the next is read; otherwise the next buffer
                is read while the engine works.
            max_sentences: The most sentences that the texts of a buffer may have together.
            with_scores: Greedy search is about 4% faster without scores, which then are NaN.
            on_done: Called with translations as soon as they are complete, in no particular order, and with
                all of a buffer before it is yielded.
            on_progress: Called with the number of UTF-8 bytes of sentences that are done, after each batch.
            has_more: Whether the next text comes within some seconds. A buffer then also ends where the
                stream pauses, and is translated before more is read; by default it never pauses.

        Yields:
            The translations of a buffer, in order.
        """
        if buffer_size < 1:
            raise ConfigError(f"buffer_size={buffer_size} must be 1 or more")
        prefix_ids = self.encoder.target_prefix(prefix) if prefix else []
        segment = partial(self.encoder.segment, target_prefix=prefix_ids, max_sentences=max_sentences)
        pending: dict[Buffer, None] = {}  # in the order of the stream
        buffers = read_buffers(texts, buffer_size, segment, has_more)
        for buffer, done in self._translate(buffers, with_scores=with_scores, on_progress=on_progress):
            pending.setdefault(buffer)
            if done:
                on_done(done.values())
            while pending:
                first = next(iter(pending))
                if not first.is_done:
                    break
                del pending[first]
                yield [first.translations[row] for row in range(len(first.texts))]
                if first.error is not None:
                    raise first.error

    def translate_prepared(
        self, sources: Sequence[str], *, with_scores: bool = True
    ) -> Iterator[dict[int, Translation]]:
        """Translate sentences in the form of the training corpus, e.g. of its test set.

        Yields:
            Translations by the index of the sentence, until all are done.
        """
        buffer = Buffer(list(sources), self.encoder.segment(sources, is_prepared=True))
        for _, translations in self._translate([buffer], with_scores=with_scores):
            yield translations

    def _translate(
        self,
        buffers: Iterable[Buffer],
        *,
        with_scores: bool,
        on_progress: Callable[[int], None] = lambda _num_bytes: None,
    ) -> Iterator[tuple[Buffer, dict[int, Translation]]]:
        """Batch, translate and post-process buffers.

        Yields:
            A buffer and, by row, its translations that are complete now; first those of texts without words.
        """
        queue = BatchQueue(
            self.seeded_engine, self.config, self._review, with_scores=with_scores, on_progress=on_progress
        )
        for buffer, rows in queue.translate(buffers):
            translations = {row: self._joined(buffer, row) for row in rows}
            buffer.translations.update(translations)
            yield buffer, translations

    def _review(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Accept the hypotheses of sentences, or return a sentence without, to be searched once more."""
        self.postprocessor.decode(sentences)
        return [self._reviewed(sentence) for sentence in sentences]

    def _reviewed(self, sentence: Sentence) -> Sentence:
        for safeguard in self._safeguards:
            sentence = safeguard.after(sentence)
            if not sentence.hypotheses:
                if not sentence.ids:
                    self.encoder.encode([sentence])
                return sentence
        sentence.hypotheses = sentence.hypotheses[: self.config.decoding.num_hypotheses]
        sentence.is_done = True
        return sentence

    def _joined(self, buffer: Buffer, row: int) -> Translation:
        text = buffer.segmented[row]
        best, *others = self.postprocessor.n_best(buffer.texts[row], text)
        distinct = {other.text: other for other in others if other.text != best.text}
        return replace(
            best,
            alternatives=list(distinct.values()),
            is_retried=any(sentence.is_retried for sentence in text.sentences),
            is_split=text.is_split,
            detected=text.detected,
            unknown=self.postprocessor.unknown_words(text),
            milliseconds=buffer.milliseconds[row],
        )

    def best(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Translate a batch of token ids, [START] … [END], to those of the best translations."""
        longest = max(map(len, sources))
        request = SearchRequest(sources, max_length(self.config, longest), self.config.decoding)
        return [hypotheses[0].ids for hypotheses in self.seeded_engine().submit(request)()]

    @property
    def copies_unknown(self) -> bool:
        """Whether [UNK] is replaced by a source word, for which hypotheses need attention."""
        return self.config.tokenizer.kind == "words"

    def seeded_engine(self, texts: Sequence[str] = ()) -> Engine:
        """The engine; for sampling, with a seed that is a function of ``decoding.seed`` and the texts."""
        if not self._is_sampled:
            return self.engine
        return self.engine.seeded(
            zlib.crc32("\n".join(texts).encode(errors="replace"), self.config.decoding.seed)
        )


def uses_keras(name: EngineName, config: Config) -> bool:
    """Whether the Keras engine, and so TensorFlow, is loaded for this name and model."""
    return name == "keras" or (name == "auto" and bool(why_not_ctranslate2(config.model)))
