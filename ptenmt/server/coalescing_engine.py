"""Dynamic batching: sentences of concurrent requests are translated in common batches.

CTranslate2 translates thirty sentences at once nearly as fast as three. While all threads are busy, sentences
wait in a queue; the next free thread takes the one that is due first, together with others of similar length.
An idle thread waits a few milliseconds for more sentences to arrive after the first.

What is due is decided by fair queueing (Golestani 1994): each client gets the same share of the time, whether
it sends one request or many, and each of its requests the same part of it. A sentence is due at the cost that
its request has had so far, plus its own. So short texts overtake long ones, but not for ever, since a request
begins where the queue has arrived.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from ptenmt.errors import ConfigError, PtenmtError
from ptenmt.translation.engine import (
    BATCH_SENTENCES,
    Engine,
    Hypothesis,
    PendingHypotheses,
    PendingScores,
    SearchRequest,
    attention_by_prefixes,
)

if TYPE_CHECKING:
    import numpy as np

GATHERING_SECONDS = 0.003
_PACE_DECAY = 0.9
"""Smoothing factor of the estimated seconds per sentence."""
_UNLIMITED = 10**9
_MAX_SIZE = 65_536
"""Source tokens times maximum length of a batch with several sentences: up to 0.3 s for a small model."""
_SHARE_OF_ROOM = 3
"""How many times what is left of the queue a client may occupy, so that there is always room for another."""
_MIN_COST = 256
"""Of a sentence: without it short ones overtake so many ordinary ones that batches are small."""
_LONGER = 3
"""The longest sentence of a batch has at most so many times the tokens of the one that is due, ..."""
_SOME_TOKENS = 16
"""... or so many."""


class BusyError(PtenmtError):
    """Too many sentences are queued; retry after ``retry_after`` seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(eq=False)
class _QueuedSentence:
    ids: Sequence[int]
    max_length: int
    target_prefix: Sequence[int]
    search: SearchRequest
    """The rest of the request; only sentences with equal options share a batch."""
    engine: "CoalescingEngine"
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
        max_waiting: How many sentences may wait.
        on_batch: Called for each batch, in any thread, with the label of its engine, the seconds that each
            sentence waited, and the numbers of source and target tokens.
    """

    def __init__(
        self,
        *,
        threads: int,
        max_waiting: int,
        on_batch: Callable[[str, Sequence[float], int, int], None] = lambda *_figures: None,
    ) -> None:
        self._max_waiting, self._on_batch = max_waiting, on_batch
        self._waiting: list[_QueuedSentence] = []
        self._preparing: set[QueuedRequest] = set()  # admitted, with no sentence queued yet
        self._changed = threading.Condition()
        self._num_idle = 0
        self._is_closed = False
        self._seconds_per_sentence = 0.05  # of all threads together
        self._time = 0.0
        """When the first sentence of the last batch was due, in the unit of costs."""
        self.turns = threading.Semaphore(max(2, threads))
        """Of requests: hundreds of threads that compute at a time would leave Python's lock to no other."""
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave this thread's turn to another request while it waits."""
        self.turns.release()
        try:
            yield
        finally:
            self.turns.acquire()

    @property
    def num_waiting(self) -> int:
        """Number of queued sentences."""
        return len(self._waiting)

    def admit(self, request: "QueuedRequest") -> None:
        """Reserve room for a request until it adds sentences or is cancelled; takes no lock.

        Raises:
            BusyError: Too many sentences wait, with one for each admitted request; or three quarters of the
                room are taken by the client's own.
        """
        waiting = [sentence.engine.request for sentence in self._waiting] + list(self._preparing)
        num_own = sum(other.client == request.client for other in waiting)
        if num_own >= _SHARE_OF_ROOM * (self._max_waiting - len(waiting)):
            raise self._busy(len(waiting))
        self._preparing.add(request)

    def _busy(self, num_waiting: int) -> BusyError:
        seconds = num_waiting * self._seconds_per_sentence
        return BusyError(f"too busy: {num_waiting} sentences are waiting", seconds)

    def add(self, sentences: Sequence[_QueuedSentence], *, waits_for_room: bool) -> None:
        """Queue sentences of one request, in any number if no other request waits.

        Raises:
            BusyError: Too many sentences of others wait, and the request does not wait for room.
            CancelledError: The queue is closed, or the request is cancelled.
        """
        request = sentences[0].engine.request
        with self._changed:
            self._preparing.discard(request)
            while True:
                if self._is_closed or request.is_cancelled:
                    raise CancelledError
                num_waiting = len(self._waiting)
                num_own = sum(each.engine.request is request for each in self._waiting)
                if num_own == num_waiting or num_waiting + len(sentences) <= self._max_waiting:
                    break
                if not waits_for_room:
                    raise self._busy(num_waiting)
                self._changed.wait()
            if not num_own:
                request.spent = max(request.spent, self._time)
            self._waiting += sentences
            self._changed.notify_all()

    def drop(self, request: "QueuedRequest | None" = None) -> None:
        """Cancel the sentences of a request that wait, or all, and its admission."""
        with self._changed:
            if request is not None:
                self._preparing.discard(request)
            for sentence in self._waiting:
                if request is None or sentence.engine.request is request:
                    sentence.hypotheses.cancel()
            self._waiting = [each for each in self._waiting if not each.hypotheses.cancelled()]
            self._changed.notify_all()

    def close(self) -> None:
        """Stop the threads after their current batches; sentences that wait are cancelled."""
        with self._changed:
            self._is_closed = True
            self.drop()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while batch := self._next_batch():
            started = time.perf_counter()
            try:
                found = self._translate(batch)
            except Exception:  # whatever it is, no request may wait forever
                for sentence in batch:
                    self._translate_alone(sentence)
                continue
            seconds = (time.perf_counter() - started) / len(batch) / len(self._threads)
            self._seconds_per_sentence += (1 - _PACE_DECAY) * (seconds - self._seconds_per_sentence)
            waits = [started - sentence.added for sentence in batch]
            num_source = sum(len(sentence.ids) for sentence in batch)
            num_target = sum(len(each[0].ids) - 1 for each in found)
            self._on_batch(batch[0].engine.label, waits, num_source, num_target)
            for sentence, hypotheses in zip(batch, found, strict=True):
                sentence.hypotheses.set_result(hypotheses)

    def _next_batch(self) -> list[_QueuedSentence]:
        """Wait for the next batch; empty once the queue is closed."""
        with self._changed:
            while not self._is_closed:
                self._wait_for(1)
                self._wait_for(BATCH_SENTENCES, GATHERING_SECONDS)
                if self._waiting:  # another thread may have taken them
                    batch = self._take_batch()
                    self._changed.notify_all()  # there is room for other requests
                    return batch
        return []

    def _wait_for(self, num_sentences: int, seconds: float | None = None) -> None:
        """Block until ``num_sentences`` are queued, the queue is closed, or ``seconds`` have passed."""
        self._num_idle += 1
        self._changed.wait_for(lambda: self._is_closed or len(self._waiting) >= num_sentences, seconds)
        self._num_idle -= 1

    def _take_batch(self) -> list[_QueuedSentence]:
        """Take the sentence that is due first and similar ones, but leave a share to idle threads."""
        requests = {sentence.engine.request for sentence in self._waiting}
        num_requests = Counter(request.client for request in requests)
        due = {
            sentence: sentence.engine.request.spent
            + sentence.cost * num_requests[sentence.engine.request.client]
            for sentence in self._waiting
        }
        first = min(self._waiting, key=due.__getitem__)  # the oldest of those that are due at the same time
        self._time = max(self._time, due[first])
        batch = self._with_similar(first)
        for sentence in batch:
            request = sentence.engine.request
            request.spent += sentence.cost * num_requests[request.client]
        taken = set(batch)
        self._waiting = [sentence for sentence in self._waiting if sentence not in taken]
        return batch

    def _with_similar(self, first: _QueuedSentence) -> list[_QueuedSentence]:
        """A batch with a sentence, and others that do not make it wait much longer."""
        engine = first.engine.shared
        longest_allowed = max(_LONGER * len(first.ids), _SOME_TOKENS)
        similar = [
            each
            for each in self._waiting
            if each.engine.shared is engine
            and each.search == first.search
            and each is not first
            and len(each.ids) <= longest_allowed
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

    def _translate(self, batch: Sequence[_QueuedSentence]) -> list[list[Hypothesis]]:
        """Translate a batch such that no result depends on the other sentences in it."""
        found = self._submit(batch, max(sentence.max_length for sentence in batch))
        for row, (sentence, hypotheses) in enumerate(zip(batch, found, strict=True)):
            if any(len(hypothesis.ids) - 1 > sentence.max_length for hypothesis in hypotheses):
                (found[row],) = self._submit([sentence], sentence.max_length)
        return found

    def _translate_alone(self, sentence: _QueuedSentence) -> None:
        """Translate a sentence whose batch failed: only the request whose sentence fails gets the error."""
        try:
            (hypotheses,) = self._translate([sentence])
        except Exception as error:
            sentence.hypotheses.set_exception(error)
        else:
            sentence.hypotheses.set_result(hypotheses)

    def _submit(self, batch: Sequence[_QueuedSentence], max_length: int) -> list[list[Hypothesis]]:
        sources, prefixes = [each.ids for each in batch], [each.target_prefix for each in batch]
        prefixes = prefixes if any(prefixes) else []
        return batch[0].engine.shared.submit(
            replace(batch[0].search, sources=sources, max_length=max_length, target_prefixes=prefixes)
        )()


class QueuedRequest:
    """A client's request: its sentences, with one engine or several, are counted and cancelled together.

    ``client`` is who sends it, and shares the time that it gets among its requests.
    ``max_pending_sentences`` is for a request with many sentences: the most that may be queued at a time, to
    leave room for other requests. Such a request waits while the queue is full.
    """

    def __init__(
        self, queue: SentenceQueue, max_pending_sentences: int | None = None, client: str = ""
    ) -> None:
        self.queue, self.max_pending_sentences, self.client = queue, max_pending_sentences, client
        self.is_cancelled = False
        self.spent = 0.0
        """What its sentences have cost so far, counted from when it began to wait."""

    def cancel(self) -> None:
        """Remove the sentences that are still queued."""
        self.is_cancelled = True
        self.queue.drop(self)


class CoalescingEngine:
    """The engine of one request: its sentences share batches, which ``shared`` translates, with others'.

    ``label`` is what the batches are counted as.
    """

    batch_tokens = _UNLIMITED

    def __init__(self, request: QueuedRequest, shared: Engine, label: str = "") -> None:
        self.request, self.shared, self.label = request, shared, label
        most = request.max_pending_sentences
        # Two batches are pending: the current one and the next.
        self.batch_sentences = _UNLIMITED if most is None else most // 2
        self.max_pending_batches = _UNLIMITED if most is None else 1
        self.name, self.compute_type = shared.name, shared.compute_type
        self.identity, self.alignment_layer = shared.identity, shared.alignment_layer

    def submit(self, request: SearchRequest) -> PendingHypotheses:
        """Queue the sentences.

        Raises:
            BusyError: The queue is full.
            CancelledError: The request is cancelled, or the queue is closed; also raised while waiting.
        """
        prefixes: Any = request.target_prefixes or [()] * len(request.sources)
        search = replace(request, sources=(), max_length=0, target_prefixes=())
        sentences = [
            _QueuedSentence(ids, request.max_length, prefix, search, self)
            for ids, prefix in zip(request.sources, prefixes, strict=True)
        ]
        queue, waits_for_room = self.request.queue, self.request.max_pending_sentences is not None
        with queue.paused() if waits_for_room else nullcontext():
            queue.add(sentences, waits_for_room=waits_for_room)

        def wait() -> list[list[Hypothesis]]:
            with queue.paused():
                return [sentence.hypotheses.result() for sentence in sentences]

        return wait

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> PendingScores:
        """Score with the shared engine."""
        return self.shared.score(sources, targets)

    def attention(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> "list[np.ndarray]":
        """The attention with which the decoder is fed targets; they are queued as ``submit`` does it."""
        return attention_by_prefixes(self, sources, targets)

    def seeded(self, seed: int) -> Self:
        """Not supported: the random numbers of a sentence would depend on other requests."""
        raise ConfigError(f"a server does not sample (decoding.seed={seed})", "use --set decoding.top_k=1")
