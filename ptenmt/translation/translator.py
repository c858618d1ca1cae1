"""The translator: text in, text out.

``Translator.translate_buffers`` is the pipeline: a text is read into a buffer, split into sentences, in which
kept parts are found, and encoded (segmentation.py, safeguards.py), batched with others of similar length
(batching.py), translated by an engine (ctranslate2_engine.py, or keras_engine.py with search.py), decoded,
searched once more if that failed, given its kept parts and terms (postprocessing.py, placement.py), and
joined.
"""

import warnings
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from ptenmt.config import Config, DecodingConfig
from ptenmt.errors import ConfigError
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.runs import Choice, Run
from ptenmt.runs.trained_model import TrainedModel, ctranslate2_model
from ptenmt.tokenizers import UNK, TokenizerPair, suppressed_ids
from ptenmt.translation.batching import BatchQueue, Buffer, max_length, read_buffers
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine
from ptenmt.translation.engine import Engine, EngineName, SearchRequest
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.postprocessing import Postprocessor, Ranked, Translation
from ptenmt.translation.segmentation import TextEncoder, check_number
from ptenmt.translation.sentence import BLANK, SegmentedText

if TYPE_CHECKING:
    from ptenmt.model.transformer import Transformer

BUFFER_SIZE = 2048
"""Enough for full batches of similar length: with half as many texts, twice as many tokens are padding."""


class Translator:
    """Translates sentences with a trained model; see ``load``.

    ``config.decoding`` are the options of calls that give none.
    """

    def __init__(self, engine: Engine, tokenizers: TokenizerPair, config: Config) -> None:
        self.engine = engine
        self.tokenizers = tokenizers
        self.config = config
        self.encoder = TextEncoder(tokenizers, config)
        self.postprocessor = Postprocessor(tokenizers, config, engine.attention)

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
            run: A path, a name in ``checkpoints/``, or None for the newest run.
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
        options: DecodingConfig | None = None,
        *,
        device: str = "cpu",
        threads: int | None = None,
    ) -> "Translator":
        """Translate with a loaded run; ``options`` replace its config's, the others are those of ``load``."""
        config, tokenizers, warn = trained.config, trained.tokenizers, trained.on_warning
        if options is not None:
            config = replace(config, decoding=options)
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
        return cls(fast, tokenizers, config)

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

    def translate(
        self,
        texts: str | Iterable[str],
        options: DecodingConfig | None = None,
        *,
        glossary: Glossary | None = None,
        prefix: str = "",
        max_sentences: int | None = None,
    ) -> list[Translation]:
        """Translate one text or several, in order; arguments as of ``translate_buffers``.

        Texts are translated sentence by sentence. What has no word of the source language, such as ``123``
        or an emoji, stays as it is, and so do line ends.

        Raises:
            ConfigError: The texts of a buffer have more than ``max_sentences`` sentences.
            TypeError: One is not str.
        """
        texts = [texts] if isinstance(texts, str) else texts
        buffers = self.translate_buffers(
            texts, options, glossary=glossary, prefix=prefix, max_sentences=max_sentences
        )
        return list(chain(*buffers))

    def translate_buffers(
        self,
        texts: Iterable[str],
        options: DecodingConfig | None = None,
        *,
        glossary: Glossary | None = None,
        prefix: str = "",
        buffer_size: int = BUFFER_SIZE,
        is_prepared: bool = False,
        max_sentences: int | None = None,
        with_scores: bool = True,
        on_progress: Callable[[int], None] = lambda _num_bytes: None,
    ) -> Iterator[list[Translation]]:
        """Translate a stream of texts in constant memory.

        Batches never mix texts of different buffers, so translations, to the last digit of their scores,
        depend on the texts of their buffer only, sampled ones too: a stream resumed at the start of a buffer
        continues identically.

        Args:
            texts: The texts. If reading them fails, those before are translated, then the error is raised.
                An iterator with a method ``has_more(seconds)``, whether the next text comes within some
                seconds, may pause: a buffer then also ends there, and is translated before more is read.
            options: How to search, split and guard; by default those of the run's config.
            glossary: Terms whose translations are given.
            prefix: The target prefix: what every translation starts with.
            buffer_size: How many texts to read at a time, fewer if they are long; their sentences are batched
                by length. With 1, each text is translated before the next is read; otherwise the next buffer
                is read while the engine works.
            is_prepared: Whether the texts are sentences in the form of the training corpus.
            max_sentences: The most sentences that the texts of a buffer may have together.
            with_scores: Greedy search is about 4% faster without scores, which then are NaN.
            on_progress: Called with the number of UTF-8 bytes of sentences that are done, after each batch.

        Yields:
            The translations of a buffer, in order.
        """
        if buffer_size < 1:
            raise ConfigError(f"buffer_size={buffer_size} must be 1 or more")
        options = options or self.config.decoding
        prefix_ids = self.encoder.target_prefix(prefix) if prefix else []
        safeguards = self.encoder.safeguards
        is_reviewed = options.safeguards and self.engine.name == "ctranslate2"  # Keras' has no n-grams
        queue = BatchQueue(
            options, self.config.model, with_attention=self.copies_unknown, with_scores=with_scores
        )
        waiting: deque[Buffer] = deque()
        for buffer in read_buffers(texts, buffer_size):
            split = self.encoder.split(buffer.texts, options, is_prepared=is_prepared)
            segmented = self.encoder.encode(  # keeps parts, then encodes
                split, options, glossary, target_prefix=prefix_ids, is_prepared=is_prepared
            )
            check_number(segmented, max_sentences)
            if options.safeguards and not is_prepared:
                segmented = safeguards.detect(buffer.texts, segmented)
            buffer.segmented = segmented
            waiting.append(buffer)
            engine = self.seeded_engine(options, buffer.texts) if buffer.texts else self.engine
            for found in queue.search(buffer, engine):
                self.postprocessor.decode([(each.sentence, each.hypotheses) for each in found])
                done = queue.accept(map(safeguards.review, found) if is_reviewed else found)
                on_progress(sum(len(each.sentence.original.encode()) for each in done))
                while waiting and not waiting[0].num_waiting:
                    first = waiting.popleft()
                    if first.error is not None:
                        raise first.error
                    if first.texts:
                        yield self._translations(first, options)
                    first.searched.clear()  # which refers to the buffer

    def _translations(self, buffer: Buffer, options: DecodingConfig) -> list[Translation]:
        """The translations of a buffer's texts: kept parts and terms get their places, sentences are joined.

        An n-best list is as long as that of the sentence with the most hypotheses; the others repeat their
        last one.
        """
        ranked: list[tuple[str, SegmentedText, Ranked]] = []
        counts: list[int] = []
        for row, (source, text) in enumerate(zip(buffer.texts, buffer.segmented, strict=True)):
            of_sentences = [
                [BLANK] if sentence.is_blank else buffer.searched[row, number].hypotheses
                for number, sentence in enumerate(text.sentences)
            ]
            counts.append(min(max(map(len, of_sentences)), options.num_hypotheses))
            for rank in range(counts[-1]):
                best = [hypotheses[min(rank, len(hypotheses) - 1)] for hypotheses in of_sentences]
                ranked.append((source, text, list(zip(text.sentences, best, strict=True))))
        translations = iter(self.postprocessor.translations(ranked, options.length_penalty))
        return [
            self._completed(buffer, row, *islice(translations, count)) for row, count in enumerate(counts)
        ]

    def _completed(self, buffer: Buffer, row: int, best: Translation, *others: Translation) -> Translation:
        """The best translation of a text, with the others and what was noticed on the way."""
        text = buffer.segmented[row]
        distinct = {other.text: other for other in others if other.text != best.text}
        searched = (buffer.searched.get((row, number)) for number in range(len(text.sentences)))
        unknown = chain(*map(self.encoder.safeguards.unknown, text.sentences))
        return replace(
            best,
            alternatives=list(distinct.values()),
            is_retried=any(sentence is not None and bool(sentence.first_try) for sentence in searched),
            is_split=text.is_split,
            detected=text.detected,
            unknown=list(dict.fromkeys(unknown)),
        )

    def best(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Translate a batch of token ids, [START] … [END], to those of the best translations."""
        options = self.config.decoding
        longest = max_length(options, self.config.model, max(map(len, sources)))
        request = SearchRequest(sources, longest, options)
        return [hypotheses[0].ids for hypotheses in self.seeded_engine(options).submit(request)()]

    @property
    def copies_unknown(self) -> bool:
        """Whether [UNK] is replaced by a source word, for which hypotheses need attention."""
        return self.config.tokenizer.kind == "words"

    def seeded_engine(self, options: DecodingConfig, texts: Sequence[str] = ()) -> Engine:
        """The engine; for sampling, with a seed that is a function of ``decoding.seed`` and the texts."""
        if not options.is_sampled:
            return self.engine
        return self.engine.seeded(zlib.crc32("\n".join(texts).encode(errors="replace"), options.seed))


def uses_keras(name: EngineName, config: Config) -> bool:
    """Whether the Keras engine, and so TensorFlow, is loaded for this name and model."""
    return name == "keras" or (name == "auto" and bool(why_not_ctranslate2(config.model)))
