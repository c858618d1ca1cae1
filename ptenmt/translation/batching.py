"""Reads texts into buffers, batches their sentences by length, and keeps an engine busy with the batches."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ptenmt.config import DecodingConfig
from ptenmt.config.schema import ModelConfig
from ptenmt.translation.engine import Engine, Hypothesis, PendingHypotheses, SearchRequest
from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.sentence import SegmentedText, Sentence

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
    num_waiting: Counter[int] = field(default_factory=Counter)
    """How many sentences of each text wait for their hypotheses."""
    searched: dict[tuple[int, int], "SearchedSentence"] = field(default_factory=dict)
    """The sentences that have them, by the index of the text and of the sentence in it."""
    translations: dict[int, Translation] = field(default_factory=dict)
    """Those that are complete, by the index of the text."""

    @property
    def is_done(self) -> bool:
        """Whether all texts are translated."""
        return len(self.translations) == len(self.texts)


def read_buffers(
    texts: Iterable[str],
    size: int,
    segment: Callable[[Sequence[str]], list[SegmentedText]],
) -> Iterator[Buffer]:
    """Read a stream into buffers of ``size`` texts, fewer if they are long or if the stream pauses.

    A stream that may pause has a method ``has_more``, as ``data.readers.Lines`` does. The last buffer holds
    an error.
    """
    stream = iter(texts)
    has_more: Callable[[float], bool] | None = getattr(stream, "has_more", None)
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
    for buffer in read_buffers(texts, size, lambda _texts: []):
        if buffer.error is not None:
            raise buffer.error
        starts.append(starts[-1] + len(buffer.texts))
    num_buffers = len(starts) - 1
    return starts[num_buffers * (number - 1) // count], starts[num_buffers * number // count]


def max_length(
    options: DecodingConfig, model: ModelConfig, num_source_tokens: int, num_prefix_tokens: int = 0
) -> int:
    """The most tokens of a translation, [END] and the target prefix counted; see ``DecodingConfig``."""
    length: int = options.max_length_for(num_source_tokens)
    return min(length + num_prefix_tokens, model.max_positions)


@dataclass(frozen=True, eq=False)
class SearchedSentence:
    """A sentence and its hypotheses, or how it is searched for them."""

    row: int
    """The index of its text in the buffer."""
    number: int
    """Its index in its text."""
    sentence: Sentence
    options: DecodingConfig
    max_length: int
    """The most tokens of its translation."""
    hypotheses: Sequence[Hypothesis] = ()
    """Best first; none while it waits for a search."""
    first_try: Sequence[Hypothesis] = ()
    """If it is searched once more: its hypotheses before."""


class BatchQueue:
    """Translates buffers in batches; submits batches to an engine before earlier ones are finished.

    Args:
        engine_for: The engine for the texts of a buffer.
        options: How to search.
        model: Whose positions limit the length of a translation.
        with_attention: Whether hypotheses need their attention.
        with_scores: Whether they need their scores.
        review: Accepts the hypotheses of sentences; those that it returns without any are searched once more.
        on_progress: Called with the number of UTF-8 bytes of sentences that are done, after each batch.
    """

    def __init__(
        self,
        engine_for: Callable[[Sequence[str]], Engine],
        options: DecodingConfig,
        model: ModelConfig,
        review: Callable[[Sequence[SearchedSentence]], list[SearchedSentence]],
        *,
        with_attention: bool = False,
        with_scores: bool = True,
        on_progress: Callable[[int], None] = lambda _num_bytes: None,
    ) -> None:
        self._engine_for, self._options, self._model = engine_for, options, model
        self._with_attention, self._with_scores = with_attention, with_scores
        self._review, self._on_progress = review, on_progress
        self._pending: deque[tuple[Buffer, list[SearchedSentence], PendingHypotheses]] = deque()
        self._again: dict[Buffer, list[SearchedSentence]] = defaultdict(list)

    def translate(self, buffers: Iterable[Buffer]) -> Iterator[tuple[Buffer, list[int]]]:
        """Search for the translations of buffers.

        Yields:
            A buffer and the rows of the texts whose last sentences have their hypotheses now.
        """
        for buffer in buffers:
            self._engine = self._engine_for(buffer.texts)
            waiting = [
                SearchedSentence(row, number, sentence, self._options, self._longest(sentence))
                for row, text in enumerate(buffer.segmented)
                for number, sentence in enumerate(text.sentences)
                if not sentence.is_blank
            ]
            buffer.num_waiting = Counter(sentence.row for sentence in waiting)
            yield buffer, [row for row in range(len(buffer.texts)) if not buffer.num_waiting[row]]
            for _ in self._submit(buffer, waiting):
                yield from self._finished()
            # Finish a single-text buffer before reading the next; do not let blank buffers queue up. The next
            # buffer's seed would also affect threads that have not begun to sample.
            must_finish = len(buffer.texts) == 1 or buffer.ends_in_pause or not waiting
            if must_finish or self._options.is_sampled:
                yield from self._finished(wait_for_all=True)
        yield from self._finished(wait_for_all=True)

    def _longest(self, sentence: Sentence) -> int:
        num_tokens, num_prefix = len(sentence.ids), len(sentence.target_prefix)
        return max_length(self._options, self._model, num_tokens, num_prefix)

    def _submit(self, buffer: Buffer, sentences: Iterable[SearchedSentence]) -> Iterator[None]:
        """Start to translate sentences of a buffer in batches; yields after each batch.

        A batch has sentences of similar length, the longest first: a short last batch leaves the engine's
        threads idle least. It has at most as many sentences and source tokens, with padding, as the engine
        wants; a single sentence may have more.
        """
        alike: dict[tuple[DecodingConfig, int], list[SearchedSentence]] = defaultdict(list)
        for waiting in sorted(sentences, key=lambda waiting: -len(waiting.sentence.ids)):
            alike[waiting.options, waiting.max_length].append(waiting)
        for (options, longest), similar in alike.items():
            while similar:
                num_tokens = len(similar[0].sentence.ids)
                size = max(1, min(self._engine.batch_sentences, self._engine.batch_tokens // num_tokens))
                batch, similar = similar[:size], similar[size:]
                pending = self._engine.submit(self._request(batch, options, longest))
                self._pending.append((buffer, batch, pending))
                yield

    def _finished(self, *, wait_for_all: bool = False) -> Iterator[tuple[Buffer, list[int]]]:
        """Wait until no more batches are pending than the engine needs to stay busy, or none.

        Yields each batch's buffer and the indices of the texts that it completes.
        """
        while len(self._pending) > (0 if wait_for_all else self._engine.max_pending_batches):
            buffer, batch, wait = self._pending.popleft()
            found = zip(batch, wait(), strict=True)
            reviewed = self._review([replace(searched, hypotheses=own) for searched, own in found])
            done = [searched for searched in reviewed if searched.hypotheses]
            for searched in done:
                buffer.searched[searched.row, searched.number] = searched
                buffer.num_waiting[searched.row] -= 1
            self._on_progress(sum(len(searched.sentence.original.encode()) for searched in done))
            self._again[buffer] += [searched for searched in reviewed if not searched.hypotheses]
            self._submit_again(buffer)
            rows = dict.fromkeys(searched.row for searched in done)
            yield buffer, [row for row in rows if not buffer.num_waiting[row]]

    def _submit_again(self, buffer: Buffer) -> None:
        """Search once more, when the sentences fill a batch or nothing else of their buffer is pending."""
        nothing_pending = all(pending is not buffer for pending, *_ in self._pending)
        if nothing_pending or len(self._again[buffer]) >= self._engine.batch_sentences:
            for _ in self._submit(buffer, self._again.pop(buffer)):
                pass

    def _request(
        self, batch: Sequence[SearchedSentence], options: DecodingConfig, longest: int
    ) -> SearchRequest:
        prefixes = [searched.sentence.target_prefix for searched in batch]
        return SearchRequest(
            [searched.sentence.ids for searched in batch],
            longest,
            options,
            target_prefixes=prefixes if any(prefixes) else (),
            with_attention=self._with_attention,
            with_scores=self._with_scores,
        )
