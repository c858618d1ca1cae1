"""Reads texts into buffers, batches their sentences by length, and keeps an engine busy with the batches."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from ptenmt.config import DecodingConfig
from ptenmt.translation.engine import Engine, PendingHypotheses, SearchRequest
from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.sentence import Search, SegmentedText, Sentence

BATCH_SENTENCES = 32
BATCH_TOKENS = 512
"""Source tokens, padding included. CTranslate2 is fastest with such batches, by a small margin: it takes 3 to
4% longer with 32 sentences of any length, 10 to 25% longer with 128 sentences or 4,096 tokens
(benchmarks/translation.md)."""
MAX_BUFFER_CHARACTERS = 250_000
"""A few seconds' work for buffers of long texts, so that progress can be shown and saved."""
PAUSE = 0.1
"""Seconds that the texts of a buffer wait for more, where the stream may pause."""
_LONGEST_RETRY, _LONGER_RETRY = 1.5, 10
"""The most tokens of a translation after one with a loop: this many times the source's, and some more."""


@dataclass
class Buffer:
    """Consecutive texts of a stream."""

    texts: list[str]
    segmented: list[SegmentedText]
    error: Exception | None = None
    """The error that ended the stream after these texts, if any."""
    ends_in_pause: bool = False
    """Whether the stream had no more texts at that moment."""
    milliseconds: list[float] = field(init=False)
    """The time spent on each text so far."""
    translations: dict[int, Translation] = field(default_factory=dict)
    """Those that are complete, by the index of the text."""

    def __post_init__(self) -> None:
        self.milliseconds = [0.0] * len(self.texts)

    @property
    def is_done(self) -> bool:
        """Whether all texts are translated."""
        return len(self.translations) == len(self.texts)


def read_buffers(
    texts: Iterable[str],
    size: int,
    segment: Callable[[Sequence[str]], list[SegmentedText]],
    has_more: Callable[[float], bool] | None = None,
) -> Iterator[Buffer]:
    """Read a stream into buffers of ``size`` texts, fewer if they are long or if the stream pauses.

    ``has_more`` is that of ``Translator.translate_buffers``. The last buffer holds an error.
    """
    stream = iter(texts)
    is_open = True
    while is_open:
        read: list[str] = []
        num_characters, error, ends_in_pause, first = 0, None, False, 0.0
        try:
            while len(read) < size and num_characters < MAX_BUFFER_CHARACTERS and not ends_in_pause:
                text = next(stream)
                if not isinstance(text, str):
                    raise TypeError(f"a text must be str, not {type(text).__name__}")
                read.append(text)
                num_characters += len(text)
                first = first or time.monotonic()
                if has_more is not None:
                    ends_in_pause = not has_more(max(0.0, first + PAUSE - time.monotonic()))
        except StopIteration:
            is_open = False
        except Exception as failure:  # it is raised once the texts before it are translated
            is_open, error = False, failure
        if read or error is not None:
            yield Buffer(read, segment(read), error, ends_in_pause)


@dataclass
class BatchQueue:
    """Submits batches to an engine before earlier ones are finished, and stores their hypotheses."""

    engine: Engine
    options: DecodingConfig
    max_positions: int
    """The most tokens that the model can read or write."""
    review: Callable[[Sequence[Sentence]], list[Sentence]]
    """Accepts the hypotheses of sentences; those that it returns without any are searched once more."""
    with_scores: bool = True

    def __post_init__(self) -> None:
        self._pending: deque[tuple[Buffer, list[Sentence], PendingHypotheses, float]] = deque()
        self._last = 0.0

    def submit(self, buffer: Buffer, sentences: Iterable[Sentence]) -> Iterator[None]:
        """Start to translate sentences of a buffer in batches; yields after each batch.

        A batch has sentences of similar length, the longest first: a short last batch leaves the engine's
        threads idle least. It has at most as many sentences and source tokens, with padding, as the engine
        wants; a single sentence may have more.
        """
        waiting = sorted(sentences, key=lambda sentence: (sentence.search, -len(sentence.ids)))
        for (search, max_length), group in groupby(waiting, lambda each: (each.search, self._limit(each))):
            similar = list(group)
            while similar:
                longest = len(similar[0].ids)
                size = max(1, min(self.engine.batch_sentences, self.engine.batch_tokens // longest))
                batch, similar = similar[:size], similar[size:]
                started = time.perf_counter()
                pending = self.engine.submit(self._request(batch, search, max_length))
                self._pending.append((buffer, batch, pending, started))
                yield

    def finished(self, *, wait_for_all: bool = False) -> Iterator[tuple[Buffer, list[int]]]:
        """Wait until no more batches are pending than the engine needs to stay busy, or none.

        Yields each batch's buffer and the indices of the texts that it completes.
        """
        while len(self._pending) > (0 if wait_for_all else self.engine.max_pending_batches):
            buffer, batch, wait, started = self._pending.popleft()
            hypotheses = wait()
            started, self._last = max(started, self._last), time.perf_counter()
            reviewed = self.review(
                [replace(sentence, hypotheses=own) for sentence, own in zip(batch, hypotheses, strict=True)]
            )
            for sentence in reviewed:
                buffer.milliseconds[sentence.row] += 1000 * (self._last - started) / len(batch)
                if sentence.hypotheses:
                    buffer.segmented[sentence.row].sentences[sentence.number] = sentence
            for _ in self.submit(buffer, (sentence for sentence in reviewed if not sentence.hypotheses)):
                pass
            rows = dict.fromkeys(sentence.row for sentence in batch)
            yield buffer, [row for row in rows if buffer.segmented[row].is_done]

    def _limit(self, sentence: Sentence) -> int:
        """The most tokens of a sentence's translation."""
        num_tokens, num_prefix_tokens = len(sentence.ids), len(sentence.target_prefix)
        limit: int = min(self.options.limit(num_tokens) + num_prefix_tokens, self.max_positions)
        if sentence.search.no_repeat_ngram:
            limit = min(limit, int(_LONGEST_RETRY * num_tokens) + _LONGER_RETRY + num_prefix_tokens)
        return limit

    def _request(self, batch: Sequence[Sentence], search: Search, max_length: int) -> SearchRequest:
        options = self.options
        if search.n_best:
            options = replace(options, num_hypotheses=max(options.num_hypotheses, options.beam_size))
        if search.is_greedy:
            options = replace(options, beam_size=1, num_hypotheses=1)
        if search.no_repeat_ngram:
            options = replace(options, no_repeat_ngram=search.no_repeat_ngram)
        prefixes = [sentence.target_prefix for sentence in batch]
        return SearchRequest(
            [sentence.ids for sentence in batch],
            max_length,
            options,
            target_prefixes=prefixes if any(prefixes) else (),
            with_attention=search.with_attention,
            with_scores=self.with_scores or search.with_scores,
        )
