from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import END, START, UNK
from ptenmt.translation.batching import (
    BATCH_SENTENCES,
    BATCH_TOKENS,
    BLANK,
    Batch,
    BatchQueue,
    Buffer,
    PendingSegment,
    Search,
    read_buffers,
)
from ptenmt.translation.engine import Hypothesis, PendingHypotheses, SearchRequest
from ptenmt.translation.segmentation import Segment, SegmentedText


class Echo:
    """An engine that returns the source, and counts the pending batches."""

    def __init__(self, max_pending_batches: int = 0) -> None:
        self.max_pending_batches = max_pending_batches
        self.num_pending = self.most = 0
        self.sizes: list[int] = []

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        self.num_pending += 1
        self.most = max(self.most, self.num_pending)
        self.sizes.append(len(request.sources))

        def wait() -> list[list[Hypothesis]]:
            self.num_pending -= 1
            return [[Hypothesis(list(ids))] for ids in request.sources]

        return wait


def whole(text: str) -> SegmentedText:
    return SegmentedText([Segment("", text, [START, *[4] * len(text), END])])


def segment(texts: Sequence[str]) -> list[SegmentedText]:
    return [whole(text) for text in texts]


def limit(length: int) -> int:
    return length // 8


def batches_of(buffer: Buffer, max_length: Callable[[int], int] = limit) -> list[Batch]:
    return list(buffer.batches(max_length, BATCH_SENTENCES, BATCH_TOKENS))


def accept(part: PendingSegment, hypotheses: list[Hypothesis], **_: bool) -> tuple[Segment, list[Hypothesis]]:
    return part.segment, hypotheses


def run(engine: Any, buffer: Buffer, **options: Any) -> list[list[int]]:
    """The rows that are complete with each batch."""
    queue = BatchQueue(engine, DecodingConfig(), limit, **{"review": accept, **options})
    rows = []
    for batch in batches_of(buffer):
        queue.submit(batch)
        rows += [complete for _, complete in queue.finished()]
    return rows + [complete for _, complete in queue.finished(wait_for_all=True)]


def test_a_stream_is_read_in_buffers():
    assert [read.texts for read in read_buffers(iter("abcde"), 2, segment)] == [["a", "b"], ["c", "d"], ["e"]]
    assert list(read_buffers(iter(""), 2, segment)) == []


def test_a_buffer_ends_where_the_stream_pauses():
    pauses_after = "be"
    texts = iter("abcde")
    read: list[str] = []

    def reading() -> Iterator[str]:
        for text in texts:
            read.append(text)
            yield text

    found = list(read_buffers(reading(), 3, segment, lambda _seconds: read[-1] not in pauses_after))
    assert [each.texts for each in found] == [["a", "b"], ["c", "d", "e"]]
    assert [each.ends_in_pause for each in found] == [True, True]


def test_long_texts_make_small_buffers():
    texts = ["x" * 150_000] * 5
    assert [len(read.texts) for read in read_buffers(texts, 1000, segment)] == [2, 2, 1]


def test_the_last_buffer_holds_the_error_that_ended_the_stream():
    def broken() -> Iterator[str]:
        yield from "abc"
        raise OSError("gone")

    *_, last = read_buffers(broken(), 2, segment)
    assert last.texts == ["c"]
    assert isinstance(last.error, OSError)


def test_batches_hold_similar_lengths_with_one_limit_and_leave_out_blanks():
    texts = ["x" * (number % 37) for number in range(300)]
    buffer = Buffer(texts, segment(texts))
    batches = batches_of(buffer)
    rows = [part.row for batch in batches for part in batch.parts]
    assert sorted(rows) == [row for row, text in enumerate(texts) if text]
    assert buffer.blank_rows == [row for row, text in enumerate(texts) if not text]
    lengths = [[len(part.segment.ids) for part in batch.parts] for batch in batches]
    flat = [length for each in lengths for length in each]
    assert flat == sorted(flat, reverse=True)
    for batch, each in zip(batches, lengths, strict=True):
        assert set(map(limit, each)) == {batch.max_length}
        assert len(batch.parts) <= BATCH_SENTENCES


def test_long_segments_make_small_batches():
    texts = ["x" * 1000, *["x" * 100] * 20]
    sizes = [len(batch.parts) for batch in batches_of(Buffer(texts, segment(texts)))]
    assert sizes == [1, *[BATCH_TOKENS // 102] * (20 // (BATCH_TOKENS // 102))]


def test_a_long_segment_makes_no_other_batch_small():
    texts = ["x" * 1000, *["x" * 10] * 3 * BATCH_SENTENCES]
    batches = batches_of(Buffer(texts, segment(texts)), lambda _length: 40)
    assert [len(batch.parts) for batch in batches][1:-1] == [BATCH_SENTENCES] * 2


@pytest.mark.parametrize("max_pending", [0, 3])
def test_no_more_batches_are_pending_than_the_engine_wants(max_pending: int):
    texts = ["x" * (1 + number % 50) for number in range(1000)]
    engine, buffer = Echo(max_pending), Buffer(texts, segment(texts))
    run(engine, buffer)
    assert engine.most == max_pending + 1
    assert engine.num_pending == 0
    assert sum(engine.sizes) == 1000
    assert [found[0][0].ids for found in buffer.hypotheses] == [
        text.segments[0].ids for text in buffer.segmented
    ]
    assert all(milliseconds >= 0 for milliseconds in buffer.milliseconds)


def test_a_text_is_complete_with_its_last_segment():
    parts = [
        Segment("", "x", [START, 4, END]),
        Segment(" ", "", [START, END]),
        Segment(" ", "y" * 30, [START, *[4] * 30, END]),
    ]
    buffer = Buffer(["x  y"], [SegmentedText(parts)])
    assert run(Echo(), buffer) == [[], [0]]
    assert buffer.hypotheses[0][1] == BLANK


def test_a_target_prefix_is_of_the_first_segment():
    prefixes: list[object] = []

    class Noting(Echo):
        def submit(self, request):
            prefixes.append(request.target_prefixes)
            return super().submit(request)

    parts = [Segment("", "x", [START, 4, END]), Segment(" ", "y", [START, 4, END])]
    run(Noting(), Buffer(["x y"], [SegmentedText(parts)]), target_prefix=(7, 8))
    run(Noting(), Buffer(["x y"], [SegmentedText(parts)]))
    assert prefixes == [[(7, 8), ()], ()]


def test_what_the_review_does_not_accept_is_translated_again():
    asked: list[tuple[int, bool]] = []

    class Noting(Echo):
        def submit(self, request):
            asked.append((len(request.sources), request.with_attention))
            return super().submit(request)

    def review(
        part: PendingSegment, hypotheses: list[Hypothesis], **_: bool
    ) -> PendingSegment | tuple[Segment, list[Hypothesis]]:
        if part.segment.text == "?" and not part.search.with_attention:
            return part._replace(search=Search(with_attention=True), segment=better)
        return part.segment, hypotheses

    better = Segment("", "!", [START, UNK, 5, END])
    unknown = SegmentedText([Segment("", "?", [START, UNK, END])])
    buffer = Buffer(["a", "?", "b"], [whole("a"), unknown, whole("b")])
    assert run(Noting(), buffer, review=review) == [[0, 2], [1]]
    assert asked == [(3, False), (1, True)]
    assert [each[0].ids for (each,) in buffer.hypotheses] == [
        [START, 4, END],
        [START, UNK, 5, END],
        [START, 4, END],
    ]
    assert buffer.segmented[1].segments == [better]
