"""One queue for the sentences of all requests, which are translated in common batches.

CTranslate2 translates thirty sentences at once nearly as fast as three. While all threads are busy, sentences
wait; the next free thread takes the one that is due first, together with others of similar length. An idle
thread waits a few milliseconds for more sentences to arrive after the first.

What is due is decided by fair queueing (Golestani 1994): each client gets the same share of the time, whether
it sends one request or many, and each of its requests the same part of it. A sentence is due at the cost that
its request has had so far, plus its own. So short texts overtake long ones, but not for ever, since a request
begins where the queue has arrived.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ptenmt.server.limits import Refusal
from ptenmt.translation.engine import (
    BATCH_SENTENCES,
    Engine,
    Hypothesis,
    PendingHypotheses,
    SearchRequest,
    attention_by_prefixes,
)

GATHERING_SECONDS = 0.003
_UNLIMITED = 10**9
_Result = TypeVar("_Result")
_MAX_SIZE = 65_536
"""Source tokens times maximum length of a batch with several sentences: up to 0.3 s for a small model."""
_SHARE_OF_ROOM = 3
"""How many times what is left of the queue a client may occupy, so that there is always room for another."""
_MIN_COST = 256
"""Of a sentence: without it short ones overtake so many ordinary ones that batches are small."""
_LONGER = 4
"""The longest sentence of a batch has at most so many times the tokens of the one that is due."""


@dataclass(eq=False)
class _QueuedSentence:
    ids: Sequence[int]
    max_length: int
    target_prefix: Sequence[int]
    search: SearchRequest
    """The rest of the request; only sentences with equal options share a batch."""
    engine: "CoalescingEngine"
    request: "QueuedRequest"
    added: float = field(default_factory=time.perf_counter)
    hypotheses: "Future[list[Hypothesis]]" = field(default_factory=Future)

    @property
    def cost(self) -> int:
        """Its tokens and at most those of its translation, beside a constant."""
        return _MIN_COST + len(self.ids) + self.max_length


class SentenceQueue:
    """Threads that translate the sentences of all requests; a batch is of one engine.

    Args:
        threads: How many batches to translate in parallel.
        max_waiting: How many sentences may wait, without those of documents.
        on_batch: Called for each batch, in any thread, with the label of its engine and the seconds that each
            sentence waited.
    """

    def __init__(
        self,
        *,
        threads: int,
        max_waiting: int,
        on_batch: Callable[[str, Sequence[float]], None] = lambda *_figures: None,
    ) -> None:
        self._max_waiting, self._on_batch = max_waiting, on_batch
        self._waiting: list[_QueuedSentence] = []
        self._admitted: set[QueuedRequest] = set()
        """Requests that have not queued anything yet; each takes the room of a sentence."""
        self._changed = threading.Condition()
        self._num_idle = 0
        self._is_closed = False
        self._time = 0.0
        """When the first sentence of the last batch was due, in the unit of costs."""
        self.turns = threading.Semaphore(max(2, threads))
        """Of requests: hundreds of threads that compute at a time would leave Python's lock to no other."""
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    @property
    def num_waiting(self) -> int:
        """Number of queued sentences."""
        return len(self._waiting)

    def admit(self, request: "QueuedRequest") -> None:
        """Reserve room for a sentence of a request until it adds some or is dropped; refuses as ``add``."""
        self._check_room(request, 1)
        self._admitted.add(request)

    def add(self, sentences: Sequence[_QueuedSentence]) -> None:
        """Queue sentences of one request, in any number if no other request waits.

        Raises:
            Refusal: Too many sentences wait, or too many of the request's client; not to documents.
            CancelledError: The queue is closed, or the request is dropped.
        """
        request = sentences[0].request
        with self._changed:
            self._admitted.discard(request)
            if self._is_closed or request.is_dropped:
                raise CancelledError
            if not request.is_document:
                self._check_room(request, len(sentences))
            if all(waiting.request is not request for waiting in self._waiting):
                request.spent = max(request.spent, self._time)
            self._waiting += sentences
            self._changed.notify_all()

    def _check_room(self, request: "QueuedRequest", num: int) -> None:
        """Refuse sentences, for as long as the first that waits has waited; takes no lock."""
        waiting = [each.request for each in self._waiting if not each.request.is_document]
        taken = [*waiting, *self._admitted]
        if all(other is request for other in taken):
            return
        num_own = sum(other.client == request.client for other in taken)
        if num_own + num > _SHARE_OF_ROOM * (self._max_waiting - len(taken) - num + 1):
            now = time.perf_counter()
            seconds = now - min((sentence.added for sentence in self._waiting), default=now)
            raise Refusal(f"too busy: {len(taken)} sentences are waiting", 503, retry_after=seconds)

    def drop(self, request: "QueuedRequest") -> None:
        """Cancel the sentences of a request that wait."""
        with self._changed:
            request.is_dropped = True
            self._admitted.discard(request)
            for sentence in self._waiting:
                if sentence.request is request:
                    sentence.hypotheses.cancel()
            self._waiting = [each for each in self._waiting if each.request is not request]

    def close(self) -> None:
        """Stop the threads after their current batches; sentences that wait are cancelled."""
        with self._changed:
            self._is_closed = True
            for sentence in self._waiting:
                sentence.hypotheses.cancel()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        """Translate batches until the queue is closed."""
        changed = self._changed
        while not self._is_closed:
            with changed:
                self._num_idle += 1
                changed.wait_for(lambda: self._waiting or self._is_closed)
                changed.wait_for(
                    lambda: len(self._waiting) >= BATCH_SENTENCES or self._is_closed, GATHERING_SECONDS
                )
                self._num_idle -= 1
                is_due = self._waiting and not self._is_closed  # another thread may have taken them
                batch = self._take_batch() if is_due else []
            if batch:
                self._answer(batch)

    def _take_batch(self) -> list[_QueuedSentence]:
        """Take the sentence that is due first, the oldest if there are several, and similar ones."""
        requests = {sentence.request for sentence in self._waiting}
        num_requests = Counter(request.client for request in requests)

        def due(sentence: _QueuedSentence) -> float:
            return sentence.request.spent + sentence.cost * num_requests[sentence.request.client]

        first = min(self._waiting, key=due)
        self._time = max(self._time, due(first))
        batch = self._with_similar(first)
        for sentence in batch:
            sentence.request.spent = due(sentence)
        self._waiting = [sentence for sentence in self._waiting if sentence not in batch]
        return batch

    def _with_similar(self, first: _QueuedSentence) -> list[_QueuedSentence]:
        """A sentence and others that do not make it wait much longer; idle threads are left their share."""
        engine = first.engine.shared
        similar = [
            each
            for each in self._waiting
            if each.engine.shared is engine
            and each.search == first.search
            and each is not first
            and len(each.ids) <= _LONGER * len(first.ids)
        ]
        similar.sort(key=lambda sentence: abs(len(sentence.ids) - len(first.ids)))  # stable: oldest first
        share = min(math.ceil((len(similar) + 1) / (self._num_idle + 1)), engine.batch_sentences)
        batch, longest, max_length = [first], len(first.ids), first.max_length
        for sentence in similar[: share - 1]:
            longest = max(longest, len(sentence.ids))
            max_length = max(max_length, sentence.max_length)
            num_tokens = longest * (len(batch) + 1)
            if num_tokens > engine.batch_tokens or num_tokens * max_length > _MAX_SIZE:
                break
            batch.append(sentence)
        return batch

    def _answer(self, batch: Sequence[_QueuedSentence]) -> None:
        """Translate a batch."""
        started = time.perf_counter()
        try:
            found = _translate(batch)
        except Exception as error:  # whatever it is, no request may wait forever
            if len(batch) == 1:
                batch[0].hypotheses.set_exception(error)
            else:  # one sentence may have caused it
                for sentence in batch:
                    self._answer([sentence])
            return
        self._on_batch(batch[0].engine.label, [started - sentence.added for sentence in batch])
        for sentence, hypotheses in zip(batch, found, strict=True):
            sentence.hypotheses.set_result(hypotheses)


def _translate(batch: Sequence[_QueuedSentence]) -> list[list[Hypothesis]]:
    """Translate a batch such that no result depends on the other sentences in it."""
    found = _search(batch, max(sentence.max_length for sentence in batch))
    for row, (sentence, hypotheses) in enumerate(zip(batch, found, strict=True)):
        if any(len(hypothesis.ids) - 1 > sentence.max_length for hypothesis in hypotheses):
            (found[row],) = _search([sentence], sentence.max_length)
    return found


def _search(batch: Sequence[_QueuedSentence], max_length: int) -> list[list[Hypothesis]]:
    sources, prefixes = [each.ids for each in batch], [each.target_prefix for each in batch]
    prefixes = prefixes if any(prefixes) else []
    return batch[0].engine.shared.submit(
        replace(batch[0].search, sources=sources, max_length=max_length, target_prefixes=prefixes)
    )()


_current: ContextVar["QueuedRequest"] = ContextVar("request")


class QueuedRequest:
    """A client's request, whose sentences, with one engine or several, are counted and cancelled together.

    ``client`` is who sends it, and shares the time that it gets among its requests. Of a document, of which
    there are few, with many sentences, only some are queued at a time: they take no room in the queue, nor
    does the document take a turn of other requests.
    """

    def __init__(self, queue: SentenceQueue, client: str = "", *, is_document: bool = False) -> None:
        self.queue, self.client, self.is_document = queue, client, is_document
        self.turn = threading.Semaphore() if is_document else queue.turns
        self.is_dropped = False
        self.spent = 0.0
        """What its sentences have cost so far, counted from when it began to wait."""

    def run(self, work: Callable[[], _Result]) -> _Result:
        """Call a function, whose sentences are this request's, when it is this request's turn."""
        _current.set(self)
        with self.turn:
            return work()


class CoalescingEngine:
    """A model's engine for all requests: the sentences of the one that runs share batches with others'.

    ``shared`` translates the batches, which are counted as those of ``label``.
    """

    batch_sentences, batch_tokens = BATCH_SENTENCES, _UNLIMITED

    def __init__(self, shared: Engine, label: str = "") -> None:
        self.shared, self.label = shared, label
        self.name, self.compute_type = shared.name, shared.compute_type
        self.identity, self.alignment_layer = shared.identity, shared.alignment_layer

    @property
    def max_pending_batches(self) -> int:
        """Of a request all batches may be queued at a time, of a document two: the current and the next."""
        return 1 if _current.get().is_document else _UNLIMITED

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        """Queue the sentences.

        Raises:
            Refusal: The queue is full.
            CancelledError: The request is cancelled, or the queue is closed; also raised while waiting.
        """
        current = _current.get()
        prefixes: Any = request.target_prefixes or [()] * len(request.sources)
        search = replace(request, sources=(), max_length=0, target_prefixes=())
        sentences = [
            _QueuedSentence(ids, request.max_length, prefix, search, self, current)
            for ids, prefix in zip(request.sources, prefixes, strict=True)
        ]
        current.queue.add(sentences)

        def wait() -> list[list[Hypothesis]]:
            current.turn.release()  # to another request
            try:
                return [sentence.hypotheses.result() for sentence in sentences]
            finally:
                current.turn.acquire()

        return wait

    def attention(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[Any]:
        """The attention with which the decoder is fed targets; they are queued as ``submit`` does it."""
        engine: Any = self
        return attention_by_prefixes(engine, sources, targets)
