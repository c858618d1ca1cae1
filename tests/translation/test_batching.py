from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ptenmt.config import DecodingConfig, ModelConfig
from ptenmt.tokenizers import END, START
from ptenmt.translation.batching import BatchQueue, Buffer, SearchedSentence, read_buffers
from ptenmt.translation.engine import (
    BATCH_SENTENCES,
    BATCH_TOKENS,
    Hypothesis,
    PendingHypotheses,
    SearchRequest,
)
from ptenmt.translation.sentence import SegmentedText, Sentence


class Echo:
    """An engine that returns the source, and counts the pending batches."""

    batch_sentences, batch_tokens = BATCH_SENTENCES, BATCH_TOKENS

    def __init__(self, max_pending_batches: int = 0) -> None:
        self.max_pending_batches = max_pending_batches
        self.num_pending = self.most = 0
        self.requests: list[SearchRequest] = []

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        self.num_pending += 1
        self.most = max(self.most, self.num_pending)
        self.requests.append(request)

        def wait() -> list[list[Hypothesis]]:
            self.num_pending -= 1
            return [[Hypothesis(list(ids))] for ids in request.sources]

        return wait


def sentence(text: str, target_prefix: Sequence[int] = ()) -> Sentence:
    ids = [START, *[4] * len(text), END] if text else ()
    return Sentence(original=text, ids=ids, target_prefix=target_prefix)


def buffer_of(texts: Sequence[str]) -> Buffer:
    return Buffer(list(texts), segmented=[SegmentedText([sentence(text)]) for text in texts])


def run(
    engine: Any,
    buffer: Buffer,
    review: Callable[[SearchedSentence], SearchedSentence] = lambda searched: searched,
    options: DecodingConfig = DecodingConfig(),  # noqa: B008 — frozen
) -> list[list[tuple[int, int]]]:
    """The places of the sentences that are done with each batch."""
    model = ModelConfig(max_positions=10_000)
    queue = BatchQueue(options, model, with_attention=False, with_scores=True)
    places = []
    for stage in (buffer, Buffer([])):  # the end of the stream
        for batch in queue.search(stage, engine):
            places.append([each.place for each in queue.accept(map(review, batch))])
    assert not buffer.num_waiting
    return [done for done in places if done]


def requests_of(texts: Sequence[str], **options: Any) -> list[SearchRequest]:
    """The requests for the sentences of some texts."""
    engine = Echo()
    run(engine, buffer_of(texts), **options)
    return engine.requests


def test_a_stream_is_read_in_buffers():
    read = [buffer.texts for buffer in read_buffers(iter("abcde"), 2)]
    assert read == [["a", "b"], ["c", "d"], ["e"], []]
    assert [buffer.texts for buffer in read_buffers(iter(""), 2)] == [[]]


class PausingTexts:
    """Single letters; the stream pauses after some."""

    def __init__(self, letters: str, pauses_after: str) -> None:
        self.letters, self.pauses_after, self.last = iter(letters), pauses_after, ""

    def __iter__(self) -> "PausingTexts":
        return self

    def __next__(self) -> str:
        self.last = next(self.letters)
        return self.last

    def has_more(self, _seconds: float) -> bool:
        return self.last not in self.pauses_after


def test_a_buffer_ends_where_the_stream_pauses():
    *found, _ = read_buffers(PausingTexts("abcde", pauses_after="be"), 3)
    assert [each.texts for each in found] == [["a", "b"], ["c", "d", "e"]]
    assert [each.ends_in_pause for each in found] == [True, True]


def test_long_texts_make_small_buffers():
    texts = ["x" * 60_000] * 5
    assert [len(read.texts) for read in read_buffers(texts, 1000)] == [2, 2, 1, 0]


def test_the_last_buffer_holds_the_error_that_ended_the_stream():
    def broken() -> Iterator[str]:
        yield from "abc"
        raise OSError("gone")

    *_, before, last = read_buffers(broken(), 2)
    assert (before.texts, last.texts) == (["c"], [])
    assert isinstance(last.error, OSError)


def test_batches_hold_similar_lengths_with_one_limit_and_leave_out_blanks():
    texts = ["x" * (number % 37) for number in range(300)]
    requests = requests_of(texts)
    lengths = [[len(ids) for ids in request.sources] for request in requests]
    flat = [length for of_batch in lengths for length in of_batch]
    assert flat == sorted((len(text) + 2 for text in texts if text), reverse=True)
    for request, of_batch in zip(requests, lengths, strict=True):
        assert {DecodingConfig().max_length_for(length) for length in of_batch} == {request.max_length}
        assert len(of_batch) <= BATCH_SENTENCES


def test_long_sentences_make_small_batches():
    sizes = [len(request.sources) for request in requests_of(["x" * 1000, *["x" * 100] * 20])]
    assert sizes == [1, *[BATCH_TOKENS // 102] * (20 // (BATCH_TOKENS // 102))]


def test_a_long_sentence_makes_no_other_batch_small():
    texts = ["x" * 1000, *["x" * 10] * 3 * BATCH_SENTENCES]
    requests = requests_of(texts, options=DecodingConfig(max_length=40))
    assert [len(request.sources) for request in requests][1:-1] == [BATCH_SENTENCES] * 2


@pytest.mark.parametrize("max_pending", [0, 3])
def test_no_more_batches_are_pending_than_the_engine_wants(max_pending: int):
    texts = ["x" * (1 + number % 50) for number in range(1000)]
    engine, buffer = Echo(max_pending), buffer_of(texts)
    run(engine, buffer)
    assert engine.most == max_pending + 1
    assert engine.num_pending == 0
    assert sum(len(request.sources) for request in engine.requests) == 1000
    for row, text in enumerate(buffer.segmented):
        assert buffer.searched[row, 0].hypotheses[0].ids == text.sentences[0].ids


def test_blank_sentences_are_not_searched_for():
    text = SegmentedText([sentence("x"), sentence(""), sentence("y" * 30)])
    buffer = Buffer(["x  y"], segmented=[text])
    assert run(Echo(), buffer) == [[(0, 2)], [(0, 0)]]
    assert sorted(buffer.searched) == [(0, 0), (0, 2)]


def test_each_sentence_has_its_own_target_prefix():
    engine = Echo()
    text = SegmentedText([sentence("x", (7, 8)), sentence("y")])
    run(engine, Buffer(["x y"], segmented=[text]))
    run(engine, buffer_of(["x"]))
    assert [request.target_prefixes for request in engine.requests] == [[(7, 8)], (), ()]


def test_what_the_review_returns_without_hypotheses_is_searched_once_more():
    again = DecodingConfig(no_repeat_ngram=2)

    def review(one: SearchedSentence) -> SearchedSentence:
        if one.sentence.original != "?" or one.first_try:
            return one
        return replace(one, options=again, max_length=9, hypotheses=(), first_try=one.hypotheses)

    engine, buffer = Echo(), buffer_of(["a", "?", "b"])
    assert run(engine, buffer, review) == [[(0, 0), (2, 0)], [(1, 0)]]
    asked = [(len(request.sources), request.options, request.max_length) for request in engine.requests]
    assert asked == [(3, DecodingConfig(), DecodingConfig().max_length_for(3)), (1, again, 9)]
    assert buffer.searched[1, 0].first_try == buffer.searched[1, 0].hypotheses


@pytest.mark.parametrize("max_pending", [0, 3])
def test_what_is_searched_once_more_shares_full_batches(max_pending: int):
    def review(one: SearchedSentence) -> SearchedSentence:
        return one if one.first_try else replace(one, hypotheses=(), first_try=one.hypotheses)

    engine, num_sentences = Echo(max_pending), 5 * BATCH_SENTENCES
    places = [place for done in run(engine, buffer_of(["xx"] * num_sentences), review) for place in done]
    assert sorted(places) == [(row, 0) for row in range(num_sentences)]
    assert [len(request.sources) for request in engine.requests] == [BATCH_SENTENCES] * 10
