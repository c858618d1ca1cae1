"""Reads texts into buffers, batches their segments by length, and keeps an engine busy with the batches."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Engine, Hypothesis, PendingHypotheses, SearchRequest
from ptenmt.translation.postprocessing import Translation
from ptenmt.translation.segmentation import Segment, SegmentedText

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
BLANK = [Hypothesis([START, END])]
"""The hypotheses of a segment without anything to translate."""


@dataclass
class Buffer:
    """Consecutive texts of a stream."""

    texts: list[str]
    segmented: list[SegmentedText]
    error: Exception | None = None
    """The error that ended the stream after these texts, if any."""
    ends_in_pause: bool = False
    """Whether the stream had no more texts at that moment."""
    hypotheses: list[list[list[Hypothesis]]] = field(init=False)
    """For each segment of each text; empty until it is translated."""
    milliseconds: list[float] = field(init=False)
    """The time spent on each text so far."""
    translations: dict[int, Translation] = field(default_factory=dict)
    """Those that are complete, by the index of the text."""

    def __post_init__(self) -> None:
        self.hypotheses = [
            [BLANK if part.is_blank else [] for part in text.segments] for text in self.segmented
        ]
        self.milliseconds = [0.0] * len(self.texts)

    @property
    def blank_rows(self) -> list[int]:
        """The indices of texts without anything to translate."""
        return [row for row, text in enumerate(self.segmented) if text.is_blank]

    @property
    def is_done(self) -> bool:
        """Whether all texts are translated."""
        return len(self.translations) == len(self.texts)

    def batches(self, max_length: Callable[[int], int], sentences: int, tokens: int) -> Iterator["Batch"]:
        """Batch the segments, longest first: a short last batch leaves the engine's threads idle least.

        ``max_length`` gives the most tokens of a translation for a number of source tokens. A batch has at
        most so many sentences and source tokens, with padding; a single segment may have more.
        """
        parts = [
            pending(row, number, segment)
            for row, text in enumerate(self.segmented)
            for number, segment in enumerate(text.segments)
            if not segment.is_blank
        ]
        for similar, most in grouped(parts, max_length):
            while similar:
                size = max(1, min(sentences, tokens // len(similar[0].segment.ids)))
                yield Batch(self, similar[:size], most)
                del similar[:size]


class Search(NamedTuple):
    """How a segment is searched for, besides the options."""

    with_attention: bool = False
    with_scores: bool = False
    is_greedy: bool = False
    n_best: bool = False
    """Whether to return all hypotheses of the beam, one of which may meet the constraints."""
    no_repeat_ngram: int = 0
    """If above 0, in a second try: the option of that name, and a lower maximum length."""


class PendingSegment(NamedTuple):
    """A segment of a buffer: the index of its text, its index in the text, and itself."""

    row: int
    number: int
    segment: Segment
    search: Search = Search()
    first_hypotheses: list[Hypothesis] | None = None
    """Those of the search before this one, which loop or are truncated."""
    is_without_entities: bool = False
    with_entities: tuple[Segment, list[Hypothesis]] | None = None
    """If the segment is without entities: what it was before, and its hypotheses; None if they lost one."""


def pending(row: int, number: int, segment: Segment) -> PendingSegment:
    """A segment to be translated for the first time."""
    constraints = segment.constraints
    if constraints is None:
        return PendingSegment(row, number, segment)
    search = Search(bool(constraints.edits), with_scores=constraints.has_entities, n_best=True)
    return PendingSegment(row, number, segment, search)


def grouped(
    parts: list[PendingSegment], max_length: Callable[[int], int], num_prefix_tokens: int = 0
) -> Iterator[tuple[list[PendingSegment], int]]:
    """Parts with the same search and maximum length of translations, longest first, and that length."""

    def key(part: PendingSegment) -> tuple[Search, int]:
        length = len(part.segment.ids)
        most = max_length(length)
        if part.search.no_repeat_ngram:
            most = min(most, int(_LONGEST_RETRY * length) + _LONGER_RETRY + num_prefix_tokens)
        return part.search, most

    parts.sort(key=lambda part: (part.search, -len(part.segment.ids)))
    for (_, most), group in groupby(parts, key):
        yield list(group), most


@dataclass
class Batch:
    """Segments of similar length, to be translated together."""

    buffer: Buffer
    parts: list[PendingSegment]
    max_length: int
    """The most tokens of each translation."""


@dataclass
class BatchQueue:
    """Submits batches to an engine before earlier ones are finished, and stores their hypotheses."""

    engine: Engine
    options: DecodingConfig
    max_length: Callable[[int], int]
    """The most tokens of a translation, given the number of source tokens."""
    review: Callable[..., PendingSegment | tuple[Segment, list[Hypothesis]]]
    """Accepts the hypotheses of a segment, or returns it as it is to be translated once more."""
    target_prefix: Sequence[int] = ()
    """Ids that the translation of every text starts with."""
    with_scores: bool = True

    def __post_init__(self) -> None:
        self._pending: deque[tuple[Batch, PendingHypotheses, float]] = deque()
        self._last = 0.0

    def submit(self, batch: Batch) -> None:
        """Start to translate a batch."""
        started = time.perf_counter()
        self._pending.append((batch, self._submit(batch), started))

    def finished(self, *, wait_for_all: bool = False) -> Iterator[tuple[Buffer, list[int]]]:
        """Wait until no more batches are pending than the engine needs to stay busy, or none.

        Yields each batch's buffer and the indices of the texts that it completes.
        """
        while len(self._pending) > (0 if wait_for_all else self.engine.max_pending_batches):
            batch, wait, started = self._pending.popleft()
            found = wait()
            started, self._last = max(started, self._last), time.perf_counter()
            buffer, again = batch.buffer, []
            for part, hypotheses in zip(batch.parts, found, strict=True):
                buffer.milliseconds[part.row] += 1000 * (self._last - started) / len(found)
                has_prefix = bool(self.target_prefix) and part.number == 0
                reviewed = self.review(part, hypotheses, has_prefix=has_prefix)
                if isinstance(reviewed, PendingSegment):
                    again.append(reviewed)
                else:
                    segment, accepted = reviewed
                    buffer.segmented[part.row].segments[part.number] = segment
                    buffer.hypotheses[part.row][part.number] = accepted
            for parts, most in grouped(again, self.max_length, len(self.target_prefix)):
                self.submit(Batch(buffer, parts, most))
            rows = dict.fromkeys(part.row for part in batch.parts)
            yield buffer, [row for row in rows if all(buffer.hypotheses[row])]

    def _submit(self, batch: Batch) -> PendingHypotheses:
        search, options = batch.parts[0].search, self.options
        if search.n_best:
            options = replace(options, num_hypotheses=max(options.num_hypotheses, options.beam_size))
        if search.is_greedy:
            options = replace(options, beam_size=1, num_hypotheses=1)
        if search.no_repeat_ngram:
            options = replace(options, no_repeat_ngram=search.no_repeat_ngram)
        first_only = [self.target_prefix if part.number == 0 else () for part in batch.parts]
        request = SearchRequest(
            [part.segment.ids for part in batch.parts],
            batch.max_length,
            options,
            target_prefixes=first_only if self.target_prefix else (),
            with_attention=search.with_attention,
            with_scores=self.with_scores or search.with_scores,
        )
        return self.engine.submit(request)


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
