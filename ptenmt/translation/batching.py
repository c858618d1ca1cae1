"""Reads texts into buffers, batches their sentences by length, and keeps an engine busy with the batches."""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ptenmt.config import DecodingConfig
from ptenmt.config.schema import ModelConfig
from ptenmt.translation.engine import Engine, Hypothesis, PendingHypotheses, SearchRequest
from ptenmt.translation.sentence import SegmentedText, Sentence

MAX_BUFFER_CHARACTERS = 100_000
"""Some seconds' work for buffers of long texts, after each of which progress is saved."""
PAUSE = 0.1
"""Seconds that the texts of a buffer wait for more, where the stream may pause."""


@dataclass(eq=False)
class Buffer:
    """Consecutive texts of a stream, on their way; the last of a stream is empty."""

    texts: list[str]
    error: Exception | None = None
    """The error that ended the stream, if any."""
    ends_in_pause: bool = False
    """Whether the stream had no more texts at that moment."""
    segmented: list[SegmentedText] = field(default_factory=list)
    """The texts in encoded sentences."""
    num_waiting: int = 0
    """How many sentences wait for their hypotheses."""
    searched: dict[tuple[int, int], "SearchedSentence"] = field(default_factory=dict)
    """The sentences that have them, by the index of the text and of the sentence in it."""


def read_buffers(texts: Iterable[str], size: int) -> Iterator[Buffer]:
    """Read a stream into buffers of ``size`` texts, fewer if they are long or if the stream pauses.

    A stream that may pause has a method ``has_more``, as ``data.readers.Lines`` does. The last buffer is
    empty, and holds the error if reading the stream failed.
    """
    stream = iter(texts)
    has_more: Callable[[float], bool] | None = getattr(stream, "has_more", None)
    end: Buffer | None = None
    while end is None:
        read: list[str] = []
        num_characters, ends_in_pause, first = 0, False, 0.0
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
            end = Buffer([])
        except Exception as error:  # it is raised once the texts before it are translated
            end = Buffer([], error)
        if read:
            yield Buffer(read, ends_in_pause=ends_in_pause)
    yield end


def shard(texts: Iterable[str], number: int, count: int, size: int) -> tuple[int, int]:
    """Where part ``number`` of ``count`` begins and ends: its first text, and the one after its last.

    Parts are whole buffers of ``size`` texts, those that ``read_buffers`` makes of the whole file: so the
    translations of all parts, joined, are those of the whole.
    """
    starts = [0]
    for buffer in read_buffers(texts, size):
        if buffer.error is not None:
            raise buffer.error
        if buffer.texts:
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
    """A sentence, how it is searched for, and its hypotheses."""

    buffer: Buffer
    place: tuple[int, int]
    """The index of its text in the buffer, and its index in its text."""
    sentence: Sentence
    options: DecodingConfig
    max_length: int
    """The most tokens of its translation."""
    hypotheses: Sequence[Hypothesis] = ()
    """Best first; none while it waits for a search."""
    first_try: Sequence[Hypothesis] = ()
    """If it is searched once more: its hypotheses before."""


class BatchQueue:
    """Searches in batches; submits batches to an engine before earlier ones are finished.

    Args:
        options: How to search.
        model: Whose positions limit the length of a translation.
        with_attention: Whether hypotheses need their attention.
        with_scores: Whether they need their scores.
    """

    def __init__(
        self, options: DecodingConfig, model: ModelConfig, *, with_attention: bool, with_scores: bool
    ) -> None:
        self._options, self._model = options, model
        self._with_attention, self._with_scores = with_attention, with_scores
        self._pending: deque[tuple[Buffer, list[SearchedSentence], PendingHypotheses]] = deque()
        self._again: dict[Buffer, list[SearchedSentence]] = defaultdict(list)

    def search(self, buffer: Buffer, engine: Engine) -> Iterator[list[SearchedSentence]]:
        """Search for the sentences of a buffer; the last batches may be finished by the next call.

        Yields:
            Finished batches, of this buffer and of those before, for ``accept``; an empty one at last.
        """
        waiting = [
            SearchedSentence(
                buffer,
                (row, number),
                sentence,
                self._options,
                max_length(self._options, self._model, len(sentence.ids), len(sentence.target_prefix)),
            )
            for row, text in enumerate(buffer.segmented)
            for number, sentence in enumerate(text.sentences)
            if not sentence.is_blank
        ]
        buffer.num_waiting = len(waiting)
        for _ in self._submit(buffer, waiting, engine):
            yield from self._finished(engine, engine.max_pending_batches)
        # Finish a single-text buffer before reading the next; do not let blank buffers queue up. The next
        # buffer's seed would also affect threads that have not begun to sample.
        must_finish = len(buffer.texts) == 1 or buffer.ends_in_pause or not waiting
        if must_finish or self._options.is_sampled:
            yield from self._finished(engine, 0)
        yield []

    def accept(self, batch: Iterable[SearchedSentence]) -> list[SearchedSentence]:
        """Give sentences to their buffers; those that have no hypotheses any more are searched once more.

        Returns the others.
        """
        done = []
        for searched in batch:
            if searched.hypotheses:
                searched.buffer.searched[searched.place] = searched
                searched.buffer.num_waiting -= 1
                done.append(searched)
            else:
                self._again[searched.buffer].append(searched)
        return done

    def _submit(
        self, buffer: Buffer, sentences: Iterable[SearchedSentence], engine: Engine
    ) -> Iterator[None]:
        """Start to search for sentences of a buffer in batches; yields after each batch.

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
                size = max(1, min(engine.batch_sentences, engine.batch_tokens // num_tokens))
                batch, similar = similar[:size], similar[size:]
                prefixes = [searched.sentence.target_prefix for searched in batch]
                request = SearchRequest(
                    [searched.sentence.ids for searched in batch],
                    longest,
                    options,
                    target_prefixes=prefixes if any(prefixes) else (),
                    with_attention=self._with_attention,
                    with_scores=self._with_scores,
                )
                self._pending.append((buffer, batch, engine.submit(request)))
                yield

    def _finished(self, engine: Engine, most_pending: int) -> Iterator[list[SearchedSentence]]:
        """Wait until no more batches are pending than that; yields those that are finished."""
        while len(self._pending) > most_pending:
            buffer, batch, wait = self._pending.popleft()
            found = zip(batch, wait(), strict=True)
            yield [replace(searched, hypotheses=own) for searched, own in found]
            # Once more, when the sentences fill a batch or nothing else of their buffer is pending.
            nothing_pending = all(pending is not buffer for pending, *_ in self._pending)
            if nothing_pending or len(self._again[buffer]) >= engine.batch_sentences:
                for _ in self._submit(buffer, self._again.pop(buffer, ()), engine):
                    pass
