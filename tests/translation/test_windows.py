from collections.abc import Callable, Iterator, Sequence

import pytest

from ptenmt.config import DecodingConfig
from ptenmt.tokenizers import END, START, UNK
from ptenmt.translation.engine import Found, Hypothesis
from ptenmt.translation.segments import Segment, Segments
from ptenmt.translation.windows import BATCH_SENTENCES, BATCH_TOKENS, NOTHING, Window, search, windows


class Echo:
    """An engine that gives the source back, and notes how many batches wait for it."""

    def __init__(self, queue: int) -> None:
        self.queue = queue
        self.waiting = self.most = 0
        self.sizes: list[int] = []

    def submit(
        self, sources: Sequence[Sequence[int]], _limit: int, _options: DecodingConfig, **_others: object
    ) -> Callable[[], list[Found]]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        self.sizes.append(len(sources))

        def wait() -> list[Found]:
            self.waiting -= 1
            return [[Hypothesis(list(ids))] for ids in sources]

        return wait


def whole(text: str) -> Segments:
    return Segments([Segment("", text, [START, *[4] * len(text), END])])


def cut(texts: Sequence[str]) -> list[Segments]:
    return [whole(text) for text in texts]


def limit(length: int) -> int:
    return length // 8


def run(engine: Echo, window: Window) -> None:
    for _ in search(
        engine, window.batches(limit), DecodingConfig(), prefix=(), copies_unknown=False, with_scores=True
    ):
        pass


def test_a_stream_is_read_in_windows():
    assert [read.texts for read in windows(iter("abcde"), 2, cut)] == [["a", "b"], ["c", "d"], ["e"]]
    assert list(windows(iter(""), 2, cut)) == []


def test_long_texts_make_small_windows():
    texts = ["x" * 150_000] * 5
    assert [len(read.texts) for read in windows(texts, 1000, cut)] == [2, 2, 1]


def test_the_last_window_holds_what_ended_the_stream():
    def broken() -> Iterator[str]:
        yield from "abc"
        raise OSError("gone")

    *_, last = windows(broken(), 2, cut)
    assert last.texts == ["c"]
    assert isinstance(last.failure, OSError)


def test_batches_hold_similar_lengths_with_one_limit_and_leave_out_blanks():
    texts = ["x" * (number % 37) for number in range(300)]
    window = Window(texts, cut(texts))
    batches = list(window.batches(limit))
    rows = [row for batch in batches for row, _ in batch.places]
    assert sorted(rows) == [row for row, text in enumerate(texts) if text]
    assert window.blank_rows == [row for row, text in enumerate(texts) if not text]
    lengths = [len(ids) for batch in batches for ids in batch.sources]
    assert lengths == sorted(lengths, reverse=True)
    for batch in batches:
        assert {limit(len(ids)) for ids in batch.sources} == {batch.limit}
        assert len(batch.places) <= BATCH_SENTENCES


def test_long_segments_make_small_batches():
    texts = ["x" * 1000, *["x" * 100] * 20]
    sizes = [len(batch.places) for batch in Window(texts, cut(texts)).batches(limit)]
    assert sizes == [1, *[BATCH_TOKENS // 102] * (20 // (BATCH_TOKENS // 102))]


def test_a_long_segment_makes_no_other_batch_small():
    texts = ["x" * 1000, *["x" * 10] * 3 * BATCH_SENTENCES]
    batches = Window(texts, cut(texts)).batches(lambda _length: 40)
    assert [len(batch.places) for batch in batches][1:-1] == [BATCH_SENTENCES] * 2


@pytest.mark.parametrize("queue", [0, 3])
def test_no_more_batches_are_begun_than_the_engine_wants(queue: int):
    texts = ["x" * (1 + number % 50) for number in range(1000)]
    engine, window = Echo(queue), Window(texts, cut(texts))
    run(engine, window)
    assert engine.most == queue + 1
    assert engine.waiting == 0
    assert sum(engine.sizes) == 1000
    assert [found[0][0].ids for found in window.found] == [text.segments[0].ids for text in window.cut]
    assert all(milliseconds >= 0 for milliseconds in window.milliseconds)


def test_none_among_the_batches_means_to_finish_what_was_begun():
    engine = Echo(100)
    window = Window(list("abc"), cut("abc"))
    told = search(
        engine,
        [*window.batches(limit), None],
        DecodingConfig(),
        prefix=(),
        copies_unknown=False,
        with_scores=True,
    )
    (batch, rows), none = told
    assert (batch.window, rows, none) == (window, [0, 1, 2], None)


def test_a_text_is_done_with_its_last_segment():
    parts = [
        Segment("", "x", [START, 4, END]),
        Segment(" ", "", [START, END]),
        Segment(" ", "y" * 30, [START, *[4] * 30, END]),
    ]
    window = Window(["x  y"], [Segments(parts)])
    engine = Echo(0)
    done = [
        rows
        for _, rows in search(
            engine, window.batches(limit), DecodingConfig(), prefix=(), copies_unknown=False, with_scores=True
        )
    ]
    assert done == [[], [0]]
    assert window.found[0][1] == NOTHING


def test_what_has_unknown_words_is_searched_for_again_with_attention():
    asked: list[tuple[int, object]] = []

    class Noting(Echo):
        def submit(self, sources, limit, options, **others):
            asked.append((len(sources), others["with_attention"]))
            return super().submit(sources, limit, options)

    unknown = Segments([Segment("", "?", [START, UNK, END])])
    window = Window(["a", "?", "b"], [whole("a"), unknown, whole("b")])
    told = search(
        Noting(0),
        window.batches(limit),
        DecodingConfig(),
        prefix=(),
        copies_unknown=True,
        with_scores=True,
    )
    assert [rows for _, rows in told] == [[0, 1, 2]]
    assert asked == [(3, False), (1, True)]
    assert [each[0].ids for (each,) in window.found] == [[START, 4, END], [START, UNK, END], [START, 4, END]]
