"""Reads texts into buffers, batches their sentences by length, and keeps an engine busy with the batches."""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ptenmt.config import Config
from ptenmt.translation.engine import Engine, PendingHypotheses, SearchRequest
from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.sentence import Search, SegmentedText, Sentence

MAX_BUFFER_CHARACTERS = 100_000
"""Some seconds' work for buffers of long texts, after each of which progress is saved."""
PAUSE = 0.1
"""Seconds that the texts of a buffer wait for more, where the stream may pause."""


@dataclass(eq=False)
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


def shard(texts: Iterable[str], number: int, count: int, size: int) -> tuple[int, int]:
    """Where part ``number`` of ``count`` begins and ends: its first text, and the one after its last.

    Parts are whole buffers of ``size`` texts, those that ``read_buffers`` makes of the whole file: so the
    translations of all parts, joined, are those of the whole.
    """
    starts = [0]
    num_texts = num_characters = 0
    for text in texts:
        if num_texts - starts[-1] == size or num_characters >= MAX_BUFFER_CHARACTERS:
            starts.append(num_texts)
            num_characters = 0
        num_texts += 1
        num_characters += len(text)
    starts.append(num_texts)
    num_buffers = len(starts) - 1
    return starts[num_buffers * (number - 1) // count], starts[num_buffers * number // count]


def max_length(config: Config, num_source_tokens: int, num_prefix_tokens: int = 0) -> int:
    """The most tokens of a translation, [END] and the target prefix counted; see ``DecodingConfig``."""
    length: int = config.decoding.max_length_for(num_source_tokens)
    return min(length + num_prefix_tokens, config.model.max_positions)


class BatchQueue:
    """Translates buffers in batches; submits batches to an engine before earlier ones are finished.

    Args:
        engine_for: The engine for the texts of a buffer.
        config: The run's options.
        review: Accepts the hypotheses of sentences; those that it returns without any are searched once more.
        with_scores: Whether hypotheses need their scores.
        on_progress: Called with the number of UTF-8 bytes of sentences that are done, after each batch.
    """

    def __init__(
        self,
        engine_for: Callable[[Sequence[str]], Engine],
        config: Config,
        review: Callable[[Sequence[Sentence]], list[Sentence]],
        *,
        with_scores: bool = True,
        on_progress: Callable[[int], None] = lambda _num_bytes: None,
    ) -> None:
        self._engine_for, self._config = engine_for, config
        self._review, self._with_scores, self._on_progress = review, with_scores, on_progress
        self._pending: deque[tuple[Buffer, list[Sentence], PendingHypotheses, float]] = deque()
        self._again: dict[Buffer, list[Sentence]] = defaultdict(list)
        self._last = 0.0

    def translate(self, buffers: Iterable[Buffer]) -> Iterator[tuple[Buffer, list[int]]]:
        """Search for the translations of buffers.

        Yields:
            A buffer and the rows of the texts whose last sentences have their hypotheses now.
        """
        for buffer in buffers:
            self._engine = self._engine_for(buffer.texts)
            yield buffer, _done(buffer, range(len(buffer.texts)))
            sentences = chain(*(text.sentences for text in buffer.segmented))
            waiting = [sentence for sentence in sentences if not sentence.is_done]
            for _ in self._submit(buffer, waiting):
                yield from self._finished()
            # Finish a single-text buffer before reading the next; do not let blank buffers queue up. The next
            # buffer's seed would also affect threads that have not begun to sample.
            must_finish = len(buffer.texts) == 1 or buffer.ends_in_pause or not waiting
            if must_finish or self._config.decoding.is_sampled:
                yield from self._finished(wait_for_all=True)
        yield from self._finished(wait_for_all=True)

    def _submit(self, buffer: Buffer, sentences: Iterable[Sentence]) -> Iterator[None]:
        """Start to translate sentences of a buffer in batches; yields after each batch.

        A batch has sentences of similar length, the longest first: a short last batch leaves the engine's
        threads idle least. It has at most as many sentences and source tokens, with padding, as the engine
        wants; a single sentence may have more.
        """
        alike: dict[tuple[Search, int], list[Sentence]] = defaultdict(list)
        for sentence in sorted(sentences, key=lambda sentence: -len(sentence.ids)):
            alike[sentence.search, self._max_length(sentence)].append(sentence)
        for (search, longest), similar in alike.items():
            while similar:
                num_tokens = len(similar[0].ids)
                size = max(1, min(self._engine.batch_sentences, self._engine.batch_tokens // num_tokens))
                batch, similar = similar[:size], similar[size:]
                started = time.perf_counter()
                pending = self._engine.submit(self._request(batch, search, longest))
                self._pending.append((buffer, batch, pending, started))
                yield

    def _finished(self, *, wait_for_all: bool = False) -> Iterator[tuple[Buffer, list[int]]]:
        """Wait until no more batches are pending than the engine needs to stay busy, or none.

        Yields each batch's buffer and the indices of the texts that it completes.
        """
        while len(self._pending) > (0 if wait_for_all else self._engine.max_pending_batches):
            buffer, batch, wait, started = self._pending.popleft()
            hypotheses = wait()
            started, self._last = max(started, self._last), time.perf_counter()
            for sentence, own in zip(batch, hypotheses, strict=True):
                sentence.hypotheses = own
                buffer.milliseconds[sentence.row] += 1000 * (self._last - started) / len(batch)
            reviewed = self._review(batch)
            for sentence in reviewed:
                buffer.segmented[sentence.row].sentences[sentence.number] = sentence
            done = [sentence for sentence in reviewed if sentence.is_done]
            self._on_progress(sum(len(sentence.original.encode()) for sentence in done))
            self._again[buffer] += [sentence for sentence in reviewed if not sentence.is_done]
            self._submit_again(buffer)
            yield buffer, _done(buffer, dict.fromkeys(sentence.row for sentence in reviewed))

    def _submit_again(self, buffer: Buffer) -> None:
        """Search once more, when the sentences fill a batch or nothing else of their buffer is pending."""
        nothing_pending = all(pending is not buffer for pending, *_ in self._pending)
        if nothing_pending or len(self._again[buffer]) >= self._engine.batch_sentences:
            for _ in self._submit(buffer, self._again.pop(buffer)):
                pass

    def _max_length(self, sentence: Sentence) -> int:
        longest = max_length(self._config, len(sentence.ids), len(sentence.target_prefix))
        return min(longest, sentence.search.max_length or longest)

    def _request(self, batch: Sequence[Sentence], search: Search, longest: int) -> SearchRequest:
        prefixes = [sentence.target_prefix for sentence in batch]
        return SearchRequest(
            [sentence.ids for sentence in batch],
            longest,
            search.options,
            target_prefixes=prefixes if any(prefixes) else (),
            with_attention=search.with_attention,
            with_scores=self._with_scores,
        )


def _done(buffer: Buffer, rows: Iterable[int]) -> list[int]:
    """Those of the rows whose sentences all have accepted hypotheses."""
    return [row for row in rows if all(sentence.is_done for sentence in buffer.segmented[row].sentences)]
