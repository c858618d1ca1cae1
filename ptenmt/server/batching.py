"""Sentences of many requests, translated together.

CTranslate2 translates thirty sentences at once nearly as fast as three. While all threads are at work, what
comes in waits, and the next thread that is done takes of it what goes well together: the sentence that has
waited longest, and those that are about as long. A thread that has nothing to do waits some milliseconds for
others to join the first that comes.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ptenmt.config import DecodingConfig
from ptenmt.server.refusal import Refusal
from ptenmt.translation.engine import Engine, Found

GATHERING_SECONDS = 0.003
_REMEMBERED = 0.9
"""How much of the pace so far stays in the next figure of it."""


@dataclass(frozen=True)
class Search:
    """How to look for a sentence's translation; only sentences with equal ones are translated together."""

    options: DecodingConfig
    branches: int = 0
    with_attention: bool = False


@dataclass(eq=False)
class Order:
    """A sentence that is to be translated."""

    ids: Sequence[int]
    """[START] and [END] included."""
    limit: int
    """The most tokens of its translation."""
    search: Search
    prefix: Sequence[int] = ()
    """Ids that its translation begins with."""
    found: "asyncio.Future[Found]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Its translations, best first."""

    def with_attention(self) -> "Order":
        """The same, to be searched for again."""
        return Order(self.ids, self.limit, replace(self.search, with_attention=True), self.prefix)


class Batcher:
    """Threads that translate what is ordered.

    Args:
        engine: Translates batches.
        threads: How many batches at a time.
        room: How many sentences may wait.
        on_batch: Told the number of sentences of each batch, before it is translated; in any thread.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        threads: int,
        room: int,
        on_batch: Callable[[int], None] = lambda _sentences: None,
    ) -> None:
        self._engine, self._room, self._on_batch = engine, room, on_batch
        self._waiting: list[Order] = []
        self._changed = threading.Condition()
        self._num_idle = 0
        self._is_closed = False
        self._pace = 0.05  # seconds a sentence, all threads together
        self._loop = asyncio.get_running_loop()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    @property
    def num_waiting(self) -> int:
        """How many sentences wait."""
        return len(self._waiting)

    def order(self, orders: Sequence[Order]) -> None:
        """Queue sentences.

        Raises:
            Refusal: Too many wait already.
        """
        with self._changed:
            num_waiting = len(self._waiting)
            if num_waiting and num_waiting + len(orders) > self._room:
                raise Refusal(
                    f"too busy: {num_waiting} sentences are waiting",
                    503,
                    retry_after=num_waiting * self._pace,
                )
            self._waiting += orders
            self._changed.notify_all()

    def drop(self, orders: Sequence[Order]) -> None:
        """Forget what still waits of these."""
        dropped = set(orders)
        with self._changed:
            self._waiting = [order for order in self._waiting if order not in dropped]

    def close(self) -> None:
        """Let the threads end; what waits is not translated any more."""
        with self._changed:
            self._is_closed = True
            self._waiting = []
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        """What a thread does all its life."""
        while batch := self._take():
            self._on_batch(len(batch))
            started = time.perf_counter()
            try:
                outcome: list[Found] | Exception = self._translated(batch)
            except Exception as error:  # whatever it is, those who wait have to know
                outcome = error
            seconds = (time.perf_counter() - started) / len(batch) / len(self._threads)
            self._pace = _REMEMBERED * self._pace + (1 - _REMEMBERED) * seconds
            if not self._is_closed:
                self._loop.call_soon_threadsafe(_deliver, batch, outcome)

    def _take(self) -> list[Order]:
        """The next batch; an empty one when there will be none."""
        with self._changed:
            while not self._is_closed:
                if not self._waiting:
                    self._idle(None)
                elif len(self._waiting) >= self._engine.batch_sentences or self._idle(GATHERING_SECONDS):
                    return self._pick()
        return []

    def _idle(self, seconds: float | None) -> bool:
        """Wait until there are enough, or that long; whether there is something to do then."""
        self._num_idle += 1
        enough = 1 if seconds is None else self._engine.batch_sentences
        self._changed.wait_for(lambda: self._is_closed or len(self._waiting) >= enough, seconds)
        self._num_idle -= 1
        return bool(self._waiting)

    def _pick(self) -> list[Order]:
        """What has waited longest, with what goes well with it; other idle threads get their share."""
        first = self._waiting[0]
        alike = [order for order in self._waiting if order.search == first.search]
        share = math.ceil(len(alike) / (self._num_idle + 1))
        alike.sort(key=lambda order: abs(len(order.ids) - len(first.ids)))  # stable: the oldest first
        batch = [first]
        longest = len(first.ids)
        for order in alike[1 : min(share, self._engine.batch_sentences)]:
            longest = max(longest, len(order.ids))
            if longest * (len(batch) + 1) > self._engine.batch_tokens:
                break
            batch.append(order)
        taken = set(batch)
        self._waiting = [order for order in self._waiting if order not in taken]
        return batch

    def _translated(self, batch: Sequence[Order]) -> list[Found]:
        """Translate sentences together, as each would be translated alone."""
        found = self._submitted(batch, max(order.limit for order in batch))
        return [
            self._submitted([order], order.limit)[0] if _is_longer(each, order.limit) else each
            for order, each in zip(batch, found, strict=True)
        ]

    def _submitted(self, batch: Sequence[Order], limit: int) -> list[Found]:
        search = batch[0].search
        prefixes: Any = [order.prefix for order in batch] if any(order.prefix for order in batch) else ()
        wait = self._engine.submit(
            [order.ids for order in batch],
            limit,
            search.options,
            prefixes=prefixes,
            branches=search.branches,
            with_attention=search.with_attention,
        )
        return wait()


def _is_longer(found: Found, limit: int) -> bool:
    """Whether a batch's limit let a sentence go on beyond its own."""
    return any(len(hypothesis.ids) - 1 > limit for hypothesis in found)


def _deliver(batch: Sequence[Order], outcome: list[Found] | Exception) -> None:
    """Tell those who still wait; in the loop's thread."""
    for number, order in enumerate(batch):
        if order.found.done():
            continue
        if isinstance(outcome, Exception):
            order.found.set_exception(outcome)
        else:
            order.found.set_result(outcome[number])
