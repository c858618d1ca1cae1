"""The translator: text in, text out.

``Translator.translate_buffers`` is the pipeline: a text is read into a buffer, split into segments and
encoded (segmentation.py), batched with others of similar length (batching.py), translated by an engine
(ctranslate2_engine.py, or keras_engine.py with search.py), and detokenized (postprocessing.py).
"""

import math
import warnings
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptenmt.config import Config, DecodingConfig
from ptenmt.config.schema import MAX_ALTERNATIVES, require
from ptenmt.data.text import seems_foreign
from ptenmt.errors import ConfigError
from ptenmt.model.ctranslate2_model import why_not_ctranslate2
from ptenmt.runs import Choice, Run
from ptenmt.runs.ctranslate2_cache import ctranslate2_model
from ptenmt.runs.trained_model import TrainedModel
from ptenmt.tokenizers import END, UNK, TokenizerPair, encode_framed, suppressed_ids
from ptenmt.translation.batching import BLANK, BatchQueue, Buffer, read_buffers
from ptenmt.translation.confidence import Calibration, ScoredSentence, score_sentences, word_probabilities
from ptenmt.translation.ctranslate2_engine import CTranslate2Engine, PendingScores
from ptenmt.translation.engine import Engine, EngineName, Hypothesis, SearchRequest
from ptenmt.translation.glossary import Glossary
from ptenmt.translation.markup import Span, marked_segments, move_spans
from ptenmt.translation.postprocessing import Alternative, Postprocessor, TranslatedSegment, Translation
from ptenmt.translation.review import Reviewer
from ptenmt.translation.segmentation import Segment, SegmentedText, TextEncoder
from ptenmt.translation.word_alignment import Alignment

if TYPE_CHECKING:
    from ptenmt.model.transformer import Transformer

BUFFER_SIZE = 2048
"""Enough for full batches of similar length: with half as many texts, twice as many tokens are padding."""
_LEAST_LOG_ODDS = math.log(0.01)
"""Of a next-token alternative against the most probable one."""
_TOKENS_PER_ALTERNATIVE = 4
"""How many tokens to rank for each alternative: those that continue a word are left out."""


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
        self.encoder = TextEncoder(tokenizers, config, glossary)
        self._postprocessor = Postprocessor(tokenizers, config)
        self._copies_unknown = config.tokenizer.kind == "words"
        self._reviewer = Reviewer(
            self.encoder,
            self._postprocessor,
            tokenizers,
            config.decoding,
            copies_unknown=self._copies_unknown,
            avoids_loops=engine.name == "ctranslate2",
        )

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
        self, texts: str | Iterable[str], *, prefix: str = "", max_segments: int | None = None
    ) -> list[Translation]:
        """Translate one text or several, in order, each after the target prefix.

        Texts are translated sentence by sentence. What has no word of the source language, such as ``123``
        or an emoji, stays as it is, and so do line ends.

        Raises:
            ConfigError: The texts have more than ``max_segments`` sentences together.
            TypeError: One is not str.
        """
        texts = [texts] if isinstance(texts, str) else texts
        return list(chain(*self.translate_buffers(texts, prefix=prefix, max_segments=max_segments)))

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
        max_segments: int | None = None,
        with_scores: bool = True,
        on_done: Callable[[Collection[Translation]], None] = lambda _translations: None,
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
            max_segments: The most sentences that the texts of a buffer may have together.
            with_scores: Greedy search is about 4% faster without scores, which then are NaN.
            on_done: Called with translations as soon as they are complete, in no particular order, and with
                all of a buffer before it is yielded.
            has_more: Whether the next text comes within some seconds. A buffer then also ends where the
                stream pauses, and is translated before more is read; by default it never pauses.

        Yields:
            The translations of a buffer, in order.
        """
        require(buffer_size >= 1, f"buffer_size={buffer_size} must be 1 or more")
        segment = partial(self._segment, max_segments=max_segments)
        pending: deque[Buffer] = deque()

        def read() -> Iterator[Buffer]:
            for buffer in read_buffers(texts, buffer_size, segment, has_more):
                pending.append(buffer)
                yield buffer

        prefix_ids = self.encoder.target_prefix(prefix)
        for done in self._translate(read(), prefix_ids, with_scores=with_scores):
            if done:
                on_done(done.values())
            while pending and pending[0].is_done:
                buffer = pending.popleft()
                yield [buffer.translations[row] for row in range(len(buffer.texts))]
                if buffer.error is not None:
                    raise buffer.error

    def translate_prepared(
        self, sources: Sequence[str], *, with_scores: bool = True
    ) -> Iterator[dict[int, Translation]]:
        """Translate sentences in the form of the training corpus, e.g. of its test set.

        Yields:
            Translations by the index of the sentence, until all are done.
        """
        buffer = Buffer(list(sources), self.encoder.segment(sources, is_prepared=True))
        return self._translate([buffer], with_scores=with_scores)

    def _translate(
        self,
        buffers: Iterable[Buffer],
        target_prefix: Sequence[int] = (),
        *,
        with_scores: bool,
    ) -> Iterator[dict[int, Translation]]:
        """Batch, translate and post-process buffers; yields the texts of a buffer as they are complete."""
        engine, max_length = self.engine, partial(self.max_length, num_prefix_tokens=len(target_prefix))
        queue = BatchQueue(
            self.engine,
            self.config.decoding,
            max_length,
            self._reviewer.review,
            target_prefix,
            with_scores=with_scores,
        )
        is_sampled = self.config.decoding.is_sampled
        for buffer in buffers:
            queue.engine = self._engine(buffer.texts)
            yield self._postprocess(buffer, buffer.blank_rows)
            for batch in buffer.batches(max_length, engine.batch_sentences, engine.batch_tokens):
                queue.submit(batch)
                for finished in queue.finished():
                    yield self._postprocess(*finished)
            # Finish a single-text buffer before reading the next; do not let blank buffers queue up. The next
            # buffer's seed would also affect threads that have not begun to sample.
            if is_sampled or len(buffer.texts) == 1 or buffer.ends_in_pause or buffer.is_done:
                for finished in queue.finished(wait_for_all=True):
                    yield self._postprocess(*finished)
        for finished in queue.finished(wait_for_all=True):
            yield self._postprocess(*finished)

    def _postprocess(self, buffer: Buffer, rows: Sequence[int]) -> dict[int, Translation]:
        """Store and return the translations of these texts, of which all segments are translated."""
        segmented = [buffer.segmented[row] for row in rows]
        ranked = self._postprocessor.n_best(segmented, [buffer.hypotheses[row] for row in rows])
        translations = {
            row: Translation(
                **vars(best),
                source=buffer.texts[row],
                alternatives=list({each.text: each for each in others if each.text != best.text}.values()),
                is_retried=any(segment.is_retried for segment in text.segments),
                is_split=text.is_split,
                detected=text.detected,
                unknown=self._postprocessor.unknown_words(text),
                milliseconds=buffer.milliseconds[row],
            )
            for row, text, (best, *others) in zip(rows, segmented, ranked, strict=True)
        }
        buffer.translations.update(translations)
        return translations

    def _segment(self, texts: Sequence[str], max_segments: int | None) -> list[SegmentedText]:
        """Split texts into sentences; one that is surely in the target language is not translated."""
        segmented = self.encoder.segment(texts, max_segments=max_segments)
        if not self.config.decoding.safeguards:
            return segmented
        rows = [row for row, text in enumerate(segmented) if not text.is_blank]
        languages = self.foreign_languages([texts[row] for row in rows])
        for row, language in zip(rows, languages, strict=True):
            segmented[row].detected = language
            if language == self.config.data.languages[1]:
                first = segmented[row].segments[0]
                blank = Segment("", texts[row], [first.ids[0], first.ids[-1]], original=texts[row])
                segmented[row] = SegmentedText([blank], detected=language)
        return segmented

    def foreign_languages(self, texts: Sequence[str]) -> list[str | None]:
        """The language of each text that is surely not in the source language; None for the others."""
        source = self.config.data.languages[0]
        found: list[str | None] = [None] * len(texts)
        rows = [row for row, text in enumerate(texts) if seems_foreign(text, source)]
        if rows:
            from ptenmt.data.language_identification import language_check  # it loads NumPy

            languages = language_check((), None).foreign([texts[row] for row in rows], source)
            for row, language in zip(rows, languages, strict=True):
                found[row] = language
        return found

    def with_confidence(self, translations: Sequence[Translation]) -> list[Translation]:
        """Add confidences and probabilities of words, for which the engine scores translations once more.

        A translation is unchanged if it has no words of the source language; all are if the run has no
        calibration (``ptenmt evaluate --calibrate``), or with the Keras engine.
        """
        calibration = self.calibration()
        if calibration is None:
            return list(translations)
        found = list(translations)
        for row, sentences in enumerate(self.scored_sentences(translations)):
            if sentences:
                generated = [self._postprocessor.unconstrained(Hypothesis(each.target)) for each in sentences]
                tokens = [token for each in sentences for token in each.target[1:]]
                log_probs = chain(*(each.log_probs for each in sentences))
                pieces = self.tokenizers.target.pieces(tokens)
                words = word_probabilities(found[row].text, " ".join(generated), pieces, log_probs)
                left = iter(sentences)
                segments = [
                    each
                    if each.segment.is_blank
                    else each._replace(confidence=calibration.confidence([next(left)]))
                    for each in found[row].segments
                ]
                confidence = calibration.confidence(sentences)
                found[row] = replace(found[row], confidence=confidence, words=words, segments=segments)
        return found

    def scored_sentences(self, translations: Sequence[Translation]) -> list[list[ScoredSentence]]:
        """Score the tokens of the sentences of translations by teacher forcing, with CTranslate2."""
        return score_sentences(self.engine, translations, self.config.model.max_positions)

    def score_prepared(self, sources: Sequence[str], targets: Sequence[str]) -> PendingScores:
        """Start to score translations in the form of the training corpus by teacher forcing.

        Raises:
            ConfigError: The engine is not CTranslate2's.
        """
        if not isinstance(self.engine, CTranslate2Engine):
            raise ConfigError("the Keras engine does not score translations", "use --engine ctranslate2")
        longest = self.config.model.max_positions
        source_ids, _ = encode_framed(self.tokenizers.source, sources, longest)
        target_ids, _ = encode_framed(self.tokenizers.target, targets, longest)
        return self.engine.score(source_ids, target_ids)

    def next_token_alternatives(self, text: str, prefix: str, count: int) -> list[Alternative]:
        """Translations of a sentence that differ in the first token after a target prefix.

        The prefix ends where a word ends: no token continues its last word.

        Returns:
            At most ``count`` translations, 1 to ``MAX_ALTERNATIVES``, the most probable token first, none of
            less than 1 % of its probability; the text itself if it has no words.

        Raises:
            ConfigError: Not with this engine, a text that is not one sentence, or this ``count``.
        """
        require(1 <= count <= MAX_ALTERNATIVES, f"{count} alternatives: give 1 to {MAX_ALTERNATIVES:,}")
        (segmented,) = self.encoder.segment_single([text])
        (segment,) = segmented.segments
        if segment.is_blank:
            return self._postprocessor.n_best([segmented], [[BLANK]])[0]
        prefix_ids = self.encoder.target_prefix(prefix, with_entities=True)
        tokens = self._next_tokens(segment.ids, prefix_ids, count)
        hypotheses: list[Hypothesis] = []
        options = replace(self.config.decoding, num_hypotheses=1)
        engine, size = self._engine(), max(1, self.engine.batch_sentences)
        for batch in (tokens[place : place + size] for place in range(0, len(tokens), size)):
            request = SearchRequest(
                [segment.ids] * len(batch),
                self.max_length(len(segment.ids), len(prefix_ids) + 1),
                options,
                target_prefixes=[[*prefix_ids, token] for token, _ in batch],
                with_attention=self._copies_unknown,
            )
            hypotheses += [best for best, *_ in engine.submit(request)()]
        ranked = self._postprocessor.n_best([segmented], [[hypotheses]])[0]
        penalty = options.length_penalty
        return [
            replace(
                self._with_typed_prefix(each, prefix, prefix_ids),
                probability=math.exp(log_probability),
                score=each.score + log_probability / max(len(each.ids) - 1, 1) ** penalty,
            )
            for each, (_, log_probability) in zip(ranked, tokens, strict=True)
        ]

    def _next_tokens(
        self, source: Sequence[int], prefix: Sequence[int], count: int
    ) -> list[tuple[int, float]]:
        """The most probable tokens after a prefix that begin a word, with their log-probabilities."""
        target = self.tokenizers.target
        # [END] is not among the alternatives.
        most = target.vocabulary_size - len(suppressed_ids(self.config.tokenizer)) - 1
        request = SearchRequest(
            [source],
            len(prefix) + 1,
            DecodingConfig(beam_size=1),
            target_prefixes=[prefix],
            next_token_alternatives=min(_TOKENS_PER_ALTERNATIVE * count, most),
        )
        (ranked,) = self._engine().submit(request)()
        total = len(prefix) + 1
        before, *texts = target.decode([prefix, *([*prefix, each.ids[-1]] for each in ranked)])
        found = [
            (each.ids[-1], each.score * total)
            for each, text in zip(ranked, texts, strict=True)
            if not (before[-1:].isalnum() and text[len(before) :][:1].isalnum())
        ]
        least = found[0][1] + _LEAST_LOG_ODDS if found else 0.0
        return [(token, score) for token, score in found[:count] if score >= least]

    def align(self, text: str, prefix: str = "") -> Alignment:
        """Translate a sentence, and return which source tokens each target token attends to.

        Raises:
            ConfigError: The text is not a single sentence.
        """
        (segmented,) = self.encoder.segment_single([text])
        (segment,) = segmented.segments
        best, weights, prefix_ids = BLANK[0], None, list[int]()
        if not segment.is_blank:
            prefix_ids = self.encoder.target_prefix(prefix, with_entities=True)
            request = SearchRequest(
                [segment.ids],
                self.max_length(len(segment.ids), len(prefix_ids)),
                self.config.decoding,
                target_prefixes=[prefix_ids],
                with_attention=True,
            )
            best = self._engine().submit(request)()[0][0]
            weights = best.attention
        if weights is None:
            import numpy as np

            weights = np.zeros((len(best.ids) - 1, len(segment.ids)))
        found = self._postprocessor.n_best([segmented], [[[best]]])[0][0]
        return Alignment(
            source=text,
            translation=self._with_typed_prefix(found, prefix, prefix_ids).text,
            source_tokens=self.tokenizers.source.pieces(segment.ids),
            target_tokens=self.tokenizers.target.pieces(best.ids[1:]),
            weights=weights,
        )

    def move_spans(
        self, translations: Sequence[Translation], texts: Sequence[Sequence[Span]]
    ) -> list[list[list[Span]]]:
        """Move markup, such as bold words and links, to the translations of texts by word alignment.

        The texts are spans: parts of them with the elements around them.

        Returns:
            For each text the spans of its best translation, then those of each alternative.
        """
        marked = [
            [marked_segments(spans, each) for each in (translation, *translation.alternatives)]
            for translation, spans in zip(translations, texts, strict=True)
        ]
        to_align = [each.to_align for each in chain(*chain(*marked)) if each.to_align]
        alignments = iter(self._alignments(to_align))
        return [[move_spans(segments, alignments) for segments in of_text] for of_text in marked]

    def _alignments(self, segments: Sequence[TranslatedSegment]) -> list[Alignment | None]:
        """The attention with which the decoder is fed the translations; None if the engine cannot be fed."""
        found: list[Alignment | None] = [None] * len(segments)
        order = sorted(range(len(segments)), key=lambda row: len(segments[row].segment.ids))
        while order and self.engine.name != "keras":
            longest = len(segments[order[-1]].segment.ids)
            size = max(1, min(self.engine.batch_sentences, self.engine.batch_tokens // longest))
            batch, order = order[-size:], order[:-size]
            prefixes = [[token for token in segments[row].ids[1:] if token != END] for row in batch]
            request = SearchRequest(
                [segments[row].segment.ids for row in batch],
                max(map(len, prefixes)) + 1,
                DecodingConfig(beam_size=1),
                target_prefixes=prefixes,
                with_attention=True,
                with_scores=False,
            )
            for row, prefix, (best, *_) in zip(batch, prefixes, self.engine.submit(request)(), strict=True):
                segment, text, ids, _ = segments[row]
                assert best.attention is not None
                constraints = segment.constraints
                found[row] = Alignment(
                    source=constraints.text if constraints else segment.original,
                    translation=self._postprocessor.unconstrained(Hypothesis(ids)) if constraints else text,
                    source_tokens=self.tokenizers.source.pieces(segment.ids),
                    target_tokens=self.tokenizers.target.pieces(prefix),
                    weights=best.attention[: len(prefix)],
                )
        return found

    def _with_typed_prefix(self, found: Alternative, prefix: str, prefix_ids: Sequence[int]) -> Alternative:
        """A translation that begins with the prefix as typed, if the vocabulary lacks an entity in it."""
        if UNK not in prefix_ids or self._copies_unknown:
            return found
        begun, whole = self.tokenizers.target.decode([prefix_ids, found.ids])
        return replace(found, text=prefix + whole[len(begun) :])

    def best(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Translate a batch of token ids, [START] … [END], to those of the best translations."""
        max_length = self.max_length(max(map(len, sources)))
        request = SearchRequest(sources, max_length, self.config.decoding)
        return [hypotheses[0].ids for hypotheses in self._engine().submit(request)()]

    def max_length(self, num_source_tokens: int, num_prefix_tokens: int = 0) -> int:
        """The most tokens of a translation, [END] and the target prefix counted; ``DecodingConfig.limit``."""
        length: int = self.config.decoding.limit(num_source_tokens)
        return min(length + num_prefix_tokens, self.config.model.max_positions)

    def _engine(self, texts: Sequence[str] = ()) -> Engine:
        """The engine; for sampling, with a seed that is a function of ``decoding.seed`` and the texts."""
        options = self.config.decoding
        if not options.is_sampled:
            return self.engine
        return self.engine.seeded(zlib.crc32("\n".join(texts).encode(errors="replace"), options.seed))


def uses_keras(name: EngineName, config: Config) -> bool:
    """Whether the Keras engine, and so TensorFlow, is loaded for this name and model."""
    return name == "keras" or (name == "auto" and bool(why_not_ctranslate2(config.model)))
