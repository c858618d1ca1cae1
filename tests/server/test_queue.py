"""Sentences of concurrent requests, translated in common batches."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import pytest
from waiting import PATIENCE_SECONDS, until

from ptenmt.config import DecodingConfig
from ptenmt.server import queue as queue_module
from ptenmt.server.limits import Refusal
from ptenmt.server.queue import CoalescingEngine, QueuedRequest, SentenceQueue
from ptenmt.tokenizers import END, START
from ptenmt.translation.engine import Hypothesis, PendingHypotheses, SearchRequest


class RepeatingEngine:
    """Repeats each sentence twice, up to the maximum length, once its gate is open."""

    name = compute_type = identity = "repeating"
    batch_sentences, batch_tokens = 4, 2048
    alignment_layer = 1

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.batches: list[tuple[list[int], int]] = []
        """The first words of each batch's sentences, and its maximum length."""

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        sources, max_length = request.sources, request.max_length
        self.batches.append(([ids[1] for ids in sources], max_length))

        def wait() -> list[list[Hypothesis]]:
            assert self.gate.wait(PATIENCE_SECONDS)
            return [[Hypothesis([START, *[*ids[1:-1] * 2, END][:max_length]])] for ids in sources]

        return wait


class Requests:
    """Requests to one queue."""

    def __init__(self, queue: SentenceQueue, engine: RepeatingEngine) -> None:
        self.queue, self.engine = queue, engine

    def submit(self, *sentences: tuple[int, int], client: str = "", **how: int) -> PendingHypotheses:
        """Submit sentences (word, length), all of one request."""
        return self.submit_of(QueuedRequest(self.queue, client), *sentences, **how)

    def submit_of(
        self, request: QueuedRequest, *sentences: tuple[int, int], max_length: int = 99, beam_size: int = 4
    ) -> PendingHypotheses:
        sources = [[START, *[word] * length, END] for word, length in sentences]
        options = DecodingConfig(beam_size=beam_size)
        engine = CoalescingEngine(self.engine)
        return request.run(lambda: engine.submit(SearchRequest(sources, max_length, options)))

    def occupy(self) -> PendingHypotheses:
        """Keep the only thread busy until the gate opens."""
        wait = self.submit((1000, 1))
        until(lambda: len(self.engine.batches) == 1)
        return wait


@contextmanager
def running(*, threads: int = 1, max_waiting: int = 100) -> Iterator[Requests]:
    engine: Any = RepeatingEngine()
    queue = SentenceQueue(threads=threads, max_waiting=max_waiting)
    try:
        yield Requests(queue, engine)
    finally:
        engine.gate.set()
        queue.close()


def words(wait: PendingHypotheses) -> list[int]:
    """The first word of each translation."""
    return [hypotheses[0].ids[1] for hypotheses in wait()]


def test_sentences_that_wait_are_translated_with_similar_ones() -> None:
    with running() as requests:
        waits = [requests.occupy(), requests.submit((1, 5), (2, 30)), requests.submit((3, 5), beam_size=7)]
        waits.append(requests.submit((4, 31), *((word, 6) for word in range(5, 9))))
        assert requests.queue.num_waiting == 8
        requests.engine.gate.set()
        assert [words(wait) for wait in waits] == [[1000], [1, 2], [3], [4, 5, 6, 7, 8]]
        assert requests.queue.num_waiting == 0
    assert [batch for batch, _ in requests.engine.batches[1:]] == [[1, 5, 6, 7], [3], [2, 4, 8]]


def test_a_short_text_overtakes_long_ones_and_does_not_share_their_batch() -> None:
    with running() as requests:
        requests.occupy()
        waits = [requests.submit(*((giant, 150) for _ in range(9)), max_length=256) for giant in (1, 2)]
        waits.append(requests.submit((3, 5)))
        requests.engine.gate.set()
        assert [words(wait) for wait in waits] == [[1] * 9, [2] * 9, [3]]
    batches = [batch for batch, _ in requests.engine.batches[1:]]
    assert batches == [[3], *[[1], [2]] * 9]  # requests take turns, and a batch is bounded by its cost


def test_no_text_waits_for_ever_while_shorter_ones_come() -> None:
    with running() as requests:
        requests.engine.gate.set()
        giant = requests.submit(*((1, 90) for _ in range(3)), max_length=99)
        shorts = 0
        while requests.queue.num_waiting and shorts < 1_000:
            for wait in [requests.submit((2, 5), max_length=9) for _ in range(4)]:
                words(wait)
            shorts += 4
        assert shorts < 1_000
        assert words(giant) == [1, 1, 1]


def test_many_requests_of_a_client_get_no_more_than_one_of_another() -> None:
    with running() as requests:
        requests.occupy()
        many = [requests.submit((1, 99), max_length=400, client="a") for _ in range(12)]
        one = requests.submit(*((2, 99) for _ in range(4)), max_length=400, client="b")
        requests.engine.gate.set()
        for wait in (*many, one):
            words(wait)
    order = [word for batch, _ in requests.engine.batches[1:] for word in batch]
    assert order.index(1) <= 4
    assert max(place for place, word in enumerate(order) if word == 2) <= 8


def test_idle_threads_share_what_comes() -> None:
    with running(threads=2) as requests:
        until(lambda: requests.queue._num_idle == 2)
        requests.submit(*((word, 1) for word in range(4)))
        until(lambda: len(requests.engine.batches) == 2)
    assert [len(batch) for batch, _ in requests.engine.batches] == [2, 2]


def test_the_first_sentence_waits_for_others_that_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "GATHERING_SECONDS", PATIENCE_SECONDS)
    monkeypatch.setattr(queue_module, "BATCH_SENTENCES", 3)
    with running() as requests:
        requests.engine.gate.set()
        waits = [requests.submit((word, 1)) for word in range(2)]
        time.sleep(0.05)
        assert not requests.engine.batches
        waits.append(requests.submit((2, 1)))
        assert [words(wait) for wait in waits] == [[0], [1], [2]]
    assert [batch for batch, _ in requests.engine.batches] == [[0, 1, 2]]


def test_no_translation_depends_on_its_batch() -> None:
    with running() as requests:
        requests.occupy()
        short, long = requests.submit((1, 5), max_length=7), requests.submit((2, 5), max_length=20)
        requests.engine.gate.set()
        assert [len(wait()[0][0].ids) - 1 for wait in (short, long)] == [7, 11]
    assert requests.engine.batches[1:] == [([1, 2], 20), ([1], 7)]


def test_sentences_are_refused_while_too_many_of_other_requests_wait() -> None:
    with running(max_waiting=8) as requests:  # of which a client leaves room for others
        requests.occupy()
        requests.submit(*((word, 1) for word in range(4)), client="a")
        with pytest.raises(Refusal, match="4 sentences are waiting"):
            requests.submit(*((word, 1) for word in range(4)), client="a")
        requests.submit((9, 1), (8, 1), client="b")
    with running(max_waiting=4) as requests:
        requests.occupy()
        request = QueuedRequest(requests.queue)
        requests.submit_of(request, *((word, 1) for word in range(3)))
        with pytest.raises(Refusal, match="3 sentences are waiting") as refused:
            requests.submit((8, 1), (9, 1))
        assert refused.value.headers == {"retry-after": "1"}
        requests.submit_of(request, (3, 1), (4, 1))  # a request does not stand in its own way
        requests.engine.gate.set()
        until(lambda: requests.queue.num_waiting == 0)
        assert words(requests.submit(*((word, 1) for word in range(9)))) == list(range(9))


def test_a_document_takes_no_room_of_others_and_needs_none() -> None:
    with running(max_waiting=3) as requests:
        requests.occupy()
        document = QueuedRequest(requests.queue, is_document=True)
        engine = CoalescingEngine(requests.engine)
        assert document.run(lambda: engine.max_pending_batches) == 1
        waits = [requests.submit_of(document, *((word, 1) for word in range(4)))]
        waits.append(requests.submit((4, 1), (5, 1), (6, 1)))
        waits.append(requests.submit_of(document, *((word, 1) for word in range(7, 11))))
        with pytest.raises(Refusal, match="3 sentences are waiting"):
            requests.queue.admit(QueuedRequest(requests.queue))
        requests.engine.gate.set()
        assert [word for wait in waits for word in words(wait)] == list(range(11))


def test_a_document_computes_beside_other_requests() -> None:
    with running() as requests:
        ordinary, document, other = (
            QueuedRequest(requests.queue, is_document=kind) for kind in (False, True, True)
        )
        assert ordinary.turn is requests.queue.turns
        wait = requests.submit_of(document, (1, 1))
        with document.turn, other.turn, ordinary.turn:
            requests.engine.gate.set()
            assert words(wait) == [1]


def test_sentences_of_a_cancelled_request_are_not_translated() -> None:
    with running() as requests:
        requests.occupy()
        request = QueuedRequest(requests.queue)
        waits = [requests.submit((0, 1)), requests.submit_of(request, (1, 1)), requests.submit((2, 1))]
        requests.queue.drop(request)
        assert requests.queue.num_waiting == 2
        with pytest.raises(CancelledError):
            waits[1]()
        with pytest.raises(CancelledError):
            requests.submit_of(request, (3, 1))
        requests.engine.gate.set()
        assert (words(waits[0]), words(waits[2])) == ([0], [2])
    assert requests.engine.batches[1][0] == [0, 2]


def test_the_end_cancels_what_waits() -> None:
    with running() as requests:
        first, second = requests.occupy(), requests.submit((1, 1))
        closing = threading.Thread(target=requests.queue.close)
        closing.start()
        with pytest.raises(CancelledError):
            second()
        requests.engine.gate.set()
        assert words(first) == [1000]
        closing.join()
        with pytest.raises(CancelledError):
            requests.submit((2, 1))


def test_long_sentences_come_in_small_batches() -> None:
    with running() as requests:
        requests.occupy()
        waits = [requests.submit(*((word, 998) for word in range(4)), max_length=9)]
        waits.append(requests.submit(*((word, 50) for word in range(4, 8)), max_length=600))
        requests.engine.gate.set()
        for wait in waits:
            wait()
    assert [batch for batch, _ in requests.engine.batches[1:]] == [[4, 5], [0, 1], [6, 7], [2, 3]]


def test_admitted_requests_count_until_their_sentences_wait() -> None:
    with running(max_waiting=2) as requests:
        requests.occupy()
        first, second, third, fourth = (QueuedRequest(requests.queue) for _ in range(4))
        requests.queue.admit(first)
        requests.queue.admit(second)
        with pytest.raises(Refusal, match="2 sentences are waiting"):
            requests.queue.admit(third)
        requests.queue.drop(second)
        requests.queue.admit(third)
        requests.submit_of(first, (1, 1))
        with pytest.raises(Refusal):
            requests.queue.admit(fourth)
        requests.queue.drop(third)
        requests.queue.admit(fourth)


def test_only_the_request_whose_sentence_fails_gets_the_error() -> None:
    failing = 13
    with running() as requests:
        submit = requests.engine.submit

        def submit_all_but_one(request: SearchRequest) -> PendingHypotheses:
            if any(ids[1] == failing for ids in request.sources):
                raise RuntimeError("not this one")
            return submit(request)

        requests.engine.submit = submit_all_but_one  # type: ignore[method-assign]
        first = requests.occupy()
        waits = [requests.submit((word, 2)) for word in (12, failing, 14)]
        requests.engine.gate.set()
        assert words(first) == [1000]
        assert [words(waits[0]), words(waits[2])] == [[12], [14]]
        with pytest.raises(RuntimeError, match="not this one"):
            waits[1]()
